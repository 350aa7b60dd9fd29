#include "core/proof/signs.h"

#include <algorithm>

#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"

namespace nuscope::proof {
namespace {

Sign product(Sign a, Sign b) {
  if (a == Sign::zero || b == Sign::zero) return Sign::zero;
  if (a == Sign::unknown || b == Sign::unknown) return Sign::unknown;
  const bool strict = isNonZero(a) && isNonZero(b);
  const bool minus = isNonPositive(a) != isNonPositive(b);
  if (minus) return strict ? Sign::negative : Sign::nonPositive;
  return strict ? Sign::positive : Sign::nonNegative;
}

/// With x != 0 known, as for an inverse.
Sign strict(Sign s) {
  if (s == Sign::nonNegative) return Sign::positive;
  if (s == Sign::nonPositive) return Sign::negative;
  return s;
}

Sign signOfPower(Calculus& c, AtomRef atom, const Rational& exponent) {
  if (atom->kind == AtomKind::exp) return Sign::positive;
  Sign s = signOf(c, atom);
  if (exponent < 0) s = strict(s);
  if (exponent.get_den() == 1 && mpz_even_p(exponent.get_num().get_mpz_t()) != 0) {
    if (exponent < 0 || isNonZero(s) || isNonZero(c, atom)) return Sign::positive;
    return Sign::nonNegative;
  }
  return s;
}

bool extentsPositive(Calculus& c, AtomRef fold) {
  return std::all_of(fold->bound.begin(), fold->bound.end(),
                     [&](IntAtomRef variable) { return variable->ranged && positive(c, variable->extent); });
}

Sign signOfFold(Calculus& c, AtomRef atom) {
  if (!std::all_of(atom->bound.begin(), atom->bound.end(), [](IntAtomRef v) { return v->ranged; }))
    return Sign::unknown;
  if (atom->kind == AtomKind::sum) {
    const Sign s = signOf(c, atom->mono);
    if (isNonZero(s) && !extentsPositive(c, atom))
      return s == Sign::positive ? Sign::nonNegative : Sign::nonPositive;
    return s;
  }
  const Sign s = signOf(c, atom->poly);
  if (atom->kind == AtomKind::maxFold) return s;  // some guard is true where it is defined
  return isNonNegative(s) ? s : Sign::unknown;
}

Sign signOfMaximum(Calculus& c, AtomRef atom) {
  bool allNegative = true;
  bool allNonPositive = true;
  Sign result = Sign::unknown;
  for (const PolyRef p : atom->polys) {
    const Sign s = signOf(c, p);
    if (isPositive(s)) return Sign::positive;
    if (isNonNegative(s)) result = Sign::nonNegative;
    allNegative = allNegative && isNegative(s);
    allNonPositive = allNonPositive && isNonPositive(s);
  }
  if (result == Sign::nonNegative) return result;
  if (allNegative) return Sign::negative;
  return allNonPositive ? Sign::nonPositive : Sign::unknown;
}

Sign signOfInteger(Calculus& c, IntAtomRef integer) {
  if (integer->kind == IntAtom::Kind::dimension) return Sign::positive;
  const IntRef term = intOf(c, integer);
  if (positive(c, term)) return Sign::positive;
  if (nonNegative(c, term)) return Sign::nonNegative;
  const IntRef minus = negate(c, term);
  if (positive(c, minus)) return Sign::negative;
  return nonNegative(c, minus) ? Sign::nonPositive : Sign::unknown;
}

Sign compute(Calculus& c, PolyRef p) {
  bool nonNegative = true;
  bool nonPositive = true;
  bool strictly = false;
  for (const auto& [mono, coefficient] : p->terms) {
    Sign s = signOf(c, mono);
    if (coefficient < 0) s = negated(s);
    nonNegative = nonNegative && isNonNegative(s);
    nonPositive = nonPositive && isNonPositive(s);
    strictly = strictly || isNonZero(s);
    if (!nonNegative && !nonPositive) return Sign::unknown;
  }
  if (nonNegative) return strictly ? Sign::positive : Sign::nonNegative;
  return strictly ? Sign::negative : Sign::nonPositive;
}

/// 1 - [c] and the like: a polynomial in one indicator takes its two values.
Sign byCases(Calculus& c, PolyRef p, int depth) {
  const AtomRef indicator = firstIndicator(p);
  if (indicator == nullptr || depth == 0) return compute(c, p);
  const Sign yes = byCases(c, setIndicator(c, p, indicator, true), depth - 1);
  if (yes == Sign::unknown) return yes;
  const Sign no = byCases(c, setIndicator(c, p, indicator, false), depth - 1);
  if (yes == no) return yes;
  if (isNonNegative(yes) && isNonNegative(no)) return Sign::nonNegative;
  if (isNonPositive(yes) && isNonPositive(no)) return Sign::nonPositive;
  return Sign::unknown;
}

}  // namespace

Sign negated(Sign s) {
  switch (s) {
    case Sign::positive:
      return Sign::negative;
    case Sign::negative:
      return Sign::positive;
    case Sign::nonNegative:
      return Sign::nonPositive;
    case Sign::nonPositive:
      return Sign::nonNegative;
    default:
      return s;
  }
}

bool isNonZero(Calculus& c, AtomRef atom) {
  if (atom->kind == AtomKind::element && c.facts.nonZero.contains(atom->source)) return true;
  if (atom->kind == AtomKind::integer && atom->integer->kind == IntAtom::Kind::element &&
      c.facts.nonZero.contains(atom->integer->source)) {
    return true;
  }
  if (atom->kind == AtomKind::productFold && atom->poly->terms.size() == 1) {
    const auto& factors = atom->poly->terms[0].first->factors;
    const bool each = std::all_of(factors.begin(), factors.end(),
                                  [&](const auto& factor) { return isNonZero(c, factor.first); });
    if (each) return true;
  }
  return isNonZero(signOf(c, atom));
}

Sign signOf(Calculus& c, AtomRef atom) {
  switch (atom->kind) {
    case AtomKind::element: {
      const auto at = c.facts.signs.find(atom->source);
      if (at != c.facts.signs.end()) return at->second;
      return Sign::unknown;
    }
    case AtomKind::integer:
      return signOfInteger(c, atom->integer);
    case AtomKind::exp:
      return Sign::positive;
    case AtomKind::sqrt:
      return isPositive(signOf(c, atom->poly)) ? Sign::positive : Sign::nonNegative;
    case AtomKind::abs: {
      const AtomRef inner = atom->poly->asAtom();
      const bool strict = inner != nullptr ? isNonZero(c, inner) : isNonZero(signOf(c, atom->poly));
      return strict ? Sign::positive : Sign::nonNegative;
    }
    case AtomKind::power:
      return signOf(c, atom->poly);
    case AtomKind::intNonNegative:
    case AtomKind::intZero:
    case AtomKind::positive:
    case AtomKind::zero:
      return Sign::nonNegative;
    case AtomKind::maximum:
      return signOfMaximum(c, atom);
    case AtomKind::sum:
    case AtomKind::maxFold:
    case AtomKind::productFold:
      return signOfFold(c, atom);
    case AtomKind::symbol:
      return atom->sign;
    case AtomKind::function: {  // floor and rint keep a weak sign
      const Sign s = signOf(c, atom->poly);
      if (isNonNegative(s)) return Sign::nonNegative;
      if (isNonPositive(s) && atom->name == "rint") return Sign::nonPositive;
      return Sign::unknown;
    }
    case AtomKind::log:  // grows, and is 0 at 1
      return signOf(c, subtract(c, atom->poly, c.arena.one));
    case AtomKind::sin:
    case AtomKind::cos:
      return Sign::unknown;
  }
  return Sign::unknown;
}

Sign signOf(Calculus& c, MonoRef mono) {
  Sign result = Sign::positive;
  for (const auto& [atom, exponent] : mono->factors) {
    result = product(result, signOfPower(c, atom, exponent));
    if (result == Sign::unknown) return result;
  }
  return result;
}

Sign signOf(Calculus& c, PolyRef p) {
  if (p->isZero()) return Sign::zero;
  const auto known = c.signs.find(p);
  if (known != c.signs.end()) return known->second;
  c.tick();
  Sign result = compute(c, p);
  if (result == Sign::unknown && p->indicators) result = byCases(c, p, 4);
  if (result == Sign::unknown) {
    if (const IntRef integer = asIntegerTerm(c, p)) {
      if (positive(c, integer)) {
        result = Sign::positive;
      } else if (nonNegative(c, integer)) {
        result = Sign::nonNegative;
      } else if (positive(c, negate(c, integer))) {
        result = Sign::negative;
      } else if (nonNegative(c, negate(c, integer))) {
        result = Sign::nonPositive;
      }
    }
  }
  c.signs.emplace(p, result);
  return result;
}

}  // namespace nuscope::proof
