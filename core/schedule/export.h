#pragma once
// Schedules for other programs: Graphviz dot and Chrome traces (chrome://tracing, ui.perfetto.dev).
#include <string>

#include "core/schedule/timing.h"

namespace nuscope::schedule {

/// Tasks and counters as a bipartite graph, one cluster a queue. Above `mostTasks` tasks, tasks are collapsed
/// by label pattern (L#.q_proj[t#] x 64), and the graph's label says so.
std::string dotText(const Schedule& schedule, std::size_t mostTasks = 2000);
/// Trace-event JSON of a modelled run: one row a queue, one slice a task, microseconds, "modelled" in the
/// name.
std::string chromeTrace(const Schedule& schedule, const Timing& timing);

}  // namespace nuscope::schedule
