#pragma once
// Exploration: from the program as written, every variant that operator propagation can reach and prove
// (DESIGN 6; Axon's Algorithm 1). Breadth first; candidates are formed from the structure of neighbouring
// operators only, never from a table of algebraic rules; each is filtered by types and a few seeded draws,
// then proved. Variants that differ only in the order of elementwise operators inside of a loop count as one
// (skeleton.h), and moves that would only add such operators to a loop are not made; cuts() says how many.
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/progress.h"
#include "core/nugraph/nugraph.h"

namespace nuscope::proof {
class SolverPool;
}

namespace nuscope::propagate {

struct ExploreOptions {
  int maxVariants = 64;  ///< including the root
  int maxSteps = 1024;
  int maxAttempts = 20000;        ///< moves that type, over the whole run
  int maxRefusedPerVariant = 16;  ///< kept with their counterexample; further ones are counted as a cut
  int maxGrowth = 8;              ///< a variant may have this many operators more than the root
  double secondsLimit = 30;    ///< wall clock; what it cuts is said in cuts() and stands outside determinism
  double secondsPerProof = 2;  ///< wall clock for one proof attempt
  std::uint64_t seed = 1;
  int threads = 1;  ///< proofs of one variant's moves run side by side; the outcome is the same
  proof::SolverPool* solvers = nullptr;  ///< null: moves that need a solver stay unknown
};

/// The same graph for the same program, options and seed (except for what a clock cut), whatever the number
/// of threads. `onChange` gets snapshots from the calling thread, at most about ten a second and a last one
/// at the end; may be empty. Throws Cancelled within 100 ms of a stop request.
std::shared_ptr<const nugraph::NuGraph> explore(
    const tensor::Program& program, const ExploreOptions& options, const Progress& progress,
    const std::function<void(std::shared_ptr<const nugraph::NuGraph>)>& onChange);

}  // namespace nuscope::propagate
