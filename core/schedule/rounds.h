#pragma once
// A run laid out for drawing: the run that shows a finding, or everything that can run. A step is the
// completion of one task. Immutable: the state at any step is looked up, so that a picture of 100,000 tasks
// costs the same at every step, forward and back. (run.h goes through a run event by event, in words.)
//
// Runs are by rounds: in round r every task runs that may start once rounds 0 .. r-1 are over. This is one of
// the interleavings that the schedule allows (execution is confluent), and the one that is easiest to read.
#include <memory>

#include "core/schedule/finding.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

class Rounds {
 public:
  enum class End : std::uint8_t {
    complete,  ///< every task has run
    frozen,    ///< nothing that is left can start: a deadlock
    fault      ///< `faults()` can start now, and that is the finding
  };

  /// As far as the schedule goes.
  explicit Rounds(std::shared_ptr<const Model> model);
  /// The run that shows a finding of the schedule: its certificate, where it has one; otherwise everything,
  /// with the fault at the step of its task.
  Rounds(std::shared_ptr<const Model> model, const Finding& finding);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] std::int32_t steps() const { return static_cast<std::int32_t>(order_.size()); }
  [[nodiscard]] std::int32_t rounds() const { return rounds_; }
  /// The task that completes with step `step` (0 <= step < steps()).
  [[nodiscard]] std::int32_t taskOf(std::int32_t step) const {
    return order_[static_cast<std::size_t>(step)];
  }
  /// -1: it does not complete in this run.
  [[nodiscard]] std::int32_t stepOf(std::int32_t task) const {
    return stepOf_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] std::int32_t roundOf(std::int32_t task) const {
    return roundOf_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] End end() const { return end_; }
  /// Tasks whose start after the last step is the fault; or, in a deadlock, those of the cycle.
  [[nodiscard]] const std::vector<std::int32_t>& faults() const { return faults_; }
  /// Where the fault is seen: the number of completed tasks.
  [[nodiscard]] std::int32_t faultStep() const { return faultStep_; }

  // States after `step` completions, 0 <= step <= steps().
  [[nodiscard]] bool doneAt(std::int32_t task, std::int32_t step) const {
    return stepOf(task) >= 0 && stepOf(task) < step;
  }
  [[nodiscard]] std::int64_t counterAt(std::int32_t counter, std::int32_t step) const;
  /// Position in the queue of its first entry that is not done; its length when all are.
  [[nodiscard]] std::int32_t headAt(std::int32_t queue, std::int32_t step) const;
  struct Unmet {
    std::int32_t counter = -1;  ///< -1: the queue entry before it is not done
    std::int64_t value = 0, threshold = 0;
    std::int32_t before = -1;
  };
  /// Why a task cannot start; empty: it can, or is done.
  [[nodiscard]] std::vector<Unmet> unmetAt(std::int32_t task, std::int32_t step) const;

 private:
  void fire(const std::vector<char>* allowed);
  std::shared_ptr<const Model> model_;
  std::vector<std::int32_t> order_, stepOf_, roundOf_;
  std::vector<std::vector<std::int32_t>> raisedAt_;  ///< per counter the steps that raise it, ascending
  std::vector<std::int32_t> faults_;
  std::int32_t rounds_ = 0, faultStep_ = 0;
  End end_ = End::complete;
};

}  // namespace nuscope::schedule
