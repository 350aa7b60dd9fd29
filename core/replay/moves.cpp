#include "core/replay/moves.h"

#include <algorithm>

#include "core/replay/fold_laws.h"

namespace nuscope::replay {
namespace {

bool boundAround(const Info* node) {
  return std::any_of(node->variables.begin(), node->variables.end(),
                     [](AtomRef v) { return v->boundLevel > 0; });
}

/// Folds that are free of variables bound around them, in the canonical order.
std::vector<AtomRef> freeFolds(PolyRef p) {
  std::vector<AtomRef> result;
  visit(p, [&](AtomRef atom) {
    const bool guarded = atom->kind == Kind::maxFold && atom->parts[1] != nullptr;
    if (atom->isFold() && !guarded && atom->bound.size() <= 3 && !boundAround(atom)) result.push_back(atom);
  });
  std::sort(result.begin(), result.end(), Before());
  return result;
}

PolyRef combine(Kernel& k, AtomRef fold, PolyRef a, PolyRef b) {
  if (fold->kind == Kind::sum) return k.add(a, b);
  if (fold->kind == Kind::product) return k.multiply(a, b);
  return k.maximum({a, b});
}

}  // namespace

bool closes(Kernel& k, PolyRef p) {
  return p->isZero() || k.multipliedThrough(p)->isZero();
}

std::vector<IndexSplit> indexSplits(Kernel& k, PolyRef p) {
  std::vector<IndexSplit> result;
  Variables variables = p->variables;
  std::sort(variables.begin(), variables.end(), Before());
  for (const AtomRef v : variables) {
    if (!v->ranged || v->boundLevel > 0) continue;
    for (const PolyRef d : k.divisors(p, v, {})) {
      const PolyRef q = k.exactDivide(v->extent(), d);
      if (q != nullptr && k.notNegative(q)) result.push_back({v, d});
    }
  }
  return result;
}

PolyRef splitIndex(Kernel& k, PolyRef p, const IndexSplit& split) {
  const AtomRef t = k.index(k.exactDivide(split.variable->extent(), split.divisor), "i");
  const AtomRef r = k.index(split.divisor, "i");
  return replaced(k, p, split.variable, k.add(k.multiply(k.of(t), split.divisor), k.of(r)));
}

PolyRef peeled(Kernel& k, PolyRef p) {
  const auto folds = freeFolds(p);
  if (folds.size() < 2 || folds.size() > 40) return p;
  Substitution replace(k);
  for (const AtomRef longer : folds) {
    const Variables own = asSet(longer->bound);
    if (std::any_of(longer->bound.begin(), longer->bound.end(),
                    [&](AtomRef v) { return intersects(v->extent()->variables, own); }))
      continue;
    for (std::size_t j = 0; j < longer->bound.size(); ++j) {
      // The canonical order of the other's indices may be another one.
      const auto others = [](AtomRef fold, std::size_t without) {
        std::vector<PolyRef> extents;
        for (std::size_t i = 0; i < fold->bound.size(); ++i) {
          if (i != without) extents.push_back(fold->bound[i]->extent());
        }
        std::sort(extents.begin(), extents.end(), Before());
        return extents;
      };
      const auto isShorter = [&](AtomRef other) {
        if (other == longer || other->kind != longer->kind || other->bound.size() != longer->bound.size())
          return false;
        for (std::size_t l = 0; l < other->bound.size(); ++l) {
          const PolyRef gap = k.subtract(longer->bound[j]->extent(), other->bound[l]->extent());
          if (gap->isConstant() && gap->constant() >= 1 && gap->constant() <= 4 &&
              signature(longer, j) == signature(other, l) && others(longer, j) == others(other, l))
            return true;
        }
        return false;
      };
      if (std::none_of(folds.begin(), folds.end(), isShorter)) continue;
      const PolyRef less = k.plus(longer->bound[j]->extent(), -1);
      if (longer->kind == Kind::maxFold ? !k.positive(less) : !k.notNegative(less)) continue;
      std::vector<AtomRef> variables;
      std::vector<AtomRef> rest;
      std::vector<PolyRef> at;
      std::vector<PolyRef> last;
      for (std::size_t i = 0; i < longer->bound.size(); ++i) {
        variables.push_back(k.index(i == j ? less : longer->bound[i]->extent()));
        if (i != j) rest.push_back(variables.back());
        at.push_back(k.of(variables.back()));
        last.push_back(i == j ? less : at.back());
      }
      const PolyRef body = k.bodyAt(longer, at);
      const PolyRef end = k.bodyAt(longer, last);
      const auto fold = [&](const std::vector<AtomRef>& over, PolyRef of) {
        if (longer->kind == Kind::sum) return k.sum(over, of);
        if (longer->kind == Kind::product) return k.product(over, of);
        return k.max(over, of, k.arena.one);
      };
      const PolyRef first = fold(variables, body);
      replace.map(longer, combine(k, longer, first, fold(rest, end)));
      break;
    }
  }
  return replace.empty() ? p : replace(p);
}

std::vector<SumGroup> sumGroups(Kernel& k, PolyRef p) {
  std::vector<SumGroup> groups;
  const auto sameRange = [](AtomRef a, AtomRef b) {
    return a->bound.size() == b->bound.size() &&
           std::equal(a->bound.begin(), a->bound.end(), b->bound.begin(), [](AtomRef x, AtomRef y) {
             return x->extent() == y->extent() && x->ranged == y->ranged &&
                    x->extent()->variables.empty() == y->extent()->variables.empty();
           });
  };
  for (const auto& [mono, coefficient] : p->terms) {
    AtomRef sum = nullptr;
    int sums = 0;
    for (const auto& [atom, e] : mono->factors) {
      if (atom->kind != Kind::sum || e != 1) continue;
      sum = atom;
      ++sums;
    }
    if (sums != 1) continue;
    const MonoRef cofactor = k.without(mono, sum);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const SumGroup& g) {
      return g.cofactor == cofactor && sameRange(g.sums[0].first, sum);
    });
    if (at == groups.end()) at = groups.insert(groups.end(), SumGroup{cofactor, {}});
    at->sums.emplace_back(sum, coefficient);
  }
  std::erase_if(groups, [](const SumGroup& g) { return g.sums.size() < 2; });
  return groups;
}

