#include "core/schedule/named_region.h"

#include <fmt/format.h>

#include <charconv>

namespace nuscope::schedule {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "3", "1:4", ":4", "1:", ":" of an axis.
std::optional<std::pair<std::int64_t, std::int64_t>> range(std::string_view text, std::int64_t extent) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto at = whole(text);
    if (!at) return std::nullopt;
    return std::pair(*at, *at + 1);
  }
  const auto bound = [](std::string_view side, std::int64_t otherwise) {
    return side.empty() ? std::optional(otherwise) : whole(side);
  };
  const auto from = bound(trimmed(text.substr(0, colon)), 0);
  const auto to = bound(trimmed(text.substr(colon + 1)), extent);
  if (!from || !to) return std::nullopt;
  return std::pair(*from, *to);
}

Result<std::int32_t> bufferOf(const Schedule& schedule, std::string_view name) {
  std::int32_t found = -1;
  const auto id = whole(name);
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    if (id ? schedule.buffers[b].id != *id : schedule.buffers[b].name != name) continue;
    if (found >= 0) return Refusal{fmt::format("several buffers are called {}", name), "give the id"};
    found = static_cast<std::int32_t>(b);
  }
  if (found < 0) return Refusal{fmt::format("there is no buffer {}", name), ""};
  return found;
}

}  // namespace

Result<NamedRegion> parseRegion(const Schedule& schedule, std::string_view text) {
  text = trimmed(text);
  const bool bounded = text.ends_with(']') && text.find('[') != std::string_view::npos;
  const auto open = bounded ? text.rfind('[') : text.size();
  const auto buffer = bufferOf(schedule, trimmed(text.substr(0, open)));
  if (!buffer) return buffer.refusal();
  NamedRegion result{*buffer, {}};
  if (!bounded) return result;
  const auto& shape = schedule.buffers[static_cast<std::size_t>(*buffer)].shape;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view one = trimmed(rest.substr(0, comma));
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const std::size_t axis = result.region.ranges.size();
    if (axis >= shape.size()) break;
    const auto bounds = range(one, shape[axis]);
    if (!bounds) return Refusal{fmt::format("'{}' is no range", one), "write 16:32, 3 or :"};
    if (bounds->first < 0 || bounds->first >= bounds->second || bounds->second > shape[axis])
      return Refusal{fmt::format("{}:{} is no part of axis {}, which has {}", bounds->first, bounds->second,
                                 axis, shape[axis]),
                     ""};
    result.region.ranges.push_back(*bounds);
    if (!more && result.region.ranges.size() == shape.size()) return result;
  }
  return Refusal{fmt::format("buffer {} has {} axes: one range each",
                             schedule.buffers[static_cast<std::size_t>(*buffer)].id, shape.size()),
                 ""};
}

std::string text(const Schedule& schedule, const NamedRegion& region) {
  const Buffer& b = schedule.buffers[static_cast<std::size_t>(region.buffer)];
  std::string out = b.name.empty() ? std::to_string(b.id) : b.name;
  if (region.region.ranges.empty()) return out;
  std::string ranges;
  for (const auto& [from, to] : region.region.ranges)
    ranges += fmt::format("{}{}:{}", ranges.empty() ? "" : ", ", from, to);
  return out + "[" + ranges + "]";
}

}  // namespace nuscope::schedule
