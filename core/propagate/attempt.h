#pragma once
// One move, decided: seeded draws on the rewriting alone, its local proof, and where that does not settle it
// the whole program against the whole variant.
#include <functional>
#include <memory>
#include <span>
#include <unordered_set>

#include "core/base/progress.h"
#include "core/nugraph/nugraph.h"
#include "core/proof/prove.h"
#include "core/proof/refute.h"
#include "core/propagate/moves.h"

namespace nuscope::propagate {

/// The prover as seen from here; tests put others in its place.
struct Procedures {
  std::function<proof::Proof(const tensor::Program&, std::span<const tensor::NodeRef>,
                             std::span<const tensor::NodeRef>, const std::unordered_set<tensor::NodeRef>&,
                             const proof::Options&, const Progress&)>
      rewrite;
  std::function<proof::Proof(const tensor::Program&, const tensor::Program&, const proof::Options&,
                             const Progress&)>
      whole;
  std::function<proof::RefuteOutcome(const tensor::Program&, const tensor::Program&,
                                     const proof::RefuteOptions&, const Progress&)>
      refute;
};
/// core/proof's.
Procedures provers();

struct AttemptOptions {
  std::uint64_t seed = 1;
  double secondsLocal = 0.5;
  double secondsWhole = 2;
  proof::SolverPool* solvers = nullptr;
};

struct Outcome {
  nugraph::ProofRef proof;  ///< never null
  bool local = false;       ///< proved with everything below taken as opaque: holds in any variant
  double seconds = 0;
};

/// Decides move.before -> move.after in the variant `from`; `to` is the variant with the move made.
/// Thread-safe; deterministic but for what a clock cuts. Throws Cancelled.
Outcome attempt(const tensor::Program& program, const Move& move, const std::vector<tensor::NodeRef>& from,
                const std::vector<tensor::NodeRef>& to, const AttemptOptions& options,
                const Procedures& procedures, const Progress& progress);

}  // namespace nuscope::propagate
