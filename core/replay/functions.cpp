// Functions, inverses, maxima and conditions, simplified by their laws as they are built.
#include <algorithm>

#include "core/replay/kernel.h"

namespace nuscope::replay {
namespace {

bool even(const Rational& e) {
  return e.get_den() == 1 && mpz_even_p(e.get_num().get_mpz_t()) != 0;
}

Integer floorOf(const Rational& value) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num().get_mpz_t(), value.get_den().get_mpz_t());
  return result;
}

/// A positive number as small primes to integer powers, and a rest.
std::vector<std::pair<Integer, long>> factorised(const Rational& value) {
  std::vector<std::pair<Integer, long>> result;
  const auto split = [&](Integer n, long direction) {
    for (unsigned long p = 2; p < 1000 && n != 1; ++p) {
      const Integer prime(p);
      Integer rest;
      const auto times = mpz_remove(rest.get_mpz_t(), n.get_mpz_t(), prime.get_mpz_t());
      if (times > 0) result.emplace_back(prime, direction * static_cast<long>(times));
      n = rest;
    }
    if (n != 1) result.emplace_back(n, direction);
  };
  split(value.get_num(), 1);
  split(value.get_den(), -1);
  return result;
}

}  // namespace

/// f of a term with conditions: by their values. Null where there are none.
PolyRef Kernel::lift(PolyRef p, const std::function<PolyRef(PolyRef)>& f) {
  const AtomRef indicator = firstIndicator(p);
  if (indicator == nullptr) return nullptr;
  work();
  return choose(of(indicator), f(setIndicator(p, indicator, true)), f(setIndicator(p, indicator, false)));
}

PolyRef Kernel::choose(PolyRef condition, PolyRef a, PolyRef b) {
  return a == b ? a : add(b, multiply(condition, subtract(a, b)));
}

/// floor(a / b) of integers. Simplified only where b >= 1 is shown.
PolyRef Kernel::quotient(PolyRef a, PolyRef b) {
  work();
  if (b == arena.one) return a;
  if (a->isConstant() && b->isConstant() && !b->isZero())
    return number(Rational(floorOf(a->constant() / b->constant())));
  if (const PolyRef lifted = lift(a, [&](PolyRef q) { return quotient(q, b); })) return lifted;
  const auto opaque = [&](PolyRef n) { return atomOf(Kind::quotient, {n, b}); };
  if (!positive(b)) return opaque(a);
  // floor(a / (c*D)) = floor(floor(a / c) / D), where the first division leaves no new quotient.
  if (b->terms.size() == 1 && !b->isConstant() && b->terms[0].second > 1) {
    const PolyRef c = number(b->terms[0].second);
    const PolyRef first = quotient(a, c);
    const bool leaves = std::any_of(first->terms.begin(), first->terms.end(), [&](const Term& t) {
      return std::any_of(t.first->factors.begin(), t.first->factors.end(), [&](const Factor& f) {
        return f.first->kind == Kind::quotient && f.first->parts[1] == c;
      });
    });
    if (!leaves) return quotient(first, of(b->terms[0].first));
  }
  const auto [whole, rest] = divide(a, b);
  if (!isInteger(whole)) return opaque(a);
  if (rest->isZero()) return whole;
  if (notNegative(rest) && positive(subtract(b, rest))) return whole;
  if (positive(negate(rest)) && notNegative(add(rest, b))) return plus(whole, -1);
  if (const AtomRef inner = rest->asAtom();
      inner != nullptr && inner->kind == Kind::quotient && positive(inner->parts[1]))
    return add(whole, quotient(inner->parts[0], multiply(inner->parts[1], b)));
  return add(whole, opaque(rest));
}

PolyRef Kernel::inverse(PolyRef p) {
  if (p->isZero()) return atomOf(Kind::undefined, {p}, "inverse");
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return inverse(q); })) return lifted;
  const Content c = content(p);
  PolyRef result = scale(power(c.mono, -1), 1 / c.coefficient);
  if (c.core != arena.one) {
    Atom atom;
    atom.kind = Kind::inverse;
    atom.parts = {c.core};
    result = multiply(result, of(arena.make(std::move(atom)), -1));
  }
  return result;
}

