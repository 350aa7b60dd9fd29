#pragma once
// A run of a schedule, one event at a time, forward and back: what stepping through a counterexample or a
// certificate shows. Every step is one that the schedule allows; nothing is computed from drawings.
#include <string>

#include "core/base/result.h"
#include "core/schedule/check.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

struct RunEvent {
  enum class Kind : std::uint8_t { start, complete };
  Kind kind = Kind::start;
  std::int32_t task = 0;  ///< position in the task list
  bool operator==(const RunEvent&) const = default;
};

enum class TaskState : std::uint8_t { waiting, running, done };

/// Why a task cannot start.
struct Unmet {
  std::int32_t behind = -1;   ///< the queue entry that has to complete first; -1: the wait below
  std::size_t wait = 0;       ///< index in Task::waits
  std::int32_t counter = -1;  ///< position in the counter list
  std::int64_t value = 0, threshold = 0;
  std::string text;  ///< "counter 3 is 1 of 2; not yet raised by task 7 (L0.q_proj[t1])"
};

/// Where a queue stands.
struct QueueState {
  std::int64_t sm = 0;
  std::size_t entry = 0;   ///< index in the queue of the entry that runs or is next; its size at the end
  std::int32_t task = -1;  ///< that entry; -1 at the end
  bool running = false;
};

/// Not thread-safe. Keeps a reference to the schedule and a copy of what else it needs.
class Run {
 public:
  /// The events of `firing` (start, complete each), then the starts of `last`. Refused, naming the first task
  /// that cannot start there, if the schedule does not allow it.
  static Result<Run> of(const Schedule& schedule, const std::vector<std::int32_t>& firing,
                        const std::vector<std::int32_t>& last = {});
  /// Of a finding that has a run (deadlock, race, early read, clobber); frozen at the moment of the fault.
  static Result<Run> of(const Schedule& schedule, const Finding& finding);

  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }  ///< events that have happened
  [[nodiscard]] const RunEvent& event(std::size_t i) const { return events_[i]; }
  void seek(std::size_t position);  ///< clamped to 0 .. size()
  bool forward() { return position_ < size() && (seek(position_ + 1), true); }
  bool back() { return position_ > 0 && (seek(position_ - 1), true); }

  [[nodiscard]] TaskState state(std::int32_t task) const { return states_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] const std::vector<std::int64_t>& counters() const { return counters_; }  ///< by position
  [[nodiscard]] std::vector<QueueState> queues() const;
  [[nodiscard]] std::vector<std::int32_t> running() const;
  /// Empty for a task that has started or can start now.
  [[nodiscard]] std::vector<Unmet> unmet(std::int32_t task) const;
  /// What happened in event i, in words: "task 3 (L0.k_proj) completes and raises counter 3 to 1 of 2".
  [[nodiscard]] std::string text(std::size_t event) const;
  [[nodiscard]] const Model& model() const { return *model_; }

 private:
  Run(const Schedule& schedule, std::shared_ptr<const Model> model);
  bool canStart(std::int32_t task) const;
  void apply(const RunEvent& event, bool forward);
  const Schedule* schedule_;
  std::shared_ptr<const Model> model_;
  std::vector<RunEvent> events_;
  std::size_t position_ = 0;
  std::vector<TaskState> states_;
  std::vector<std::int64_t> counters_;
  std::vector<std::size_t> entries_;  ///< per queue: entries that have completed
};

}  // namespace nuscope::schedule
