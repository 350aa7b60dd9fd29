#pragma once
// Which elements a task reads and writes: the opcode table's regions as strided intervals of a storage.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// True iff some element lies in both. Exact; O(1) for equal strides or one interval, else O(min count).
bool overlap(const Strided& a, const Strided& b);
/// The first element of the overlap, as a row-major position; -1 if none.
std::int64_t firstCommon(const Strided& a, const Strided& b);

/// A rectangle of a buffer as row-major intervals (empty region: the whole buffer); clipped to it. More than
/// `mostRegionParts` pieces are refused as malformed where tasks declare them, so precondition: no more.
std::vector<Strided> stridedParts(const std::vector<std::int64_t>& shape, const Region& region);
/// How many pieces stridedParts would make.
std::int64_t regionParts(const std::vector<std::int64_t>& shape, const Region& region);
inline constexpr std::int64_t mostRegionParts = 4096;

/// Ids -> positions in the lists of a schedule; -1 for unknown ids. The first of two equal ids counts.
class Ids {
 public:
  explicit Ids(const Schedule& schedule);
  [[nodiscard]] std::int32_t buffer(std::int64_t id) const { return find(buffers_, id); }
  [[nodiscard]] std::int32_t counter(std::int64_t id) const { return find(counters_, id); }
  [[nodiscard]] std::int32_t task(std::int64_t id) const { return find(tasks_, id); }

 private:
  /// Mostly an id is its position: then nothing is kept.
  struct Map {
    std::int64_t dense = 0;  ///< ids 0 .. dense-1 are their positions
    std::unordered_map<std::int64_t, std::int32_t> others;
  };
  static std::int32_t find(const Map& map, std::int64_t id) {
    if (id >= 0 && id < map.dense) return static_cast<std::int32_t>(id);
    if (map.others.empty()) return -1;
    const auto at = map.others.find(id);
    return at == map.others.end() ? -1 : at->second;
  }
  Map buffers_, counters_, tasks_;
};

/// One access of a task, clipped to its buffer.
struct Touch {
  std::int32_t task = 0;    ///< position in the task list
  std::int32_t buffer = 0;  ///< position in the buffer list
  bool write = false;
  Strided region;
};

/// An access that leaves its buffer, in words.
struct Overrun {
  std::int32_t task = 0;
  std::int32_t buffer = 0;
  std::string what;
};

struct Footprints {
  std::vector<Touch> touches;  ///< in task order; reads before writes of a task
  std::vector<Overrun> overruns;
};

/// Precondition: the schedule is well formed (structure.h). Regions are clipped to the buffers; the clipping
/// is an overrun. An empty region (outside altogether) is left out.
Footprints footprints(const Schedule& schedule, const Ids& ids);

}  // namespace nuscope::schedule
