#include "core/proof/functions.h"

#include "core/proof/int_facts.h"
#include "core/proof/planted.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"

namespace nuscope::proof {
namespace {

PolyRef atomOf(Calculus& c, AtomKind kind, PolyRef p) {
  Atom atom;
  atom.kind = kind;
  atom.poly = p;
  return polyOf(c, c.arena.intern(std::move(atom)));
}

PolyRef functionOf(Calculus& c, const std::string& name, PolyRef p) {
  Atom atom;
  atom.kind = AtomKind::function;
  atom.name = name;
  atom.poly = p;
  return polyOf(c, c.arena.intern(std::move(atom)));
}

bool isEven(const Rational& e) {
  return e.get_den() == 1 && mpz_even_p(e.get_num().get_mpz_t()) != 0;
}

/// value = product of primes to integer powers and a rest without small prime factors. value > 0.
std::vector<std::pair<Integer, Integer>> factorise(const Rational& value) {
  std::vector<std::pair<Integer, Integer>> result;
  const auto split = [&](Integer n, int sign) {
    for (unsigned long p = 2; p < 1000 && n != 1; ++p) {
      const Integer prime(p);
      Integer rest;
      const auto times = mpz_remove(rest.get_mpz_t(), n.get_mpz_t(), prime.get_mpz_t());
      if (times > 0) result.emplace_back(prime, Integer(sign) * Integer(times));
      n = rest;
    }
    if (n != 1) result.emplace_back(n, sign);
  };
  split(value.get_num(), 1);
  split(value.get_den(), -1);
  return result;
}

/// The logarithm of one base that is positive, or whatever is left.
PolyRef logAtom(Calculus& c, PolyRef p) {
  return p == c.arena.one ? c.arena.zero : atomOf(c, AtomKind::log, p);
}

PolyRef trigonometric(Calculus& c, PolyRef p, bool cosine) {
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return trigonometric(c, q, cosine); }))
    return lifted;
  if (p->isZero()) return cosine ? c.arena.one : c.arena.zero;
  const auto sum = [&](PolyRef a, PolyRef b) {
    const PolyRef sa = sinOf(c, a);
    const PolyRef ca = cosOf(c, a);
    const PolyRef sb = sinOf(c, b);
    const PolyRef cb = cosOf(c, b);
    if (cosine) return subtract(c, multiply(c, ca, cb), multiply(c, sa, sb));
    return add(c, multiply(c, sa, cb), multiply(c, ca, sb));
  };
  const auto& [mono, coefficient] = p->terms[0];
  if (p->terms.size() > 1) {
    const PolyRef first = polyOf(c, mono, coefficient);
    return sum(first, subtract(c, p, first));
  }
  if (coefficient < 0) {
    const PolyRef mirrored = trigonometric(c, negate(c, p), cosine);
    return cosine ? mirrored : negate(c, mirrored);
  }
  if (coefficient.get_den() == 1 && coefficient > 1 && coefficient <= 12) {
    return sum(polyOf(c, mono), polyOf(c, mono, coefficient - 1));
  }
  return atomOf(c, cosine ? AtomKind::cos : AtomKind::sin, p);
}

}  // namespace

PolyRef inverse(Calculus& c, PolyRef p) {
  if (p->isZero()) return functionOf(c, "undefined", p);
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return inverse(c, q); })) return lifted;
  const Content content = contentOf(c, p);
  if (content.core->isZero()) return functionOf(c, "undefined", content.core);
  PolyRef result = scale(c, power(c, content.mono, -1), 1 / content.coefficient);
  if (content.core != c.arena.one) {
    Atom atom;
    atom.kind = AtomKind::power;
    atom.poly = content.core;
    result = multiply(c, result, polyOf(c, c.arena.intern(std::move(atom)), -1));
  }
  return result;
}

