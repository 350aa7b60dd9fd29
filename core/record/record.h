#pragma once
// Looks for a record that the checker of core/replay accepts: the same goal, argued in the checker's own
// steps. Nothing found here is trusted; the replay decides.
#include <string>

#include "core/base/progress.h"
#include "core/replay/proof_record.h"

namespace nuscope::record {

/// The goal "right equals (or refines) left", with both programs as canonical text.
replay::ProofGoal goalOf(const tensor::Program& left, const tensor::Program& right, bool refines);

struct Attempt {
  std::string record;  ///< JSON text; empty if none was found
  std::string why;     ///< why none was found: "not replayable: ..." in words
  double seconds = 0;
};

/// Tries the steps in the order that needs the fewest. Deterministic but for the limits. Throws Cancelled.
Attempt recordProof(const replay::ProofGoal& goal, replay::Solver* solver, double secondsLimit = 5,
                    const Progress& progress = {});

}  // namespace nuscope::record
