#pragma once
// Joint facts about folds over equal ranges (lemmas F1, F2, F3 and M4 of reference/proofs.md, section 7), for
// the goals that go to a solver.
#include "core/proof/calculus.h"

namespace nuscope::proof {

struct FoldFact {
  enum class Kind : std::uint8_t {
    positiveTogether,  ///< F1: first (a maximum) > 0 => second (a sum) > 0
    zeroTogether,      ///< F2: first (a maximum) = 0 <=> second (a sum) = 0
    squares,           ///< F3: extent * first (sum of f^2) >= second (sum of f) squared
    above,             ///< M4 summed: extent * first (maximum of f) >= second (sum of f)
    below,             ///< the same for minima: extent * first (maximum of -f) >= -second (sum of f)
    emptyTogether  ///< first (a sum of terms >= 0) = 0 <=> second (the product of their conditions [f = 0]) =
                   ///< 1
  };
  Kind kind = Kind::positiveTogether;
  AtomRef first = nullptr;
  AtomRef second = nullptr;
  IntRef extent = nullptr;
};

std::vector<FoldFact> foldFacts(Calculus& c, const std::vector<AtomRef>& folds);

}  // namespace nuscope::proof
