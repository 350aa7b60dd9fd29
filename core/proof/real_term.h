#pragma once
// Arithmetic of real terms: polynomials whose monomial product carries the laws of the functions (sqrt(p)^2 =
// p, [c]^2 = [c], sin^2 = 1 - cos^2, ...), so that no law is ever an axiom for the solver.
#include <span>

#include "core/proof/int_term.h"

namespace nuscope::proof {

PolyRef polyConstant(Calculus& c, const Rational& value);
PolyRef polyOf(Calculus& c, AtomRef atom, const Rational& exponent = 1);
PolyRef polyOf(Calculus& c, MonoRef mono, const Rational& coefficient = 1);

PolyRef add(Calculus& c, PolyRef a, PolyRef b);
PolyRef subtract(Calculus& c, PolyRef a, PolyRef b);
PolyRef scale(Calculus& c, PolyRef a, const Rational& factor);
inline PolyRef negate(Calculus& c, PolyRef a) {
  return scale(c, a, -1);
}
PolyRef multiply(Calculus& c, PolyRef a, PolyRef b);
PolyRef sumOf(Calculus& c, std::span<const PolyRef> parts);
/// a^n for n >= 0 by squaring.
PolyRef power(Calculus& c, PolyRef a, unsigned long n);
/// Every exponent times `exponent`; a polynomial, for laws may apply.
PolyRef power(Calculus& c, MonoRef mono, const Rational& exponent);
/// Mono from factors in any order, exponents of equal atoms added, no laws applied: only for quotients of
/// canonical monomials by their own factors.
MonoRef rawMono(Calculus& c, std::vector<std::pair<AtomRef, Rational>> factors);
/// The monomial without one atom.
MonoRef without(Calculus& c, MonoRef mono, AtomRef atom);

PolyRef element(Calculus& c, int source, std::vector<IntRef> subscripts);
/// The subscripts that stand for equal elements, where asserts say that some are equal.
std::vector<IntRef> representative(const Calculus& c, int source, std::vector<IntRef> subscripts);
/// An integer term as a real.
PolyRef toReal(Calculus& c, IntRef term);
/// An integer-valued polynomial as an integer term; what is no polynomial of integer atoms is embedded.
IntRef toInteger(Calculus& c, PolyRef value);
/// Every atom is integer-valued with positive integer exponents, and coefficients are integers?
bool isIntegerValued(PolyRef p);

/// p times a positive rational as an integer term, if every atom is an integer; else null.
IntRef asIntegerTerm(Calculus& c, PolyRef p);

/// p = coefficient * mono * core, where core has no common factor and its first coefficient is 1 (or is 0,
/// where p turns out to be 0 once its inverses are multiplied out).
struct Content {
  MonoRef mono = nullptr;
  Rational coefficient;
  PolyRef core = nullptr;
};
Content contentOf(Calculus& c, PolyRef p);

/// The first indicator (by id) in a monomial of p, or null.
AtomRef firstIndicator(PolyRef p);
PolyRef setIndicator(Calculus& c, PolyRef p, AtomRef indicator, bool value);

/// f lifted over the indicators of p: f(p) = [c] f(p|c=1) + (1-[c]) f(p|c=0). Null when p has none.
template <class Function>
PolyRef liftIndicators(Calculus& c, PolyRef p, Function f) {
  if (!p->indicators) return nullptr;
  const AtomRef indicator = firstIndicator(p);
  if (indicator == nullptr) return nullptr;
  const PolyRef yes = f(setIndicator(c, p, indicator, true));
  const PolyRef no = f(setIndicator(c, p, indicator, false));
  if (yes == no) return yes;
  return add(c, no, multiply(c, polyOf(c, indicator), subtract(c, yes, no)));
}

}  // namespace nuscope::proof
