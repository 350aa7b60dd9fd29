#include "core/sweep/foreign.h"

#include <fmt/format.h>

#include <cctype>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/emit/kernel.h"

namespace nuscope::sweep {
namespace {

bool isIdentifier(std::string_view text) {
  if (text.empty() || text.size() > 200 || std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

ForeignKernel readForeign(const std::string& argument) {
  ForeignKernel kernel;
  std::string path = argument;
  std::error_code ignored;
  const auto colon = argument.rfind(':');
  if (colon != std::string::npos && !std::filesystem::exists(argument, ignored)) {
    path = argument.substr(0, colon);
    kernel.function = argument.substr(colon + 1);
    if (!isIdentifier(kernel.function))
      throw UserError(
          fmt::format("'{}' is no name of a function; write --against FILE:FUNCTION", kernel.function));
  }
  kernel.name = std::filesystem::path(path).filename().string();
  std::string bytes = readWholeFile(path);
  if (bytes.empty()) throw UserError(fmt::format("{} is empty", path));
  (bytes.starts_with("\x7F"
                     "ELF")
       ? kernel.library
       : kernel.text) = std::move(bytes);
  return kernel;
}

Entrant makeForeign(const ForeignKernel& kernel, const tensor::Program& program,
                    const machine::Target& target, const std::string& compiler) {
  Entrant entrant;
  entrant.record.kind = CandidateKind::foreign;
  entrant.record.label = fmt::format("{} (not proved)", kernel.name);
  entrant.function =
      kernel.function.empty() ? emit::functionName(program) + "," + program.name : kernel.function;
  entrant.text = kernel.text;
  entrant.library = kernel.library;
  entrant.record.kernel = textHash(kernel.library.empty() ? kernel.text : kernel.library);
  entrant.results = program.results;
  if (!kernel.library.empty()) {
    entrant.toolchain = fmt::format("a library, {}", entrant.function);
    return entrant;
  }
  entrant.command = target.compiler;
  entrant.command.insert(entrant.command.end(),
                         {"-shared", "-fPIC", "-I" + emit::runtimeFolder(), "{source}", "-o", "{output}"});
  entrant.command.insert(entrant.command.end(), kernel.flags.begin(), kernel.flags.end());
  entrant.command.insert(entrant.command.end(), {"-lm", "-pthread"});
  entrant.toolchain = fmt::format("{} {} {}, {}", compiler, fmt::join(target.compiler, " "),
                                  fmt::join(kernel.flags, " "), entrant.function);
  return entrant;
}

}  // namespace nuscope::sweep
