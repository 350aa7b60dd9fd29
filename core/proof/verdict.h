#pragma once
// What the prover answers. "Proved" is a promise: for all extents >= 1 and all inputs that satisfy the
// asserts, over the reals for floating types and over the unbounded integers for integer types. Unknown is
// not proved.
#include <optional>
#include <string>
#include <vector>

#include "core/semantics/tensor_value.h"
#include "core/tensor/dim.h"

namespace nuscope::proof {

enum class Verdict : std::uint8_t { proved, refuted, unknown };
std::string_view text(Verdict verdict);

/// equal: both sides are defined at the same inputs and equal there. refines: the right side is defined
/// wherever the left one is, and equal there (steps of the nu-graph).
enum class Mode : std::uint8_t { equal, refines };

/// Extents and inputs at which the sides differ, shrunk. The difference was confirmed exactly or by interval
/// enclosures over the reals, never by float64 alone.
struct Counterexample {
  enum class Kind : std::uint8_t { values, leftUndefined, rightUndefined };
  Kind kind = Kind::values;
  tensor::Extents extents;
  semantics::Inputs inputs;
  std::size_t result = 0;           ///< which result of the programs differs
  std::vector<std::int64_t> index;  ///< the differing element
  semantics::TensorValue left,
      right;                        ///< the whole differing result of each side, float64; NaN where undefined
  std::string leftText, rightText;  ///< the differing element for people: "0", "0/0, undefined"
  std::uint64_t seed = 0;
  int draw = 0;  ///< found at this draw (1-based); 0: by a solver model
};

/// One line of an argument: a lemma instance, an induction's base or step, a solver call. Nested by `depth`.
struct ProofStep {
  int depth = 0;
  std::string lemma;   ///< "normal form", "S0 congruence", "induction over K", "Z3 (real, nlsat)"
  std::string text;    ///< one sentence for a person
  std::string before;  ///< the goal as mathematics before the step; may be empty
  std::string after;   ///< and after; empty when the step closes the goal
  double milliseconds = 0;
  std::string smt;  ///< the obligation in SMT-LIB when a solver was asked
};

struct Proof {
  Verdict verdict = Verdict::unknown;
  Mode mode = Mode::equal;
  std::string reason;     ///< why: "normal forms agree", "draw 3 differs", "remaining difference: ..."
  std::string decidedBy;  ///< one word for statistics: "normal-form", "induction", "z3", "draw", ...
  std::string holdsFor;   ///< "all M, K, N >= 1" with the asserts that were used; shown beside "proved"
  std::string remaining;  ///< unknown or refuted: left minus right, simplified, as mathematics
  std::vector<ProofStep> steps;
  std::vector<std::string> definedness;    ///< conditions under which both sides are defined, for people
  std::vector<std::string> unusedAsserts;  ///< asserts that the proof could not use
  std::optional<Counterexample> counterexample;  ///< exactly if refuted
  double seconds = 0;
  bool cutByTime = false;  ///< unknown only because a clock ended the attempt
};

}  // namespace nuscope::proof
