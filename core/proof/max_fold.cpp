// Maxima over indices (lemmas M1 to M6). A guard restricts the indices that count.
#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/planted.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"

namespace nuscope::proof {
namespace {

struct Term {
  std::vector<IntAtomRef> variables;
  PolyRef body;
  PolyRef guard;
  Variables set;
};
using Rule = PolyRef (*)(Calculus&, const Term&);

bool plain(Calculus& c, const Term& t) {
  return t.guard == c.arena.one;
}

/// Addends without the variables come out (M1), also under a guard.
PolyRef addends(Calculus& c, const Term& t) {
  std::vector<PolyRef> outside;
  for (const auto& [mono, coefficient] : t.body->terms) {
    if (!intersects(mono->variables, t.set)) outside.push_back(polyOf(c, mono, coefficient));
  }
  if (outside.empty()) return nullptr;
  const PolyRef sum = sumOf(c, outside);
  const PolyRef rest = subtract(c, t.body, sum);
  return add(c, sum, makeMax(c, t.variables, rest, t.guard));
}

PolyRef unused(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (contains(t.body->variables, v) || contains(t.guard->variables, v)) continue;
    if (std::any_of(t.variables.begin(), t.variables.end(),
                    [&](IntAtomRef w) { return contains(w->extent->variables, v); }))
      continue;
    return makeMax(c, replaced(t.variables, v, {}), t.body, t.guard);
  }
  return nullptr;
}

PolyRef splitByDivisor(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (!isFree(t.variables, t.set, v)) continue;
    std::vector<IntRef> divisors = divisorsOf(c, t.body, v, t.set);
    for (const IntRef d : divisorsOf(c, t.guard, v, t.set)) divisors.push_back(d);
    for (const IntRef d : divisors) {
      const IntRef q = exactDivide(c, v->extent, d);
      if (q == nullptr) continue;
      const Split split = splitVariable(c, q, d);
      return makeMax(c, replaced(t.variables, v, {split.outer, split.inner}),
                     substitute(c, t.body, v, split.value), substitute(c, t.guard, v, split.value));
    }
  }
  return nullptr;
}

/// Indices where a condition on v holds form a prefix [0, n): both parts are proved non-empty.
PolyRef splitRange(Calculus& c, const Term& t, AtomRef atom) {
  for (const IntAtomRef v : t.variables) {
    if (!isFree(t.variables, t.set, v)) continue;
    const auto cut = prefixWhere(c, atom, v, t.set);
    if (!cut) continue;
    const IntRef n = cut->length;
    if (!positive(c, n) || !positive(c, subtract(c, v->extent, n))) continue;
    const IntAtomRef low = freshIndex(c, n);
    const IntAtomRef high = freshIndex(c, subtract(c, v->extent, n));
    const bool lowHolds = cut->holdsInside;
    const auto part = [&](IntAtomRef moved, bool holds, IntRef at) {
      Substitution s(c);
      s.map(v, at);
      return makeMax(c, replaced(t.variables, v, {moved}), s(setIndicator(c, t.body, atom, holds)),
                     s(setIndicator(c, t.guard, atom, holds)));
    };
    // Under a guard a part may be empty: only prefixes that the guard does not touch are split.
    const std::vector<PolyRef> parts{part(low, lowHolds, intOf(c, low)),
                                     part(high, !lowHolds, add(c, intOf(c, high), n))};
    return maximumOf(c, parts);
  }
  return nullptr;
}

PolyRef conditions(Calculus& c, const Term& t) {
  if (!t.body->indicators) return nullptr;
  for (const auto& [mono, coefficient] : t.body->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (!atom->isIndicator()) continue;
      if (!intersects(atom->variables, t.set)) {
        const PolyRef yes = makeMax(c, t.variables, setIndicator(c, t.body, atom, true), t.guard);
        const PolyRef no = makeMax(c, t.variables, setIndicator(c, t.body, atom, false), t.guard);
        return choose(c, polyOf(c, atom), yes, no);
      }
      if (atom->kind == AtomKind::intNonNegative && plain(c, t)) {
        if (const PolyRef split = splitRange(c, t, atom)) return split;
      }
    }
  }
  return nullptr;
}