PolyRef bodiesOf(Kernel& k, const SumGroup& group) {
  PolyRef body = nullptr;
  PolyRef guard = nullptr;
  const auto variables = k.opened(group.sums[0].first, body, guard);
  std::vector<PolyRef> at;
  for (const AtomRef v : variables) at.push_back(k.of(v));
  std::vector<PolyRef> parts;
  for (const auto& [sum, coefficient] : group.sums) parts.push_back(k.scale(k.bodyAt(sum, at), coefficient));
  return k.total(parts);
}

PolyRef withoutGroup(Kernel& k, PolyRef p, const SumGroup& group) {
  for (const auto& [sum, coefficient] : group.sums)
    p = k.subtract(p, k.multiply(k.of(group.cofactor, coefficient), k.of(sum)));
  return p;
}

std::vector<AtomRef> conditionsOf(Kernel&, PolyRef p) {
  std::vector<AtomRef> result;
  for (const auto& [mono, coefficient] : p->terms) {
    for (const auto& [atom, e] : mono->factors) {
      if (atom->isIndicator() && std::find(result.begin(), result.end(), atom) == result.end())
        result.push_back(atom);
    }
  }
  std::sort(result.begin(), result.end(), Before());
  return result;
}

namespace {

/// e == 0 solved for a free index variable with coefficient 1 or -1.
bool solveInteger(Kernel& k, PolyRef e, Substitution& s) {
  for (const auto& [mono, coefficient] : e->terms) {
    const AtomRef v = k.of(mono)->asAtom();
    if (v == nullptr || v->kind != Kind::index || ::abs(coefficient) != 1) continue;
    const auto parts = k.linear(e, v);
    if (!parts || !parts->coefficient->isConstant()) continue;
    s.map(v, k.scale(parts->rest, -coefficient));
    return true;
  }
  return false;
}

/// q == 0 solved for an element that occurs once, linearly.
bool solveReal(Kernel& k, PolyRef q, Substitution& s) {
  for (const auto& [mono, coefficient] : q->terms) {
    const AtomRef x = k.of(mono)->asAtom();
    if (x == nullptr || x->kind != Kind::element) continue;
    const PolyRef rest = k.subtract(q, k.of(mono, coefficient));
    bool plain = true;
    for (const auto& [other, c] : rest->terms) {
      for (const auto& [atom, e] : other->factors) plain = plain && atom->kind == Kind::element && atom != x;
    }
    if (!plain || occurs(rest, x)) continue;
    s.map(x, k.scale(rest, -1 / coefficient));
    return true;
  }
  return false;
}

PolyRef asFact(Kernel& k, AtomRef condition, bool value) {
  return value ? condition->parts[0] : k.plus(k.negate(condition->parts[0]), -1);
}

}  // namespace

