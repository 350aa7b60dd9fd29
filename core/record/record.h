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

/// A record that the checker has confirmed, or why there is none.
struct Recording {
  bool replayable = false;
  std::string why;                       ///< where it is not
  std::string record;                    ///< JSON
  std::vector<std::string> obligations;  ///< SMT-LIB, as the checker built them
  std::vector<std::string> assumptions;  ///< asserts of the programs that the goal stands under
  std::vector<replay::LemmaUse> uses;    ///< the first `mostUses` lemma instances of the replay
  int lemmas = 0;                        ///< folds met
  double seconds = 0;                    ///< search and replay
};

/// For whom a confirmed goal holds: "all M, K >= 1 with K % 4 == 0".
std::string holdsFor(const std::vector<std::string>& dimensions, const std::vector<std::string>& assumptions);

/// Looks for a record and replays it. Throws Cancelled.
Recording confirmedRecord(const replay::ProofGoal& goal, replay::Solver* solver, double secondsLimit = 5,
                          const Progress& progress = {}, std::size_t mostUses = 0);

}  // namespace nuscope::record
