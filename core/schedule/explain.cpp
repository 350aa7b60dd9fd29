#include "core/schedule/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/base/text.h"
#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t longestName = 160;  // bytes of a label in a sentence

std::string named(std::string_view what, std::int64_t id, std::string_view name) {
  if (name.empty()) return fmt::format("{} {}", what, id);
  return fmt::format("{} {} ({}{})", what, id, shortened(name, longestName),
                     name.size() > longestName ? "…" : "");
}

std::string bufferName(const Schedule& schedule, std::int32_t index) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(index)];
  return named("buffer", buffer.id, buffer.name);
}

/// "[0, 3]" of a row-major position.
std::string elementText(const Schedule& schedule, std::int32_t index, std::int64_t element) {
  const auto& shape = schedule.buffers[static_cast<std::size_t>(index)].shape;
  std::string out;
  for (std::size_t i = shape.size(); i-- > 0;) {
    out = std::to_string(element % shape[i]) + (out.empty() ? "" : ", " + out);
    element /= shape[i];
  }
  return "[" + out + "]";
}

}  // namespace

std::string nameOf(const Schedule& schedule, std::int32_t index) {
  const Task& task = schedule.tasks[static_cast<std::size_t>(index)];
  return named("task", task.id, task.label);
}

std::string patternOf(std::string_view label) {
  std::string out;
  for (const char c : label) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string kindName(const Schedule& schedule, std::int32_t task) {
  const Task& t = schedule.tasks[static_cast<std::size_t>(task)];
  if (!t.label.empty()) return patternOf(t.label);
  return t.op == Opcode::custom ? t.customOp : std::string(text(t.op));
}

std::string describe(const Schedule& schedule, const Finding& f) {
  const auto name = [&](std::int32_t task) { return nameOf(schedule, task); };
  switch (f.rule) {
    case Rule::deadlock:
      if (f.cycle.empty()) {
        return fmt::format("{} tasks never complete: they wait for a counter that is never raised far enough",
                           f.stuck.size());
      } else {
        std::string chain;
        for (const std::int32_t t : f.cycle) chain += name(t) + " waits for ";
        return chain + name(f.cycle[0]) + fmt::format("; {} tasks never complete", f.stuck.size());
      }
    case Rule::race:
      return fmt::format(
          "{} and {} may run at once and both touch {}{} at element {}", name(f.task), name(f.other),
          bufferName(schedule, f.buffer),
          f.otherBuffer < 0 ? "" : fmt::format(" and {}, one storage,", bufferName(schedule, f.otherBuffer)),
          elementText(schedule, f.buffer, f.element));
    case Rule::uninitialisedRead:
      return fmt::format("{} may read {} at element {} before any task has written it", name(f.task),
                         bufferName(schedule, f.buffer), elementText(schedule, f.buffer, f.element));
    case Rule::pageClobber:
      return fmt::format("{} uses {} while or after {} writes {}, which is on the same page", name(f.task),
                         bufferName(schedule, f.buffer), name(f.other), bufferName(schedule, f.otherBuffer));
    case Rule::outputIncomplete:
      return fmt::format("no task writes {} at element {}", bufferName(schedule, f.buffer),
                         elementText(schedule, f.buffer, f.element));
    case Rule::readOnlyWrite:
      return fmt::format("{} writes {}, which is read-only ({})", name(f.task),
                         bufferName(schedule, f.buffer),
                         text(schedule.buffers[static_cast<std::size_t>(f.buffer)].kind));
    default:
      return f.message;
  }
}

namespace {

/// Row-major strides of a shape.
std::vector<std::int64_t> steps(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> result(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

/// The rectangle of a buffer that an access covers. A band of columns over several axes of rows is cut to its
/// first row.
Region rectangleOf(const std::vector<std::int64_t>& shape, const Strided& r) {
  Region region;
  const auto step = steps(shape);
  std::int64_t rest = r.start;
  std::int64_t length = r.length;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t at = rest / step[i];
    rest %= step[i];
    std::int64_t extent = 1;
    if (length >= step[i]) {
      extent = std::min(length / step[i], shape[i] - at);
      length = step[i];  // the axes inside are whole
    } else if (r.count > 1 && r.stride == step[i]) {
      extent = std::min(r.count, shape[i] - at);
    }
    region.ranges.emplace_back(at, at + extent);
  }
  return region;
}

bool writesElement(const Touch& touch, std::int64_t element) {
  return touch.write && overlap(touch.region, {element, 1, 0, 1});
}

}  // namespace

std::vector<std::int32_t> firingOf(const Model& model, const Footprints& footprints,
                                   const std::vector<std::int32_t>& storage, const Finding& f) {
  const auto writers = [&] {  // of the element
    std::vector<std::int32_t> result;
    for (const Touch& t : footprints.touches) {
      if (storage[static_cast<std::size_t>(t.buffer)] == storage[static_cast<std::size_t>(f.buffer)] &&
          writesElement(t, f.element))
        result.push_back(t.task);
    }
    return result;
  };
  if (f.rule == Rule::race || f.unordered) {
    const std::int32_t held[] = {f.task, f.other};
    return slice(model, closure(model, held), held);
  }
  if (f.rule == Rule::uninitialisedRead) {
    const std::int32_t target[] = {f.task};
    return slice(model, closure(model, writers()), target);
  }
  // A clobber: everything that can run without the other tenant's write, own writes included; then that
  // write; then what the read still needs, but no own write that comes after the other.
  const std::int32_t both[] = {f.other, f.task};
  const Closure first = closure(model, both);
  std::vector<std::int32_t> held = writers();
  std::erase_if(
      held, [&](std::int32_t w) { return w == f.other || first.started[static_cast<std::size_t>(w)] != 0; });
  held.push_back(f.task);
  Closure run = closure(model, held);
  std::ranges::stable_sort(run.order, {}, [&](std::int32_t t) {
    return first.completed[static_cast<std::size_t>(t)] != 0 ? 0 : t == f.other ? 1 : 2;
  });
  std::vector<std::int32_t> firing = slice(model, run, both);
  if (std::ranges::find(firing, f.other) != firing.end()) return firing;
  // The read does not wait for it: it goes last.
  firing.push_back(f.other);
  return firing;
}

Finding withRun(const Schedule& schedule, const Finding& finding) {
  const bool runs = finding.rule == Rule::race || finding.rule == Rule::uninitialisedRead ||
                    finding.rule == Rule::pageClobber;
  if (!runs || !finding.firing.empty()) return finding;
  const Ids ids(schedule);
  Finding result = finding;
  result.firing = firingOf(modelOf(schedule, ids), footprints(schedule, ids), storageOf(schedule), finding);
  return result;
}

Region regionOf(const Buffer& buffer, const Strided& access) {
  return rectangleOf(buffer.shape, access);
}

Region collision(const Schedule& schedule, const Finding& f) {
  const bool applies =
      f.rule == Rule::race || f.rule == Rule::uninitialisedRead || f.rule == Rule::pageClobber;
  if (!applies || f.buffer < 0) return {};
  const Ids ids(schedule);
  const Footprints touched = footprints(schedule, ids);
  const auto& shape = schedule.buffers[static_cast<std::size_t>(f.buffer)].shape;
  for (const Touch& a : touched.touches) {
    if (a.task != f.task || a.buffer != f.buffer) continue;
    if (f.rule != Rule::race) {
      if (!overlap(a.region, {std::max<std::int64_t>(f.element, 0), 1, 0, 1}) || a.write != f.unordered)
        continue;
      return rectangleOf(shape, a.region);
    }
    for (const Touch& b : touched.touches) {
      if (b.task != f.other || (!a.write && !b.write) || !overlap(a.region, b.region)) continue;
      if (b.buffer != (f.otherBuffer < 0 ? f.buffer : f.otherBuffer)) continue;
      Region both = rectangleOf(shape, a.region);
      if (schedule.buffers[static_cast<std::size_t>(b.buffer)].shape != shape)
        return rectangleOf(shape, {firstCommon(a.region, b.region), 1, 0, 1});
      const Region other = rectangleOf(shape, b.region);
      for (std::size_t i = 0; i < both.ranges.size(); ++i)
        both.ranges[i] = {std::max(both.ranges[i].first, other.ranges[i].first),
                          std::min(both.ranges[i].second, other.ranges[i].second)};
      return both;
    }
  }
  return {};
}

std::vector<std::string> cycleSentences(const Schedule& schedule, const Finding& f) {
  if (f.rule != Rule::deadlock) return {};
  const Ids ids(schedule);
  const Model model = modelOf(schedule, ids);
  const Closure end = closure(model);
  const auto name = [&](std::int32_t t) { return nameOf(schedule, t); };
  const auto counterText = [&](const Model::Need& need) {
    const auto c = static_cast<std::size_t>(need.counter);
    return fmt::format("counter {} to reach {} (it is {})", schedule.counters[c].id, need.threshold,
                       end.counters[c]);
  };
  std::vector<std::string> result;
  for (std::size_t i = 0; i < f.cycle.size(); ++i) {
    const std::int32_t task = f.cycle[i];
    const std::int32_t next = f.cycle[(i + 1) % f.cycle.size()];
    const auto t = static_cast<std::size_t>(task);
    std::string why;
    for (const Model::Need& need : model.needs[t]) {
      const auto& raised = model.raises[static_cast<std::size_t>(next)];
      if (end.counters[static_cast<std::size_t>(need.counter)] >= need.threshold ||
          std::ranges::find(raised, need.counter) == raised.end())
        continue;
      why = task == next ? fmt::format("{} waits for {}, which it would have to raise itself", name(task),
                                       counterText(need))
                         : fmt::format("{} waits for {}, which {} has yet to raise", name(task),
                                       counterText(need), name(next));
      break;
    }
    if (why.empty())
      why = fmt::format("{} stands behind {} in the queue of SM {}", name(task), name(next),
                        schedule.tasks[t].sm.value_or(-1));
    result.push_back(std::move(why));
  }
  if (!result.empty()) return result;
  for (const std::int32_t task : f.stuck) {
    for (const Model::Need& need : model.needs[static_cast<std::size_t>(task)]) {
      const auto producers = model.producers[static_cast<std::size_t>(need.counter)].size();
      if (need.threshold > static_cast<std::int64_t>(producers))
        return {fmt::format("{} waits for {}, and only {} tasks raise it", name(task), counterText(need),
                            producers)};
    }
  }
  return result;
}

std::vector<std::int32_t> slice(const Model& model, const Closure& closure,
                                std::span<const std::int32_t> targets) {
  const auto n = static_cast<std::size_t>(model.tasks);
  std::vector<std::int32_t> rank(n, INT32_MAX);
  for (std::size_t i = 0; i < closure.order.size(); ++i)
    rank[static_cast<std::size_t>(closure.order[i])] = static_cast<std::int32_t>(i);
  std::vector<char> needed(n, 0);
  std::vector<std::int32_t> open(targets.begin(), targets.end());
  std::vector<std::int32_t> result;
  const auto require = [&](std::int32_t task) {
    auto& mark = needed[static_cast<std::size_t>(task)];
    if (mark != 0) return;
    mark = 1;
    result.push_back(task);
    open.push_back(task);
  };
  while (!open.empty()) {
    const auto t = static_cast<std::size_t>(open.back());
    open.pop_back();
    if (model.before[t] >= 0) require(model.before[t]);
    for (const Model::Need& need : model.needs[t]) {
      // The producers that completed first, preferring those that are needed anyway.
      std::vector<std::int32_t> done;
      for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
        if (closure.completed[static_cast<std::size_t>(p)] != 0 &&
            rank[static_cast<std::size_t>(p)] < rank[t])
          done.push_back(p);
      }
      std::ranges::sort(done, {}, [&](std::int32_t p) {
        return std::make_pair(needed[static_cast<std::size_t>(p)] == 0, rank[static_cast<std::size_t>(p)]);
      });
      for (std::size_t i = 0; i < done.size() && static_cast<std::int64_t>(i) < need.threshold; ++i)
        require(done[i]);
    }
  }
  std::ranges::sort(result, {}, [&](std::int32_t t) { return rank[static_cast<std::size_t>(t)]; });
  return result;
}

namespace {

/// Who waits for whom among the tasks that are stuck: a task for the queue entry before it and for counters
/// that are short, a counter for its producers that have not completed. Counters are nodes of their own, so
/// that 50,000 waiters and 50,000 producers of one have 100,000 edges. Nodes: tasks, then counters.
class WaitGraph {
 public:
  WaitGraph(const Model& model, const Closure& end)
      : tasks_(static_cast<std::size_t>(model.tasks)),
        first_(tasks_ + static_cast<std::size_t>(model.counters) + 1, 0) {
    const auto edges = [&](const auto& add) {
      for (std::size_t t = 0; t < tasks_; ++t) {
        if (end.completed[t] != 0) continue;
        if (model.before[t] >= 0 && end.completed[static_cast<std::size_t>(model.before[t])] == 0)
          add(t, static_cast<std::size_t>(model.before[t]));
        for (const Model::Need& need : model.needs[t]) {
          if (end.counters[static_cast<std::size_t>(need.counter)] < need.threshold)
            add(t, tasks_ + static_cast<std::size_t>(need.counter));
        }
        for (const std::int32_t c : model.raises[t]) add(tasks_ + static_cast<std::size_t>(c), t);
      }
    };
    edges([&](std::size_t from, std::size_t) { ++first_[from + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    to_.resize(first_.back());
    std::vector<std::size_t> at(first_.begin(), first_.end() - 1);
    edges([&](std::size_t from, std::size_t to) { to_[at[from]++] = to; });
    components();
  }

  /// A shortest cycle by the number of its tasks; one that was short where `work` visits did not suffice.
  /// Empty: there is none.
  std::vector<std::int32_t> shortest(std::int64_t work) {
    std::vector<std::int32_t> best;
    parent_.assign(first_.size() - 1, none);
    seen_.assign(first_.size() - 1, none);
    for (std::size_t t = 0; t < tasks_ && (best.empty() || work > 0) && best.size() != 1; ++t) {
      if (component_[t] == none) continue;
      if (auto cycle = through(t, best.size(), work); !cycle.empty()) best = std::move(cycle);
    }
    return best;
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  [[nodiscard]] std::span<const std::size_t> next(std::size_t node) const {
    return {to_.data() + first_[node], to_.data() + first_[node + 1]};
  }

  /// A shortest cycle through a task, where it has fewer tasks than `most` (0: any); else empty.
  std::vector<std::int32_t> through(std::size_t start, std::size_t most, std::int64_t& work) {
    std::vector<std::size_t> level{start};
    for (std::size_t length = 1; !level.empty() && (most == 0 || length < most); ++length) {
      std::vector<std::size_t> reached;
      const auto visit = [&](std::size_t node, std::size_t from) {
        --work;
        if (component_[node] != component_[start] || seen_[node] == start) return;
        seen_[node] = start;
        parent_[node] = from;
        reached.push_back(node);
      };
      for (const std::size_t task : level) {
        for (const std::size_t node : next(task)) {
          if (node < tasks_) {
            visit(node, task);
          } else if (seen_[node] != start) {
            seen_[node] = start;
            for (const std::size_t producer : next(node)) visit(producer, task);
          }
        }
      }
      if (seen_[start] == start) return path(start);
      level = std::move(reached);
    }
    return {};
  }
  std::vector<std::int32_t> path(std::size_t start) const {
    std::vector<std::int32_t> cycle{static_cast<std::int32_t>(start)};
    for (std::size_t t = parent_[start]; t != start; t = parent_[t])
      cycle.push_back(static_cast<std::int32_t>(t));
    std::ranges::reverse(cycle);  // ends with the start
    std::ranges::rotate(cycle, cycle.end() - 1);
    return cycle;
  }

  /// Strongly connected components (Tarjan's, without recursion); `none` for a node that is on no cycle.
  void components() {
    const std::size_t n = first_.size() - 1;
    component_.assign(n, none);
    std::vector<std::size_t> number(n, 0), low(n, 0), edge(first_.begin(), first_.end() - 1), stack, path;
    std::vector<char> open(n, 0);
    std::size_t count = 0;
    const auto enter = [&](std::size_t node) {
      number[node] = low[node] = ++count;
      open[node] = 1;
      stack.push_back(node);
      path.push_back(node);
    };
    for (std::size_t root = 0; root < n; ++root) {
      if (number[root] != 0) continue;
      enter(root);
      while (!path.empty()) {
        const std::size_t node = path.back();
        if (edge[node] < first_[node + 1]) {
          const std::size_t to = to_[edge[node]++];
          if (number[to] == 0) {
            enter(to);
          } else if (open[to] != 0) {
            low[node] = std::min(low[node], number[to]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[node]);
        if (low[node] == number[node]) close(node, stack, open);
      }
    }
  }
  void close(std::size_t root, std::vector<std::size_t>& stack, std::vector<char>& open) {
    const bool alone = stack.back() == root;  // no edge leads from a node to itself
    for (bool last = false; !last;) {
      const std::size_t node = stack.back();
      stack.pop_back();
      open[node] = 0;
      if (!alone) component_[node] = root;
      last = node == root;
    }
  }

  std::size_t tasks_;
  std::vector<std::size_t> first_, to_;  ///< edges by node
  std::vector<std::size_t> component_;   ///< per node: a node that names its component
  std::vector<std::size_t> parent_;      ///< per task: the one before it in the search
  std::vector<std::size_t> seen_;        ///< per node: the start of the last search that came there
};

constexpr std::int64_t cycleWork = 30'000'000;  // edges looked at: about 0.1 s

}  // namespace

std::vector<std::int32_t> waitCycle(const Model& model, const Closure& closure) {
  return WaitGraph(model, closure).shortest(cycleWork);
}

}  // namespace nuscope::schedule
