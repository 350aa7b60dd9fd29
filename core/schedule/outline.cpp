#include "core/schedule/outline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace nuscope::schedule {
namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool allDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, isDigit);
}

/// "t12", "s3", "7": a letter at most, then digits.
bool isIndex(std::string_view text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text.remove_prefix(1);
  return allDigits(text);
}

/// Nodes by what they stand for, edges by their ends.
class Builder {
 public:
  std::int32_t node(TaskGraph::Kind kind, std::int32_t index) {
    const auto key = (static_cast<std::int64_t>(kind) << 32) | index;
    const auto [at, isNew] = nodes_.emplace(key, static_cast<std::int32_t>(graph.nodes.size()));
    if (isNew) graph.nodes.push_back({kind, index});
    return at->second;
  }
  void edge(std::int32_t from, std::int32_t to, TaskGraph::Edge::Why why, std::int32_t counter = -1) {
    if (from == to) return;
    const auto key = std::make_tuple(from, to, why);
    const auto [at, isNew] = edges_.emplace(key, graph.edges.size());
    if (isNew) {
      graph.edges.push_back({from, to, why, counter, 1});
    } else if (graph.edges[at->second].counter != counter) {
      ++graph.edges[at->second].count;
    }
  }
  /// All producers to all waiters of one counter, over a node of its own where that is fewer edges.
  void signal(std::int32_t counter, const std::vector<std::int32_t>& from,
              const std::vector<std::int32_t>& to) {
    if (from.size() > 1 && to.size() > 1 && from.size() * to.size() > 4) {
      const std::int32_t middle = node(TaskGraph::Kind::counter, counter);
      for (const std::int32_t f : from) edge(f, middle, TaskGraph::Edge::Why::signal, counter);
      for (const std::int32_t t : to) edge(middle, t, TaskGraph::Edge::Why::signal, counter);
      return;
    }
    for (const std::int32_t f : from) {
      for (const std::int32_t t : to) edge(f, t, TaskGraph::Edge::Why::signal, counter);
    }
  }

  TaskGraph graph;

 private:
  std::unordered_map<std::int64_t, std::int32_t> nodes_;
  std::map<std::tuple<std::int32_t, std::int32_t, TaskGraph::Edge::Why>, std::size_t> edges_;
};

/// Edges among the tasks that are nodes: counters, and neighbours in a queue.
void connectTasks(Builder& builder, const Model& model, const std::vector<std::int32_t>& tasks) {
  const std::set<std::int32_t> shown(tasks.begin(), tasks.end());
  for (const std::int32_t task : tasks) {
    const auto t = static_cast<std::size_t>(task);
    const std::int32_t to = builder.node(TaskGraph::Kind::task, task);
    for (const Model::Need& need : model.needs[t]) {
      for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
        if (shown.contains(p))
          builder.edge(builder.node(TaskGraph::Kind::task, p), to, TaskGraph::Edge::Why::signal,
                       need.counter);
      }
    }
    const std::int32_t before = model.before[t];
    if (before >= 0 && shown.contains(before))
      builder.edge(builder.node(TaskGraph::Kind::task, before), to, TaskGraph::Edge::Why::queue);
  }
}

}  // namespace

LabelParts partsOf(std::string_view label) {
  LabelParts parts;
  if (const auto bracket = label.rfind('['); bracket != std::string_view::npos && label.ends_with(']')) {
    parts.tile = label.substr(bracket + 1, label.size() - bracket - 2);
    label = label.substr(0, bracket);
  } else if (const auto dot = label.rfind('.'); dot != std::string_view::npos && dot > 0 &&
                                                isIndex(label.substr(dot + 1)) && label.find('.') != dot) {
    parts.tile = label.substr(dot + 1);
    label = label.substr(0, dot);
  }
  parts.op = label;
  const auto dot = label.find('.');
  if (dot == std::string_view::npos) return parts;
  std::string_view first = label.substr(0, dot);
  const auto digits = first.find_first_of("0123456789");
  if (digits != std::string_view::npos && allDigits(first.substr(digits))) {
    parts.layer = first;
    parts.op = label.substr(dot + 1);
  } else if (const auto second = label.find('.', dot + 1);
             second != std::string_view::npos && allDigits(label.substr(dot + 1, second - dot - 1))) {
    parts.layer = label.substr(0, second);
    parts.op = label.substr(second + 1);
  }
  return parts;
}

