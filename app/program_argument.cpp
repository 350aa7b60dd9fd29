#include "app/program_argument.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/sweep/study.h"

namespace nuscope::app {

ProgramArgument readProgramArgument(const std::string& path) {
  ProgramArgument argument;
  argument.file = path;
  argument.study = sweep::Study::looksLikeStudy(path);
  if (argument.study) {
    const auto study = sweep::Study::open(path, sweep::Study::Access::read);
    const auto revision = study->latestRevision();
    if (!revision) throw UserError(fmt::format("{}: the study holds no program", path));
    argument.text = revision->program;
    argument.file = revision->file.empty() ? path : revision->file;
  } else {
    argument.text = readWholeFile(path);
  }
  auto parsed = language::parse(argument.text);
  if (!parsed.program) throw UserError(render(parsed.diagnostics, argument.file, argument.text));
  argument.program = std::move(*parsed.program);
  return argument;
}

double parseSeconds(std::string_view text) {
  double factor = 1;
  std::string number(text);
  if (!number.empty()) {
    const char unit = number.back();
    if (unit == 's' || unit == 'm' || unit == 'h') {
      factor = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
      number.pop_back();
    }
  }
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !std::isfinite(value) || value <= 0) {
    throw UserError(fmt::format("'{}' is no time; write 30, 30s, 2m or 1h", text));
  }
  return value * factor;
}

}  // namespace nuscope::app
