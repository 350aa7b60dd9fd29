// Products over indices (lemma P1).
#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"
#include "core/proof/substitute.h"

namespace nuscope::proof {
namespace {

/// No range is empty, so every index has its factors.
bool inhabited(Calculus& c, const std::vector<IntAtomRef>& variables) {
  return std::all_of(variables.begin(), variables.end(),
                     [&](IntAtomRef v) { return positive(c, v->extent); });
}

/// A condition by its values, as far as `depth` conditions decide them.
bool isZeroOne(Calculus& c, PolyRef p, int depth) {
  if (p->isZero() || p == c.arena.one) return true;
  for (const PolyRef side : {p, subtract(c, c.arena.one, p)}) {
    const AtomRef atom = side->asAtom();
    if (atom != nullptr && (atom->isIndicator() || atom->zeroOne)) return true;
  }
  const AtomRef condition = firstIndicator(p);
  return condition != nullptr && depth > 0 && isZeroOne(c, setIndicator(c, p, condition, true), depth - 1) &&
         isZeroOne(c, setIndicator(c, p, condition, false), depth - 1);
}

/// p with the value 0 or 1 for a condition.
PolyRef withValue(Calculus& c, PolyRef p, AtomRef condition, bool value) {
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : p->terms) {
    if (mono->exponent(condition) == 0) {
      parts.push_back(polyOf(c, mono, coefficient));
    } else if (value) {
      parts.push_back(polyOf(c, without(c, mono, condition), coefficient));
    }
  }
  return parts.empty() ? c.arena.zero : sumOf(c, parts);
}

/// A condition that is free of the variables: a product where it holds, and one where it does not.
PolyRef splitCondition(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body) {
  const Variables set = asSet(variables);
  for (const auto& [mono, coefficient] : body->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if ((!atom->isIndicator() && !atom->zeroOne) || exponent < 0 || intersects(atom->variables, set))
        continue;
      return choose(c, polyOf(c, atom), makeProduct(c, variables, withValue(c, body, atom, true)),
                    makeProduct(c, variables, withValue(c, body, atom, false)));
    }
  }
  return nullptr;
}

/// A condition that holds on a prefix of a range, and not after it: two products.
PolyRef splitRange(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body) {
  if (!body->indicators) return nullptr;
  const Variables set = asSet(variables);
  for (const auto& [mono, coefficient] : body->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->kind != AtomKind::intNonNegative) continue;
      for (const IntAtomRef v : variables) {
        const auto cut = prefixWhere(c, atom, v, set);
        if (!cut || !isFree(variables, set, v) || !v->ranged || !nonNegative(c, cut->length) ||
            !atMost(c, cut->length, v->extent))
          continue;
        const IntAtomRef low = freshIndex(c, cut->length);
        const IntAtomRef high = freshIndex(c, subtract(c, v->extent, cut->length));
        const PolyRef first = substitute(c, setIndicator(c, body, atom, cut->holdsInside), v, intOf(c, low));
        const PolyRef second = substitute(c, setIndicator(c, body, atom, !cut->holdsInside), v,
                                          add(c, intOf(c, high), cut->length));
        return multiply(c, makeProduct(c, replaced(variables, v, {low}), first),
                        makeProduct(c, replaced(variables, v, {high}), second));
      }
    }
  }
  return nullptr;
}

/// A variable that occurs only as r - v runs the other way.
PolyRef turnedRound(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body) {
  for (const IntAtomRef v : variables) {
    if (!isFree(variables, asSet(variables), v) || !v->ranged || !onlyMirrored(c, body, v)) continue;
    const IntRef mirrored = subtract(c, plus(c, v->extent, -1), intOf(c, v));
    return makeProduct(c, variables, substitute(c, body, v, mirrored));
  }
  return nullptr;
}

PolyRef productAtom(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body) {
  const Variables set = asSet(variables);
  for (const IntAtomRef v : variables) {
    if (!isFree(variables, set, v)) continue;
    for (const IntRef d : divisorsOf(c, body, v, set)) {
      const IntRef q = exactDivide(c, v->extent, d);
      if (q == nullptr) continue;
      const Split split = splitVariable(c, q, d);
      return makeProduct(c, replaced(variables, v, {split.outer, split.inner}),
                         substitute(c, body, v, split.value));
    }
  }
  for (const IntAtomRef u : variables) {
    for (const IntAtomRef v : variables) {
      if (u == v || !isFree(variables, set, u) || !isFree(variables, set, v) || !mergeable(c, body, v, u))
        continue;
      const IntAtomRef merged = freshIndex(c, multiply(c, v->extent, u->extent));
      if (!merged->ranged) continue;
      Substitution s(c);
      s.map(v, c.arena.zeroInt);
      s.map(u, intOf(c, merged));
      return makeProduct(c, replaced(replaced(variables, v, {}), u, {merged}), s(body));
    }
  }
  if (const PolyRef parts = splitRange(c, variables, body)) return parts;
  if (const PolyRef turned = turnedRound(c, variables, body)) return turned;
  return closeFold(c, variables, body, c.arena.one,
                   [&](const std::vector<IntAtomRef>& bound, PolyRef image, PolyRef) {
                     if (image == c.arena.one) return image;
                     Atom atom;
                     atom.kind = AtomKind::productFold;
                     atom.bound = bound;
                     atom.poly = image;
                     atom.zeroOne = isZeroOne(c, image, 4);
                     return polyOf(c, c.arena.intern(std::move(atom)));
                   });
}

}  // namespace

PolyRef makeProduct(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body) {
  c.tick();
  PolyRef guard = c.arena.one;
  dropUnits(c, variables, body, guard);
  if (variables.empty() || body == c.arena.one) return body;
  const auto empty = [](IntAtomRef v) { return v->extent->isZero(); };
  if (std::any_of(variables.begin(), variables.end(), empty)) return c.arena.one;
  // One factor that is 0 makes the product 0.
  const Variables set = asSet(variables);
  for (const IntAtomRef v : variables) {
    if (!isFree(variables, set, v) || !positive(c, v->extent)) continue;
    for (const IntRef at : {c.arena.zeroInt, plus(c, v->extent, -1)}) {
      if (!body->indicators) break;
      if (substitute(c, body, v, at)->isZero() && inhabited(c, variables)) return c.arena.zero;
    }
  }
  if (const PolyRef split = splitCondition(c, variables, body)) return split;
  // Factors separate where the body is one monomial; prod exp(f) = exp(sum f).
  if (body->terms.size() == 1 && body->terms[0].second == 1) {
    PolyRef result = c.arena.one;
    const MonoRef mono = body->terms[0].first;
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->kind == AtomKind::exp) {
        result = multiply(c, result, expOf(c, makeSum(c, variables, polyOf(c, atom->mono, exponent))));
        continue;
      }
      if (exponent.get_den() != 1) throw GaveUp{"a root inside a product", false};
      PolyRef factor = nullptr;
      if (atom->kind == AtomKind::productFold) {
        const Opened opened = open(c, atom);
        std::vector<IntAtomRef> both = variables;
        both.insert(both.end(), opened.variables.begin(), opened.variables.end());
        factor = makeProduct(c, both, opened.body);
      } else {
        factor = productAtom(c, variables,
                             exponent < 0 && atom->kind == AtomKind::power ? atom->poly : polyOf(c, atom));
      }
      const PolyRef raised = power(c, factor, Integer(abs(exponent.get_num())).get_ui());
      result = multiply(c, result, exponent > 0 ? raised : inverse(c, raised));
    }
    return result;
  }
  return productAtom(c, variables, body);
}

}  // namespace nuscope::proof