Outline::Outline(const Schedule& schedule) {
  groups_.push_back({});
  groups_[0].count = static_cast<std::int32_t>(schedule.tasks.size());
  groupOf_.reserve(schedule.tasks.size());
  std::unordered_map<std::string, std::int32_t> byName;
  const auto group = [&](std::int32_t parent, std::string_view name, std::int32_t task) {
    const auto [at, isNew] = byName.emplace(std::to_string(parent) + "/" + std::string(name),
                                            static_cast<std::int32_t>(groups_.size()));
    if (isNew) {
      groups_.push_back({std::string(name), parent, {}, {}, 0, task});
      groups_[static_cast<std::size_t>(parent)].groups.push_back(at->second);
    }
    return at->second;
  };
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const Task& task = schedule.tasks[i];
    const auto t = static_cast<std::int32_t>(i);
    LabelParts parts = partsOf(task.label);
    if (parts.op.empty())
      parts.op = task.op == Opcode::custom ? std::string_view(task.customOp) : text(task.op);
    const std::int32_t layer = parts.layer.empty() ? 0 : group(0, parts.layer, t);
    const std::int32_t op = group(layer, parts.op, t);
    if (layer != 0) ++groups_[static_cast<std::size_t>(layer)].count;
    ++groups_[static_cast<std::size_t>(op)].count;
    groups_[static_cast<std::size_t>(op)].tasks.push_back(t);
    groupOf_.push_back(op);
  }
}

TaskGraph graphOf(const Outline& outline, const Model& model, const std::set<std::int32_t>& opened,
                  std::size_t most) {
  const auto& groups = outline.groups();
  Builder builder;
  std::vector<std::int32_t> nodeOf(static_cast<std::size_t>(model.tasks), -1);
  // What is shown, from the root down: layers, then operators, then tasks, each only while there is room.
  std::vector<std::int32_t> shown = groups[0].groups;
  bool grown = true;
  std::vector<std::int32_t> tasks;
  while (grown) {
    grown = false;
    std::vector<std::int32_t> next;
    std::size_t size = shown.size() + tasks.size();
    for (const std::int32_t g : shown) {
      const Outline::Group& group = groups[static_cast<std::size_t>(g)];
      const std::size_t inside = group.groups.size() + group.tasks.size();
      const bool single = group.tasks.size() == 1;  // nothing to fold
      if (!single && !opened.contains(g)) {
        next.push_back(g);
      } else if (size + inside - 1 > most) {
        builder.graph.cut = true;
        next.push_back(g);
      } else {
        size += inside - 1;
        next.insert(next.end(), group.groups.begin(), group.groups.end());
        tasks.insert(tasks.end(), group.tasks.begin(), group.tasks.end());
        grown = true;
      }
    }
    shown = std::move(next);
  }
  // In order of their first task, so that equal schedules look alike.
  std::vector<std::pair<std::int32_t, TaskGraph::Node>> nodes;
  for (const std::int32_t g : shown)
    nodes.push_back({groups[static_cast<std::size_t>(g)].first, {TaskGraph::Kind::group, g}});
  for (const std::int32_t t : tasks) nodes.push_back({t, {TaskGraph::Kind::task, t}});
  std::ranges::stable_sort(nodes, {}, [](const auto& n) { return n.first; });
  std::vector<std::int32_t> nodeOfGroup(groups.size(), -1);
  for (const auto& [order, node] : nodes) {
    const std::int32_t made = builder.node(node.kind, node.index);
    if (node.kind == TaskGraph::Kind::task) {
      nodeOf[static_cast<std::size_t>(node.index)] = made;
    } else {
      nodeOfGroup[static_cast<std::size_t>(node.index)] = made;
    }
  }
  for (std::size_t t = 0; t < nodeOf.size(); ++t) {
    for (std::int32_t g = outline.groupOf(static_cast<std::int32_t>(t)); g >= 0 && nodeOf[t] < 0;
         g = groups[static_cast<std::size_t>(g)].parent)
      nodeOf[t] = nodeOfGroup[static_cast<std::size_t>(g)];
  }
  const auto distinct = [&](const std::vector<std::int32_t>& list) {
    std::vector<std::int32_t> result;
    for (const std::int32_t t : list) result.push_back(nodeOf[static_cast<std::size_t>(t)]);
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  };
  for (std::int32_t c = 0; c < model.counters; ++c) {
    const auto i = static_cast<std::size_t>(c);
    if (model.producers[i].empty() || model.waiters[i].empty()) continue;
    builder.signal(c, distinct(model.producers[i]), distinct(model.waiters[i]));
  }
  return std::move(builder.graph);
}

