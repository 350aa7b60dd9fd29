#include "views/schedule/task_boxes.h"

#include <algorithm>

#include "views/schedule/schedule_words.h"
#include "views/text.h"

namespace nuscope::views {

namespace {
constexpr double cardWidth = 184;
}

std::uint64_t keyOf(schedule::TaskGraph::Kind kind, std::int32_t index) {
  return (static_cast<std::uint64_t>(kind) + 1) << 32 | static_cast<std::uint32_t>(index);
}
schedule::TaskGraph::Kind kindOf(std::uint64_t key) {
  return static_cast<schedule::TaskGraph::Kind>((key >> 32) - 1);
}
std::int32_t indexOf(std::uint64_t key) {
  return static_cast<std::int32_t>(key & 0xFFFFFFFFU);
}

GraphContent TaskBoxes::content() const {
  GraphContent made;
  made.ring = ring;
  made.leftToRight = true;
  made.betweenRanks = around ? 0 : 64;
  made.quietLabels = !around;
  const Changed changed = changedTasks();
  for (const auto& node : graph->nodes) made.boxes.push_back(boxOf(node, changed));
  for (std::size_t e = 0; e < graph->edges.size(); ++e)
    made.edges.push_back(edgeOf(graph->edges[e], static_cast<int>(e)));
  made.notice = notice();
  return made;
}

TaskBoxes::Changed TaskBoxes::changedTasks() const {
  return difference ? views::changedTasks(*difference) : Changed();
}

QString TaskBoxes::groupName(std::int32_t group) const {
  const auto& groups = state->outline->groups();
  const auto& g = groups[static_cast<std::size_t>(group)];
  return (g.parent > 0 ? qs(groups[static_cast<std::size_t>(g.parent)].name) + QLatin1Char('.') : QString()) +
         qs(g.name);
}

QString TaskBoxes::notice() const {
  QStringList words;
  if (graph->hidden > 0)
    words << counted(graph->hidden, QObject::tr("task is not shown"), QObject::tr("tasks are not shown"));
  if (graph->cut)
    words << QObject::tr("some groups stay closed: at most %1 boxes")
                 .arg(grouped(static_cast<qint64>(mostTaskBoxes)));
  return words.join(QStringLiteral("; "));
}

Box TaskBoxes::taskBox(std::int32_t task, const Changed& changed) const {
  const schedule::Task& t = state->schedule->tasks[static_cast<std::size_t>(task)];
  const OpLook look = lookOf(t);
  Box box;
  box.key = keyOf(schedule::TaskGraph::Kind::task, task);
  box.title = state->taskName(task);
  box.second = queueText(*state, task);
  box.width = cardWidth;
  box.tint = look.tint;
  box.sign = t.sm && *t.sm < 1000 ? QString::number(*t.sm) : look.sign;
  const bool current = run && &run->model() == state->model.get();
  if (current) {
    box.third = taskStateText(*state, *run, task, step);
    const bool done = run->doneAt(task, step);
    box.fault = !done && certificate.count(task) > 0 && step >= run->faultStep();
    if (done) box.badge = Mark::proved;
  }
  const auto change = changed.find(task);
  if (change != changed.end()) box.badge = change->second;
  box.description = opName(t) + QStringLiteral(", ") + queueText(*state, task) +
                    (box.third.isEmpty() ? QString() : QStringLiteral("\n") + box.third);
  return box;
}

Box TaskBoxes::groupBox(std::int32_t group, const Changed& changed) const {
  const auto& groups = state->outline->groups();
  const auto& g = groups[static_cast<std::size_t>(group)];
  Box box;
  box.key = keyOf(schedule::TaskGraph::Kind::group, group);
  box.title = groupName(group);
  box.second = counted(g.count, QObject::tr("task"), QObject::tr("tasks"));
  box.hidden = g.count;
  const OpLook look = lookOf(state->schedule->tasks[static_cast<std::size_t>(g.first)]);
  const bool layer = !g.groups.empty();
  box.tint = layer ? Tint::input : look.tint;
  box.sign = layer ? QStringLiteral("\u25A4") : look.sign;
  int changes = 0;
  const auto inside = [&](int task) {
    for (std::int32_t at = state->outline->groupOf(task); at > 0;
         at = groups[static_cast<std::size_t>(at)].parent) {
      if (at == group) return true;
    }
    return false;
  };
  for (const auto& [task, mark] : changed) changes += inside(task) ? 1 : 0;
  if (changes > 0) box.badge = Mark::moved;
  box.fault = std::ranges::any_of(certificate, inside);
  box.description = layer ? QObject::tr("Enter shows its operators") : QObject::tr("Enter shows its tasks");
  return box;
}

Box TaskBoxes::counterBox(std::int32_t counter) const {
  const auto i = static_cast<std::size_t>(counter);
  Box box;
  box.key = keyOf(schedule::TaskGraph::Kind::counter, counter);
  box.title = QObject::tr("counter %1").arg(state->counterId(counter));
  box.second = QObject::tr("%1 raise it").arg(state->model->producers[i].size());
  box.tint = Tint::algebra;
  box.sign = QStringLiteral("c");
  box.description = qs(state->schedule->counters[i].note);
  return box;
}

Box TaskBoxes::boxOf(const schedule::TaskGraph::Node& node, const Changed& changed) const {
  switch (node.kind) {
    case schedule::TaskGraph::Kind::group:
      return groupBox(node.index, changed);
    case schedule::TaskGraph::Kind::counter:
      return counterBox(node.index);
    case schedule::TaskGraph::Kind::task:
      break;
  }
  return taskBox(node.index, changed);
}

Edge TaskBoxes::edgeOf(const schedule::TaskGraph::Edge& edge, int place) const {
  using Why = schedule::TaskGraph::Edge::Why;
  Edge made;
  made.from = edge.from;
  made.to = edge.to;
  made.key = static_cast<std::uint64_t>(place) + 1;
  const QString counter =
      edge.counter >= 0 ? QObject::tr("counter %1").arg(state->counterId(edge.counter)) : QString();
  switch (edge.why) {
    case Why::signal:
      made.label = edge.count > 1 ? QObject::tr("%1 counters").arg(edge.count) : counter;
      break;
    case Why::queue:
      made.label = QObject::tr("queue");
      made.dashed = true;
      break;
    case Why::waitsFor:
      made.label =
          QStringLiteral("%1 %2").arg(place + 1).arg(edge.counter >= 0 ? counter : QObject::tr("queue"));
      made.dashed = edge.counter < 0;
      made.fault = true;
      break;
    case Why::collides:
      made.label = QObject::tr("unordered");
      made.fault = true;
      break;
  }
  made.description = made.label;
  made.strong = chosenCounter >= 0 && edge.counter == chosenCounter && edge.count == 1;
  return made;
}

}  // namespace nuscope::views
