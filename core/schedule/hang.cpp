#include "core/schedule/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <queue>

#include "core/schedule/explain.h"
#include "core/schedule/model.h"
#include "core/schedule/structure.h"

namespace nuscope::schedule {
namespace {

using State = HangDump::Queue::State;
using Cause = HangExplanation::Cause;

/// The heads of the queues (and the tasks outside them that are not done), what each waits for, and what is
/// at the root.
class Explainer {
 public:
  Explainer(const Schedule& schedule, const HangDump& dump) : s_(schedule), dump_(dump), ids_(schedule) {}

  Result<HangExplanation> run() {
    if (const auto faults = malformations(s_, ids_); !faults.empty())
      return Refusal{fmt::format("the schedule is malformed: {}", faults[0].message), ""};
    model_ = modelOf(s_, ids_);
    if (const std::string problem = place(); !problem.empty())
      return Refusal{problem, "is the dump of another schedule?"};
    values();
    end_ = closure(model_);
    for (const std::int32_t head : heads_) roots(head);
    waiters_.resize(s_.tasks.size());
    for (const std::int32_t head : heads_) {
      for (const auto& [next, need] : blockers(head))
        waiters_[static_cast<std::size_t>(next)].push_back(head);
    }
    for (Cause& cause : result_.causes) blocked(cause);
    std::ranges::stable_sort(result_.causes, std::greater<>(), [](const Cause& c) {
      return std::make_pair(c.cause != HangCause::inconsistent, c.blocked.size());
    });
    if (result_.causes.empty())
      add({.cause = HangCause::none, .text = "every task has completed; nothing hangs in this schedule"});
    else
      chain(result_.causes[0]);
    return std::move(result_);
  }

 private:
  const Task& task(std::int32_t t) const { return s_.tasks[static_cast<std::size_t>(t)]; }
  std::string name(std::int32_t t) const { return nameOf(s_, t); }
  bool done(std::int32_t t) const { return done_[static_cast<std::size_t>(t)] != 0; }
  void add(Cause cause) { result_.causes.push_back(std::move(cause)); }

  /// Which tasks have completed and where each queue stands. What does not fit is the answer.
  std::string place() {
    done_.assign(s_.tasks.size(), 0);
    headOf_.assign(s_.tasks.size(), -1);
    running_.assign(s_.tasks.size(), 0);
    states_.assign(s_.tasks.size(), State::unknown);
    for (const auto& [sm, queue] : dump_.queues) {
      if (std::ranges::find(model_.queueSm, sm) == model_.queueSm.end() && queue.task)
        return fmt::format("the dump has a queue of SM {}, and the schedule gives it no task", sm);
    }
    for (std::size_t q = 0; q < model_.queues.size(); ++q) {
      const auto& entries = model_.queues[q];
      const auto at = dump_.queues.find(model_.queueSm[q]);
      HangDump::Queue queue;
      queue.state = State::notStarted;
      if (at != dump_.queues.end()) queue = at->second;
      std::size_t current = entries.size();
      if (queue.state == State::notStarted) {
        current = 0;
      } else if (queue.task) {
        const std::int32_t t = ids_.task(*queue.task);
        current = static_cast<std::size_t>(std::ranges::find(entries, t) - entries.begin());
        if (t < 0 || current == entries.size())
          return fmt::format("the queue of SM {} is at task {}, which is not in it", model_.queueSm[q],
                             *queue.task);
      }
      for (std::size_t i = 0; i < current; ++i) done_[static_cast<std::size_t>(entries[i])] = 1;
      if (current == entries.size()) continue;
      const std::int32_t head = entries[current];
      heads_.push_back(head);
      states_[static_cast<std::size_t>(head)] = queue.state;
      for (std::size_t i = current; i < entries.size(); ++i)
        headOf_[static_cast<std::size_t>(entries[i])] = head;
    }
    return loose();
  }
  std::string loose() {
    for (const auto* list : {&dump_.done, &dump_.running}) {
      for (const std::int64_t id : *list) {
        const std::int32_t t = ids_.task(id);
        if (t < 0) return fmt::format("the dump names task {}, which the schedule does not have", id);
        if (model_.queueOf[static_cast<std::size_t>(t)] >= 0) continue;
        (list == &dump_.done ? done_ : running_)[static_cast<std::size_t>(t)] = 1;
      }
    }
    for (std::int32_t t = 0; t < model_.tasks; ++t) {
      if (model_.queueOf[static_cast<std::size_t>(t)] >= 0 || done(t)) continue;
      headOf_[static_cast<std::size_t>(t)] = t;
      heads_.push_back(t);
      if (running_[static_cast<std::size_t>(t)] != 0) states_[static_cast<std::size_t>(t)] = State::running;
    }
    for (const auto& [id, value] : dump_.counters) {
      if (ids_.counter(id) < 0)
        return fmt::format("the dump names counter {}, which the schedule does not have", id);
    }
    return {};
  }
  void values() {
    held_.assign(s_.counters.size(), 0);
    completed_.assign(s_.counters.size(), 0);
    for (std::size_t c = 0; c < s_.counters.size(); ++c) {
      if (const auto at = dump_.counters.find(s_.counters[c].id); at != dump_.counters.end())
        held_[c] = at->second;
      completed_[c] = std::ranges::count_if(model_.producers[c], [&](std::int32_t p) { return done(p); });
      if (held_[c] <= completed_[c]) continue;
      // A task may have signalled before its queue moved on; then it is a current one.
      const auto current = std::ranges::count_if(model_.producers[c], [&](std::int32_t p) {
        return !done(p) && headOf_[static_cast<std::size_t>(p)] == p;
      });
      if (held_[c] > completed_[c] + current) {
        add({.cause = HangCause::inconsistent,
             .counter = static_cast<std::int32_t>(c),
             .text = fmt::format(
                 "counter {} is {}, and only {} tasks that raise it have completed: it did not start at 0, "
                 "or something else raises it",
                 s_.counters[c].id, held_[c], completed_[c])});
      }
    }
  }

