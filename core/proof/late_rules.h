#pragma once
// Value-preserving rewritings that the zero test tries when the normal form leaves something: what they undo
// (a fold of four elements, one angle) is worth keeping until then.
#include <functional>

#include "core/proof/calculus.h"

namespace nuscope::proof {

/// S4: folds over a few elements of a constant range written out; a prefix of negative length likewise. p if
/// none.
PolyRef unrolled(Calculus& c, PolyRef p);
/// S5: a fold over d times as many elements as another one, for a small number d, as d folds over every d-th
/// element. p if none.
PolyRef inLanes(Calculus& c, PolyRef p);
/// M3: in a binary maximum, maxima of one body over ranges that touch or overlap, and elements next to them,
/// become one. p if none.
PolyRef rangesUnited(Calculus& c, PolyRef p);
/// sin and cos of multiples of one term, written by the angle of which all are whole multiples. p if none.
PolyRef anglesUnited(Calculus& c, PolyRef p);
/// Does `zero` hold in every residue class of the integers that stand in quotients by constants? Each integer
/// is written as m*q + r. False where there is nothing to split.
bool byResidues(Calculus& c, PolyRef p, const std::function<bool(PolyRef)>& zero);

}  // namespace nuscope::proof
