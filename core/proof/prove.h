#pragma once
// The one procedure behind `nuscope prove`, propagation, tiling and lowering (DESIGN 5, reference/proofs.md).
#include <span>
#include <unordered_set>

#include "core/base/progress.h"
#include "core/proof/verdict.h"
#include "core/tensor/graph.h"

namespace nuscope::proof {

class SolverPool;  // core/proof/solver_pool.h: killable `nuscope solve` children

struct Options {
  Mode mode = Mode::equal;
  bool draws = true;   ///< refute by seeded draws first; off to test the prover's own soundness
  bool proofs = true;  ///< off: draws only
  bool anyType =
      false;  ///< results may be integers on one side and reals on the other: their values are compared
  std::uint64_t seed = 1;
  int maxDraws = 300;
  double secondsLimit = 10;       ///< wall clock for the whole attempt; exceeding it is `unknown`, cutByTime
  SolverPool* solvers = nullptr;  ///< null: no solver; what needs one stays unknown, with that reason
};

/// Decides left == right (or: right refines left). The programs must have the same parameters (names, dtypes,
/// shapes as polynomials), else UserError. Asserts of both sides hold jointly. Deterministic for a seed,
/// except where `cutByTime`. Throws Cancelled within 100 ms of a stop request. Thread-safe.
Proof prove(const tensor::Program& left, const tensor::Program& right, const Options& options,
            const Progress& progress);

/// The cheap entry for steps of the nu-graph: decides whether the nodes `after` equal (or, in Mode::refines,
/// refine) the nodes `before`, both lists of the same length, in the store of `context`, under its asserts.
/// Nodes in `cut` (and below them) are taken as opaque tensors of unknown values: a proof holds for whatever
/// they compute. Their definedness is kept: where `before` does not read an element of a cut node that may be
/// undefined, `after` may not either. What may be -inf or inf has laws of its own: never cut it.
/// Pointer-equal pairs are proved at once; shapes must agree. A pair that is refuted with cuts is `unknown`
/// here (an opaque value may not be reachable): no counterexample, `draws` is not looked at unless `cut` is
/// empty. Typical local goals take well under 1 ms. Thread-safe; deterministic as `prove`.
Proof proveRewrite(const tensor::Program& context, std::span<const tensor::NodeRef> before,
                   std::span<const tensor::NodeRef> after, const std::unordered_set<tensor::NodeRef>& cut,
                   const Options& options, const Progress& progress);

}  // namespace nuscope::proof
