#pragma once
// Certificates: what anybody can check without trusting the checker (core/replay reads them).
//
// {"format": "nuscope-schedule-certificate", "version": 1, "verdict": "safe" | "unsafe",
//  "schedule": the schedule, AutoMegaKernel JSON or our own form,
//  unsafe: "findings": [{"code", "task", "other", "buffer", "other_buffer", "element" (row-major), "firing"
//  (ids of tasks to
//          complete in this order; then "task" and, where "unordered", "other" can start), "cycle", "stuck",
//          "message"}],
//  safe:   "order": ids of a complete run, "chains": lists of ids, each before the next,
//          "clocks": {id: [[chain, position], ...]}}   position: that entry of the chain has completed
//          whenever id starts
// All references are ids.
#include "core/schedule/check.h"

namespace nuscope::schedule {

/// Precondition: the report is of this schedule and not malformed; a safe one was made with keepClocks.
std::string certificate(const Schedule& schedule, const Report& report);

}  // namespace nuscope::schedule
