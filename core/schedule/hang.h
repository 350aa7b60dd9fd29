#pragma once
// A hang dump: where each queue of a persistent kernel stood when nothing moved any more, and what the
// counters held. Read, and told apart: the schedule deadlocks, a queue never started, a signal was lost, a
// task is stuck.
//
// {"format": "nuscope-hang-dump", "version": 1,
//  "queues":   {"0": {"task": 17, "state": "waiting"}, ...},   SM -> id of its current task
//  "counters": {"3": 2, ...},                                  id -> value; counters not named held 0
//  "done":     [4, 9],                                         completed tasks that are in no queue
//  (optional) "running":  [12]}                                           started tasks that are in no queue
//  (optional)
// "task" null: the queue is at its end. "state" (optional): "waiting" (polls its waits), "running" (in the
// task), "not-started" (the block never took an entry), "done". Queues that are missing never started.
// Written by resources/hangdump/nuscope_hangdump.h.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/check.h"

namespace nuscope::schedule {

struct HangDump {
  struct Queue {
    enum class State : std::uint8_t { unknown, waiting, running, notStarted, done };
    std::optional<std::int64_t> task;  ///< id of the current entry; empty at the end
    State state = State::unknown;
  };
  std::map<std::int64_t, Queue> queues;           ///< by SM
  std::map<std::int64_t, std::int64_t> counters;  ///< by id
  std::vector<std::int64_t> done, running;        ///< ids of tasks without a queue
};
/// Refused with the place and what is wrong. Files above 64 MiB are refused.
Result<HangDump> parseHangDump(std::string_view json);
std::string writeHangDump(const HangDump& dump);
/// What a kernel would have saved when this schedule can go no further. Empty if it completes.
std::optional<HangDump> dumpOfDeadlock(const Schedule& schedule);

enum class HangCause : std::uint8_t {
  scheduleDeadlock,   ///< tasks wait for each other; it hangs in every run
  unsatisfiableWait,  ///< a threshold above the number of producers; it hangs in every run
  queueNeverStarted,  ///< others wait for entries of a queue that never took one
  signalLost,         ///< all producers have completed, and the counter is short of them
  taskStuck,          ///< its waits are met and it does not complete
  inconsistent,       ///< the dump is none of this schedule, or counters were raised too often
  none                ///< everything has completed
};
std::string_view text(HangCause cause);

struct HangExplanation {
  struct Cause {
    HangCause cause = HangCause::none;
    std::int32_t task = -1;                  ///< the stuck task, or one that waits; position
    std::int32_t counter = -1;               ///< the short counter; position
    std::int64_t sm = -1;                    ///< the queue that never started
    std::vector<std::int32_t> cycle = {};    ///< each waits for the next, the last for the first
    std::string text;                        ///< one sentence
    std::vector<std::int32_t> blocked = {};  ///< heads of queues that wait for it, directly or not
  };
  std::vector<Cause> causes;       ///< root causes; the one that blocks most first
  std::vector<std::string> chain;  ///< sentences from a waiting queue to the first cause
};
/// Refused if the dump names tasks, counters or SMs that the schedule does not have, or the schedule is
/// malformed.
Result<HangExplanation> explainHang(const Schedule& schedule, const HangDump& dump);

}  // namespace nuscope::schedule
