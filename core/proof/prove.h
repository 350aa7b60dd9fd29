#pragma once
// The one procedure behind `nuscope prove`, propagation, tiling and lowering (DESIGN 5, reference/proofs.md).
#include "core/base/progress.h"
#include "core/proof/verdict.h"
#include "core/tensor/graph.h"

namespace nuscope::proof {

class SolverPool;  // core/proof/solver_pool.h: killable `nuscope solve` children

struct Options {
  Mode mode = Mode::equal;
  bool draws = true;           ///< refute by seeded draws first; off to test the prover's own soundness
  bool proofs = true;          ///< off: draws only
  std::uint64_t seed = 1;
  int maxDraws = 300;
  double secondsLimit = 10;    ///< wall clock for the whole attempt; exceeding it is `unknown`, cutByTime
  SolverPool* solvers = nullptr;  ///< null: no solver; what needs one stays unknown, with that reason
};

/// Decides left == right (or: right refines left). The programs must have the same parameters (names, dtypes,
/// shapes as polynomials), else UserError. Asserts of both sides hold jointly. Deterministic for a seed, except
/// where `cutByTime`. Throws Cancelled within 100 ms of a stop request. Thread-safe.
Proof prove(const tensor::Program& left, const tensor::Program& right, const Options& options, const Progress& progress);

}  // namespace nuscope::proof
