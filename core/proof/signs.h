#pragma once
// Signs of real terms where they are defined (1/x^2 is positive there). Sound and incomplete.
#include "core/proof/calculus.h"

namespace nuscope::proof {

Sign signOf(Calculus& c, PolyRef p);
Sign signOf(Calculus& c, AtomRef atom);
Sign signOf(Calculus& c, MonoRef mono);

inline bool isPositive(Sign s) {
  return s == Sign::positive;
}
inline bool isNonNegative(Sign s) {
  return s == Sign::positive || s == Sign::nonNegative || s == Sign::zero;
}
inline bool isNegative(Sign s) {
  return s == Sign::negative;
}
inline bool isNonPositive(Sign s) {
  return s == Sign::negative || s == Sign::nonPositive || s == Sign::zero;
}
inline bool isNonZero(Sign s) {
  return s == Sign::positive || s == Sign::negative;
}
Sign negated(Sign s);
/// Of an atom whose value is never 0 where it is defined as a divisor or a logarithm: sign and facts.
bool isNonZero(Calculus& c, AtomRef atom);

}  // namespace nuscope::proof
