// Signs of terms where they are defined, and inequalities of integer terms. Sound and incomplete.
#include <algorithm>

#include "core/replay/kernel.h"

namespace nuscope::replay {
namespace {

constexpr int fullDepth = 8;

Sign times(Sign a, Sign b) {
  if (a == Sign::zero || b == Sign::zero) return Sign::zero;
  if (a == Sign::unknown || b == Sign::unknown) return Sign::unknown;
  const bool strict = isNonZero(a) && isNonZero(b);
  if (isNonPositive(a) != isNonPositive(b)) return strict ? Sign::negative : Sign::nonPositive;
  return strict ? Sign::positive : Sign::nonNegative;
}

bool even(const Rational& e) {
  return e.get_den() == 1 && mpz_even_p(e.get_num().get_mpz_t()) != 0;
}

Sign ofPower(Sign base, bool nonZero, const Rational& e) {
  if (e < 0) {  // defined, so not zero
    if (base == Sign::nonNegative) base = Sign::positive;
    if (base == Sign::nonPositive) base = Sign::negative;
  }
  if (even(e)) return e < 0 || nonZero || isNonZero(base) ? Sign::positive : Sign::nonNegative;
  return base;
}

/// Signs of the terms of a sum, joined.
class Joined {
 public:
  void add(Sign s, const Rational& coefficient) {
    if (coefficient < 0) s = negated(s);
    nonNegative_ = nonNegative_ && isNonNegative(s);
    nonPositive_ = nonPositive_ && isNonPositive(s);
    strict_ = strict_ || isNonZero(s);
  }
  [[nodiscard]] bool hopeless() const { return !nonNegative_ && !nonPositive_; }
  [[nodiscard]] Sign sign() const {
    if (nonNegative_) return strict_ ? Sign::positive : Sign::nonNegative;
    if (nonPositive_) return strict_ ? Sign::negative : Sign::nonPositive;
    return Sign::unknown;
  }

