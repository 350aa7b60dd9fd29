#include "core/propagate/attempt.h"

#include <chrono>

#include "core/propagate/local_goal.h"

namespace nuscope::propagate {
namespace {

using proof::Proof;
using proof::Verdict;

constexpr int localDraws = 8;  ///< a wrong rewriting differs in nearly every draw
constexpr int wholeDraws = 120;

proof::Options optionsFor(const AttemptOptions& options, double seconds, bool draws) {
  proof::Options result;
  result.mode = proof::Mode::refines;
  result.draws = draws;
  result.seed = options.seed;
  result.maxDraws = wholeDraws;
  result.secondsLimit = seconds;
  result.solvers = options.solvers;
  return result;
}

bool differsLocally(const LocalGoal& goal, const AttemptOptions& options, const Procedures& procedures,
                    const Progress& progress) {
  proof::RefuteOptions draws;
  draws.mode = proof::Mode::refines;
  draws.seed = options.seed;
  draws.lastDraw = localDraws;
  draws.shrink = false;
  return procedures.refute(goal.opened.left, goal.opened.right, draws, progress).counterexample.has_value();
}

}  // namespace

Outcome attempt(const tensor::Program& program, const Move& move, const std::vector<tensor::NodeRef>& from,
                const std::vector<tensor::NodeRef>& to, const AttemptOptions& options,
                const Procedures& procedures, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const auto finished = [&](Proof proof, bool local) {
    Outcome outcome;
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    proof.seconds = outcome.seconds;
    outcome.proof = std::make_shared<const Proof>(std::move(proof));
    outcome.local = local;
    return outcome;
  };
  progress.check();
  const LocalGoal goal = localGoal(program, move.before, move.after);
  const bool guarded = mayYieldInfinity(move.before) || mayYieldInfinity(move.after);
  if (!guarded && !differsLocally(goal, options, procedures, progress)) {
    Proof local = procedures.rewrite(goal.context, goal.before, goal.after, goal.cut,
                                     optionsFor(options, options.secondsLocal, false), progress);
    if (local.verdict == Verdict::proved) return finished(std::move(local), true);
    // Nobody learns from a guess that failed: it is not worth the whole program's proof.
    if (move.quiet) return finished(std::move(local), false);
  } else if (move.quiet) {
    Proof differs;
    differs.mode = proof::Mode::refines;
    differs.reason = guarded ? "-inf is a value here, so that only the whole program tells"
                             : "differs when its operands are taken as they come";
    return finished(std::move(differs), false);
  }
  const Sides sides = wholeGoal(program, from, to);
  return finished(
      procedures.whole(sides.left, sides.right, optionsFor(options, options.secondsWhole, true), progress),
      false);
}

}  // namespace nuscope::propagate
