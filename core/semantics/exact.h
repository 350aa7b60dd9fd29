#pragma once
// Exact evaluation of single elements: rational numbers as long as possible, enclosures by balls (Arb) where
// exp, roots of non-squares, sin and the like occur. The last word on a difference that float64 shows
// (DESIGN 5.2).
#include <memory>
#include <string>

#include "core/base/exact.h"
#include "core/base/progress.h"
#include "core/semantics/tensor_value.h"
#include "core/tensor/graph.h"

namespace nuscope::semantics {

/// What one element is over the reals (or unbounded integers).
struct ExactElement {
  enum class Kind : std::uint8_t {
    rational,   ///< exactly `rational`; conditions are 0 and 1
    ball,       ///< within [lower, upper]
    undefined,  ///< certain; `why` says where: "0/0", "sqrt(-1)"
    undecided   ///< not known at the highest precision tried, or too large
  };
  Kind kind = Kind::undecided;
  Rational rational;
  Rational lower, upper;  ///< enclosure; both equal `rational` if that is known
  std::string why;
  [[nodiscard]] bool defined() const { return kind == Kind::rational || kind == Kind::ball; }
};

/// True only if both are defined and certainly different.
bool certainlyDifferent(const ExactElement& a, const ExactElement& b);
/// For people: "0", "1/3", "2.718281828...", "0/0, undefined".
std::string text(const ExactElement& element);

/// Evaluates elements at fixed extents and inputs; remembers what it has computed. The inputs' doubles are
/// taken as the dyadic rationals they are. Not thread-safe.
class ExactEvaluator {
 public:
  /// Keeps references to `context` and `inputs`. `precision` in bits, for balls.
  ExactEvaluator(const tensor::Program& context, const tensor::Extents& extents, const Inputs& inputs,
                 int precision = 128);
  ~ExactEvaluator();
  ExactEvaluator(const ExactEvaluator&) = delete;
  ExactEvaluator& operator=(const ExactEvaluator&) = delete;

  /// `index` has one entry for each axis of the node's shape. Throws Cancelled.
  ExactElement element(tensor::NodeRef node, const std::vector<std::int64_t>& index,
                       const Progress& progress = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nuscope::semantics