PolyRef Kernel::exp(PolyRef p) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return exp(q); })) return lifted;
  PolyRef result = arena.one;
  for (const auto& [mono, coefficient] : p->terms) {
    const AtomRef atom = of(mono)->asAtom();
    const auto den = coefficient.get_den();
    if (atom != nullptr && atom->kind == Kind::log && (den == 1 || den == 2) && ::abs(coefficient) <= 32) {
      const PolyRef base = den == 1 ? atom->parts[0] : sqrt(atom->parts[0]);
      result = multiply(result, raise(base, coefficient.get_num()));
      continue;
    }
    Atom e;
    e.kind = Kind::exp;
    e.parts = {of(mono)};
    result = multiply(result, of(arena.make(std::move(e)), coefficient));
  }
  return result;
}

PolyRef Kernel::log(PolyRef p) {
  if (p->isZero()) return atomOf(Kind::undefined, {p}, "log");
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return log(q); })) return lifted;
  const auto atomic = [&](PolyRef q) { return q == arena.one ? arena.zero : atomOf(Kind::log, {q}); };
  const Content c = content(p);
  PolyRef result = arena.zero;
  PolyRef rest = arena.one;
  for (const auto& [atom, e] : c.mono->factors) {
    if (atom->kind == Kind::exp) {
      result = add(result, scale(atom->parts[0], e));
    } else if (isNonNegative(sign(atom))) {
      const bool root = atom->kind == Kind::sqrt;
      result = add(result, root ? scale(log(atom->parts[0]), e / 2) : scale(atomic(of(atom)), e));
    } else if (even(e)) {
      result = add(result, scale(atomic(abs(of(atom))), e));
    } else {
      rest = multiply(rest, of(atom, e));
    }
  }
  const bool minus = c.coefficient < 0;
  const PolyRef left = multiply(rest, minus ? negate(c.core) : c.core);
  if (left->isConstant() && left->constant() < 0) return atomOf(Kind::undefined, {p}, "log");
  for (const auto& [base, times] : factorised(::abs(c.coefficient)))
    result = add(result, scale(atomic(number(Rational(base))), Rational(times)));
  return add(result, atomic(left));
}

PolyRef Kernel::sqrt(PolyRef p) {
  if (p->isZero()) return p;
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return sqrt(q); })) return lifted;
  const auto root = [&](PolyRef q) {
    Atom a;
    a.kind = Kind::sqrt;
    a.parts = {q};
    return arena.make(std::move(a));
  };
  const Content c = content(p);
  PolyRef result = arena.one;
  PolyRef rest = arena.one;
  for (const auto& [atom, e] : c.mono->factors) {
    if (atom->kind == Kind::exp) {
      result = multiply(result, of(atom, e / 2));
    } else if (even(e)) {
      const PolyRef base = isNonNegative(sign(atom)) ? of(atom) : abs(of(atom));
      result = multiply(result, raise(base, Rational(e / 2).get_num()));
    } else if (isNonNegative(sign(atom))) {
      result = multiply(result, of(root(of(atom)), e));
    } else {
      rest = multiply(rest, of(atom, e));
    }
  }
  for (const auto& [base, times] : factorised(::abs(c.coefficient))) {
    const long half = times >= 0 ? times / 2 : -((1 - times) / 2);
    Rational whole = 1;
    for (long i = 0; i < std::abs(half); ++i) whole *= Rational(base);
    result = scale(result, half >= 0 ? whole : Rational(1 / whole));
    if (times - 2 * half != 0) result = multiply(result, of(root(number(Rational(base)))));
  }
  const PolyRef left = multiply(rest, c.coefficient < 0 ? negate(c.core) : c.core);
  return left == arena.one ? result : multiply(result, of(root(left)));
}

PolyRef Kernel::abs(PolyRef p) {
  const Sign s = sign(p);
  if (isNonNegative(s)) return p;
  if (isNonPositive(s)) return negate(p);
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return abs(q); })) return lifted;
  const auto absolute = [&](PolyRef q) {
    Atom a;
    a.kind = Kind::abs;
    a.parts = {q};
    return arena.make(std::move(a));
  };
  const Content c = content(p);
  PolyRef result = number(::abs(c.coefficient));
  for (const auto& [atom, e] : c.mono->factors) {
    const Sign t = sign(atom);
    if (atom->kind == Kind::exp || even(e) || isNonNegative(t)) {
      result = multiply(result, of(atom, e));
    } else if (isNonPositive(t)) {
      result = negate(multiply(result, of(atom, e)));
    } else {
      result = multiply(result, of(absolute(of(atom)), e));
    }
  }
  if (c.core == arena.one) return result;
  const Sign core = sign(c.core);
  if (isNonNegative(core)) return multiply(result, c.core);
  if (isNonPositive(core)) return negate(multiply(result, c.core));
  return multiply(result, of(absolute(c.core)));
}