PolyRef inBranch(Kernel& k, PolyRef p, AtomRef condition, bool value) {
  const PolyRef q = k.setIndicator(p, condition, value);
  if (!value) return q;
  Substitution s(k);
  const bool solved = condition->kind == Kind::isZeroInteger ? solveInteger(k, condition->parts[0], s)
                      : condition->kind == Kind::isZero      ? solveReal(k, condition->parts[0], s)
                                                             : false;
  return solved ? s(q) : q;
}

PolyRef atBoundary(Kernel& k, PolyRef p, const Conditions& conditions) {
  // Neither q > 0 nor -q > 0: q is 0.
  for (const auto& [one, oneValue] : conditions) {
    if (one->kind != Kind::positive || oneValue) continue;
    for (const auto& [other, otherValue] : conditions) {
      if (other->kind != Kind::positive || otherValue || !k.add(one->parts[0], other->parts[0])->isZero())
        continue;
      Substitution s(k);
      const PolyRef q = solveReal(k, one->parts[0], s) ? s(p) : p;
      if (q != p) return q;
    }
  }
  for (const auto& [yes, yesValue] : conditions) {
    if (yes->kind != Kind::notNegative) continue;
    const PolyRef e = asFact(k, yes, yesValue);
    // e >= 0 where e <= 0 is known anyway.
    if (k.notNegative(k.negate(e))) {
      Substitution s(k);
      const PolyRef q = solveInteger(k, e, s) ? s(p) : p;
      if (q != p) return q;
    }
    for (const auto& [no, noValue] : conditions) {
      if (no->kind != Kind::notNegative || no == yes || !k.add(e, asFact(k, no, noValue))->isZero()) continue;
      Substitution s(k);
      if (!solveInteger(k, e, s)) continue;
      const PolyRef q = s(p);
      if (q != p) return q;
    }
  }
  return p;
}

Branch::Branch(Kernel& k, AtomRef condition, bool value) : k_(k), before_(k.facts.notNegative) {
  if (condition->kind == Kind::notNegative) k.facts.notNegative.push_back(asFact(k, condition, value));
  if (condition->kind == Kind::isZeroInteger && value) {
    k.facts.notNegative.push_back(condition->parts[0]);
    k.facts.notNegative.push_back(k.negate(condition->parts[0]));
  }
  k.forgetSigns();
}

Branch::~Branch() {
  k_.facts.notNegative = before_;
  k_.forgetSigns();
}

PolyRef foldedAnew(Kernel& k, PolyRef p) {
  Substitution s(k);
  for (const AtomRef v : p->variables) s.map(v, k.of(v));
  return s.empty() ? p : s(p);
}

PolyRef expanded(Kernel& k, PolyRef p) {
  std::vector<AtomRef> atoms;
  visit(
      p,
      [&](AtomRef atom) {
        if ((atom->kind == Kind::abs || atom->kind == Kind::maximum) && !boundAround(atom))
          atoms.push_back(atom);
      },
      false);
  if (atoms.empty() || atoms.size() > 4) return p;
  std::sort(atoms.begin(), atoms.end(), Before());
  Substitution s(k);
  for (const AtomRef atom : atoms) {
    if (atom->kind == Kind::abs) {
      const PolyRef direction = k.plus(k.scale(k.whenPositive(atom->parts[0]), 2), -1);
      s.map(atom, k.multiply(direction, atom->parts[0]));
      continue;
    }
    PolyRef largest = atom->parts[0];
    for (const PolyRef part : atom->parts) {
      if (part != largest) largest = k.choose(k.whenPositive(k.subtract(part, largest)), part, largest);
    }
    s.map(atom, largest);
  }
  return s(p);
}

namespace {

/// Defined for every prefix of the folds, not only for the whole?
bool totalInPrefixes(Kernel& k, PolyRef p, const std::vector<AtomRef>& folds) {
  const auto hasFold = [&](PolyRef q) {
    return std::any_of(folds.begin(), folds.end(), [&](AtomRef fold) { return occurs(q, fold); });
  };
  bool total = true;
  const std::function<void(PolyRef)> powers = [&](PolyRef q) {
    for (const auto& [mono, coefficient] : q->terms) {
      for (const auto& [atom, e] : mono->factors) {
        if (e < 0 && atom->kind != Kind::exp && hasFold(k.of(mono)) &&
            hasFold(atom->kind == Kind::inverse ? atom->parts[0] : k.of(atom)) && !isNonZero(k.sign(atom)))
          total = false;
      }
    }
  };
  powers(p);
  visit(p, [&](AtomRef atom) {
    if (atom->kind != Kind::index) {
      for (const PolyRef part : atom->parts) {
        if (part != nullptr) powers(part);
      }
    }
    if (atom->kind == Kind::log && hasFold(atom->parts[0]) && k.sign(atom->parts[0]) != Sign::positive)
      total = false;
    if (atom->kind == Kind::sqrt && hasFold(atom->parts[0]) && !k.notNegative(atom->parts[0])) total = false;
  });
  return total;
}

Rational constantOf(PolyRef p) {
  for (const auto& [mono, coefficient] : p->terms) {
    if (mono->factors.empty()) return coefficient;
  }
  return 0;
}

}  // namespace

