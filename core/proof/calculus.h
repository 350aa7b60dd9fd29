#pragma once
// The state of one proof attempt: its terms, what is assumed, memo tables and limits. Every pass takes it
// first.
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>

#include "core/base/progress.h"
#include "core/base/stack.h"
#include "core/proof/terms.h"

namespace nuscope::proof {

/// The attempt must stop: a term grew past a limit, or the clock ran out. Caught in prove.cpp, never a
/// verdict.
struct GaveUp {
  std::string reason;
  bool byTime = false;
};

/// A fact about elements of sources, for all values of `variables` in their extents: `condition` (0/1) is 1.
struct Template {
  Variables variables;
  PolyRef condition = nullptr;
  std::string text;
};

/// What the asserts say. Filled before the first term is simplified, then fixed (memo tables rely on it).
struct Facts {
  std::vector<IntRef> nonNegative;                  ///< integer terms that are >= 0
  std::map<int, Sign> signs;                        ///< sign of all elements of a source
  std::set<int> nonZero;                            ///< sources without zero elements
  std::map<int, Rational> constants;                ///< sources whose elements are all one number
  std::set<int> symmetric;                          ///< square matrices with x == x.T
  std::map<int, std::set<std::size_t>> unchanging;  ///< axes along which the elements of a source are equal
  std::map<int, IntRef> integers;                   ///< integer scalars replaced by a term
  std::map<int, std::vector<IntRef>> atLeast;       ///< lower bounds of all elements of an integer source
  std::map<int, std::vector<IntRef>> atMost;        ///< and upper ones
  std::vector<Template> templates;
};

class Calculus {
 public:
  explicit Calculus(Progress progress = {}) : progress_(std::move(progress)) {}

  Arena arena;
  Facts facts;

  // Memo tables, valid while `facts` stand.
  std::unordered_map<IntRef, bool> nonNegative;
  std::unordered_map<PolyRef, Sign> signs;
  int depth = 0;     ///< nesting of folds being built
  int closings = 0;  ///< nesting of folds closed again after a simplification

  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::size_t maxTerms = 3000;       ///< of one polynomial
  std::size_t maxNodes = 4'000'000;  ///< of the arena

  /// Counts work; now and then looks at the clock, the stop request and the arena, always at the stack.
  /// Throws GaveUp or Cancelled.
  void tick() {
    if (stackNearlyFull()) throw GaveUp{"the terms nest too deeply", false};
    if (++ticks_ % 512 == 0) look();
  }
  void look();
  [[nodiscard]] const Progress& progress() const { return progress_; }
  [[nodiscard]] double secondsLeft() const;

 private:
  Progress progress_;
  std::uint64_t ticks_ = 0;
};

}  // namespace nuscope::proof
