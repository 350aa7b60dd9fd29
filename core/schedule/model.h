#pragma once
// What execution depends on: queues, producers, waits; and the greedy closure from which every exact answer
// follows.
//
// Counters only grow, waits are upward closed and each task fires once, so execution is confluent: starting
// whatever can start reaches one maximal set. With closure(X) = start all that can start, complete all but X:
//   deadlock-free        iff closure({}) completes everything;
//   u happens before v   iff v does not start in closure({u});
//   v may read e unwritten iff v starts in closure(writers of e).            (reference/megakernel.md H.1)
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/footprint.h"
#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// Positions instead of ids; immutable. Precondition: the schedule is well formed.
struct Model {
  struct Need {
    std::int32_t counter = 0;
    std::int64_t threshold = 1;
  };
  std::int32_t tasks = 0;
  std::int32_t counters = 0;
  std::vector<std::vector<std::int32_t>> queues;     ///< task positions, in order
  std::vector<std::int64_t> queueSm;                 ///< the SM of each queue
  std::vector<std::int32_t> queueOf;                 ///< per task; -1: in no queue
  std::vector<std::int32_t> before;                  ///< the queue entry before a task; -1
  std::vector<std::vector<Need>> needs;              ///< waits per task
  std::vector<std::vector<std::int32_t>> raises;     ///< counters per task
  std::vector<std::vector<std::int32_t>> producers;  ///< tasks per counter, in list order
  std::vector<std::vector<std::int32_t>> waiters;    ///< tasks per counter
};

Model modelOf(const Schedule& schedule, const Ids& ids);

struct Closure {
  std::vector<std::int32_t> order;     ///< tasks in the order in which they started
  std::vector<char> started;           ///< per task
  std::vector<char> completed;         ///< per task
  std::vector<std::int64_t> counters;  ///< values at the end
};

/// Greedy closure; tasks in `held` start but never complete. Deterministic: the lowest startable position
/// first.
Closure closure(const Model& model, std::span<const std::int32_t> held = {});

}  // namespace nuscope::schedule
