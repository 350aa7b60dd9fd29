#include "core/proof/fold_facts.h"

#include "core/proof/functions.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"

namespace nuscope::proof {
namespace {

bool plainRange(AtomRef fold) {
  return fold->bound.size() == 1 && fold->bound[0]->ranged && fold->guard == nullptr;
}

/// f > 0 makes g > 0: g with the condition [f > 0] put to 1 is positive.
bool positiveWhere(Calculus& c, PolyRef f, PolyRef g) {
  const AtomRef condition = whenPositive(c, f)->asAtom();
  if (condition == nullptr) return false;
  return isPositive(signOf(c, setIndicator(c, g, condition, true)));
}

}  // namespace

std::vector<FoldFact> foldFacts(Calculus& c, const std::vector<AtomRef>& folds) {
  std::vector<FoldFact> result;
  for (const AtomRef a : folds) {
    if (!plainRange(a) || a->kind == AtomKind::productFold) continue;
    for (const AtomRef b : folds) {
      if (a == b || !plainRange(b) || b->kind == AtomKind::maxFold ||
          a->bound[0]->extent != b->bound[0]->extent)
        continue;
      const Opened opened = open(c, a);
      const IntRef at[] = {intOf(c, opened.variables[0])};
      const PolyRef f = opened.body;
      const PolyRef g = openAt(c, b, at).body;
      if (b->kind == AtomKind::productFold) {
        if (a->kind == AtomKind::sum && isNonNegative(signOf(c, f)) && whenZero(c, f) == g)
          result.push_back({FoldFact::Kind::emptyTogether, a, b, nullptr});
        continue;
      }
      if (a->kind == AtomKind::sum) {
        if (multiply(c, g, g) == f) result.push_back({FoldFact::Kind::squares, a, b, a->bound[0]->extent});
        continue;
      }
      if (f == g) result.push_back({FoldFact::Kind::above, a, b, a->bound[0]->extent});
      if (f == negate(c, g)) result.push_back({FoldFact::Kind::below, a, b, a->bound[0]->extent});
      if (!isNonNegative(signOf(c, g))) continue;
      if (positiveWhere(c, f, g)) result.push_back({FoldFact::Kind::positiveTogether, a, b, nullptr});
      if (isNonNegative(signOf(c, f)) && whenZero(c, f) == whenZero(c, g)) {
        result.push_back({FoldFact::Kind::zeroTogether, a, b, nullptr});
      }
    }
  }
  return result;
}

}  // namespace nuscope::proof