std::vector<Induction> inductions(Kernel& k, PolyRef p) {
  struct Group {
    PolyRef symbolic = nullptr;
    std::vector<AtomRef> folds;
  };
  std::vector<Group> groups;
  for (const AtomRef fold : freeFolds(p)) {
    if (fold->bound.size() != 1 || !fold->bound[0]->ranged) continue;
    const PolyRef extent = fold->bound[0]->extent();
    const PolyRef symbolic = k.subtract(extent, k.number(constantOf(extent)));
    auto at =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.symbolic == symbolic; });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{symbolic, {}});
    at->folds.push_back(fold);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.folds.size() > b.folds.size(); });
  std::vector<Induction> result;
  for (const Group& group : groups) {
    if (group.symbolic->isZero()) continue;
    Rational least = constantOf(group.folds[0]->bound[0]->extent());
    for (const AtomRef fold : group.folds) least = std::min(least, constantOf(fold->bound[0]->extent()));
    Induction induction;
    induction.folds = group.folds;
    induction.extent = k.add(group.symbolic, k.number(least));
    bool fits = least.get_den() == 1 && k.positive(induction.extent);
    for (const AtomRef fold : group.folds) {
      const Rational offset = constantOf(fold->bound[0]->extent()) - least;
      fits = fits && offset.get_den() == 1 && offset <= 4;
      induction.offsets.push_back(fits ? offset.get_num().get_si() : 0);
    }
    if (fits && totalInPrefixes(k, p, group.folds)) result.push_back(std::move(induction));
  }
  return result;
}

PolyRef inductionBase(Kernel& k, PolyRef p, const Induction& induction) {
  Substitution base(k);
  for (std::size_t i = 0; i < induction.folds.size(); ++i) {
    const AtomRef fold = induction.folds[i];
    PolyRef value = k.bodyAt(fold, {k.arena.zero});
    for (long j = 1; j <= induction.offsets[i]; ++j)
      value = combine(k, fold, value, k.bodyAt(fold, {k.number(Rational(Integer(j)))}));
    base.map(fold, value);
  }
  return base(p);
}

InductionGoals inductionStep(Kernel& k, PolyRef p, const Induction& induction) {
  InductionGoals goals;
  const AtomRef n = k.index(induction.extent, "n");
  Substitution assumed(k);
  Substitution longer(k);
  for (std::size_t i = 0; i < induction.folds.size(); ++i) {
    const AtomRef fold = induction.folds[i];
    goals.prefixes.push_back(k.symbol(k.sign(fold)));
    assumed.map(fold, goals.prefixes.back());
    longer.map(fold, combine(k, fold, goals.prefixes.back(),
                             k.bodyAt(fold, {k.plus(k.of(n), induction.offsets[i])})));
  }
  goals.hypothesis = assumed(p);
  goals.step = longer(p);
  return goals;
}

PolyRef solvedStep(Kernel& k, const InductionGoals& goals, std::size_t at) {
  const AtomRef prefix = goals.prefixes[at]->asAtom();
  PolyRef coefficient = k.arena.zero;
  PolyRef rest = k.arena.zero;
  for (const auto& [mono, factor] : goals.hypothesis->terms) {
    const Rational e = mono->exponent(prefix);
    const PolyRef term = k.of(e == 0 ? mono : k.without(mono, prefix), factor);
    if (occurs(term, prefix) || (e != 0 && e != 1)) return nullptr;
    (e == 0 ? rest : coefficient) = k.add(e == 0 ? rest : coefficient, term);
  }
  if (coefficient->isZero() || coefficient->indicators || !isNonZero(k.sign(coefficient))) return nullptr;
  return replaced(k, goals.step, prefix, k.negate(k.multiply(rest, k.inverse(coefficient))));
}

}  // namespace nuscope::replay
