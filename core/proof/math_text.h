#pragma once
// Terms as mathematics for people: "sum_{k<K} x[i, k]*w[k, j]". Not parsed back.
#include "core/proof/calculus.h"

namespace nuscope::proof {

std::string text(const Calculus& c, PolyRef p);
std::string text(const Calculus& c, AtomRef atom);
std::string text(const Calculus& c, IntRef term);
/// A 0/1 term that must be 1, as a condition: "r[m] != 0", "r[m] > 0 for all m < M", "s[m, k] is defined".
std::string conditionText(const Calculus& c, PolyRef p);
/// At most `limit` characters, the rest as " ...".
std::string shortText(const Calculus& c, PolyRef p, std::size_t limit = 400);

}  // namespace nuscope::proof
