#include "core/proof/definedness.h"

#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/real_term.h"

namespace nuscope::proof {
namespace {

/// a*b = 1 for 0/1 terms means a = 1 and b = 1.
void separate(Calculus& c, PolyRef p, std::vector<PolyRef>& into) {
  if (p == c.arena.one) return;
  const MonoRef mono = p->asMono();
  if (mono != nullptr && mono->factors.size() > 1) {
    for (const auto& [atom, exponent] : mono->factors) separate(c, polyOf(c, atom), into);
    return;
  }
  if (std::find(into.begin(), into.end(), p) == into.end()) into.push_back(p);
}

}  // namespace

PolyRef closed(Calculus& c, const Requirement& requirement) {
  // 1 - guard * (1 - holds)
  const PolyRef body = negation(c, multiply(c, requirement.guard, negation(c, requirement.holds)));
  std::vector<IntAtomRef> binders;
  for (auto at = requirement.binders.rbegin(); at != requirement.binders.rend(); ++at) {
    const bool used = contains(body->variables, *at) ||
                      std::any_of(binders.begin(), binders.end(),
                                  [&](IntAtomRef b) { return contains(b->extent->variables, *at); });
    if (used) binders.insert(binders.begin(), *at);
  }
  return binders.empty() ? body : makeProduct(c, binders, body);
}

std::vector<PolyRef> definednessOf(Calculus& c, const Scalar& value) {
  std::vector<PolyRef> result;
  for (const auto& requirement : value.requirements) separate(c, closed(c, *requirement), result);
  for (const PolyRef infinite : {value.minus, value.plus}) {
    if (infinite != nullptr) separate(c, negation(c, infinite), result);
  }
  std::sort(result.begin(), result.end(), [](PolyRef a, PolyRef b) { return a->id < b->id; });
  return result;
}

}  // namespace nuscope::proof