PolyRef expOf(Calculus& c, PolyRef p) {
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return expOf(c, q); })) return lifted;
  PolyRef result = c.arena.one;
  for (const auto& [mono, coefficient] : p->terms) {
    const bool single = mono->factors.size() == 1 && mono->factors[0].second == 1;
    const AtomRef first = single ? mono->factors[0].first : nullptr;
    if (first != nullptr && first->kind == AtomKind::log &&
        (coefficient.get_den() == 1 || coefficient.get_den() == 2) && abs(coefficient) <= 32) {
      const PolyRef base = coefficient.get_den() == 1 ? first->poly : sqrtOf(c, first->poly);
      const unsigned long times = Integer(abs(coefficient.get_num())).get_ui();
      const PolyRef raised = power(c, base, times);
      result = multiply(c, result, coefficient > 0 ? raised : inverse(c, raised));
      continue;
    }
    Atom atom;
    atom.kind = AtomKind::exp;
    atom.mono = mono;
    result = multiply(c, result, polyOf(c, c.arena.intern(std::move(atom)), coefficient));
  }
  return result;
}

PolyRef logOf(Calculus& c, PolyRef p) {
  if (p->isZero()) return functionOf(c, "undefined", p);
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return logOf(c, q); })) return lifted;
  const Content content = contentOf(c, p);
  if (content.core->isZero()) return functionOf(c, "undefined", content.core);
  PolyRef result = c.arena.zero;
  PolyRef rest = c.arena.one;
  // A factor leaves the logarithm only if it is positive; even powers are, where the logarithm is defined.
  for (const auto& [atom, exponent] : content.mono->factors) {
    if (atom->kind == AtomKind::exp) {
      result = add(c, result, polyOf(c, atom->mono, exponent));
    } else if (isNonNegative(signOf(c, atom))) {
      if (atom->kind == AtomKind::sqrt) {
        result = add(c, result, scale(c, logOf(c, atom->poly), exponent / 2));
      } else {
        result = add(c, result, scale(c, logAtom(c, polyOf(c, atom)), exponent));
      }
    } else if (isEven(exponent)) {
      result = add(c, result, scale(c, logAtom(c, absOf(c, polyOf(c, atom))), exponent));
    } else {
      rest = multiply(c, rest, polyOf(c, atom, exponent));
    }
  }
  PolyRef core = content.core;
  Rational coefficient = content.coefficient;
  if (coefficient < 0) {
    coefficient = -coefficient;
    core = negate(c, core);
  }
  const PolyRef left = multiply(c, rest, core);
  if (left->isConstant() && left->constant() < 0) return functionOf(c, "undefined", p);
  for (const auto& [base, times] : factorise(coefficient)) {
    result = add(c, result, scale(c, logAtom(c, polyConstant(c, Rational(base))), Rational(times)));
  }
  return add(c, result, logAtom(c, left));
}

PolyRef sqrtOf(Calculus& c, PolyRef p) {
  if (p->isZero()) return p;
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return sqrtOf(c, q); })) return lifted;
  const Content content = contentOf(c, p);
  if (content.core->isZero()) return content.core;
  PolyRef result = c.arena.one;
  PolyRef rest = c.arena.one;
  for (const auto& [atom, exponent] : content.mono->factors) {
    if (atom->kind == AtomKind::exp) {
      result = multiply(c, result, polyOf(c, atom, exponent / 2));
    } else if (isEven(exponent)) {
      const bool bare = isNonNegative(signOf(c, atom)) || planted(Planted::rootSign);
      const PolyRef base = bare ? polyOf(c, atom) : absOf(c, polyOf(c, atom));
      const unsigned long times = Rational(abs(exponent) / 2).get_num().get_ui();
      const PolyRef raised = power(c, base, times);
      result = multiply(c, result, exponent > 0 ? raised : inverse(c, raised));
    } else if (isNonNegative(signOf(c, atom))) {
      result = multiply(c, result, polyOf(c, atomOf(c, AtomKind::sqrt, polyOf(c, atom))->asAtom(), exponent));
    } else {
      rest = multiply(c, rest, polyOf(c, atom, exponent));
    }
  }
  PolyRef core = content.core;
  Rational coefficient = content.coefficient;
  if (coefficient < 0) {
    coefficient = -coefficient;
    core = negate(c, core);
  }
  for (const auto& [base, times] : factorise(coefficient)) {
    Integer half;
    mpz_fdiv_q_ui(half.get_mpz_t(), times.get_mpz_t(), 2);
    Integer raised;
    mpz_pow_ui(raised.get_mpz_t(), base.get_mpz_t(), Integer(abs(half)).get_ui());
    result = scale(c, result, half >= 0 ? Rational(raised) : Rational(1 / Rational(raised)));
    if (mpz_odd_p(times.get_mpz_t()) != 0) {
      result = multiply(c, result, atomOf(c, AtomKind::sqrt, polyConstant(c, Rational(base))));
    }
  }
  const PolyRef left = multiply(c, rest, core);
  if (left == c.arena.one) return result;
  return multiply(c, result, atomOf(c, AtomKind::sqrt, left));
}

