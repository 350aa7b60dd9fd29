#pragma once
// Finds inputs at which two programs differ: seeded draws at small shapes, screened in float64, confirmed
// over the reals by exact evaluation, then shrunk (DESIGN 5.2). Never refutes a pair that is equal over the
// reals.
#include <optional>
#include <string>

#include "core/base/progress.h"
#include "core/proof/verdict.h"
#include "core/tensor/graph.h"

namespace nuscope::proof {

struct RefuteOptions {
  Mode mode = Mode::equal;
  std::uint64_t seed = 1;
  int firstDraw = 1;  ///< draws are numbered; a second call may go on where a first one stopped
  int lastDraw = 300;
  bool shrink = true;
};

struct RefuteOutcome {
  std::optional<Counterexample> counterexample;
  int draws = 0;     ///< made
  int voided = 0;    ///< of these, without a single decided element (overflow, near jumps)
  std::string note;  ///< what stood in the way: "no inputs satisfy assert ..."; may be empty
};

/// Compares result i of both sides for every i. Preconditions: equal parameters and numbers of results.
/// Asserts of both sides hold at every draw. Draws 1, 2, ... depend only on (programs, seed), not on how they
/// are grouped into calls. Throws Cancelled within 100 ms. Thread-safe.
RefuteOutcome refute(const tensor::Program& left, const tensor::Program& right, const RefuteOptions& options,
                     const Progress& progress = {});

inline std::optional<Counterexample> refute(const tensor::Program& left, const tensor::Program& right,
                                            Mode mode, std::uint64_t seed, int maxDraws,
                                            const Progress& progress = {}) {
  RefuteOptions options;
  options.mode = mode;
  options.seed = seed;
  options.lastDraw = maxDraws;
  return refute(left, right, options, progress).counterexample;
}

/// Checks inputs from elsewhere (a solver's model, a recorded counterexample): a counterexample if the
/// asserts hold and some element certainly differs there. `draw` of the result is 0.
std::optional<Counterexample> confirm(const tensor::Program& left, const tensor::Program& right, Mode mode,
                                      const tensor::Extents& extents, const semantics::Inputs& inputs,
                                      bool shrink, const Progress& progress = {});

}  // namespace nuscope::proof