PolyRef Kernel::trigonometric(PolyRef p, bool cosine) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return trigonometric(q, cosine); })) return lifted;
  if (p->isZero()) return cosine ? arena.one : arena.zero;
  const auto ofSum = [&](PolyRef a, PolyRef b) {
    if (cosine) return subtract(multiply(cos(a), cos(b)), multiply(sin(a), sin(b)));
    return add(multiply(sin(a), cos(b)), multiply(cos(a), sin(b)));
  };
  const auto& [mono, coefficient] = p->terms[0];
  if (p->terms.size() > 1) {
    const PolyRef first = of(mono, coefficient);
    return ofSum(first, subtract(p, first));
  }
  if (coefficient < 0) {
    const PolyRef mirrored = trigonometric(negate(p), cosine);
    return cosine ? mirrored : negate(mirrored);
  }
  if (coefficient.get_den() == 1 && coefficient > 1 && coefficient <= 12)
    return ofSum(of(mono), of(mono, coefficient - 1));
  return atomOf(cosine ? Kind::cos : Kind::sin, {p});
}

PolyRef Kernel::tanh(PolyRef p) {
  const PolyRef square = exp(scale(p, 2));
  return multiply(plus(square, -1), inverse(plus(square, 1)));
}

PolyRef Kernel::floor(PolyRef p) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return floor(q); })) return lifted;
  std::vector<PolyRef> whole;
  for (const auto& [mono, coefficient] : p->terms) {
    if (isInteger(of(mono, coefficient))) whole.push_back(of(mono, coefficient));
  }
  const PolyRef integer = total(whole);
  const PolyRef rest = subtract(p, integer);
  if (rest->isConstant()) return add(integer, number(Rational(floorOf(rest->constant()))));
  // floor((k + floor(q)) / n) = floor((k + q) / n) for integers k and n >= 1.
  Integer n = 1;
  for (const auto& term : rest->terms) n = lcm(n, term.second.get_den());
  if (n != 1 && isInteger(scale(rest, Rational(n)))) {
    for (const auto& [mono, coefficient] : rest->terms) {
      const AtomRef atom = of(mono)->asAtom();
      if (atom == nullptr || atom->kind != Kind::floor || coefficient != 1 / Rational(n)) continue;
      const PolyRef inner = add(subtract(rest, of(mono, coefficient)), scale(atom->parts[0], coefficient));
      return add(integer, floor(inner));
    }
  }
  return add(integer, atomOf(Kind::floor, {rest}));
}

PolyRef Kernel::rint(PolyRef p) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return rint(q); })) return lifted;
  if (isInteger(p)) return p;
  if (p->isConstant()) {
    const Rational value = p->constant();
    const Integer low = floorOf(value);
    const Rational fraction = value - Rational(low);
    const bool up =
        fraction > Rational(1, 2) || (fraction == Rational(1, 2) && mpz_odd_p(low.get_mpz_t()) != 0);
    return number(Rational(up ? Integer(low + 1) : low));
  }
  // Even integers leave it: ties stay ties, to the same side.
  std::vector<PolyRef> even;
  for (const auto& [mono, coefficient] : p->terms) {
    if (isInteger(of(mono, coefficient / 2))) even.push_back(of(mono, coefficient));
  }
  const PolyRef outside = total(even);
  if (!outside->isZero()) return add(outside, rint(subtract(p, outside)));
  if (p->terms[0].second < 0) return negate(rint(negate(p)));
  return atomOf(Kind::rint, {p});
}

namespace {

/// The first coefficient of a term that is no constant.
Rational leadOf(PolyRef p) {
  for (const auto& [mono, coefficient] : p->terms) {
    if (!mono->factors.empty()) return coefficient;
  }
  return 0;
}

Rational constantOf(PolyRef p) {
  for (const auto& [mono, coefficient] : p->terms) {
    if (mono->factors.empty()) return coefficient;
  }
  return 0;
}

/// The gcd of the coefficients of terms that are no constants.
Integer gcdOf(PolyRef p) {
  Integer result = 0;
  for (const auto& [mono, coefficient] : p->terms) {
    if (!mono->factors.empty()) result = gcd(result, coefficient.get_num());
  }
  return result;
}

}  // namespace

