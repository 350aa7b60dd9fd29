#pragma once
// Small ground goals for the solver. Every answer that counts is `unsat` of a goal whose hypotheses alone are
// `sat`.
#include "core/proof/calculus.h"
#include "core/proof/recorder.h"

namespace nuscope::proof {

class SolverPool;

/// Indicator atoms with the value they have in a branch.
using Conditions = std::vector<std::pair<AtomRef, bool>>;

struct Goal {
  Conditions conditions;
  std::vector<PolyRef> zeros;  ///< hypotheses: each is 0
  PolyRef nonZero = nullptr;   ///< is this != 0 possible? null: are the conditions themselves possible?
};

class Oracle {
 public:
  Oracle(Calculus& c, SolverPool* pool, Recorder& recorder) : c_(c), pool_(pool), recorder_(recorder) {}

  /// No values satisfy the goal. False: not shown.
  bool impossible(const Goal& goal);
  [[nodiscard]] bool available() const { return pool_ != nullptr; }
  /// A clock ended a question: another run may answer otherwise.
  [[nodiscard]] bool cutByTime() const { return cutByTime_; }
  [[nodiscard]] bool wanted() const {
    return wanted_;
  }  ///< a question could not be asked for want of a solver

 private:
  [[nodiscard]] std::chrono::milliseconds limitNow() const;

  Calculus& c_;
  SolverPool* pool_;
  Recorder& recorder_;
  bool wanted_ = false;
  bool cutByTime_ = false;
  int asked_ = 0;
  double spent_ = 0;  ///< milliseconds in the solver
};

}  // namespace nuscope::proof
