#include "core/proof/int_term.h"

#include <algorithm>

#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"

namespace nuscope::proof {
namespace {

struct MonoById {
  bool operator()(IntMonoRef a, IntMonoRef b) const { return a->id < b->id; }
};
using Sum = std::map<IntMonoRef, Integer, MonoById>;

IntRef build(Calculus& c, const Sum& sum) {
  IntTerm term;
  for (const auto& [mono, coefficient] : sum) {
    if (coefficient != 0) term.terms.emplace_back(mono, coefficient);
  }
  c.tick();
  return c.arena.intern(std::move(term));
}

IntMonoRef multiply(Calculus& c, IntMonoRef a, IntMonoRef b) {
  if (a->atoms.empty()) return b;
  if (b->atoms.empty()) return a;
  IntMono mono;
  std::merge(a->atoms.begin(), a->atoms.end(), b->atoms.begin(), b->atoms.end(),
             std::back_inserter(mono.atoms), [](IntAtomRef x, IntAtomRef y) { return x->id < y->id; });
  return c.arena.intern(std::move(mono));
}

/// a / b if every atom of b occurs in a, else null.
IntMonoRef divide(Calculus& c, IntMonoRef a, IntMonoRef b) {
  IntMono mono;
  mono.atoms = a->atoms;
  for (const IntAtomRef atom : b->atoms) {
    const auto at = std::find(mono.atoms.begin(), mono.atoms.end(), atom);
    if (at == mono.atoms.end()) return nullptr;
    mono.atoms.erase(at);
  }
  return c.arena.intern(std::move(mono));
}

Integer floorOf(const Integer& a, const Integer& b) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
  return result;
}

IntRef quotientAtom(Calculus& c, IntRef e, IntRef d) {
  IntAtom atom;
  atom.kind = IntAtom::Kind::quotient;
  atom.numerator = e;
  atom.denominator = d;
  return intOf(c, c.arena.intern(std::move(atom)));
}

bool mentionsQuotientBy(IntRef e, IntRef d) {
  for (const auto& [mono, coefficient] : e->terms) {
    for (const IntAtomRef atom : mono->atoms) {
      if (atom->kind == IntAtom::Kind::quotient && atom->denominator == d) return true;
    }
  }
  return false;
}

/// e = quotient*d + rest for a d of several terms, by its last term.
Division divideSeveral(Calculus& c, IntRef e, IntRef d) {
  Division result{c.arena.zeroInt, e};
  const auto& [leading, coefficient] = d->terms.back();
  for (const auto& [mono, factor] : e->terms) {
    const IntMonoRef divided = divide(c, mono, leading);
    if (divided == nullptr || factor % coefficient != 0) continue;
    IntTerm one;
    one.terms.emplace_back(divided, factor / coefficient);
    const IntRef times = c.arena.intern(std::move(one));
    const IntRef rest = subtract(c, result.rest, multiply(c, times, d));
    if (rest->terms.size() >= result.rest->terms.size()) continue;
    result.rest = rest;
    result.quotient = add(c, result.quotient, times);
  }
  return result;
}

/// (a*e) / (a*d) is e / d for any a that is not 0: quotient is e, rest is d. Empty if nothing is common.
std::optional<Division> withoutCommonFactor(Calculus& c, IntRef e, IntRef d) {
  if (e->isZero()) return std::nullopt;
  Integer content = 0;
  std::vector<IntAtomRef> common = d->terms[0].first->atoms;
  for (const IntRef side : {e, d}) {
    for (const auto& [mono, coefficient] : side->terms) {
      content = gcd(content, coefficient);
      std::vector<IntAtomRef> both;
      std::set_intersection(common.begin(), common.end(), mono->atoms.begin(), mono->atoms.end(),
                            std::back_inserter(both),
                            [](IntAtomRef a, IntAtomRef b) { return a->id < b->id; });
      common = std::move(both);
    }
  }
  if (content <= 1 && common.empty()) return std::nullopt;
  IntMono mono;
  mono.atoms = std::move(common);
  const IntMonoRef factor = c.arena.intern(std::move(mono));
  const auto reduced = [&](IntRef side) {
    Sum sum;
    for (const auto& [term, coefficient] : side->terms) sum[divide(c, term, factor)] = coefficient / content;
    return build(c, sum);
  };
  const Division result{reduced(e), reduced(d)};
  if (!positive(c, result.rest)) return std::nullopt;
  return result;
}

/// floor(e / (k*D)) = floor(floor(e / k) / D) for a number k or a factor D, where the first division leaves
/// no new quotient; else null.
IntRef divideStepwise(Calculus& c, IntRef e, IntRef d) {
  const auto& [mono, coefficient] = d->terms[0];
  std::vector<IntRef> firsts;
  if (coefficient > 1) firsts.push_back(intConstant(c, coefficient));
  if (coefficient > 1 || mono->atoms.size() > 1) {
    for (const IntAtomRef atom : mono->atoms) firsts.push_back(intOf(c, atom));
  }
  for (const IntRef factor : firsts) {
    const IntRef other = exactDivide(c, d, factor);
    if (other == nullptr || !positive(c, factor) || !positive(c, other)) continue;
    const IntRef first = floorDivide(c, e, factor);
    if (!mentionsQuotientBy(first, factor)) return floorDivide(c, first, other);
  }
  return nullptr;
}

}  // namespace