PolyRef Kernel::whenNotNegative(PolyRef e) {
  if (const PolyRef lifted = lift(e, [&](PolyRef q) { return whenNotNegative(q); })) return lifted;
  const Sign s = sign(e);
  if (isNonNegative(s)) return arena.one;
  if (s == Sign::negative || positive(negate(e))) return arena.zero;
  Integer denominator = 1;
  for (const auto& term : e->terms) denominator = lcm(denominator, term.second.get_den());
  e = scale(e, Rational(denominator));
  if (const Integer g = gcdOf(e); g > 1 && isInteger(e)) {
    // g*f + r >= 0 exactly if f + floor(r/g) >= 0.
    const Rational constant = constantOf(e);
    e = add(scale(subtract(e, number(constant)), Rational(1) / Rational(g)),
            number(Rational(floorOf(constant / Rational(g)))));
  }
  // One of e >= 0 and its opposite -e - 1 >= 0 is the canonical atom.
  const bool flip = leadOf(e) < 0;
  if (flip) e = plus(negate(e), -1);
  const PolyRef result = atomOf(Kind::notNegative, {e});
  return flip ? negation(result) : result;
}

PolyRef Kernel::whenPositive(PolyRef p) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return whenPositive(q); })) return lifted;
  const Sign s = sign(p);
  if (s == Sign::positive) return arena.one;
  if (isNonPositive(s)) return arena.zero;
  if (isInteger(p)) return whenNotNegative(plus(p, -1));
  Content c = content(p);
  std::vector<Factor> kept;
  bool minus = c.coefficient < 0;
  for (const auto& [atom, e] : c.mono->factors) {
    const Sign t = sign(of(atom, e));
    if (t == Sign::positive) continue;
    if (t == Sign::negative) {
      minus = !minus;
    } else {
      kept.emplace_back(atom, e);
    }
  }
  PolyRef rest = multiply(of(monoOf(std::move(kept))), c.core);
  if (minus) rest = negate(rest);
  rest = scale(rest, 1 / ::abs(rest->terms[0].second));
  if (rest->isConstant()) return rest->constant() > 0 ? arena.one : arena.zero;
  if (isInteger(rest)) return whenNotNegative(plus(rest, -1));
  return atomOf(Kind::positive, {rest});
}

namespace {

bool isProduct(AtomRef atom) {
  return atom->kind == Kind::product &&
         std::all_of(atom->bound.begin(), atom->bound.end(), [](AtomRef v) { return v->ranged; });
}

}  // namespace

/// A product is 0 where not all of its factors are not.
PolyRef Kernel::zeroOfProduct(AtomRef product) {
  PolyRef body = nullptr;
  PolyRef guard = nullptr;
  const auto variables = opened(product, body, guard);
  return negation(this->product(variables, negation(whenZero(body))));
}

PolyRef Kernel::whenZero(PolyRef p) {
  if (const PolyRef lifted = lift(p, [&](PolyRef q) { return whenZero(q); })) return lifted;
  if (p->isConstant()) return p->isZero() ? arena.one : arena.zero;
  const Sign s = sign(p);
  if (isNonZero(s)) return arena.zero;
  Integer denominator = 1;
  for (const auto& term : p->terms) denominator = lcm(denominator, term.second.get_den());
  const PolyRef whole = scale(p, Rational(denominator));
  if (isInteger(whole)) {
    if (positive(whole) || positive(negate(whole))) return arena.zero;
    const Integer g = gcdOf(whole);
    if (Rational(constantOf(whole) / Rational(g)).get_den() != 1) return arena.zero;
    const Rational lead = leadOf(whole);
    return atomOf(Kind::isZeroInteger, {scale(whole, Rational(lead < 0 ? -1 : 1) / Rational(g))});
  }
  // A product is zero where a factor is.
  const Content c = content(p);
  PolyRef apart = arena.one;
  for (const auto& [atom, e] : c.mono->factors) {
    if (e < 0 || nonZero(atom)) continue;
    const bool inner = atom->kind == Kind::sqrt || atom->kind == Kind::abs;
    const PolyRef zero = isProduct(atom)   ? zeroOfProduct(atom)
                         : inner           ? whenZero(atom->parts[0])
                         : isInteger(atom) ? atomOf(Kind::isZeroInteger, {of(atom)})
                                           : atomOf(Kind::isZero, {of(atom)});
    apart = multiply(apart, negation(zero));
  }
  if (c.core != arena.one && !isNonZero(sign(c.core))) {
    const PolyRef core = isInteger(c.core) ? whenZero(c.core) : atomOf(Kind::isZero, {c.core});
    apart = multiply(apart, negation(core));
  }
  return negation(apart);
}

// The n-ary maximum: flat, without dominated operands, common addends and positive factors outside.