TaskGraph graphAround(const Model& model, const Finding& finding, std::size_t most) {
  using Why = TaskGraph::Edge::Why;
  Builder builder;
  const auto node = [&](std::int32_t task) { return builder.node(TaskGraph::Kind::task, task); };
  if (!finding.cycle.empty()) {
    for (const std::int32_t t : finding.cycle) node(t);  // in the order of the cycle
    for (std::size_t i = 0; i < finding.cycle.size(); ++i) {
      const std::int32_t waits = finding.cycle[i];
      const std::int32_t on = finding.cycle[(i + 1) % finding.cycle.size()];
      std::int32_t counter = -1;
      for (const Model::Need& need : model.needs[static_cast<std::size_t>(waits)]) {
        const auto& raised = model.raises[static_cast<std::size_t>(on)];
        if (counter < 0 && std::ranges::find(raised, need.counter) != raised.end()) counter = need.counter;
      }
      const bool behind = model.before[static_cast<std::size_t>(waits)] == on;
      builder.edge(node(waits), node(on), Why::waitsFor, behind ? -1 : counter);
    }
  } else {
    std::vector<std::int32_t> tasks;
    if (finding.task >= 0) tasks.push_back(finding.task);
    if (finding.other >= 0) tasks.push_back(finding.other);
    const std::size_t from = finding.firing.size() > most ? finding.firing.size() - most : 0;
    const bool shown = finding.rule != Rule::deadlock;
    for (std::size_t i = from; shown && i < finding.firing.size(); ++i) tasks.push_back(finding.firing[i]);
    if (!shown || finding.firing.empty()) {
      for (const Model::Need& need : finding.task >= 0 ? model.needs[static_cast<std::size_t>(finding.task)]
                                                       : std::vector<Model::Need>{}) {
        for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
          if (tasks.size() < most) tasks.push_back(p);
        }
      }
    }
    for (const std::int32_t t : tasks) node(t);
    connectTasks(builder, model, tasks);
    if (finding.task >= 0 && finding.other >= 0 && finding.buffer >= 0)
      builder.edge(node(finding.task), node(finding.other), Why::collides);
  }
  std::int32_t tasks = 0;
  for (const auto& n : builder.graph.nodes) tasks += n.kind == TaskGraph::Kind::task ? 1 : 0;
  builder.graph.hidden = model.tasks - tasks;
  return std::move(builder.graph);
}

TaskGraph graphAround(const Model& model, std::int32_t task, std::size_t most) {
  Builder builder;
  std::vector<std::int32_t> tasks{task};
  const auto add = [&](std::int32_t t) {
    if (t < 0 || std::ranges::find(tasks, t) != tasks.end()) return;
    if (tasks.size() < most) {
      tasks.push_back(t);
    } else {
      builder.graph.cut = true;
    }
  };
  const auto t = static_cast<std::size_t>(task);
  add(model.before[t]);
  for (const Model::Need& need : model.needs[t]) {
    for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) add(p);
  }
  for (const std::int32_t counter : model.raises[t]) {
    for (const std::int32_t w : model.waiters[static_cast<std::size_t>(counter)]) add(w);
  }
  std::ranges::sort(tasks);
  for (const std::int32_t s : tasks) builder.node(TaskGraph::Kind::task, s);
  connectTasks(builder, model, tasks);
  builder.graph.hidden = model.tasks - static_cast<std::int32_t>(tasks.size());
  return std::move(builder.graph);
}

}  // namespace nuscope::schedule
