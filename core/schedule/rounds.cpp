#include "core/schedule/rounds.h"

#include <algorithm>

namespace nuscope::schedule {

Rounds::Rounds(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  fire(nullptr);
  end_ = steps() == model_->tasks ? End::complete : End::frozen;
  faultStep_ = steps();
}

Rounds::Rounds(std::shared_ptr<const Model> model, const Finding& finding) : model_(std::move(model)) {
  const bool shown = finding.rule == Rule::race || finding.rule == Rule::uninitialisedRead ||
                     finding.rule == Rule::pageClobber;
  if (!shown) {
    fire(nullptr);
    end_ = steps() == model_->tasks ? End::complete : End::frozen;
    faultStep_ = steps();
    if (finding.rule == Rule::deadlock) {
      faults_ = finding.cycle.empty() ? std::vector<std::int32_t>{finding.task} : finding.cycle;
    } else if (finding.task >= 0) {
      faults_ = {finding.task};
      if (finding.other >= 0) faults_.push_back(finding.other);
      if (stepOf(finding.task) >= 0) faultStep_ = stepOf(finding.task);
    }
    return;
  }
  std::vector<char> allowed(static_cast<std::size_t>(model_->tasks), 0);
  for (const std::int32_t t : finding.firing) allowed[static_cast<std::size_t>(t)] = 1;
  fire(&allowed);
  end_ = End::fault;
  faults_ = {finding.task};
  if (finding.other >= 0 && finding.unordered) faults_.push_back(finding.other);
  faultStep_ = steps();
}

void Rounds::fire(const std::vector<char>* allowed) {
  const Model& model = *model_;
  const auto n = static_cast<std::size_t>(model.tasks);
  stepOf_.assign(n, -1);
  roundOf_.assign(n, -1);
  raisedAt_.resize(static_cast<std::size_t>(model.counters));
  struct Pending {
    std::int64_t threshold;
    std::int32_t task;
  };
  std::vector<std::vector<Pending>> pending(static_cast<std::size_t>(model.counters));
  std::vector<std::int32_t> open(n, 0);
  std::vector<std::int32_t> after(n, -1);
  std::vector<std::int32_t> ready;
  for (std::size_t t = 0; t < n; ++t) {
    if (allowed != nullptr && (*allowed)[t] == 0) continue;
    const auto task = static_cast<std::int32_t>(t);
    open[t] = static_cast<std::int32_t>(model.needs[t].size()) + (model.before[t] >= 0 ? 1 : 0);
    for (const Model::Need& need : model.needs[t])
      pending[static_cast<std::size_t>(need.counter)].push_back({need.threshold, task});
    if (model.before[t] >= 0) after[static_cast<std::size_t>(model.before[t])] = task;
    if (open[t] == 0) ready.push_back(task);
  }
  for (auto& list : pending) std::ranges::stable_sort(list, std::greater<>(), &Pending::threshold);
  std::vector<std::int32_t> next;
  const auto release = [&](std::int32_t t) {
    if (--open[static_cast<std::size_t>(t)] == 0) next.push_back(t);
  };
  for (; !ready.empty(); ready.swap(next)) {
    next.clear();
    std::ranges::sort(ready);
    for (const std::int32_t task : ready) {
      const auto t = static_cast<std::size_t>(task);
      stepOf_[t] = static_cast<std::int32_t>(order_.size());
      roundOf_[t] = rounds_;
      order_.push_back(task);
      if (after[t] >= 0) release(after[t]);
      for (const std::int32_t counter : model.raises[t]) {
        const auto c = static_cast<std::size_t>(counter);
        raisedAt_[c].push_back(stepOf_[t]);
        while (!pending[c].empty() && pending[c].back().threshold <= std::ssize(raisedAt_[c])) {
          release(pending[c].back().task);
          pending[c].pop_back();
        }
      }
    }
    ++rounds_;
  }
}

std::int64_t Rounds::counterAt(std::int32_t counter, std::int32_t step) const {
  const auto& steps = raisedAt_[static_cast<std::size_t>(counter)];
  return std::ranges::lower_bound(steps, step) - steps.begin();
}

std::int32_t Rounds::headAt(std::int32_t queue, std::int32_t step) const {
  const auto& entries = model_->queues[static_cast<std::size_t>(queue)];
  // Entries complete in order, so that those that are done are a prefix.
  const auto head = std::ranges::partition_point(entries, [&](std::int32_t t) { return doneAt(t, step); });
  return static_cast<std::int32_t>(head - entries.begin());
}

std::vector<Rounds::Unmet> Rounds::unmetAt(std::int32_t task, std::int32_t step) const {
  std::vector<Unmet> result;
  if (doneAt(task, step)) return result;
  const auto t = static_cast<std::size_t>(task);
  const std::int32_t before = model_->before[t];
  if (before >= 0 && !doneAt(before, step)) result.push_back({-1, 0, 0, before});
  for (const Model::Need& need : model_->needs[t]) {
    const std::int64_t value = counterAt(need.counter, step);
    if (value < need.threshold) result.push_back({need.counter, value, need.threshold, -1});
  }
  return result;
}

}  // namespace nuscope::schedule
