#pragma once
// Steps for terms whose normal form leaves a difference: each rewrites a term by a lemma that holds for every
// body. They return p itself where they find nothing to do.
#include <span>
#include <string_view>

#include "core/replay/kernel.h"

namespace nuscope::replay {

/// S4: sums, maxima and products over at most eight elements, as their elements.
PolyRef writtenOut(Kernel& k, PolyRef p);
/// S5: a fold over c times as many elements as another one, as c folds (k = c*j + lane).
PolyRef inLanes(Kernel& k, PolyRef p);
/// M3: operands of a maximum that are maxima of one body over ranges without a gap, as one maximum.
PolyRef rangesUnited(Kernel& k, PolyRef p);
/// Sine and cosine of multiples of an angle by those of the angle.
PolyRef anglesUnited(Kernel& k, PolyRef p);
/// Every integer that stands in a quotient by a constant m is m*q + r: the term for each r. p is 0 if all of
/// them are. Empty where there is none, or too many.
std::vector<PolyRef> residueClasses(Kernel& k, PolyRef p);

/// The rewritings above by the name of their lemma, in the order in which a search tries them.
struct LateMove {
  std::string_view lemma;
  PolyRef (*apply)(Kernel&, PolyRef);
};
std::span<const LateMove> lateMoves();
const LateMove* lateMove(std::string_view lemma);

}  // namespace nuscope::replay