PolyRef absOf(Calculus& c, PolyRef p) {
  if (p->isZero()) return p;
  const Sign sign = signOf(c, p);
  if (isNonNegative(sign)) return p;
  if (isNonPositive(sign)) return negate(c, p);
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return absOf(c, q); })) return lifted;
  const Content content = contentOf(c, p);
  if (content.core->isZero()) return content.core;
  PolyRef result = polyConstant(c, abs(content.coefficient));
  for (const auto& [atom, exponent] : content.mono->factors) {
    const bool keep = atom->kind == AtomKind::exp || isEven(exponent) || isNonNegative(signOf(c, atom));
    if (keep) {
      result = multiply(c, result, polyOf(c, atom, exponent));
    } else if (isNonPositive(signOf(c, atom))) {
      result = multiply(c, result, power(c, rawMono(c, {{atom, exponent}}), 1));
      result = negate(c, result);
    } else {
      result = multiply(c, result, polyOf(c, atomOf(c, AtomKind::abs, polyOf(c, atom))->asAtom(), exponent));
    }
  }
  if (content.core == c.arena.one) return result;
  const Sign core = signOf(c, content.core);
  if (isNonNegative(core)) return multiply(c, result, content.core);
  if (isNonPositive(core)) return multiply(c, result, negate(c, content.core));
  return multiply(c, result, atomOf(c, AtomKind::abs, content.core));
}

PolyRef sinOf(Calculus& c, PolyRef p) {
  return trigonometric(c, p, false);
}
PolyRef cosOf(Calculus& c, PolyRef p) {
  return trigonometric(c, p, true);
}

PolyRef tanhOf(Calculus& c, PolyRef p) {
  const PolyRef square = expOf(c, scale(c, p, 2));
  return multiply(c, subtract(c, square, c.arena.one), inverse(c, add(c, square, c.arena.one)));
}

namespace {

/// The terms of p that are integers whatever the inputs.
PolyRef integerPart(Calculus& c, PolyRef p) {
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : p->terms) {
    const PolyRef term = polyOf(c, mono, coefficient);
    if (isIntegerValued(term)) parts.push_back(term);
  }
  return parts.empty() ? c.arena.zero : sumOf(c, parts);
}

}  // namespace

namespace {

/// floor((k + floor(q)) / n) = floor((k + q) / n) for integers k and n >= 1: the argument with q, or null.
PolyRef withoutInnerFloor(Calculus& c, PolyRef p) {
  Integer n = 1;
  for (const auto& [mono, coefficient] : p->terms) n = lcm(n, coefficient.get_den());
  if (n == 1 || !isIntegerValued(scale(c, p, Rational(n)))) return nullptr;
  for (const auto& [mono, coefficient] : p->terms) {
    if (coefficient != 1 / Rational(n) || mono->factors.size() != 1 || mono->factors[0].second != 1) continue;
    const AtomRef atom = mono->factors[0].first;
    if (atom->kind != AtomKind::function || atom->name != "floor") continue;
    return add(c, subtract(c, p, polyOf(c, mono, coefficient)), scale(c, atom->poly, coefficient));
  }
  return nullptr;
}

}  // namespace

