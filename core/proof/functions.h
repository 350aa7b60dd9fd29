#pragma once
// Functions, inverses, maxima and conditions of real terms, simplified by their laws as they are built.
#include <span>

#include "core/proof/calculus.h"

namespace nuscope::proof {

PolyRef inverse(Calculus& c, PolyRef p);
PolyRef expOf(Calculus& c, PolyRef p);
PolyRef logOf(Calculus& c, PolyRef p);
PolyRef sqrtOf(Calculus& c, PolyRef p);
PolyRef absOf(Calculus& c, PolyRef p);
PolyRef sinOf(Calculus& c, PolyRef p);
PolyRef cosOf(Calculus& c, PolyRef p);
PolyRef tanhOf(Calculus& c, PolyRef p);
PolyRef floorOf(Calculus& c, PolyRef p);
PolyRef rintOf(Calculus& c, PolyRef p);
PolyRef maximumOf(Calculus& c, std::span<const PolyRef> parts);
PolyRef minimumOf(Calculus& c, std::span<const PolyRef> parts);

// Conditions are 0/1 polynomials: [not c] = 1 - [c], [a and b] = [a]*[b].
PolyRef whenNonNegative(Calculus& c, IntRef e);
PolyRef whenZero(Calculus& c, IntRef e);
PolyRef whenPositive(Calculus& c, PolyRef p);
PolyRef whenZero(Calculus& c, PolyRef p);
PolyRef negation(Calculus& c, PolyRef condition);
/// condition * a + (1 - condition) * b.
PolyRef choose(Calculus& c, PolyRef condition, PolyRef a, PolyRef b);

}  // namespace nuscope::proof
