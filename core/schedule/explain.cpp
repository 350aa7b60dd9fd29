#include "core/schedule/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace nuscope::schedule {
namespace {

std::string bufferName(const Schedule& schedule, std::int32_t index) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(index)];
  return buffer.name.empty() ? fmt::format("buffer {}", buffer.id)
                             : fmt::format("buffer {} ({})", buffer.id, buffer.name);
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

/// Stuck tasks that task t waits for.
std::vector<std::int32_t> blockers(const Model& model, const Closure& closure, std::int32_t task) {
  const auto t = static_cast<std::size_t>(task);
  std::vector<std::int32_t> result;
  if (model.before[t] >= 0 && closure.completed[static_cast<std::size_t>(model.before[t])] == 0) {
    result.push_back(model.before[t]);
  }
  for (const Model::Need& need : model.needs[t]) {
    if (closure.counters[static_cast<std::size_t>(need.counter)] >= need.threshold) continue;
    for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
      if (closure.completed[static_cast<std::size_t>(p)] == 0) result.push_back(p);
    }
  }
  return result;
}

}  // namespace

std::string nameOf(const Schedule& schedule, std::int32_t index) {
  const Task& task = schedule.tasks[static_cast<std::size_t>(index)];
  return task.label.empty() ? fmt::format("task {}", task.id)
                            : fmt::format("task {} ({})", task.id, task.label);
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

std::vector<std::int32_t> waitCycle(const Model& model, const Closure& closure) {
  // Follow blockers from a stuck task until one repeats: there is a cycle behind it, or none at all. Then the
  // shortest cycle through that task by breadth-first search.
  const auto n = static_cast<std::size_t>(model.tasks);
  std::vector<char> state(n, 0);  // 0 new, 1 on the path, 2 done
  std::int32_t onCycle = -1;
  for (std::size_t s = 0; s < n && onCycle < 0; ++s) {
    if (closure.completed[s] != 0 || state[s] != 0) continue;
    std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> path;
    path.emplace_back(static_cast<std::int32_t>(s), blockers(model, closure, static_cast<std::int32_t>(s)));
    state[s] = 1;
    while (!path.empty() && onCycle < 0) {
      auto& [task, next] = path.back();
      if (next.empty()) {
        state[static_cast<std::size_t>(task)] = 2;
        path.pop_back();
        continue;
      }
      const std::int32_t to = next.back();
      next.pop_back();
      if (state[static_cast<std::size_t>(to)] == 1) onCycle = to;
      if (state[static_cast<std::size_t>(to)] != 0) continue;
      state[static_cast<std::size_t>(to)] = 1;
      path.emplace_back(to, blockers(model, closure, to));
    }
  }
  if (onCycle < 0) return {};
  std::vector<std::int32_t> parent(n, -1);
  std::queue<std::int32_t> open;
  open.push(onCycle);
  while (!open.empty()) {
    const std::int32_t task = open.front();
    open.pop();
    for (const std::int32_t to : blockers(model, closure, task)) {
      if (to == onCycle) {
        std::vector<std::int32_t> cycle;
        for (std::int32_t t = task; t != onCycle; t = parent[static_cast<std::size_t>(t)]) cycle.push_back(t);
        cycle.push_back(onCycle);
        std::ranges::reverse(cycle);
        return cycle;
      }
      if (parent[static_cast<std::size_t>(to)] >= 0) continue;
      parent[static_cast<std::size_t>(to)] = task;
      open.push(to);
    }
  }
  return {};
}

}  // namespace nuscope::schedule