PolyRef floorOf(Calculus& c, PolyRef p) {
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return floorOf(c, q); })) return lifted;
  const PolyRef whole = integerPart(c, p);
  const PolyRef rest = subtract(c, p, whole);
  if (rest->isZero()) return p;
  if (rest->isConstant()) {
    const Rational value = rest->constant();
    Integer floored;
    mpz_fdiv_q(floored.get_mpz_t(), value.get_num().get_mpz_t(), value.get_den().get_mpz_t());
    return add(c, whole, polyConstant(c, Rational(floored)));
  }
  if (const PolyRef inner = withoutInnerFloor(c, rest)) return add(c, whole, floorOf(c, inner));
  if (const IntRef numerator = asIntegerTerm(c, rest)) {  // the quotient of integers
    Integer denominator = 1;
    for (const auto& [mono, coefficient] : rest->terms) denominator = lcm(denominator, coefficient.get_den());
    return add(c, whole, toReal(c, floorDivide(c, numerator, intConstant(c, denominator))));
  }
  return add(c, whole, functionOf(c, "floor", rest));
}

namespace {

/// Even integers in p: rint(2*k + q) = 2*k + rint(q). What is left of a coefficient is in [0, 2).
PolyRef evenPart(Calculus& c, PolyRef p) {
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : p->terms) {
    if (!isIntegerValued(polyOf(c, mono))) continue;
    const Rational halved = coefficient / 2;
    Integer half;
    mpz_fdiv_q(half.get_mpz_t(), halved.get_num().get_mpz_t(), halved.get_den().get_mpz_t());
    if (half != 0) parts.push_back(polyOf(c, mono, Rational(half * 2)));
  }
  return parts.empty() ? c.arena.zero : sumOf(c, parts);
}

}  // namespace

PolyRef rintOf(Calculus& c, PolyRef p) {
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return rintOf(c, q); })) return lifted;
  if (isIntegerValued(p)) return p;
  if (p->isConstant()) {
    const Rational doubled = p->constant() * 2;
    Integer low;
    mpz_fdiv_q(low.get_mpz_t(), Rational(p->constant()).get_num().get_mpz_t(),
               Rational(p->constant()).get_den().get_mpz_t());
    const Rational fraction = p->constant() - Rational(low);
    const bool up =
        fraction > Rational(1, 2) || (fraction == Rational(1, 2) && mpz_odd_p(low.get_mpz_t()) != 0);
    return polyConstant(c, Rational(up ? Integer(low + 1) : low));
  }
  const auto& lead = p->terms[p->terms[0].first->factors.empty() ? 1 : 0];
  if (lead.second < 0) return negate(c, rintOf(c, negate(c, p)));  // ties to even are symmetric
  const PolyRef even = evenPart(c, p);
  return add(c, even, functionOf(c, "rint", subtract(c, p, even)));
}

PolyRef whenNonNegative(Calculus& c, IntRef e) {
  if (e->isConstant()) return e->constant() >= 0 ? c.arena.one : c.arena.zero;
  if (nonNegative(c, e)) return c.arena.one;
  if (positive(c, negate(c, e))) return c.arena.zero;
  // k*f + r >= 0 with content k: f + floor(r/k) >= 0; the sign of the first coefficient is positive.
  const Integer content = contentOf(e);
  if (content > 1) {
    IntTerm divided;
    for (const auto& [mono, coefficient] : e->terms) {
      Integer quotient;
      mpz_fdiv_q(quotient.get_mpz_t(), coefficient.get_mpz_t(), content.get_mpz_t());
      if (quotient != 0) divided.terms.emplace_back(mono, quotient);
    }
    e = c.arena.intern(std::move(divided));
  }
  const auto lead = [](IntRef term) -> Integer {
    for (const auto& [mono, coefficient] : term->terms) {
      if (!mono->atoms.empty()) return coefficient;
    }
    return 0;
  };
  Atom atom;
  atom.kind = AtomKind::intNonNegative;
  if (lead(e) < 0) {  // [e >= 0] = 1 - [-e - 1 >= 0]
    atom.intTerm = plus(c, negate(c, e), -1);
    return negation(c, polyOf(c, c.arena.intern(std::move(atom))));
  }
  atom.intTerm = e;
  return polyOf(c, c.arena.intern(std::move(atom)));
}