/// A condition e >= 0 of the guard, and what else the guard says.
struct Bound {
  IntRef term;
  PolyRef rest;
};

std::vector<Bound> boundsOf(Calculus& c, PolyRef guard) {
  std::vector<Bound> bounds;
  if (const MonoRef mono = guard->asMono()) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->kind == AtomKind::intNonNegative)
        bounds.push_back({atom->intTerm, polyOf(c, without(c, mono, atom))});
    }
  } else if (const AtomRef fails = subtract(c, c.arena.one, guard)->asAtom();
             fails != nullptr && fails->kind == AtomKind::intNonNegative) {
    bounds.push_back({plus(c, negate(c, fails->intTerm), -1), c.arena.one});
  }
  return bounds;
}

/// A guard that is a prefix of one variable shortens its range; one that is free of the variables drops out
/// where the maximum is defined.
PolyRef guardRange(Calculus& c, const Term& t) {
  if (plain(c, t)) return nullptr;
  if (const MonoRef mono = t.guard->asMono()) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->isIndicator() && !intersects(atom->variables, t.set))
        return makeMax(c, t.variables, t.body, polyOf(c, without(c, mono, atom)));
    }
  }
  for (const auto& [term, rest] : boundsOf(c, t.guard)) {
    for (const IntAtomRef v : t.variables) {
      if (!isFree(t.variables, t.set, v)) continue;
      const auto linear = linearIn(c, term, v);
      if (!linear || linear->coefficient != intConstant(c, -1) || intersects(linear->rest->variables, t.set))
        continue;
      const IntRef n = plus(c, linear->rest, 1);
      if (!positive(c, n) || !atMost(c, n, v->extent)) continue;
      const IntAtomRef moved = freshIndex(c, n);
      return makeMax(c, replaced(t.variables, v, {moved}), substitute(c, t.body, v, intOf(c, moved)),
                     substitute(c, rest, v, intOf(c, moved)));
    }
  }
  return nullptr;
}

/// max -g(f) = -g(min f) for a monotone g (M6).
PolyRef mirrored(Calculus& c, const Term& t) {
  const PolyRef opposite = negate(c, t.body);
  const AtomRef atom = opposite->asAtom();
  const auto least = [&](PolyRef f) { return negate(c, makeMax(c, t.variables, negate(c, f), t.guard)); };
  if (atom != nullptr && atom->kind == AtomKind::sqrt) return negate(c, sqrtOf(c, least(atom->poly)));
  if (atom != nullptr && atom->kind == AtomKind::log) return negate(c, logOf(c, least(atom->poly)));
  if (atom != nullptr && atom->kind == AtomKind::function && atom->name == "floor")
    return negate(c, floorOf(c, least(atom->poly)));
  if (atom != nullptr && atom->kind == AtomKind::function && atom->name == "rint")
    return negate(c, rintOf(c, least(atom->poly)));
  const MonoRef mono = opposite->asMono();
  if (mono == nullptr) return nullptr;
  std::vector<PolyRef> argument;
  for (const auto& [a, e] : mono->factors) {
    if (a->kind != AtomKind::exp || !intersects(a->variables, t.set)) return nullptr;
    argument.push_back(polyOf(c, a->mono, e));
  }
  return argument.empty() ? nullptr : negate(c, expOf(c, least(sumOf(c, argument))));
}