IntRef intConstant(Calculus& c, const Integer& value) {
  if (value == 0) return c.arena.zeroInt;
  if (value == 1) return c.arena.oneInt;
  IntTerm term;
  term.terms.emplace_back(c.arena.unitInt, value);
  return c.arena.intern(std::move(term));
}

IntRef intOf(Calculus& c, IntAtomRef atom) {
  IntMono mono;
  mono.atoms.push_back(atom);
  IntTerm term;
  term.terms.emplace_back(c.arena.intern(std::move(mono)), 1);
  return c.arena.intern(std::move(term));
}

IntRef dimension(Calculus& c, const std::string& symbol) {
  IntAtom atom;
  atom.kind = IntAtom::Kind::dimension;
  atom.name = symbol;
  return intOf(c, c.arena.intern(std::move(atom)));
}

IntAtomRef freshVariable(Calculus& c, IntRef extent, bool ranged, const std::string& letter) {
  IntAtom atom;
  atom.kind = IntAtom::Kind::variable;
  atom.name = letter;
  atom.extent = extent;
  atom.ranged = ranged;
  atom.number = c.arena.nextNumber();
  return c.arena.intern(std::move(atom));
}

IntAtomRef freshIndex(Calculus& c, IntRef extent, const std::string& letter) {
  return freshVariable(c, extent, nonNegative(c, extent), letter);
}

IntRef intElement(Calculus& c, int source, std::vector<IntRef> subscripts) {
  if (subscripts.empty()) {
    const auto at = c.facts.integers.find(source);
    if (at != c.facts.integers.end()) return at->second;
  }
  const auto constant = c.facts.constants.find(source);
  if (constant != c.facts.constants.end() && constant->second.get_den() == 1) {
    return intConstant(c, constant->second.get_num());
  }
  IntAtom atom;
  atom.kind = IntAtom::Kind::element;
  atom.source = source;
  atom.subscripts = representative(c, source, std::move(subscripts));
  return intOf(c, c.arena.intern(std::move(atom)));
}

IntRef add(Calculus& c, IntRef a, IntRef b) {
  if (a->isZero()) return b;
  if (b->isZero()) return a;
  Sum sum;
  for (const auto& [mono, coefficient] : a->terms) sum.emplace(mono, coefficient);
  for (const auto& [mono, coefficient] : b->terms) sum[mono] += coefficient;
  return build(c, sum);
}

IntRef subtract(Calculus& c, IntRef a, IntRef b) {
  return add(c, a, negate(c, b));
}

IntRef multiply(Calculus& c, IntRef a, IntRef b) {
  if (a == c.arena.oneInt) return b;
  if (b == c.arena.oneInt) return a;
  Sum sum;
  for (const auto& [left, leftFactor] : a->terms) {
    for (const auto& [right, rightFactor] : b->terms)
      sum[multiply(c, left, right)] += leftFactor * rightFactor;
  }
  return build(c, sum);
}

IntRef scale(Calculus& c, IntRef a, const Integer& factor) {
  if (factor == 1) return a;
  if (factor == 0) return c.arena.zeroInt;
  IntTerm term;
  for (const auto& [mono, coefficient] : a->terms) term.terms.emplace_back(mono, coefficient * factor);
  return c.arena.intern(std::move(term));
}

