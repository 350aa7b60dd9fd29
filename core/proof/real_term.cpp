#include "core/proof/real_term.h"

#include <algorithm>

#include "core/proof/functions.h"

namespace nuscope::proof {
namespace {

struct MonoById {
  bool operator()(MonoRef a, MonoRef b) const { return a->id < b->id; }
};
using Sum = std::map<MonoRef, Rational, MonoById>;

PolyRef build(Calculus& c, const Sum& sum) {
  if (sum.size() > c.maxTerms) throw GaveUp{"a polynomial outgrew the limit of terms", false};
  Poly poly;
  for (const auto& [mono, coefficient] : sum) {
    if (coefficient != 0) poly.terms.emplace_back(mono, coefficient);
  }
  c.tick();
  return c.arena.intern(std::move(poly));
}

void accumulate(Sum& sum, PolyRef p, const Rational& factor) {
  for (const auto& [mono, coefficient] : p->terms) sum[mono] += coefficient * factor;
}

/// The largest even integer between 0 and e; 0 if |e| < 2.
Integer evenPart(const Rational& e) {
  Integer half;
  const Rational halved = e / 2;
  mpz_tdiv_q(half.get_mpz_t(), halved.get_num().get_mpz_t(), halved.get_den().get_mpz_t());
  return half * 2;
}

unsigned long small(Calculus&, const Integer& value) {
  if (value < 0 || value > 64) throw GaveUp{"an exponent above 64 would have to be expanded", false};
  return value.get_ui();
}

PolyRef integerPower(Calculus& c, PolyRef p, const Integer& exponent) {
  if (exponent >= 0) return power(c, p, small(c, exponent));
  return inverse(c, power(c, p, small(c, -exponent)));
}

/// One factor of a monomial put right: what stays, and what the laws turn into a polynomial (null: nothing).
struct Factor {
  Rational exponent;
  PolyRef extra = nullptr;
};

Factor applyLaw(Calculus& c, AtomRef atom, const Rational& exponent) {
  const bool whole = exponent.get_den() == 1;
  switch (atom->kind) {
    case AtomKind::intNonNegative:
    case AtomKind::intZero:
    case AtomKind::positive:
    case AtomKind::zero:
      return {1, nullptr};
    case AtomKind::sqrt:
    case AtomKind::abs: {
      const Integer even = evenPart(exponent);
      if (even == 0 || !whole) return {exponent, nullptr};
      const Integer times = atom->kind == AtomKind::sqrt ? Integer(even / 2) : even;
      return {exponent - Rational(even), integerPower(c, atom->poly, times)};
    }
    case AtomKind::power:
      if (exponent > 0 && whole) return {0, integerPower(c, atom->poly, exponent.get_num())};
      return {exponent, nullptr};
    case AtomKind::sin: {
      if (!whole || exponent < 2) return {exponent, nullptr};
      const Integer even = evenPart(exponent);
      const PolyRef cosine = power(c, cosOf(c, atom->poly), 2);
      return {exponent - Rational(even), integerPower(c, subtract(c, c.arena.one, cosine), even / 2)};
    }
    default:
      return {exponent, nullptr};
  }
}

bool hasLaw(AtomKind kind) {
  return kind == AtomKind::sqrt || kind == AtomKind::abs || kind == AtomKind::power ||
         kind == AtomKind::sin || (kind >= AtomKind::intNonNegative && kind <= AtomKind::zero);
}

/// Product of two monomials. Most products are one monomial again.
PolyRef multiply(Calculus& c, MonoRef a, MonoRef b) {
  if (a->factors.empty()) return polyOf(c, b);
  if (b->factors.empty()) return polyOf(c, a);
  Mono mono;
  std::vector<PolyRef> extras;
  auto i = a->factors.begin();
  auto j = b->factors.begin();
  while (i != a->factors.end() || j != b->factors.end()) {
    if (j == b->factors.end() || (i != a->factors.end() && i->first->id < j->first->id)) {
      mono.factors.push_back(*i++);
    } else if (i == a->factors.end() || j->first->id < i->first->id) {
      mono.factors.push_back(*j++);
    } else {
      Rational exponent = i->second + j->second;
      const AtomRef atom = i->first;
      ++i;
      ++j;
      if (atom->isIndicator() || (atom->zeroOne && i[-1].second > 0 && j[-1].second > 0)) {
        exponent = 1;
      } else if (exponent != 0 && hasLaw(atom->kind)) {
        const Factor factor = applyLaw(c, atom, exponent);
        exponent = factor.exponent;
        if (factor.extra != nullptr) extras.push_back(factor.extra);
      }
      if (exponent != 0) mono.factors.emplace_back(atom, exponent);
    }
  }
  PolyRef result = polyOf(c, c.arena.intern(std::move(mono)));
  for (const PolyRef extra : extras) result = multiply(c, result, extra);
  return result;
}

bool isIntegerValued(AtomRef atom) {
  if (atom->kind == AtomKind::integer || atom->isIndicator() || atom->kind == AtomKind::function) return true;
  if (atom->kind == AtomKind::abs) return proof::isIntegerValued(atom->poly);
  if (atom->kind == AtomKind::sum) {
    return std::all_of(atom->mono->factors.begin(), atom->mono->factors.end(), [](const auto& factor) {
      return isIntegerValued(factor.first) && factor.second.get_den() == 1 && factor.second > 0;
    });
  }
  if (atom->kind == AtomKind::maximum) {
    return std::all_of(atom->polys.begin(), atom->polys.end(),
                       [](PolyRef p) { return proof::isIntegerValued(p); });
  }
  return (atom->kind == AtomKind::maxFold || atom->kind == AtomKind::productFold) &&
         proof::isIntegerValued(atom->poly);
}

}  // namespace

PolyRef polyConstant(Calculus& c, const Rational& value) {
  if (value == 0) return c.arena.zero;
  if (value == 1) return c.arena.one;
  return polyOf(c, c.arena.unit, value);
}

PolyRef polyOf(Calculus& c, MonoRef mono, const Rational& coefficient) {
  if (coefficient == 0) return c.arena.zero;
  Poly poly;
  poly.terms.emplace_back(mono, coefficient);
  return c.arena.intern(std::move(poly));
}

PolyRef polyOf(Calculus& c, AtomRef atom, const Rational& exponent) {
  if (exponent == 0) return c.arena.one;
  const Factor factor = hasLaw(atom->kind)              ? applyLaw(c, atom, exponent)
                        : atom->zeroOne && exponent > 0 ? Factor{1, nullptr}
                                                        : Factor{exponent, nullptr};
  Mono mono;
  if (factor.exponent != 0) mono.factors.emplace_back(atom, factor.exponent);
  const PolyRef result = polyOf(c, c.arena.intern(std::move(mono)));
  return factor.extra == nullptr ? result : multiply(c, result, factor.extra);
}

PolyRef add(Calculus& c, PolyRef a, PolyRef b) {
  if (a->isZero()) return b;
  if (b->isZero()) return a;
  Sum sum;
  accumulate(sum, a, 1);
  accumulate(sum, b, 1);
  return build(c, sum);
}

PolyRef subtract(Calculus& c, PolyRef a, PolyRef b) {
  if (a == b) return c.arena.zero;
  if (b->isZero()) return a;
  Sum sum;
  accumulate(sum, a, 1);
  accumulate(sum, b, -1);
  return build(c, sum);
}

PolyRef sumOf(Calculus& c, std::span<const PolyRef> parts) {
  if (parts.size() == 1) return parts[0];
  Sum sum;
  for (const PolyRef part : parts) accumulate(sum, part, 1);
  return build(c, sum);
}

PolyRef scale(Calculus& c, PolyRef a, const Rational& factor) {
  if (factor == 1) return a;
  if (factor == 0) return c.arena.zero;
  Poly poly;
  for (const auto& [mono, coefficient] : a->terms) poly.terms.emplace_back(mono, coefficient * factor);
  return c.arena.intern(std::move(poly));
}

PolyRef multiply(Calculus& c, PolyRef a, PolyRef b) {
  if (a->isZero() || b->isZero()) return c.arena.zero;
  if (a->isConstant()) return scale(c, b, a->constant());
  if (b->isConstant()) return scale(c, a, b->constant());
  Sum sum;
  for (const auto& [left, leftFactor] : a->terms) {
    for (const auto& [right, rightFactor] : b->terms) {
      accumulate(sum, multiply(c, left, right), leftFactor * rightFactor);
      if (sum.size() > c.maxTerms) throw GaveUp{"a polynomial outgrew the limit of terms", false};
    }
    c.tick();
  }
  return build(c, sum);
}

PolyRef power(Calculus& c, PolyRef a, unsigned long n) {
  PolyRef result = c.arena.one;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = multiply(c, result, a);
    if (n > 1) a = multiply(c, a, a);
  }
  return result;
}

