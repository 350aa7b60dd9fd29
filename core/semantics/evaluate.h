#pragma once
// Float64 evaluation of whole graphs at given extents. Every element comes with a bound of its error against
// the real number it stands for, and with its definedness, which is decided by the semantics (tensor/graph.h)
// and never by isfinite.
//
// The bound is a deterministic running error analysis (Higham, Accuracy and Stability of Numerical
// Algorithms, 3.3): each operation adds its own rounding to what its operands' bounds become under its
// derivative. With the roundoff of float64 the rounding of +, -, *, / and sqrt is taken as it happened
// (error-free transformations), so that small integers and halves stay exact; with a coarser roundoff u it is
// u * |result|, and a fold of n terms adds (n - 1) * u * sum |terms|, which covers every order of summation.
// An operation adds nothing where its result is exact in any order (sums of integers below 1/u). exp, log,
// tanh, sin and cos add 4 u.
//
// An element is *undecided* where a jump lies within the bound: the condition of a comparison, the argument
// of floor, rint, sign, //, % or a cast to integer, a divisor whose bound includes 0, the argument of log or
// sqrt about 0; and where float64 overflows or an integer leaves 2^53. Undecided is neither defined nor
// undefined.
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "core/semantics/tensor_value.h"
#include "core/tensor/graph.h"

namespace nuscope::semantics {

enum class State : std::uint8_t { defined = 0, undefined = 1, undecided = 2 };

/// One tensor. `bound` and `state` have an entry for each value. Values of undefined elements are NaN.
struct Evaluated {
  TensorValue value;
  std::vector<double> bound;        ///< |value - real value| <= bound where defined
  std::vector<std::uint8_t> state;  ///< State
};

struct EvaluateOptions {
  /// Unit roundoff that the bound is for: of float64 for draws, of the dtype of accumulation for the numeric
  /// gate. The values are computed in float64 in both cases.
  double roundoff = 0x1p-53;
  /// Round the value of every node to its dtype (f32, f16, bf16) after it is computed: the program in its own
  /// precision, for telling rounding and range from a fault. Overflow of the dtype is undecided.
  bool roundToDType = false;
  /// Element by element through the granular forms only; slow, for tests of the fast paths.
  bool generic = false;
  int threads = 1;  ///< for large tensors; the result does not depend on it
};

/// Values of `results` (nodes of context's store) in order. Inputs are taken as they are, exactly.
/// Throws UserError when an input is missing or has another shape than its parameter at `extents`, or when a
/// tensor would exceed 2^31 elements; Cancelled after a stop request (within 100 ms).
std::vector<Evaluated> evaluate(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                                const tensor::Extents& extents, const Inputs& inputs,
                                const EvaluateOptions& options = {}, const Progress& progress = {});

/// The same, but with the values of every node below the results, outside loop bodies.
std::unordered_map<tensor::NodeRef, Evaluated> evaluateAll(
    const tensor::Program& context, std::span<const tensor::NodeRef> results, const tensor::Extents& extents,
    const Inputs& inputs, const EvaluateOptions& options = {}, const Progress& progress = {});

/// `value` rounded to nearest, ties to even, in `type` (float types; others are returned unchanged). May give
/// an infinity.
double roundTo(double value, tensor::DType type);

}  // namespace nuscope::semantics
