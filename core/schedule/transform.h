#pragma once
// Schedules made from schedules: several passes in one launch, the order of AutoMegaKernel's loader, a fixed
// position.
#include "core/base/result.h"
#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// What happens to the counters between passes.
enum class CounterReset : std::uint8_t { reset, kept };
/// As the file says: "counters": "kept" | "reset" in its config or meta, or "passes" of our form; else reset
/// (a launch a pass).
CounterReset counterReset(const Schedule& schedule);

/// `passes` passes as one schedule. Reset: a pass begins when the one before has completed, with fresh
/// counters. Kept: the same counters go on, and a wait of pass k (from 0) asks for its threshold + k * its
/// per-pass step (our form; 0 in AutoMegaKernel files). Each pass appends to the caches one position further.
/// Refused for passes outside 1 .. 64 or more than 4,000,000 tasks. Pass k adds k * stride to the ids.
Result<Schedule> unroll(const Schedule& schedule, int passes, CounterReset reset);

/// The task order that AutoMegaKernel's loader builds its queues from: first-in first-out topological order
/// over counter edges, smallest positions first at the start; queues are split from it. A task on a counter
/// cycle keeps its place at the end.
Schedule sortedAsLoaded(const Schedule& schedule);

/// With every position expression evaluated at `position`. Refused outside the schedule's range; a schedule
/// without positions is returned as it is.
Result<Schedule> atPosition(const Schedule& schedule, std::int64_t position);

}  // namespace nuscope::schedule
