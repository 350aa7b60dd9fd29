#pragma once
// How the schedule views call things and colour them.
#include "views/graph/graph_content.h"
#include "views/schedule/schedule_document.h"

namespace nuscope::views {

/// Tint and sign of a task's operation: @ matrix products, Σ folds, ⊙ elementwise, ⇄ moves, F fused.
struct OpLook {
  Tint tint = Tint::elementwise;
  QString sign;
};
OpLook lookOf(const schedule::Task& task);
Tint tintOf(schedule::Opcode op);
Tint tintOf(const schedule::Buffer& buffer);
/// "GEMV_TILE", or the name of a custom operation.
QString opName(const schedule::Task& task);

/// Of a rule's code: "Deadlock", "Early read".
QString ruleTitle(schedule::Rule rule);
Mark markOf(schedule::Safety safety);
Mark markOf(schedule::Change::Kind kind);

/// "L0.q_proj[t0], L0.q_proj[t1]"; more than two are counted by operator: "L0.gate_proj × 4".
QString summary(const ScheduleState& state, const std::vector<std::int32_t>& tasks);
/// Why `task` cannot start: "c4 ≥ 1, has 0", "behind L0.swiglu" (without the layer where it is the same).
QString unmetText(const ScheduleState& state, const schedule::Rounds::Unmet& unmet, std::int32_t task);
/// Of a task at a step: "done", "ready", "needs c4 ≥ 1, has 0", "behind L0.swiglu".
QString taskStateText(const ScheduleState& state, const schedule::Rounds& run, std::int32_t task, int step);
/// "SM 4, first", "no queue".
QString queueText(const ScheduleState& state, std::int32_t task);
/// Tasks of the certificate of the chosen finding.
std::set<int> certificateTasks(const ScheduleDocument& document);
/// Counters of the certificate: those its tasks wait for or raise.
std::set<int> certificateCounters(const ScheduleDocument& document);
/// Tasks that differ in the comparison that is shown, by position in the schedule shown.
std::map<int, Mark> changedTasks(const ScheduleDocument& document);
std::map<int, Mark> changedTasks(const schedule::Difference& difference);

}  // namespace nuscope::views
