#include "core/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace nuscope {
namespace {

std::string_view lineOf(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

int codePoints(std::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::string_view file, std::string_view text) {
  const SourceRange& range = diagnostic.range;
  std::string out;
  if (range.line == 0) {
    out = fmt::format("{}: {}: {}\n", file, word(diagnostic.severity), diagnostic.message);
  } else {
    out = fmt::format("{}:{}:{}: {}: {}\n", file, range.line, range.column, word(diagnostic.severity),
                      diagnostic.message);
    const std::string_view line = lineOf(text, range.line);
    const int length = codePoints(line);
    const int first = std::max(1, range.column);
    const int last = range.endLine > range.line ? length : std::max(first, range.endColumn - 1);
    std::string shown(line);
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    out += fmt::format("{:5} | {}\n      | {}^{}\n", range.line, shown,
                       std::string(static_cast<size_t>(first - 1), ' '),
                       std::string(static_cast<size_t>(std::max(0, std::min(last, length) - first)), '~'));
  }
  if (!diagnostic.hint.empty()) out += fmt::format("      help: {}\n", diagnostic.hint);
  return out;
}

std::string render(const std::vector<Diagnostic>& diagnostics, std::string_view file, std::string_view text) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += render(diagnostic, file, text);
  return out;
}

}  // namespace nuscope
