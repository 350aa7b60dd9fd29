#include "core/tiling/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/diagnostics.h"

namespace nuscope::tiling {

std::string text(const Parameters& parameters) {
  std::string result;
  for (const auto& [name, value] : parameters) result += fmt::format("{}{}={}", result.empty() ? "" : " ", name, value);
  return result;
}

void set(Parameters& parameters, std::string_view assignment) {
  const auto equals = assignment.find('=');
  std::int64_t value = 0;
  const std::string_view number = equals == std::string_view::npos ? "" : assignment.substr(equals + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (equals == 0 || number.empty() || error != std::errc() || end != number.data() + number.size()) {
    throw UserError(fmt::format("'{}' is no setting: NAME=INTEGER is expected, e.g. tile_m=6", assignment));
  }
  parameters[std::string(assignment.substr(0, equals))] = value;
}

Parameters Space::presets() const {
  Parameters result;
  for (const Parameter& one : parameters) result[one.name] = one.preset;
  return result;
}

}  // namespace nuscope::tiling
