#pragma once
// Not only faults: why two tasks are ordered, or how each can come first; who writes and reads a region, in
// order; which waits nobody needs.
#include "core/schedule/analysis.h"

namespace nuscope::schedule {

/// One link of a chain: `from` has completed whenever `to` starts.
struct OrderLink {
  std::int32_t from = -1, to = -1;
  std::int32_t counter = -1;   ///< position of the counter that `to` waits for; -1: they follow in one queue
  std::int64_t threshold = 0;  ///< of that wait
  std::int64_t producers = 0;  ///< tasks that raise the counter
  /// A wait for fewer than all producers: those that are, or come after, the first task of the chain. There
  /// are more than producers - threshold of them, so one must have completed; `from` stands for them.
  std::vector<std::int32_t> among;
  std::string text;  ///< one sentence
};

struct OrderExplanation {
  enum class Kind : std::uint8_t { firstBeforeSecond, secondBeforeFirst, unordered };
  Kind kind = Kind::unordered;
  std::vector<OrderLink> chain;  ///< shortest, from the earlier task to the later one; empty if unordered
  /// Unordered: runs to replay with Run::of(schedule, firing, {last}): in the first, `first` has completed
  /// when `second` starts; in the other it is the other way round.
  std::vector<std::int32_t> firstThenSecond, secondThenFirst;
};

/// Preconditions: analysis.live(), first != second.
OrderExplanation explainOrder(const Analysis& analysis, std::int32_t first, std::int32_t second);

/// A use of a region by a task.
struct RegionUse {
  std::int32_t task = -1;
  std::int32_t buffer = -1;  ///< where it differs from the asked one, an alias
  bool write = false;
  std::int64_t element = 0;     ///< first common element, row-major in the storage
  std::int32_t unordered = -1;  ///< an earlier use in the list that it conflicts with and is not ordered with
};
/// Writers and readers of the elements of `region` (empty: the whole buffer), in an order in which they can
/// run; of more than `most` the first ones. Precondition: analysis.live().
std::vector<RegionUse> usesOf(const Analysis& analysis, std::int32_t buffer, const Region& region,
                              std::size_t most = SIZE_MAX);

/// Waits that could go. `redundant`: what is waited for has happened anyway, by the other waits and the
/// queue. `unneeded`: it orders nothing that conflicts; without it the schedule is still safe (re-checked).
struct WaitNote {
  enum class Kind : std::uint8_t { redundant, unneeded };
  Kind kind = Kind::redundant;
  std::int32_t task = -1;
  std::size_t wait = 0;  ///< index in Task::waits
  std::string text;
};
struct WaitNotes {
  std::vector<WaitNote> notes;  ///< dropping all redundant ones at once changes no order
  std::size_t notExamined = 0;  ///< waits for which the time did not suffice to see whether they are unneeded
};
/// Precondition: the schedule is safe. Throws Cancelled.
WaitNotes waitNotes(const Analysis& analysis, double secondsLimit, const Progress& progress);
/// The schedule without these waits.
Schedule withoutWaits(const Schedule& schedule, const std::vector<WaitNote>& notes);

}  // namespace nuscope::schedule
