#pragma once
// Optional 0/1 polynomials: null stands for 0, "never".
#include "core/proof/real_term.h"

namespace nuscope::proof {

inline PolyRef orZero(Calculus& c, PolyRef p) {
  return p == nullptr ? c.arena.zero : p;
}
inline PolyRef orNull(PolyRef p) {
  return p == nullptr || p->isZero() ? nullptr : p;
}
inline PolyRef either(Calculus& c, PolyRef a, PolyRef b) {
  if (a == nullptr || a == b) return orNull(b);
  if (b == nullptr) return orNull(a);
  return orNull(subtract(c, add(c, a, b), multiply(c, a, b)));
}

}  // namespace nuscope::proof