PolyRef Kernel::minimum(std::vector<PolyRef> parts) {
  for (PolyRef& part : parts) part = negate(part);
  return negate(maximum(std::move(parts)));
}

PolyRef Kernel::maximum(std::vector<PolyRef> operands) {
  work();
  std::vector<PolyRef> parts;
  const auto sortUnique = [&] {
    std::sort(parts.begin(), parts.end(), Before());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  };
  for (const PolyRef p : operands) {
    const AtomRef atom = p->asAtom();
    if (atom != nullptr && atom->kind == Kind::maximum) {
      parts.insert(parts.end(), atom->parts.begin(), atom->parts.end());
    } else {
      parts.push_back(p);
    }
  }
  sortUnique();
  // max(u + c*max(a, b), v) = max(u + c*a, u + c*b, v) for c > 0.
  for (int round = 0; round < 4 && parts.size() > 1 && parts.size() < 16; ++round) {
    bool split = false;
    for (std::size_t i = 0; i < parts.size() && !split; ++i) {
      for (const auto& [mono, coefficient] : parts[i]->terms) {
        const AtomRef atom = of(mono)->asAtom();
        if (coefficient < 0 || atom == nullptr || atom->kind != Kind::maximum) continue;
        const PolyRef rest = subtract(parts[i], of(mono, coefficient));
        const Rational factor = coefficient;
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
        for (const PolyRef part : atom->parts) parts.push_back(add(rest, scale(part, factor)));
        split = true;
        break;
      }
    }
    if (!split) break;
    sortUnique();
  }
  for (std::size_t i = 0; i < parts.size() && parts.size() > 1;) {
    const bool dominated = std::any_of(parts.begin(), parts.end(), [&](PolyRef other) {
      return other != parts[i] && notNegative(subtract(other, parts[i]));
    });
    if (dominated) {
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (parts.size() == 1) return parts[0];
  AtomRef indicator = nullptr;
  for (const PolyRef part : parts) {
    const AtomRef first = firstIndicator(part);
    if (first != nullptr && (indicator == nullptr || Before()(first, indicator))) indicator = first;
  }
  if (indicator != nullptr) {
    std::vector<PolyRef> yes;
    std::vector<PolyRef> no;
    for (const PolyRef part : parts) {
      yes.push_back(setIndicator(part, indicator, true));
      no.push_back(setIndicator(part, indicator, false));
    }
    return choose(of(indicator), maximum(std::move(yes)), maximum(std::move(no)));
  }
  std::vector<Term> shared;
  for (const Term& term : parts[0]->terms) {
    const bool everywhere = std::all_of(parts.begin(), parts.end(), [&](PolyRef p) {
      return std::find(p->terms.begin(), p->terms.end(), term) != p->terms.end();
    });
    if (everywhere) shared.push_back(term);
  }
  const PolyRef addend = arena.make(std::move(shared));
  for (PolyRef& part : parts) part = subtract(part, addend);
  // Common factors of known sign >= 0, and a size that does not depend on how the parts are scaled.
  std::map<AtomRef, Rational, Before> common;
  bool first = true;
  PolyRef leading = nullptr;
  Rational size = 1;
  for (const PolyRef part : parts) {
    if (part->isZero()) continue;
    std::map<AtomRef, Rational, Before> mine;
    for (const auto& [atom, e] : content(part).mono->factors) {
      if (isNonNegative(sign(atom)) && !atom->isIndicator()) mine.emplace(atom, e);
    }
    if (first) {
      common = std::move(mine);
    } else {
      for (auto at = common.begin(); at != common.end();) {
        const auto other = mine.find(at->first);
        if (other == mine.end() || (other->second > 0) != (at->second > 0)) {
          at = common.erase(at);
          continue;
        }
        at->second =
            at->second > 0 ? std::min(at->second, other->second) : std::max(at->second, other->second);
        ++at;
      }
    }
    first = false;
    const Rational mySize = ::abs(part->terms[0].second);
    const PolyRef monic = scale(part, 1 / mySize);
    if (leading == nullptr || Before()(monic, leading)) {
      leading = monic;
      size = mySize;
    }
  }
  const MonoRef factor = monoOf({common.begin(), common.end()});
  const PolyRef divisor = scale(power(factor, -1), 1 / size);
  for (PolyRef& part : parts) part = multiply(part, divisor);
  sortUnique();
  return add(addend, multiply(of(factor, size), atomOf(Kind::maximum, parts)));
}

}  // namespace nuscope::replay
