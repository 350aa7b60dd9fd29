#pragma once
// Compares two programs at given inputs: float64 with bounds first, the exact evaluator for what then
// differs.
#include <memory>
#include <optional>

#include "core/proof/refute.h"
#include "core/semantics/draw.h"
#include "core/semantics/exact.h"
#include "core/semantics/float_engine.h"

namespace nuscope::proof {

/// One element that certainly differs over the reals.
struct Difference {
  Counterexample::Kind kind = Counterexample::Kind::values;
  std::size_t result = 0;
  std::vector<std::int64_t> index;
};

/// Inputs and what they show.
struct Case {
  tensor::Extents extents;
  semantics::Inputs inputs;
  Difference difference;
};

/// Two programs at fixed extents. Keeps references to them. Not thread-safe.
class Screen {
 public:
  /// `undecidedBudget`: exact evaluations, over all calls of `find`, of elements that float64 leaves open.
  Screen(const tensor::Program& left, const tensor::Program& right, const tensor::Extents& extents,
         int undecidedBudget = 5);

  /// The first confirmed difference. With `kind`, only differences of that kind count.
  std::optional<Difference> find(const semantics::Inputs& inputs, Mode mode, const Progress& progress,
                                 std::optional<Counterexample::Kind> kind = {});
  /// Elements that the latest `find` could decide in float64 on both sides.
  [[nodiscard]] std::size_t decided() const { return decided_; }
  semantics::InputDrawer& drawer() { return drawer_; }
  [[nodiscard]] const tensor::Extents& extents() const { return extents_; }

 private:
  struct Suspect {
    Difference difference;
    bool certain = false;  ///< float64 says that it differs; else one side was undecided
  };
  void compare(std::size_t result, const semantics::FloatArray& left, const semantics::FloatArray& right,
               Mode mode, std::vector<Suspect>& suspects);
  [[nodiscard]] std::optional<Difference> confirmed(const Suspect& suspect, const semantics::Inputs& inputs,
                                                    Mode mode, const Progress& progress) const;

  const tensor::Program& left_;
  const tensor::Program& right_;
  tensor::Extents extents_;
  semantics::InputDrawer drawer_;
  semantics::FloatEngine leftEngine_;
  semantics::FloatEngine rightEngine_;
  std::size_t decided_ = 0;
  int undecidedBudget_;
};

/// Scalar operations of evaluating the results, roughly.
std::int64_t work(const tensor::Program& program, const tensor::Extents& extents);

/// Everything that a counterexample says about a confirmed case.
Counterexample describe(const tensor::Program& left, const tensor::Program& right, const Case& found,
                        const Progress& progress);

}  // namespace nuscope::proof
