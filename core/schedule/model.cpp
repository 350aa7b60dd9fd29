#include "core/schedule/model.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

namespace nuscope::schedule {

Model modelOf(const Schedule& schedule, const Ids& ids) {
  Model model;
  model.tasks = static_cast<std::int32_t>(schedule.tasks.size());
  model.counters = static_cast<std::int32_t>(schedule.counters.size());
  const auto n = schedule.tasks.size();
  model.queueOf.assign(n, -1);
  model.before.assign(n, -1);
  model.needs.resize(n);
  model.raises.resize(n);
  model.producers.resize(schedule.counters.size());
  model.waiters.resize(schedule.counters.size());
  std::map<std::int64_t, std::int32_t> queueOfSm;
  for (std::size_t t = 0; t < n; ++t) {
    const Task& task = schedule.tasks[t];
    const auto position = static_cast<std::int32_t>(t);
    if (task.sm) {
      const auto [at, isNew] = queueOfSm.emplace(*task.sm, static_cast<std::int32_t>(model.queues.size()));
      if (isNew) {
        model.queues.emplace_back();
        model.queueSm.push_back(*task.sm);
      }
      auto& queue = model.queues[static_cast<std::size_t>(at->second)];
      model.queueOf[t] = at->second;
      if (!queue.empty()) model.before[t] = queue.back();
      queue.push_back(position);
    }
    for (const Wait& wait : task.waits) {
      const std::int32_t counter = ids.counter(wait.counter);
      model.needs[t].push_back({counter, wait.threshold});
      auto& waiters = model.waiters[static_cast<std::size_t>(counter)];
      if (waiters.empty() || waiters.back() != position) waiters.push_back(position);
    }
    for (const std::int64_t signal : task.signals) {
      const std::int32_t counter = ids.counter(signal);
      model.raises[t].push_back(counter);
      model.producers[static_cast<std::size_t>(counter)].push_back(position);
    }
  }
  return model;
}

Closure closure(const Model& model, std::span<const std::int32_t> held) {
  const auto n = static_cast<std::size_t>(model.tasks);
  Closure result;
  result.started.assign(n, 0);
  result.completed.assign(n, 0);
  result.counters.assign(static_cast<std::size_t>(model.counters), 0);
  std::vector<char> isHeld(n, 0);
  for (const std::int32_t t : held) isHeld[static_cast<std::size_t>(t)] = 1;
  // Open conditions of each task: its waits and its queue predecessor. Waits of a counter are kept sorted by
  // threshold, so that each is looked at once.
  std::vector<std::int32_t> open(n, 0);
  struct Pending {
    std::int64_t threshold;
    std::int32_t task;
  };
  std::vector<std::vector<Pending>> pending(static_cast<std::size_t>(model.counters));
  for (std::size_t t = 0; t < n; ++t) {
    open[t] = static_cast<std::int32_t>(model.needs[t].size()) + (model.before[t] >= 0 ? 1 : 0);
    for (const Model::Need& need : model.needs[t]) {
      pending[static_cast<std::size_t>(need.counter)].push_back(
          {need.threshold, static_cast<std::int32_t>(t)});
    }
  }
  for (auto& list : pending) {
    std::ranges::stable_sort(list, std::greater<>(),
                             [](const Pending& p) { return p.threshold; });  // smallest last
  }
  std::vector<std::int32_t> after(n, -1);
  for (std::size_t t = 0; t < n; ++t) {
    if (model.before[t] >= 0) after[static_cast<std::size_t>(model.before[t])] = static_cast<std::int32_t>(t);
  }
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t t = 0; t < n; ++t) {
    if (open[t] == 0) ready.push(static_cast<std::int32_t>(t));
  }
  const auto release = [&](std::int32_t t) {
    if (--open[static_cast<std::size_t>(t)] == 0) ready.push(t);
  };
  while (!ready.empty()) {
    const std::int32_t task = ready.top();
    const auto t = static_cast<std::size_t>(task);
    ready.pop();
    result.order.push_back(task);
    result.started[t] = 1;
    if (isHeld[t] != 0) continue;
    result.completed[t] = 1;
    if (after[t] >= 0) release(after[t]);
    for (const std::int32_t counter : model.raises[t]) {
      const auto c = static_cast<std::size_t>(counter);
      ++result.counters[c];
      while (!pending[c].empty() && pending[c].back().threshold <= result.counters[c]) {
        release(pending[c].back().task);
        pending[c].pop_back();
      }
    }
  }
  return result;
}

}  // namespace nuscope::schedule