PolyRef power(Calculus& c, MonoRef mono, const Rational& exponent) {
  PolyRef result = c.arena.one;
  for (const auto& [atom, e] : mono->factors) result = multiply(c, result, polyOf(c, atom, e * exponent));
  return result;
}

MonoRef rawMono(Calculus& c, std::vector<std::pair<AtomRef, Rational>> factors) {
  std::sort(factors.begin(), factors.end(),
            [](const auto& a, const auto& b) { return a.first->id < b.first->id; });
  Mono mono;
  for (auto& factor : factors) {
    if (!mono.factors.empty() && mono.factors.back().first == factor.first) {
      mono.factors.back().second += factor.second;
      if (mono.factors.back().second == 0) mono.factors.pop_back();
    } else if (factor.second != 0) {
      mono.factors.push_back(std::move(factor));
    }
  }
  return c.arena.intern(std::move(mono));
}

MonoRef without(Calculus& c, MonoRef mono, AtomRef atom) {
  Mono result;
  for (const auto& factor : mono->factors) {
    if (factor.first != atom) result.factors.push_back(factor);
  }
  return c.arena.intern(std::move(result));
}

std::vector<IntRef> representative(const Calculus& c, int source, std::vector<IntRef> subscripts) {
  if (c.facts.symmetric.contains(source) && subscripts.size() == 2 && subscripts[1]->id < subscripts[0]->id)
    std::swap(subscripts[0], subscripts[1]);
  const auto unchanging = c.facts.unchanging.find(source);
  if (unchanging != c.facts.unchanging.end()) {
    for (const std::size_t axis : unchanging->second) subscripts[axis] = c.arena.zeroInt;
  }
  return subscripts;
}

