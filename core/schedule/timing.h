#pragma once
// A timing model of a schedule on a target. Everything here is modelled, never measured, and shown so.
//
// A task needs its bytes and its flops. Running tasks share the memory bandwidth equally, each at most what
// one SM can draw; flops run at the SM's share of the peak; a task ends when both are done, after a fixed
// overhead. A queue runs its entries in order; a task in no queue goes to the first SM that is free, in list
// order.
#include "core/schedule/order.h"

namespace nuscope::schedule {

struct TimingTarget {
  std::string name;
  std::int64_t sms = 0;
  double bytesPerSecond = 0;    ///< of the memory, measured where known, else by its data sheet
  double smBytesPerSecond = 0;  ///< most that one SM can draw
  double flopsPerSecond = 0;    ///< 16-bit dense, data sheet
  double taskSeconds = 1.5e-6;  ///< start, dispatch and signal of one task
  double waitSeconds = 0.7e-6;  ///< from a signal on one SM to the waiter on another
  double pollSeconds = 0.2e-6;  ///< one look at a counter before a task starts
  std::string source;           ///< where the figures come from, in words
};
/// "h100", "a100", ... or "file": the schedule's own target. Refused with the known names.
Result<TimingTarget> timingTarget(std::string_view name, const Schedule& schedule);
std::vector<std::string> timingTargetNames();

struct QueueTime {
  std::int64_t sm = 0;
  double busy = 0, waiting = 0,
         idle = 0;  ///< seconds: in tasks, at waits, after its last entry; sum = makespan
  std::int32_t tasks = 0;
};
struct Timing {
  TimingTarget target;
  double makespan = 0;                     ///< seconds
  std::vector<double> start, finish;       ///< per task, seconds
  std::vector<std::int64_t> ranOn;         ///< per task: its SM, chosen by the model for tasks in no queue
  std::vector<std::int32_t> criticalPath;  ///< tasks, each waited for by the next; the last ends the run
  std::vector<QueueTime> queues;
  double floorBytes = 0;  ///< weights and caches that must be read at least once
  double floor = 0;       ///< seconds that this takes at full bandwidth; no schedule is faster
};
/// Refused for a schedule that deadlocks or has more queues than the target has SMs. Throws Cancelled.
Result<Timing> modelTime(const Analysis& analysis, const TimingTarget& target, const Progress& progress);

struct DropGain {
  TimingTarget target;
  double before = 0, after = 0;  ///< makespan with the waits and without them, seconds
};
/// What it would bring, modelled, to drop these waits at once. Refused as modelTime. Throws Cancelled.
Result<DropGain> gainOfDropping(const Analysis& analysis, const std::vector<WaitNote>& notes,
                                const TimingTarget& target, const Progress& progress);

}  // namespace nuscope::schedule
