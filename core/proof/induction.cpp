// Simultaneous induction over the extents of one-index folds. The bound n of the folds is inducted on; the
// extent keeps its meaning everywhere else (bodies, other terms), so "for every n <= extent" is proved and
// range facts of the bodies stay valid.
#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/math_text.h"
#include "core/proof/planted.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"
#include "core/proof/zero_test.h"

namespace nuscope::proof {
namespace {

/// Folds over one index that are free of variables bound around them.
std::vector<AtomRef> closedFolds(PolyRef p) {
  std::vector<AtomRef> result;
  Walker walker;
  walker.onAtom = [&](AtomRef atom) {
    if (!atom->isFold() || atom->bound.size() != 1 || !atom->bound[0]->ranged || atom->guard != nullptr)
      return;
    const bool free = std::none_of(atom->variables.begin(), atom->variables.end(),
                                   [](IntAtomRef v) { return v->boundLevel > 0; });
    if (free) result.push_back(atom);
  };
  walker.walk(p);
  return result;
}

PolyRef bodyAt(Calculus& c, AtomRef fold, IntRef index) {
  const IntRef at[] = {index};
  return openAt(c, fold, at).body;
}

PolyRef combine(Calculus& c, AtomRef fold, PolyRef a, PolyRef b) {
  if (fold->kind == AtomKind::sum) return add(c, a, b);
  if (fold->kind == AtomKind::productFold) return multiply(c, a, b);
  const std::vector<PolyRef> parts{a, b};
  return maximumOf(c, parts);
}

/// Is the term defined for every prefix of the folds, not only for the whole? No inverse, logarithm or root
/// of what contains a fold, unless its sign is proved.
bool totalInPrefixes(Calculus& c, PolyRef p, const std::vector<AtomRef>& folds) {
  const auto hasFold = [&](AtomRef atom) {
    return std::any_of(folds.begin(), folds.end(),
                       [&](AtomRef fold) { return occurs(polyOf(c, atom), fold); });
  };
  bool total = true;
  Walker walker;
  walker.onMono = [&](MonoRef mono) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (exponent < 0 && atom->kind != AtomKind::exp && hasFold(atom) && !isNonZero(signOf(c, atom)))
        total = false;
    }
  };
  walker.onAtom = [&](AtomRef atom) {
    if (atom->kind == AtomKind::log && hasFold(atom) && !isPositive(signOf(c, atom->poly))) total = false;
    if (atom->kind == AtomKind::sqrt && hasFold(atom) && !isNonNegative(signOf(c, atom->poly))) total = false;
  };
  walker.walk(p);
  return total;
}

}  // namespace

bool ZeroTest::byInduction(PolyRef whole, int depth) {
  const PolyRef p = multipliedThrough(c_, whole);
  if (p != whole && whole->indicators) return false;
  struct Group {
    IntRef extent = nullptr;  // without its constant
    std::vector<AtomRef> folds;
  };
  std::vector<Group> groups;
  for (const AtomRef fold : closedFolds(p)) {
    const IntRef extent = fold->bound[0]->extent;
    const IntRef base = subtract(c_, extent, intConstant(c_, constantTerm(extent)));
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.extent == base; });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{base, {}});
    at->folds.push_back(fold);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.folds.size() > b.folds.size(); });
  for (const Group& group : groups) {
    if (group.extent->isZero()) continue;
    Integer least = constantTerm(group.folds[0]->bound[0]->extent);
    for (const AtomRef fold : group.folds) least = std::min(least, constantTerm(fold->bound[0]->extent));
    std::map<AtomRef, int> offsets;
    bool fits = true;
    for (const AtomRef fold : group.folds) {
      const Integer offset = constantTerm(fold->bound[0]->extent) - least;
      fits = fits && offset <= 4;
      offsets[fold] = fits ? static_cast<int>(offset.get_si()) : 0;
    }
    const IntRef extent = add(c_, group.extent, intConstant(c_, least));
    if (!fits || !positive(c_, extent) || !totalInPrefixes(c_, p, group.folds)) continue;
    const auto mark = recorder_.mark();
    if (inductOver(p, depth, group.folds, extent, offsets)) return true;
    recorder_.takeBack(mark);
  }
  return false;
}

bool ZeroTest::inductOver(PolyRef p, int depth, const std::vector<AtomRef>& folds, IntRef extent,
                          const std::map<AtomRef, int>& offsets) {
  note("induction over " + text(c_, extent), "on the bound n of the folds, 1 <= n <= " + text(c_, extent), p,
       nullptr);
  const Indent indent(recorder_);
  // Base: the folds over the first element (and the constant number of further ones).
  Substitution base(c_);
  for (const AtomRef fold : folds) {
    PolyRef value = bodyAt(c_, fold, c_.arena.zeroInt);
    for (int i = 0; i < offsets.at(fold); ++i)
      value = combine(c_, fold, value, bodyAt(c_, fold, intConstant(c_, i + 1)));
    base.map(fold, value);
  }
  const PolyRef first = base(p);
  recorder_.add("base n = 1", "the first elements", shortText(c_, first));
  if (!planted(Planted::withoutBase) && !zero(first, depth + 1)) return false;
  // Step: prefix values are symbols; the folds take one more element.
  const IntAtomRef n = freshVariable(c_, extent, true, "n");
  std::map<AtomRef, AtomRef> prefixes;
  Substitution assumed(c_);
  Substitution longer(c_);
  for (const AtomRef fold : folds) {
    Atom symbol;
    symbol.kind = AtomKind::symbol;
    symbol.name = "P";
    symbol.number = c_.arena.nextNumber();
    symbol.sign = signOf(c_, fold);
    const AtomRef prefix = c_.arena.intern(std::move(symbol));
    prefixes[fold] = prefix;
    assumed.map(fold, polyOf(c_, prefix));
    longer.map(fold, combine(c_, fold, polyOf(c_, prefix),
                             bodyAt(c_, fold, plus(c_, intOf(c_, n), offsets.at(fold)))));
  }
  const PolyRef hypothesis = assumed(p);
  const PolyRef step = longer(p);
  recorder_.add("step",
                "prefix values P satisfy " + shortText(c_, hypothesis, 200) + " = 0; one element more",
                shortText(c_, step));
  // The hypothesis solved for one prefix value and substituted beats handing it to the solver.
  for (const AtomRef fold : folds) {
    const AtomRef prefix = prefixes[fold];
    PolyRef coefficient = nullptr;
    PolyRef rest = c_.arena.zero;
    bool linear = true;
    for (const auto& [mono, factor] : hypothesis->terms) {
      const Rational exponent = mono->exponent(prefix);
      const PolyRef term = polyOf(c_, exponent == 0 ? mono : without(c_, mono, prefix), factor);
      if (occurs(term, prefix) || (exponent != 0 && exponent != 1)) linear = false;
      if (exponent == 0) {
        rest = add(c_, rest, term);
      } else {
        coefficient = coefficient == nullptr ? term : add(c_, coefficient, term);
      }
    }
    if (!linear || coefficient == nullptr || coefficient->indicators || !isNonZero(signOf(c_, coefficient)))
      continue;
    Substitution solved(c_);
    solved.map(prefix, negate(c_, multiply(c_, rest, inverse(c_, coefficient))));
    const PolyRef left = solved(step);
    if (zero(left, depth + 1)) return true;
  }
  const PolyRef through = multipliedThrough(c_, step);
  if (!fitForSolver(through) || !fitForSolver(hypothesis)) return false;
  return oracle_.impossible({{}, {hypothesis}, step->indicators ? step : through});
}

}  // namespace nuscope::proof
