#include "views/schedule/schedule_words.h"

#include <algorithm>

#include "views/text.h"

namespace nuscope::views {

Tint tintOf(schedule::Opcode op) {
  using schedule::Opcode;
  switch (op) {
    case Opcode::gemvTile:
    case Opcode::gemmTile:
      return Tint::contract;
    case Opcode::rmsnorm:
    case Opcode::layernorm:
    case Opcode::softmax:
    case Opcode::attentionTile:
    case Opcode::attentionCombine:
    case Opcode::allreduceShard:
    case Opcode::sampleArgmax:
      return Tint::fold;
    case Opcode::nop:
    case Opcode::copy:
    case Opcode::embed:
    case Opcode::kvAppend:
      return Tint::layout;
    case Opcode::fused:
    case Opcode::custom:
      return Tint::fused;
    default:
      return Tint::elementwise;
  }
}

OpLook lookOf(const schedule::Task& task) {
  const Tint tint = tintOf(task.op);
  switch (tint) {
    case Tint::contract:
      return {tint, QStringLiteral("@")};
    case Tint::fold:
      return {tint, QStringLiteral("\u03A3")};
    case Tint::layout:
      return {tint, QStringLiteral("\u21C4")};
    case Tint::fused:
      return {tint, QStringLiteral("F")};
    default:
      return {tint, QStringLiteral("\u2299")};
  }
}

Tint tintOf(const schedule::Buffer& buffer) {
  using schedule::BufferKind;
  switch (buffer.kind) {
    case BufferKind::weight:
    case BufferKind::constant:
      return Tint::layout;
    case BufferKind::input:
      return Tint::input;
    case BufferKind::output:
      return Tint::contract;
    case BufferKind::kvCache:
      return Tint::fold;
    case BufferKind::activation:
      return Tint::elementwise;
  }
  return Tint::elementwise;
}

QString opName(const schedule::Task& task) {
  return task.op == schedule::Opcode::custom ? qs(task.customOp) : qs(schedule::text(task.op));
}

QString ruleTitle(schedule::Rule rule) {
  switch (rule) {
    case schedule::Rule::deadlock:
      return QObject::tr("Deadlock");
    case schedule::Rule::race:
      return QObject::tr("Race");
    case schedule::Rule::uninitialisedRead:
      return QObject::tr("Early read");
    case schedule::Rule::outOfBounds:
      return QObject::tr("Out of bounds");
    case schedule::Rule::readOnlyWrite:
      return QObject::tr("Read-only write");
    case schedule::Rule::pageCapacity:
      return QObject::tr("Page too small");
    case schedule::Rule::pageClobber:
      return QObject::tr("Page clobbered");
    case schedule::Rule::onChipLocality:
      return QObject::tr("Not on its SM");
    case schedule::Rule::outputIncomplete:
      return QObject::tr("Output gap");
    case schedule::Rule::badPlacement:
      return QObject::tr("No such SM");
    case schedule::Rule::unsatisfiableWait:
      return QObject::tr("Endless wait");
    default:
      break;
  }
  QString code = qs(schedule::code(rule)).replace(QLatin1Char('-'), QLatin1Char(' '));
  if (!code.isEmpty()) code[0] = code[0].toUpper();
  return code;
}

Mark markOf(schedule::Safety safety) {
  switch (safety) {
    case schedule::Safety::safe:
      return Mark::proved;
    case schedule::Safety::unsafe:
    case schedule::Safety::malformed:
      return Mark::refuted;
    case schedule::Safety::undecided:
      return Mark::unknown;
  }
  return Mark::unknown;
}

Mark markOf(schedule::Change::Kind kind) {
  switch (kind) {
    case schedule::Change::Kind::added:
      return Mark::added;
    case schedule::Change::Kind::removed:
      return Mark::removed;
    case schedule::Change::Kind::moved:
    case schedule::Change::Kind::changed:
      return Mark::moved;
  }
  return Mark::moved;
}

QString summary(const ScheduleState& state, const std::vector<std::int32_t>& tasks) {
  if (tasks.empty()) return QObject::tr("nothing");
  if (tasks.size() <= 2) {
    QStringList names;
    for (const std::int32_t t : tasks) names << state.taskName(t);
    return names.join(QStringLiteral(", "));
  }
  constexpr std::size_t mostLooked = 4096;
  constexpr int mostNamed = 3;
  std::vector<std::pair<std::int32_t, std::int64_t>> groups;
  for (std::size_t i = 0; i < std::min(tasks.size(), mostLooked); ++i) {
    const std::int32_t group = state.outline->groupOf(tasks[i]);
    const auto at = std::ranges::find(groups, group, [](const auto& g) { return g.first; });
    if (at == groups.end()) {
      groups.emplace_back(group, 1);
    } else {
      ++at->second;
    }
  }
  QStringList names;
  std::int64_t named = 0;
  for (const auto& [group, count] : groups) {
    if (names.size() == mostNamed) break;
    const auto& g = state.outline->groups()[static_cast<std::size_t>(group)];
    const QString layer =
        g.parent > 0 ? qs(state.outline->groups()[static_cast<std::size_t>(g.parent)].name) + QLatin1Char('.')
                     : QString();
    const bool all = groups.size() == 1 && tasks.size() > mostLooked;
    const auto shown = all ? static_cast<std::int64_t>(tasks.size()) : count;
    names << layer + qs(g.name) +
                 (shown > 1 ? QStringLiteral(" \u00D7\u2009%1").arg(grouped(shown)) : QString());
    named += shown;
  }
  const auto left = static_cast<std::int64_t>(tasks.size()) - named;
  if (left > 0) names << QObject::tr("%1 more").arg(grouped(left));
  return names.join(QStringLiteral(", "));
}

QString unmetText(const ScheduleState& state, const schedule::Rounds::Unmet& unmet, std::int32_t task) {
  if (unmet.counter < 0) {
    QString name = state.taskName(unmet.before);
    const auto layer = [&](std::int32_t t) {
      return schedule::partsOf(state.schedule->tasks[static_cast<std::size_t>(t)].label).layer;
    };
    const auto shared = layer(unmet.before);
    if (!shared.empty() && shared == layer(task)) name = name.mid(static_cast<qsizetype>(shared.size()) + 1);
    return QObject::tr("behind %1").arg(name);
  }
  return QObject::tr("c%1 \u2265 %2, has %3")
      .arg(state.counterId(unmet.counter))
      .arg(unmet.threshold)
      .arg(unmet.value);
}

QString taskStateText(const ScheduleState& state, const schedule::Rounds& run, std::int32_t task, int step) {
  if (run.doneAt(task, step)) return QObject::tr("done");
  const auto unmet = run.unmetAt(task, step);
  if (unmet.empty()) return QObject::tr("ready");
  // A counter says more than a place in a queue, and the first task of a queue has no other reason.
  const auto counter = std::ranges::find_if(unmet, [](const auto& u) { return u.counter >= 0; });
  const bool behind = unmet.front().counter < 0;
  if (behind) return unmetText(state, unmet.front(), task);
  return counter == unmet.end() ? unmetText(state, unmet.front(), task)
                                : QObject::tr("needs %1").arg(unmetText(state, *counter, task));
}

QString queueText(const ScheduleState& state, std::int32_t task) {
  const std::int32_t queue = state.model->queueOf[static_cast<std::size_t>(task)];
  if (queue < 0) return QObject::tr("no queue");
  const auto& entries = state.model->queues[static_cast<std::size_t>(queue)];
  const auto place = std::ranges::lower_bound(entries, task) - entries.begin() + 1;
  return QObject::tr("SM %1, %2 of %3")
      .arg(state.model->queueSm[static_cast<std::size_t>(queue)])
      .arg(place)
      .arg(entries.size());
}

std::set<int> certificateTasks(const ScheduleDocument& document) {
  std::set<int> tasks;
  const FindingDetail* detail = document.detail();
  if (detail == nullptr) return tasks;
  tasks.insert(detail->finding.cycle.begin(), detail->finding.cycle.end());
  for (const std::int32_t t : {detail->finding.task, detail->finding.other}) {
    if (t >= 0) tasks.insert(t);
  }
  return tasks;
}

std::set<int> certificateCounters(const ScheduleDocument& document) {
  std::set<int> counters;
  const auto state = document.shown();
  if (!state) return counters;
  for (const int t : certificateTasks(document)) {
    for (const auto& need : state->model->needs[static_cast<std::size_t>(t)]) counters.insert(need.counter);
    for (const std::int32_t c : state->model->raises[static_cast<std::size_t>(t)]) counters.insert(c);
  }
  return counters;
}

std::map<int, Mark> changedTasks(const schedule::Difference& difference) {
  std::map<int, Mark> result;
  for (const schedule::Change& change : difference.changes) {
    if (change.after >= 0) result.emplace(change.after, markOf(change.kind));
  }
  return result;
}

std::map<int, Mark> changedTasks(const ScheduleDocument& document) {
  const auto difference = document.difference();
  return difference ? changedTasks(*difference) : std::map<int, Mark>();
}

}  // namespace nuscope::views
