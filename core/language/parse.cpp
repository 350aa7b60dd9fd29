#include "core/language/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/files.h"
#include "core/language/lowering.h"
#include "core/language/syntax_parser.h"

namespace nuscope::language {
namespace {

constexpr std::size_t largestText = 1 << 20;

bool isError(const Diagnostic& diagnostic) {
  return diagnostic.severity == Severity::error;
}

}  // namespace

Parsed parse(std::string_view text, std::shared_ptr<tensor::NodeStore> store) {
  Parsed result;
  if (!store) store = std::make_shared<tensor::NodeStore>();
  if (text.size() > largestText) {
    result.diagnostics.push_back(
        {Severity::error, {}, "the text is larger than 1 MiB", "a program is a page or two"});
    return result;
  }
  try {
    const auto module = parseModule(text, result.diagnostics);
    result.program = Lowering(text, *module, store, result.diagnostics).run();
  } catch (const UserError& error) {
    result.diagnostics.push_back({Severity::error, {}, error.what(), ""});
  }
  std::ranges::stable_sort(result.diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.range.line, a.range.column) < std::pair(b.range.line, b.range.column);
  });
  if (std::ranges::any_of(result.diagnostics, isError)) result.program.reset();
  return result;
}

tensor::Program parseFile(const std::string& path, std::shared_ptr<tensor::NodeStore> store) {
  const std::string text = readWholeFile(path);
  Parsed parsed = parse(text, std::move(store));
  if (!parsed.program) throw UserError(render(parsed.diagnostics, path, text));
  return std::move(*parsed.program);
}

}  // namespace nuscope::language
