#pragma once
// Arithmetic of integer terms: canonical polynomials in arbitrary precision, and floor quotients that
// simplify only by what int_facts.h proves.
#include <optional>

#include "core/proof/calculus.h"

namespace nuscope::proof {

IntRef intConstant(Calculus& c, const Integer& value);
IntRef intOf(Calculus& c, IntAtomRef atom);
IntRef dimension(Calculus& c, const std::string& symbol);
/// A fresh index variable; `extent` may be null. `ranged`: 0 <= v < extent (then extent >= 0 must be proved).
IntAtomRef freshVariable(Calculus& c, IntRef extent, bool ranged, const std::string& letter = "k");
/// The same, `ranged` exactly if extent >= 0 is proved.
IntAtomRef freshIndex(Calculus& c, IntRef extent, const std::string& letter = "k");
IntRef intElement(Calculus& c, int source, std::vector<IntRef> subscripts);

IntRef add(Calculus& c, IntRef a, IntRef b);
IntRef subtract(Calculus& c, IntRef a, IntRef b);
IntRef multiply(Calculus& c, IntRef a, IntRef b);
IntRef scale(Calculus& c, IntRef a, const Integer& factor);
inline IntRef negate(Calculus& c, IntRef a) {
  return scale(c, a, -1);
}
IntRef plus(Calculus& c, IntRef a, long constant);

/// floor(e / d). Multiples of d leave the quotient; [0, d) gives 0; nested quotients merge; each only when d
/// >= 1 is proved. Anything else stays a quotient atom (d == 0 is undefined, see definedness.h).
IntRef floorDivide(Calculus& c, IntRef e, IntRef d);
/// e / d where d divides every term of e; null otherwise.
IntRef exactDivide(Calculus& c, IntRef e, IntRef d);
/// The largest multiple of the one-term d inside e: e = quotient*d + rest. Null quotient if d has several
/// terms.
struct Division {
  IntRef quotient = nullptr;
  IntRef rest = nullptr;
};
Division divideTerms(Calculus& c, IntRef e, IntRef d);

struct IntLinear {
  IntRef coefficient;
  IntRef rest;
};
/// e = coefficient * v + rest with v in neither; empty if v occurs otherwise.
std::optional<IntLinear> linearIn(Calculus& c, IntRef e, IntAtomRef variable);
/// gcd of the coefficients of the non-constant terms (0 if none).
Integer contentOf(IntRef e);
Integer constantTerm(IntRef e);

}  // namespace nuscope::proof