  bool unmet(const Model::Need& need) const {
    return held_[static_cast<std::size_t>(need.counter)] < need.threshold;
  }
  bool lost(const Model::Need& need) const {
    return unmet(need) && completed_[static_cast<std::size_t>(need.counter)] >= need.threshold;
  }
  bool impossible(const Model::Need& need) const {
    return need.threshold >
           static_cast<std::int64_t>(model_.producers[static_cast<std::size_t>(need.counter)].size());
  }
  State stateOf(std::int32_t head) const { return states_[static_cast<std::size_t>(head)]; }
  /// Heads that a waiting head needs to move on.
  std::vector<std::pair<std::int32_t, Model::Need>> blockers(std::int32_t head) const {
    std::vector<std::pair<std::int32_t, Model::Need>> result;
    if (stateOf(head) == State::running || stateOf(head) == State::notStarted) return result;
    for (const Model::Need& need : model_.needs[static_cast<std::size_t>(head)]) {
      if (!unmet(need) || lost(need) || impossible(need)) continue;
      for (const std::int32_t p : model_.producers[static_cast<std::size_t>(need.counter)]) {
        if (!done(p)) result.emplace_back(headOf_[static_cast<std::size_t>(p)], need);
      }
    }
    return result;
  }

  /// The root causes that sit at this head itself.
  void roots(std::int32_t head) {
    const State state = stateOf(head);
    const auto& needs = model_.needs[static_cast<std::size_t>(head)];
    if (state == State::notStarted) {
      const std::int64_t sm = *task(head).sm;
      return add(
          {.cause = HangCause::queueNeverStarted,
           .task = head,
           .sm = sm,
           .text = fmt::format("the queue of SM {} never took its first entry, {}: its block is not resident",
                               sm, name(head))});
    }
    if (state == State::running ||
        std::ranges::none_of(needs, [&](const Model::Need& n) { return unmet(n); })) {
      const char* why = state == State::waiting
                            ? "still polls although its waits hold: it does not see the counters (a missing "
                              "acquire, or a flag that is not volatile)"
                        : state == State::running ? "runs and does not complete"
                                                  : "has all it waits for and does not complete";
      return add(
          {.cause = HangCause::taskStuck, .task = head, .text = fmt::format("{} {}", name(head), why)});
    }
    for (const Model::Need& need : needs) {
      const auto c = static_cast<std::size_t>(need.counter);
      if (impossible(need)) {
        add({.cause = HangCause::unsatisfiableWait,
             .task = head,
             .counter = need.counter,
             .text = fmt::format(
                 "{} waits for counter {} to reach {}, and only {} tasks raise it: no run gets past it",
                 name(head), s_.counters[c].id, need.threshold, model_.producers[c].size())});
      } else if (lost(need)) {
        add({.cause = HangCause::signalLost,
             .task = head,
             .counter = need.counter,
             .text = fmt::format(
                 "a signal was lost: {} tasks that raise counter {} have completed, and it is {} of the {} "
                 "that {} waits for",
                 completed_[c], s_.counters[c].id, held_[c], need.threshold, name(head))});
      }
    }
    if (deadlocked(head)) deadlock();
  }
  /// In every run this head never completes.
  bool deadlocked(std::int32_t head) const {
    return end_.completed[static_cast<std::size_t>(head)] == 0 && stateOf(head) != State::running;
  }
  void deadlock() {
    if (std::ranges::any_of(result_.causes,
                            [](const Cause& c) { return c.cause == HangCause::scheduleDeadlock; }))
      return;
    Finding finding;
    finding.rule = Rule::deadlock;
    finding.cycle = waitCycle(model_, end_);
    if (finding.cycle.empty())
      return;  // the chain ends at a wait that nothing can meet, which is its own cause
    std::string text = "the schedule deadlocks, in every run: ";
    const auto sentences = cycleSentences(s_, finding);
    for (std::size_t i = 0; i < sentences.size(); ++i) text += (i == 0 ? "" : "; ") + sentences[i];
    add({.cause = HangCause::scheduleDeadlock,
         .task = finding.cycle[0],
         .cycle = finding.cycle,
         .text = text});
  }