PolyRef whenZero(Calculus& c, IntRef e) {
  if (e->isConstant()) return e->isZero() ? c.arena.one : c.arena.zero;
  if (positive(c, e) || positive(c, negate(c, e))) return c.arena.zero;
  const Integer content = contentOf(e);
  if (constantTerm(e) % content != 0) return c.arena.zero;
  IntTerm divided;
  const bool flip = [&] {
    for (const auto& [mono, coefficient] : e->terms) {
      if (!mono->atoms.empty()) return coefficient < 0;
    }
    return false;
  }();
  for (const auto& [mono, coefficient] : e->terms) {
    divided.terms.emplace_back(mono, flip ? Integer(-coefficient / content) : Integer(coefficient / content));
  }
  Atom atom;
  atom.kind = AtomKind::intZero;
  atom.intTerm = c.arena.intern(std::move(divided));
  return polyOf(c, c.arena.intern(std::move(atom)));
}

namespace {

/// The factors whose sign or zero matters, without those that are known.
PolyRef essential(Calculus& c, const Content& content, bool sign) {
  PolyRef result = content.core;
  for (const auto& [atom, exponent] : content.mono->factors) {
    const Sign s = signOf(c, atom);
    if (isPositive(s) || (exponent < 0 && isNonNegative(s)) || atom->kind == AtomKind::exp) continue;
    if (sign && exponent < 0 && isEven(exponent)) continue;
    if (!sign && (isNonZero(s) || exponent < 0 || isNonZero(c, atom))) continue;
    if (sign && isNegative(s)) {
      if (!isEven(exponent)) result = negate(c, result);
      continue;
    }
    result = multiply(c, result, polyOf(c, atom, sign && isEven(exponent) ? 2 : 1));
  }
  return result;
}

}  // namespace

PolyRef whenPositive(Calculus& c, PolyRef p) {
  if (p->isConstant()) return p->constant() > 0 ? c.arena.one : c.arena.zero;
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return whenPositive(c, q); }))
    return lifted;
  const Sign sign = signOf(c, p);
  if (isPositive(sign)) return c.arena.one;
  if (isNonPositive(sign)) return c.arena.zero;
  if (const IntRef integer = asIntegerTerm(c, p)) return whenNonNegative(c, plus(c, integer, -1));
  const Content content = contentOf(c, p);
  PolyRef base = essential(c, content, true);
  if (content.coefficient < 0) base = negate(c, base);
  if (base->isConstant()) return base->constant() > 0 ? c.arena.one : c.arena.zero;
  return atomOf(c, AtomKind::positive, base);
}

PolyRef whenZero(Calculus& c, PolyRef p) {
  if (p->isConstant()) return p->isZero() ? c.arena.one : c.arena.zero;
  if (const PolyRef lifted = liftIndicators(c, p, [&](PolyRef q) { return whenZero(c, q); })) return lifted;
  if (isNonZero(signOf(c, p))) return c.arena.zero;
  if (const IntRef integer = asIntegerTerm(c, p)) return whenZero(c, integer);
  const PolyRef base = essential(c, contentOf(c, p), false);
  if (base->isConstant()) return base->isZero() ? c.arena.one : c.arena.zero;
  return atomOf(c, AtomKind::zero, scale(c, base, 1 / base->terms[0].second));
}

PolyRef negation(Calculus& c, PolyRef condition) {
  return subtract(c, c.arena.one, condition);
}

PolyRef choose(Calculus& c, PolyRef condition, PolyRef a, PolyRef b) {
  if (a == b) return a;
  return add(c, b, multiply(c, condition, subtract(c, a, b)));
}

PolyRef minimumOf(Calculus& c, std::span<const PolyRef> parts) {
  std::vector<PolyRef> mirrored;
  for (const PolyRef part : parts) mirrored.push_back(negate(c, part));
  return negate(c, maximumOf(c, mirrored));
}

}  // namespace nuscope::proof
