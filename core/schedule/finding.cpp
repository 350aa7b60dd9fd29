#include "core/schedule/finding.h"

#include <iterator>
#include <string_view>

namespace nuscope::schedule {
namespace {

struct Row {
  std::string_view code;
  bool malformed;
};
#define X(name, code, malformed) {code, malformed},
constexpr Row rows[] = {NUSCOPE_RULES(X)};
#undef X

}  // namespace

std::string_view code(Rule rule) {
  return rows[static_cast<std::size_t>(rule)].code;
}
bool isMalformed(Rule rule) {
  return rows[static_cast<std::size_t>(rule)].malformed;
}

std::optional<Rule> parseRule(std::string_view wanted) {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (rows[i].code == wanted) return static_cast<Rule>(i);
  }
  return std::nullopt;
}

}  // namespace nuscope::schedule