  /// The heads on the way from `head` to the cause, and the waits between them; empty if it does not wait for
  /// it.
  std::vector<std::pair<std::int32_t, Model::Need>> path(std::int32_t head, const Cause& cause) const {
    std::vector<std::int32_t> from(s_.tasks.size(), -1);
    std::vector<Model::Need> by(s_.tasks.size());
    std::queue<std::int32_t> open;
    open.push(head);
    from[static_cast<std::size_t>(head)] = head;
    while (!open.empty()) {
      const std::int32_t at = open.front();
      open.pop();
      if (atRoot(at, cause)) {
        std::vector<std::pair<std::int32_t, Model::Need>> result{{at, {}}};
        for (std::int32_t t = at; t != head; t = from[static_cast<std::size_t>(t)])
          result.insert(result.begin(), {from[static_cast<std::size_t>(t)], by[static_cast<std::size_t>(t)]});
        return result;
      }
      for (const auto& [next, need] : blockers(at)) {
        auto& mark = from[static_cast<std::size_t>(next)];
        if (mark >= 0) continue;
        mark = at;
        by[static_cast<std::size_t>(next)] = need;
        open.push(next);
      }
    }
    return {};
  }
  bool atRoot(std::int32_t head, const Cause& cause) const {
    if (cause.cause == HangCause::scheduleDeadlock) {
      return std::ranges::any_of(
          cause.cycle, [&](std::int32_t t) { return headOf_[static_cast<std::size_t>(t)] == head; });
    }
    if (cause.cause == HangCause::inconsistent) return false;
    if (cause.cause == HangCause::signalLost) {
      return std::ranges::any_of(model_.needs[static_cast<std::size_t>(head)], [&](const Model::Need& need) {
        return need.counter == cause.counter && lost(need);
      });
    }
    return cause.task == head;
  }
  void blocked(Cause& cause) const {
    std::vector<char> seen(s_.tasks.size(), 0);
    std::vector<std::int32_t> open;
    const auto visit = [&](std::int32_t head) {
      if (seen[static_cast<std::size_t>(head)] != 0) return;
      seen[static_cast<std::size_t>(head)] = 1;
      open.push_back(head);
    };
    for (const std::int32_t head : heads_) {
      if (atRoot(head, cause)) visit(head);
    }
    while (!open.empty()) {
      const std::int32_t head = open.back();
      open.pop_back();
      cause.blocked.push_back(head);
      for (const std::int32_t waiter : waiters_[static_cast<std::size_t>(head)]) visit(waiter);
    }
    std::ranges::sort(cause.blocked);
  }

  void chain(const Cause& cause) {
    // The longest way shows most of what happened.
    std::vector<std::pair<std::int32_t, Model::Need>> longest;
    for (std::size_t i = 0; i < std::min<std::size_t>(cause.blocked.size(), 64); ++i) {
      auto way = path(cause.blocked[i], cause);
      if (way.size() > longest.size()) longest = std::move(way);
    }
    for (std::size_t i = 0; i + 1 < longest.size(); ++i) {
      const auto& [head, need] = longest[i];
      const auto c = static_cast<std::size_t>(need.counter);
      const std::int32_t next = longest[i + 1].first;
      const auto& raised = model_.raises[static_cast<std::size_t>(next)];
      const bool itself = std::ranges::find(raised, need.counter) != raised.end();
      result_.chain.push_back(
          fmt::format("{} waits for counter {} to reach {} (it is {}); {} {}", name(head), s_.counters[c].id,
                      need.threshold, held_[c],
                      itself ? "not yet raised by" : "a task that raises it stands behind", name(next)));
    }
    result_.chain.push_back(cause.text);
  }

  const Schedule& s_;
  const HangDump& dump_;
  Ids ids_;
  Model model_;
  Closure end_;
  std::vector<char> done_, running_;
  std::vector<std::int32_t> headOf_;  ///< per task that is not done: the head in front of it
  std::vector<std::int32_t> heads_;
  std::vector<State> states_;                       ///< per head task
  std::vector<std::vector<std::int32_t>> waiters_;  ///< per head task: heads that wait for it
  std::vector<std::int64_t> held_, completed_;      ///< per counter
  HangExplanation result_;
};

}  // namespace

std::string_view text(HangCause cause) {
  constexpr std::string_view texts[] = {
      "schedule deadlock", "wait that cannot be met", "queue never started", "signal lost",
      "task stuck",        "inconsistent dump",       "nothing hangs"};
  return texts[static_cast<std::size_t>(cause)];
}

Result<HangExplanation> explainHang(const Schedule& schedule, const HangDump& dump) {
  return Explainer(schedule, dump).run();
}

}  // namespace nuscope::schedule
