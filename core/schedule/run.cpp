#include "core/schedule/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/explain.h"

namespace nuscope::schedule {

Run::Run(const Schedule& schedule, std::shared_ptr<const Model> model)
    : schedule_(&schedule),
      model_(std::move(model)),
      states_(schedule.tasks.size(), TaskState::waiting),
      counters_(schedule.counters.size(), 0),
      entries_(model_->queues.size(), 0) {}

Result<Run> Run::of(const Schedule& schedule, const std::vector<std::int32_t>& firing,
                    const std::vector<std::int32_t>& last) {
  const Ids ids(schedule);
  Run run(schedule, std::make_shared<const Model>(modelOf(schedule, ids)));
  const auto add = [&](RunEvent::Kind kind, std::int32_t task) {
    run.events_.push_back({kind, task});
    run.apply(run.events_.back(), true);
    ++run.position_;
  };
  for (const auto* list : {&firing, &last}) {
    for (const std::int32_t task : *list) {
      if (task < 0 || task >= run.model_->tasks)
        return Refusal{"the run names a task that does not exist", ""};
      if (!run.canStart(task))
        return Refusal{fmt::format("{} cannot start where the run says so", nameOf(schedule, task)), ""};
      add(RunEvent::Kind::start, task);
      if (list == &firing) add(RunEvent::Kind::complete, task);
    }
  }
  run.seek(0);
  return run;
}

Result<Run> Run::of(const Schedule& schedule, const Finding& finding) {
  const bool runs = finding.rule == Rule::deadlock || finding.rule == Rule::race ||
                    finding.rule == Rule::uninitialisedRead || finding.rule == Rule::pageClobber;
  if (!runs)
    return Refusal{
        fmt::format("'{}' is seen in the file itself; there is no run to show", code(finding.rule)), ""};
  std::vector<std::int32_t> last;
  if (finding.rule != Rule::deadlock) last.push_back(finding.task);
  if (finding.unordered) last.push_back(finding.other);
  return of(schedule, withRun(schedule, finding).firing, last);
}

bool Run::canStart(std::int32_t task) const {
  const auto t = static_cast<std::size_t>(task);
  if (states_[t] != TaskState::waiting) return false;
  if (const std::int32_t before = model_->before[t];
      before >= 0 && states_[static_cast<std::size_t>(before)] != TaskState::done)
    return false;
  return std::ranges::all_of(model_->needs[t], [&](const Model::Need& need) {
    return counters_[static_cast<std::size_t>(need.counter)] >= need.threshold;
  });
}

void Run::apply(const RunEvent& event, bool forward) {
  const auto t = static_cast<std::size_t>(event.task);
  if (event.kind == RunEvent::Kind::start) {
    states_[t] = forward ? TaskState::running : TaskState::waiting;
    return;
  }
  states_[t] = forward ? TaskState::done : TaskState::running;
  for (const std::int32_t counter : model_->raises[t])
    counters_[static_cast<std::size_t>(counter)] += forward ? 1 : -1;
  if (const std::int32_t queue = model_->queueOf[t]; queue >= 0) {
    auto& entry = entries_[static_cast<std::size_t>(queue)];
    entry = forward ? entry + 1 : entry - 1;
  }
}

void Run::seek(std::size_t position) {
  position = std::min(position, events_.size());
  while (position_ < position) apply(events_[position_++], true);
  while (position_ > position) apply(events_[--position_], false);
}

std::vector<QueueState> Run::queues() const {
  std::vector<QueueState> result;
  for (std::size_t q = 0; q < model_->queues.size(); ++q) {
    const std::size_t entry = entries_[q];
    QueueState made{model_->queueSm[q], entry};
    if (entry < model_->queues[q].size()) {
      made.task = model_->queues[q][entry];
      made.running = state(made.task) == TaskState::running;
    }
    result.push_back(made);
  }
  return result;
}

std::vector<std::int32_t> Run::running() const {
  // What runs was started by an event and not completed by one: looking back suffices.
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < position_; ++i) {
    if (events_[i].kind == RunEvent::Kind::start && state(events_[i].task) == TaskState::running)
      result.push_back(events_[i].task);
  }
  return result;
}

std::vector<Unmet> Run::unmet(std::int32_t task) const {
  const auto t = static_cast<std::size_t>(task);
  std::vector<Unmet> result;
  if (states_[t] != TaskState::waiting) return result;
  if (const std::int32_t before = model_->before[t]; before >= 0 && state(before) != TaskState::done) {
    Unmet made;
    made.behind = before;
    made.text = fmt::format("it stands behind {} in the queue of SM {}", nameOf(*schedule_, before),
                            *schedule_->tasks[t].sm);
    result.push_back(std::move(made));
  }
  for (std::size_t w = 0; w < model_->needs[t].size(); ++w) {
    const Model::Need& need = model_->needs[t][w];
    const auto c = static_cast<std::size_t>(need.counter);
    if (counters_[c] >= need.threshold) continue;
    Unmet made;
    made.wait = w;
    made.counter = need.counter;
    made.value = counters_[c];
    made.threshold = need.threshold;
    std::string open;
    std::size_t more = 0;
    for (const std::int32_t p : model_->producers[c]) {
      if (state(p) == TaskState::done) continue;
      if (open.empty()) {
        open = nameOf(*schedule_, p);
      } else {
        ++more;
      }
    }
    made.text = fmt::format("counter {} is {} of {}{}", schedule_->counters[c].id, made.value, made.threshold,
                            open.empty() ? "; nothing is left to raise it"
                            : more == 0  ? "; not yet raised by " + open
                                         : fmt::format("; not yet raised by {} and {} more", open, more));
    result.push_back(std::move(made));
  }
  return result;
}

std::string Run::text(std::size_t index) const {
  const RunEvent& event = events_[index];
  const auto t = static_cast<std::size_t>(event.task);
  const Task& task = schedule_->tasks[t];
  const std::string name = nameOf(*schedule_, event.task);
  if (event.kind == RunEvent::Kind::start) {
    std::string waits;
    for (const Model::Need& need : model_->needs[t])
      waits += fmt::format("{}counter {} >= {}", waits.empty() ? "" : ", ",
                           schedule_->counters[static_cast<std::size_t>(need.counter)].id, need.threshold);
    return fmt::format("{} starts{}{}", name, task.sm ? fmt::format(" on SM {}", *task.sm) : "",
                       waits.empty() ? "" : "; its waits hold: " + waits);
  }
  if (model_->raises[t].empty()) return name + " completes";
  std::string raised;
  for (const std::int32_t counter : model_->raises[t]) {
    const auto c = static_cast<std::size_t>(counter);
    std::int64_t value = 0;  // at that moment: the producers that complete up to this event
    for (std::size_t i = 0; i <= index; ++i) {
      if (events_[i].kind != RunEvent::Kind::complete) continue;
      value += std::ranges::count(model_->raises[static_cast<std::size_t>(events_[i].task)], counter);
    }
    raised += fmt::format("{}counter {} to {} of {}", raised.empty() ? "" : ", ", schedule_->counters[c].id,
                          value, model_->producers[c].size());
  }
  return fmt::format("{} completes and raises {}", name, raised);
}

}  // namespace nuscope::schedule