 private:
  bool nonNegative_ = true, nonPositive_ = true, strict_ = false;
};

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

Sign Kernel::sign(PolyRef p) {
  return signAt(p, fullDepth);
}
Sign Kernel::sign(AtomRef atom) {
  return signAt(atom, fullDepth);
}
Sign Kernel::sign(MonoRef mono) {
  return signAt(mono, fullDepth);
}
bool Kernel::notNegative(PolyRef p) {
  return isNonNegative(sign(p));
}
bool Kernel::positive(PolyRef p) {
  if (sign(p) == Sign::positive) return true;
  return isInteger(p) && isNonNegative(sign(plus(p, -1)));
}

bool Kernel::nonZero(AtomRef atom) {
  if (atom->kind == Kind::element && facts.nonZero.contains(atom->name)) return true;
  return isNonZero(sign(atom));
}

Sign Kernel::signAt(AtomRef atom, int depth) {
  if (depth <= 0) return Sign::unknown;
  const auto all = [&](auto test) {
    return std::all_of(atom->parts.begin(), atom->parts.end(),
                       [&](PolyRef p) { return test(signAt(p, depth - 1)); });
  };
  switch (atom->kind) {
    case Kind::dimension:
    case Kind::exp:
      return Sign::positive;
    case Kind::index:
      return atom->ranged ? Sign::nonNegative : Sign::unknown;
    case Kind::symbol:
      return atom->sign;
    case Kind::element: {
      const auto fact = facts.signs.find(atom->name);
      return fact == facts.signs.end() ? Sign::unknown : fact->second;
    }
    case Kind::quotient:
      return isNonNegative(signAt(atom->parts[0], depth - 1)) &&
                     signAt(atom->parts[1], depth - 1) == Sign::positive
                 ? Sign::nonNegative
                 : Sign::unknown;
    case Kind::sqrt:
      return signAt(atom->parts[0], depth - 1) == Sign::positive ? Sign::positive : Sign::nonNegative;
    case Kind::abs: {
      const AtomRef inner = atom->parts[0]->asAtom();
      const bool stated =
          inner != nullptr && inner->kind == Kind::element && facts.nonZero.contains(inner->name);
      return stated || isNonZero(signAt(atom->parts[0], depth - 1)) ? Sign::positive : Sign::nonNegative;
    }
    case Kind::inverse:
      return signAt(atom->parts[0], depth - 1);
    case Kind::log:  // grows, and is 0 at 1
      return signAt(plus(atom->parts[0], -1), depth - 1);
    case Kind::floor:
      return isNonNegative(signAt(atom->parts[0], depth - 1)) ? Sign::nonNegative : Sign::unknown;
    case Kind::rint: {
      const Sign s = signAt(atom->parts[0], depth - 1);
      return isNonNegative(s) ? Sign::nonNegative : isNonPositive(s) ? Sign::nonPositive : Sign::unknown;
    }
    case Kind::notNegative:
    case Kind::isZeroInteger:
    case Kind::positive:
    case Kind::isZero:
      return Sign::nonNegative;
    case Kind::maximum: {
      bool some = false;
      for (const PolyRef p : atom->parts) {
        const Sign s = signAt(p, depth - 1);
        if (s == Sign::positive) return s;
        some = some || isNonNegative(s);
      }
      if (some) return Sign::nonNegative;
      if (all([](Sign s) { return s == Sign::negative; })) return Sign::negative;
      return all(isNonPositive) ? Sign::nonPositive : Sign::unknown;
    }
    case Kind::sum:
    case Kind::maxFold:
    case Kind::product: {
      if (!std::all_of(atom->bound.begin(), atom->bound.end(), [](AtomRef v) { return v->ranged; }))
        return Sign::unknown;
      const Sign s = signAt(atom->parts[0], depth - 1);
      if (atom->kind == Kind::maxFold) return s;  // some index counts where it is defined
      if (atom->kind == Kind::product) return isNonNegative(s) ? s : Sign::unknown;
      const bool inhabited = std::all_of(atom->bound.begin(), atom->bound.end(), [&](AtomRef v) {
        return isNonNegative(signAt(plus(v->extent(), -1), depth - 1));
      });
      if (isNonZero(s) && !inhabited) return s == Sign::positive ? Sign::nonNegative : Sign::nonPositive;
      return s;
    }
    default:
      return Sign::unknown;
  }
}

Sign Kernel::signAt(MonoRef mono, int depth) {
  Sign result = Sign::positive;
  for (const auto& [atom, e] : mono->factors) {
    const bool apart = atom->kind == Kind::element && facts.nonZero.contains(atom->name);
    result = times(result, atom->kind == Kind::exp ? Sign::positive : ofPower(signAt(atom, depth), apart, e));
    if (result == Sign::unknown) return result;
  }
  return result;
}

Sign Kernel::termwise(PolyRef p, int depth) {
  Joined joined;
  for (const auto& [mono, coefficient] : p->terms) {
    joined.add(signAt(mono, depth), coefficient);
    if (joined.hopeless()) break;
  }
  if (!joined.hopeless()) return joined.sign();
  // Dimensions are at least 1: with D = 1 + D' and D' >= 0.
  const auto isDimension = [](const Factor& f) {
    return f.first->kind == Kind::dimension && f.second.get_den() == 1 && f.second > 0;
  };
  PolyRef shifted = arena.zero;
  bool some = false;
  for (const auto& [mono, coefficient] : p->terms) {
    PolyRef part = number(coefficient);
    for (const auto& factor : mono->factors) {
      const bool moved = isDimension(factor);
      some = some || moved;
      part = multiply(part, moved ? power(plus(of(factor.first), 1), factor.second.get_num().get_ui())
                                  : of(factor.first, factor.second));
    }
    shifted = add(shifted, part);
  }
  if (!some) return Sign::unknown;
  Joined again;
  for (const auto& [mono, coefficient] : shifted->terms) {
    Sign s = Sign::positive;
    for (const auto& factor : mono->factors)
      s = times(s,
                isDimension(factor) ? Sign::nonNegative : signAt(of(factor.first, factor.second), depth - 1));
    again.add(s, coefficient);
    if (again.hopeless()) return Sign::unknown;
  }
  return shifted->isZero() ? Sign::zero : again.sign();
}

Sign Kernel::signAt(PolyRef p, int depth) {
  if (p->isZero()) return Sign::zero;
  if (p->isConstant()) return p->constant() > 0 ? Sign::positive : Sign::negative;
  if (depth <= 0) return Sign::unknown;
  const auto known = signs_.find(p);
  if (known != signs_.end()) return known->second;
  work();
  const Sign result = compute(p, depth);
  // What is unknown is remembered only where the depth did not cut it.
  if (result != Sign::unknown || depth >= 5) signs_.emplace(p, result);
  return result;
}

Sign Kernel::compute(PolyRef p, int depth) {
  const MonoRef single = p->terms.size() == 1 ? p->terms[0].first : nullptr;
  Sign result = single != nullptr ? signAt(single, depth) : termwise(p, depth);
  if (single != nullptr && p->terms[0].second < 0) result = negated(result);
  if (result != Sign::unknown) return result;
  if (const AtomRef indicator = firstIndicator(p)) {
    const Sign yes = signAt(setIndicator(p, indicator, true), depth - 1);
    if (yes != Sign::unknown) {
      const Sign no = signAt(setIndicator(p, indicator, false), depth - 1);
      if (yes == no) return yes;
      if (isNonNegative(yes) && isNonNegative(no)) return Sign::nonNegative;
      if (isNonPositive(yes) && isNonPositive(no)) return Sign::nonPositive;
    }
  }
  Integer denominator = 1;
  for (const auto& term : p->terms) denominator = lcm(denominator, term.second.get_den());
  const PolyRef whole = scale(p, Rational(denominator));
  if (!isInteger(whole)) return Sign::unknown;
  if (decide(plus(whole, -1), depth)) return Sign::positive;
  if (decide(whole, depth)) return Sign::nonNegative;
  if (decide(plus(negate(whole), -1), depth)) return Sign::negative;
  return decide(negate(whole), depth) ? Sign::nonPositive : Sign::unknown;
}

/// Is the integer term >= 0? Index variables are put to an end of their range, quotients to their bounds.
bool Kernel::decide(PolyRef e, int depth) {
  if (e->isConstant()) return e->constant() >= 0;
  if (depth <= 0) return false;
  work();
  if (isNonNegative(termwise(e, depth - 1))) return true;
  const auto atLeastZero = [&](PolyRef p) { return decide(p, depth - 1); };
  Variables top;
  for (const auto& [mono, coefficient] : e->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->kind == Kind::index) unite(top, Variables{atom});
    }
  }
  for (const AtomRef v : top) {
    if (!v->ranged) continue;
    const bool used = std::any_of(e->variables.begin(), e->variables.end(), [&](AtomRef other) {
      return other != v && contains(other->extent()->variables, v);
    });
    const auto parts = used ? std::nullopt : linear(e, v);
    if (!parts || parts->coefficient->isZero()) continue;
    if (atLeastZero(parts->coefficient)) {
      if (atLeastZero(parts->rest)) return true;
    } else if (atLeastZero(negate(parts->coefficient))) {
      if (atLeastZero(add(parts->rest, multiply(parts->coefficient, plus(v->extent(), -1))))) return true;
    }
    break;
  }
  for (const auto& [mono, coefficient] : e->terms) {
    for (const auto& [q, exponent] : mono->factors) {
      if (q->kind != Kind::quotient) continue;
      const auto parts = linear(e, q);
      const PolyRef n = q->parts[0];
      const PolyRef d = q->parts[1];
      if (!parts || occurs(parts->rest, q) || occurs(parts->coefficient, q) || !atLeastZero(plus(d, -1)))
        continue;
      const PolyRef c = parts->coefficient;
      const PolyRef scaled = multiply(d, parts->rest);
      if (atLeastZero(negate(c))) {  // q <= n/d
        if (atLeastZero(add(scaled, multiply(c, n)))) return true;
        continue;
      }
      if (!atLeastZero(c)) continue;
      if (atLeastZero(n) && atLeastZero(parts->rest)) return true;
      // q >= m exactly if n >= d*m; in general d*q >= n - d + 1.
      const PolyRef low = c == arena.one ? n : plus(subtract(n, d), 1);
      if (atLeastZero(add(scaled, multiply(c, low)))) return true;
    }
  }
  for (const PolyRef fact : facts.notNegative) {
    const auto lead = std::find_if(fact->terms.begin(), fact->terms.end(),
                                   [](const Term& t) { return !t.first->factors.empty(); });
    if (lead == fact->terms.end()) continue;
    for (const auto& [mono, coefficient] : e->terms) {
      if (mono != lead->first || (coefficient > 0) != (lead->second > 0)) continue;
      if (atLeastZero(subtract(e, scale(fact, coefficient / lead->second)))) return true;
    }
  }
  return false;
}

}  // namespace nuscope::replay