PolyRef element(Calculus& c, int source, std::vector<IntRef> subscripts) {
  const auto constant = c.facts.constants.find(source);
  if (constant != c.facts.constants.end()) return polyConstant(c, constant->second);
  Atom atom;
  atom.kind = AtomKind::element;
  atom.source = source;
  atom.subscripts = representative(c, source, std::move(subscripts));
  return polyOf(c, c.arena.intern(std::move(atom)));
}

PolyRef toReal(Calculus& c, IntRef term) {
  Sum sum;
  for (const auto& [mono, coefficient] : term->terms) {
    PolyRef product = c.arena.one;
    for (const IntAtomRef integer : mono->atoms) {
      if (integer->kind == IntAtom::Kind::embed) {
        product = multiply(c, product, integer->value);
        continue;
      }
      Atom atom;
      atom.kind = AtomKind::integer;
      atom.integer = integer;
      product = multiply(c, product, polyOf(c, c.arena.intern(std::move(atom))));
    }
    accumulate(sum, product, Rational(coefficient));
  }
  return build(c, sum);
}

IntRef toInteger(Calculus& c, PolyRef value) {
  const bool plain = std::all_of(value->terms.begin(), value->terms.end(), [](const auto& term) {
    return term.second.get_den() == 1 &&
           std::all_of(term.first->factors.begin(), term.first->factors.end(), [](const auto& factor) {
             return isIntegerValued(factor.first) && factor.second.get_den() == 1 && factor.second > 0 &&
                    factor.second < 16;
           });
  });
  const auto embed = [&](PolyRef p) {
    IntAtom atom;
    atom.kind = IntAtom::Kind::embed;
    atom.value = p;
    return intOf(c, c.arena.intern(std::move(atom)));
  };
  if (!plain) return embed(value);
  IntRef result = c.arena.zeroInt;
  for (const auto& [mono, coefficient] : value->terms) {
    IntRef term = intConstant(c, coefficient.get_num());
    for (const auto& [atom, exponent] : mono->factors) {
      const IntRef factor =
          atom->kind == AtomKind::integer ? intOf(c, atom->integer) : embed(polyOf(c, atom));
      for (Integer i = 0; i < exponent.get_num(); ++i) term = multiply(c, term, factor);
    }
    result = add(c, result, term);
  }
  return result;
}

