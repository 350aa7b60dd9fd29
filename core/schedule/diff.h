#pragma once
// What differs between two schedules: tasks by label where labels are unique in both, otherwise by id.
#include <string>
#include <vector>

#include "core/schedule/ir.h"

namespace nuscope::schedule {

struct Change {
  enum class Kind : std::uint8_t {
    added,    ///< only in the second
    removed,  ///< only in the first
    moved,    ///< other place in its queue, or another SM
    changed   ///< waits, signals, parameters, accesses
  };
  Kind kind = Kind::changed;
  std::int32_t before = -1;  ///< position of the task in the first; -1
  std::int32_t after = -1;   ///< in the second; -1
  std::string what;          ///< "SM 4 → SM 9", "waits for counter 4 ≥ 1", "N_tile 8 → 4"
  std::string was, is;       ///< the same as values, either may be empty
};

struct Difference {
  std::vector<Change> changes;  ///< in order of the second, removed ones where they were
  std::int64_t same = 0;        ///< tasks that are equal in both
  bool recordsDiffer = false;   ///< buffers, counters, pages or the rest differ as well
};

Difference differenceOf(const Schedule& first, const Schedule& second);

}  // namespace nuscope::schedule
