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
  return closeFold(c, variables, body, c.arena.one,
                   [&](const std::vector<IntAtomRef>& bound, PolyRef image, PolyRef) {
                     if (image == c.arena.one) return image;
                     Atom atom;
                     atom.kind = AtomKind::productFold;
                     atom.bound = bound;
                     atom.poly = image;
                     return polyOf(c, c.arena.intern(std::move(atom)));
                   });
}

}  // namespace

PolyRef makeProduct(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body) {
  c.tick();
  PolyRef guard = c.arena.one;
  dropUnits(c, variables, body, guard);
  if (variables.empty() || body == c.arena.one) return body;
  // One factor that is 0 makes the product 0.
  const Variables set = asSet(variables);
  for (const IntAtomRef v : variables) {
    if (!isFree(variables, set, v) || !positive(c, v->extent)) continue;
    for (const IntRef at : {c.arena.zeroInt, plus(c, v->extent, -1)}) {
      if (!body->indicators) break;
      if (substitute(c, body, v, at)->isZero() && inhabited(c, variables)) return c.arena.zero;
    }
  }
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