/// A single atom: nested maxima join, binary maxima and monotone functions come out (M3, M6).
PolyRef outward(Calculus& c, const Term& t) {
  const AtomRef atom = t.body->asAtom();
  if (atom != nullptr) {
    if (atom->kind == AtomKind::maxFold) {
      const Opened opened = open(c, atom);
      std::vector<IntAtomRef> both = t.variables;
      both.insert(both.end(), opened.variables.begin(), opened.variables.end());
      return makeMax(c, both, opened.body, multiply(c, t.guard, opened.guard));
    }
    if (atom->kind == AtomKind::maximum) {
      std::vector<PolyRef> parts;
      for (const PolyRef part : atom->polys) parts.push_back(makeMax(c, t.variables, part, t.guard));
      return maximumOf(c, parts);
    }
    if (atom->kind == AtomKind::sqrt) return sqrtOf(c, makeMax(c, t.variables, atom->poly, t.guard));
    if (atom->kind == AtomKind::log) return logOf(c, makeMax(c, t.variables, atom->poly, t.guard));
    if (atom->kind == AtomKind::function && atom->name == "floor")
      return floorOf(c, makeMax(c, t.variables, atom->poly, t.guard));
    if (atom->kind == AtomKind::function && atom->name == "rint")
      return rintOf(c, makeMax(c, t.variables, atom->poly, t.guard));
  }
  if (t.body->terms.size() != 1) return nullptr;
  if (t.body->terms[0].second < 0) return mirrored(c, t);
  // c * exp(..) with a non-negative rest free of the variables.
  std::vector<std::pair<AtomRef, Rational>> rest;
  std::vector<PolyRef> argument;
  for (const auto& [a, e] : t.body->terms[0].first->factors) {
    if (intersects(a->variables, t.set)) {
      if (a->kind != AtomKind::exp) return nullptr;
      argument.push_back(polyOf(c, a->mono, e));
    } else {
      if (!isNonNegative(signOf(c, a))) return nullptr;
      rest.emplace_back(a, e);
    }
  }
  if (argument.empty()) return nullptr;
  const PolyRef inner = expOf(c, makeMax(c, t.variables, sumOf(c, argument), t.guard));
  return multiply(c, polyOf(c, rawMono(c, std::move(rest)), t.body->terms[0].second), inner);
}

/// Several variables: what does not depend on one of them comes out of its maximum.
PolyRef oneAtATime(Calculus& c, const Term& t) {
  if (t.variables.size() < 2 || !plain(c, t)) return nullptr;
  for (const IntAtomRef v : t.variables) {
    if (!isFree(t.variables, t.set, v)) continue;
    const std::vector<IntAtomRef> others = replaced(t.variables, v, {});
    std::vector<PolyRef> outside;
    for (const auto& [mono, coefficient] : t.body->terms) {
      if (!contains(mono->variables, v)) outside.push_back(polyOf(c, mono, coefficient));
    }
    if (!outside.empty()) {
      const PolyRef sum = sumOf(c, outside);
      return makeMax(c, others, add(c, sum, makeMax(c, {v}, subtract(c, t.body, sum), c.arena.one)),
                     c.arena.one);
    }
    const Content content = contentOf(c, t.body);
    std::vector<std::pair<AtomRef, Rational>> factors;
    for (const auto& [atom, exponent] : content.mono->factors) {
      if (!contains(atom->variables, v) && intersects(atom->variables, t.set) &&
          isNonNegative(signOf(c, atom)) && !atom->isIndicator()) {
        factors.emplace_back(atom, exponent);
      }
    }
    if (factors.empty()) continue;
    const MonoRef factor = rawMono(c, std::move(factors));
    const PolyRef inner = makeMax(c, {v}, multiply(c, t.body, power(c, factor, -1)), c.arena.one);
    return makeMax(c, others, multiply(c, polyOf(c, factor), inner), c.arena.one);
  }
  return nullptr;
}

