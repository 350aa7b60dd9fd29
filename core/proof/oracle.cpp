#include "core/proof/oracle.h"

#include <fmt/format.h>

#include "core/proof/smt.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {

/// The first goals get time, for a busy machine; many hopeless ones do not.
std::chrono::milliseconds Oracle::limitNow() const {
  const double own = spent_ < 1500 ? 1200 : 300;
  const double left = std::max(1.0, std::min(c_.secondsLeft() * 1000, own));
  return std::chrono::milliseconds(static_cast<long>(left));
}

bool Oracle::impossible(const Goal& goal) {
  if (pool_ == nullptr) {
    wanted_ = true;
    return false;
  }
  if (spent_ > 4000) cutByTime_ = true;
  if (asked_ >= 400 || spent_ > 4000) return false;
  struct Attempt {
    bool relaxed;
    SolverSetup setup;
  };
  std::vector<Attempt> attempts;
  if (mentionsIntegers(c_, goal)) attempts.push_back({false, SolverSetup::linear});
  attempts.push_back({true, SolverSetup::smt});
  attempts.push_back({true, SolverSetup::nlsat});
  for (const Attempt& attempt : attempts) {
    c_.look();
    SolverQuery query;
    query.setup = attempt.setup;
    query.limit = limitNow();
    const Script script = smtScript(c_, goal, attempt.relaxed);
    query.smt = script.hypotheses + script.goal;
    ++asked_;
    const SolverAnswer answer = pool_->ask(query, c_.progress().stopToken());
    spent_ += answer.milliseconds;
    const bool late = answer.status == SolverAnswer::Status::killed ||
                      (answer.status == SolverAnswer::Status::unknown &&
                       (answer.detail == "timeout" || answer.detail == "canceled"));
    cutByTime_ = cutByTime_ || late;
    c_.progress().check();
    if (answer.status == SolverAnswer::Status::sat) {
      // A model of the relaxation decides nothing about integers, but another setup will not say unsat
      // either.
      if (attempt.relaxed) return false;
      continue;
    }
    if (answer.status != SolverAnswer::Status::unsat) continue;
    // Empty assumptions prove everything: the hypotheses alone must be satisfiable.
    SolverQuery sanity = query;
    sanity.smt = script.hypotheses;
    const SolverAnswer sane = pool_->ask(sanity, c_.progress().stopToken());
    c_.progress().check();
    if (sane.status != SolverAnswer::Status::sat) continue;
    recorder_.add(fmt::format("Z3 ({})", text(attempt.setup)),
                  "unsat: the negated goal has no model; the hypotheses alone have one", {}, {},
                  answer.milliseconds, query.smt + "(check-sat)\n");
    recorder_.use("z3");
    return true;
  }
  return false;
}

}  // namespace nuscope::proof