IntRef plus(Calculus& c, IntRef a, long constant) {
  return add(c, a, intConstant(c, constant));
}

Division divideTerms(Calculus& c, IntRef e, IntRef d) {
  if (d->terms.size() != 1) return {};
  const auto& [divisor, factor] = d->terms[0];
  Sum quotient;
  Sum rest;
  for (const auto& [mono, coefficient] : e->terms) {
    const IntMonoRef divided = divide(c, mono, divisor);
    const Integer whole = divided == nullptr ? Integer(0) : floorOf(coefficient, factor);
    // A fraction of a symbolic multiple stays whole in the rest: 3*K // (2*K) has no integer part to split.
    const bool exact = divided != nullptr && (coefficient % factor == 0 || divisor->atoms.empty());
    if (exact && whole != 0) {
      quotient[divided] += whole;
      rest[mono] += coefficient - whole * factor;
    } else {
      rest[mono] += coefficient;
    }
  }
  return {build(c, quotient), build(c, rest)};
}

IntRef exactDivide(Calculus& c, IntRef e, IntRef d) {
  if (e == d) return c.arena.oneInt;
  if (d->isZero()) return nullptr;
  const Division parts = d->terms.size() == 1 ? divideTerms(c, e, d) : divideSeveral(c, e, d);
  return parts.rest->isZero() ? parts.quotient : nullptr;
}

IntRef floorDivide(Calculus& c, IntRef e, IntRef d) {
  c.tick();
  if (d == c.arena.oneInt) return e;
  if (d->isConstant() && e->isConstant() && !d->isZero())
    return intConstant(c, floorOf(e->constant(), d->constant()));
  if (!positive(c, d)) return quotientAtom(c, e, d);
  if (const auto reduced = withoutCommonFactor(c, e, d))
    return floorDivide(c, reduced->quotient, reduced->rest);
  if (d->terms.size() == 1 && !d->isConstant()) {
    if (const IntRef stepwise = divideStepwise(c, e, d)) return stepwise;
  }
  Division parts = d->terms.size() == 1 ? divideTerms(c, e, d) : divideSeveral(c, e, d);
  const IntRef rest = parts.rest;
  if (rest->isZero()) return parts.quotient;
  if (nonNegative(c, rest) && positive(c, subtract(c, d, rest))) return parts.quotient;
  if (nonNegative(c, plus(c, negate(c, rest), -1)) && nonNegative(c, add(c, rest, d))) {
    return plus(c, parts.quotient, -1);  // -d <= rest < 0
  }
  if (rest->terms.size() == 1 && rest->terms[0].second == 1 && rest->terms[0].first->atoms.size() == 1) {
    const IntAtomRef inner = rest->terms[0].first->atoms[0];
    if (inner->kind == IntAtom::Kind::quotient && positive(c, inner->denominator)) {
      return add(c, parts.quotient, floorDivide(c, inner->numerator, multiply(c, inner->denominator, d)));
    }
  }
  return add(c, parts.quotient, quotientAtom(c, rest, d));
}

std::optional<IntLinear> linearIn(Calculus& c, IntRef e, IntAtomRef variable) {
  Sum coefficient;
  Sum rest;
  for (const auto& [mono, factor] : e->terms) {
    const auto count = std::count(mono->atoms.begin(), mono->atoms.end(), variable);
    if (count > 1) return std::nullopt;
    IntMono other;
    for (const IntAtomRef atom : mono->atoms) {
      if (atom == variable) continue;
      if (contains(atom->variables, variable)) return std::nullopt;
      other.atoms.push_back(atom);
    }
    (count == 1 ? coefficient : rest)[c.arena.intern(std::move(other))] += factor;
  }
  return IntLinear{build(c, coefficient), build(c, rest)};
}

Integer contentOf(IntRef e) {
  Integer result = 0;
  for (const auto& [mono, coefficient] : e->terms) {
    if (!mono->atoms.empty()) result = gcd(result, coefficient);
  }
  return result;
}

Integer constantTerm(IntRef e) {
  for (const auto& [mono, coefficient] : e->terms) {
    if (mono->atoms.empty()) return coefficient;
  }
  return 0;
}

}  // namespace nuscope::proof