/// Non-negative factors free of the variables, and the size of the first coefficient, come out (M2).
PolyRef factors(Calculus& c, const Term& t) {
  const Content content = contentOf(c, t.body);
  std::vector<std::pair<AtomRef, Rational>> outside;
  for (const auto& [atom, exponent] : content.mono->factors) {
    const bool keepsOrder = isNonNegative(signOf(c, atom)) || planted(Planted::maxScale);
    if (!intersects(atom->variables, t.set) && keepsOrder && !atom->isIndicator()) {
      outside.emplace_back(atom, exponent);
    }
  }
  const Rational size = abs(t.body->terms[0].second);
  if (outside.empty() && size == 1) return nullptr;
  const MonoRef factor = rawMono(c, std::move(outside));
  const PolyRef rest = multiply(c, t.body, scale(c, power(c, factor, -1), 1 / size));
  return scale(c, multiply(c, polyOf(c, factor), makeMax(c, t.variables, rest, t.guard)), size);
}

/// A variable that occurs only as r - v runs the other way.
PolyRef turnedRound(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (!isFree(t.variables, t.set, v)) continue;
    const bool guarded = contains(t.guard->variables, v);
    if (contains(t.body->variables, v) ? !onlyMirrored(c, t.body, v) : !guarded) continue;
    if (guarded && !onlyMirrored(c, t.guard, v)) continue;
    const IntRef mirrored = subtract(c, plus(c, v->extent, -1), intOf(c, v));
    const PolyRef body = substitute(c, t.body, v, mirrored);
    const PolyRef guard = substitute(c, t.guard, v, mirrored);
    // [v - i >= 0] turned round is 1 - [... - v >= 0]: it would be turned for ever.
    if (contains(body->variables, v) ? onlyMirrored(c, body, v) : onlyMirrored(c, guard, v)) continue;
    return makeMax(c, t.variables, body, guard);
  }
  return nullptr;
}

PolyRef merge(Calculus& c, const Term& t) {
  const PolyRef both = add(c, t.body, scale(c, t.guard, Rational(Integer("987654321987654321"))));
  for (const IntAtomRef u : t.variables) {
    for (const IntAtomRef v : t.variables) {
      if (u == v || !isFree(t.variables, t.set, u) || !isFree(t.variables, t.set, v) ||
          !mergeable(c, both, v, u))
        continue;
      const IntAtomRef merged = freshIndex(c, multiply(c, v->extent, u->extent));
      if (!merged->ranged) continue;
      Substitution s(c);
      s.map(v, c.arena.zeroInt);
      s.map(u, intOf(c, merged));
      return makeMax(c, replaced(replaced(t.variables, v, {}), u, {merged}), s(t.body), s(t.guard));
    }
  }
  return nullptr;
}

PolyRef closeMax(Calculus& c, const Term& t) {
  return closeFold(c, t.variables, t.body, t.guard,
                   [&](const std::vector<IntAtomRef>& bound, PolyRef body, PolyRef guard) {
                     if (body->isConstant()) return body;
                     const Rational size = abs(body->terms[0].second);
                     Atom atom;
                     atom.kind = AtomKind::maxFold;
                     atom.bound = bound;
                     atom.poly = scale(c, body, 1 / size);
                     atom.guard = guard == c.arena.one ? nullptr : guard;
                     return scale(c, polyOf(c, c.arena.intern(std::move(atom))), size);
                   });
}

}  // namespace

PolyRef makeMax(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body, PolyRef guard) {
  c.tick();
  dropUnits(c, variables, body, guard);
  if (variables.empty() || body->isConstant()) return body;
  const Term term{variables, body, guard, asSet(variables)};
  const bool inhabited = std::all_of(variables.begin(), variables.end(),
                                     [&](IntAtomRef v) { return v->ranged && positive(c, v->extent); });
  if (inhabited) {
    static constexpr Rule rules[] = {unused,  addends,    splitByDivisor, guardRange,  conditions,
                                     outward, oneAtATime, factors,        turnedRound, merge};
    for (const Rule rule : rules) {
      if (const PolyRef result = rule(c, term)) return result;
    }
  }
  return closeMax(c, term);
}

}  // namespace nuscope::proof