bool isIntegerValued(PolyRef p) {
  return std::all_of(p->terms.begin(), p->terms.end(), [](const auto& term) {
    return term.second.get_den() == 1 &&
           std::all_of(term.first->factors.begin(), term.first->factors.end(), [](const auto& factor) {
             return isIntegerValued(factor.first) && factor.second.get_den() == 1 && factor.second > 0;
           });
  });
}

IntRef asIntegerTerm(Calculus& c, PolyRef p) {
  Integer denominator = 1;
  for (const auto& [mono, coefficient] : p->terms) {
    denominator = lcm(denominator, coefficient.get_den());
    for (const auto& [atom, exponent] : mono->factors) {
      const bool whole =
          atom->kind == AtomKind::integer && exponent.get_den() == 1 && exponent > 0 && exponent < 8;
      if (!whole) return nullptr;
    }
  }
  return toInteger(c, scale(c, p, Rational(denominator)));
}

namespace {

/// The monomial divided by factors of which it has at least as many: what is left of 1/(1 + x) is 1 + x
/// again.
PolyRef quotient(Calculus& c, MonoRef term, const std::vector<std::pair<AtomRef, Rational>>& divisor) {
  std::vector<std::pair<AtomRef, Rational>> plain = term->factors;
  std::vector<std::pair<AtomRef, Rational>> lawful;
  for (const auto& [atom, exponent] : divisor) {
    const Rational left = term->exponent(atom) - exponent;
    std::erase_if(plain, [&](const auto& factor) { return factor.first == atom; });
    if (left == 0 || atom->isIndicator()) continue;
    (hasLaw(atom->kind) ? lawful : plain).emplace_back(atom, left);
  }
  PolyRef result = polyOf(c, rawMono(c, std::move(plain)));
  for (const auto& [atom, exponent] : lawful) result = multiply(c, result, polyOf(c, atom, exponent));
  return result;
}

}  // namespace

Content contentOf(Calculus& c, PolyRef p) {
  if (p->terms.size() == 1) return {p->terms[0].first, p->terms[0].second, c.arena.one};
  std::vector<std::pair<AtomRef, Rational>> common;
  // Atoms with the same sign of exponent in every term; an atom absent somewhere counts as exponent 0.
  std::vector<AtomRef> atoms;
  for (const auto& [mono, coefficient] : p->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
    }
  }
  for (const AtomRef atom : atoms) {
    Rational least = p->terms[0].first->exponent(atom);
    for (const auto& [mono, coefficient] : p->terms) least = std::min(least, mono->exponent(atom));
    if (least != 0) common.emplace_back(atom, least);
  }
  const MonoRef mono = rawMono(c, common);
  PolyRef core = p;
  if (!common.empty()) {
    Sum divided;
    for (const auto& [term, coefficient] : p->terms)
      accumulate(divided, quotient(c, term, common), coefficient);
    core = build(c, divided);
    if (core->isZero()) return {c.arena.unit, 1, core};
  }
  const Rational leading = core->terms[0].second;
  return {mono, leading, scale(c, core, 1 / leading)};
}

AtomRef firstIndicator(PolyRef p) {
  if (!p->indicators) return nullptr;
  AtomRef first = nullptr;
  for (const auto& [mono, coefficient] : p->terms) {
    if (!mono->indicators) continue;
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->isIndicator() && (first == nullptr || atom->id < first->id)) first = atom;
    }
  }
  return first;
}

PolyRef setIndicator(Calculus& c, PolyRef p, AtomRef indicator, bool value) {
  Sum sum;
  for (const auto& [mono, coefficient] : p->terms) {
    const bool there = mono->indicators && mono->exponent(indicator) != 0;
    if (there && !value) continue;
    sum[there ? without(c, mono, indicator) : mono] += coefficient;
  }
  return build(c, sum);
}

}  // namespace nuscope::proof
