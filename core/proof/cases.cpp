// Case split on the conditions of a polynomial. A branch that is impossible is dropped; in the others
// equalities are substituted and what is left must vanish.
#include <algorithm>

#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"
#include "core/proof/zero_test.h"

namespace nuscope::proof {
namespace {

/// e == 0 solved for a variable or an integer element with coefficient 1 or -1.
bool solveInteger(Calculus& c, IntRef e, Substitution& s) {
  for (const auto& [mono, coefficient] : e->terms) {
    if (mono->atoms.size() != 1 || abs(coefficient) != 1) continue;
    const IntAtomRef atom = mono->atoms[0];
    if (atom->kind != IntAtom::Kind::variable) continue;
    const auto linear = linearIn(c, e, atom);
    if (!linear) continue;
    s.map(atom, scale(c, linear->rest, -coefficient));
    return true;
  }
  return false;
}

/// q == 0 solved for an element that occurs once, linearly, with a constant coefficient.
bool solveReal(Calculus& c, PolyRef q, Substitution& s) {
  for (const auto& [mono, coefficient] : q->terms) {
    if (mono->factors.size() != 1 || mono->factors[0].second != 1) continue;
    const AtomRef atom = mono->factors[0].first;
    if (atom->kind != AtomKind::element) continue;
    const PolyRef rest = subtract(c, q, polyOf(c, mono, coefficient));
    bool elsewhere = false;
    for (const auto& [other, k] : rest->terms) {
      for (const auto& [a, e] : other->factors)
        elsewhere = elsewhere || a->kind != AtomKind::element || a == atom;
    }
    if (elsewhere) continue;
    s.map(atom, scale(c, rest, -1 / coefficient));
    return true;
  }
  return false;
}

IntRef asFact(Calculus& c, AtomRef atom, bool value) {
  return value ? atom->intTerm : plus(c, negate(c, atom->intTerm), -1);
}

/// Integer facts of a branch while it is worked on.
class BranchFacts {
 public:
  BranchFacts(Calculus& c, const Conditions& conditions) : c_(c), before_(c.facts.nonNegative) {
    memo_.swap(c.nonNegative);
    signs_.swap(c.signs);
    for (const auto& [atom, value] : conditions) {
      if (atom->kind == AtomKind::intNonNegative) c.facts.nonNegative.push_back(asFact(c, atom, value));
    }
  }
  ~BranchFacts() {
    c_.facts.nonNegative = before_;
    memo_.swap(c_.nonNegative);
    signs_.swap(c_.signs);
  }
  BranchFacts(const BranchFacts&) = delete;
  BranchFacts& operator=(const BranchFacts&) = delete;

 private:
  Calculus& c_;
  std::vector<IntRef> before_;
  std::unordered_map<IntRef, bool> memo_;
  std::unordered_map<PolyRef, Sign> signs_;
};

/// What integer reasoning says of a condition under those already taken: 1, 0 or -1 (open).
int decided(Calculus& c, const Conditions& conditions, AtomRef atom) {
  if (atom->kind != AtomKind::intNonNegative && atom->kind != AtomKind::intZero) return -1;
  const BranchFacts facts(c, conditions);
  const IntRef e = atom->intTerm;
  if (atom->kind == AtomKind::intNonNegative) {
    if (nonNegative(c, e)) return 1;
    return nonNegative(c, plus(c, negate(c, e), -1)) ? 0 : -1;
  }
  return positive(c, e) || positive(c, negate(c, e)) ? 0 : -1;
}

}  // namespace

bool ZeroTest::byCases(PolyRef p, const std::vector<PolyRef>& hypotheses) {
  std::vector<AtomRef> indicators;
  for (const auto& [mono, coefficient] : p->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->isIndicator() && std::find(indicators.begin(), indicators.end(), atom) == indicators.end())
        indicators.push_back(atom);
    }
  }
  if (indicators.empty() || indicators.size() > 8) return false;
  const auto mark = recorder_.mark();
  note("cases", "split on the conditions", p, nullptr);
  if (branch(p, {}, hypotheses, 0)) return true;
  recorder_.takeBack(mark);
  return false;
}

bool ZeroTest::byExpansion(PolyRef p, const std::vector<PolyRef>& hypotheses) {
  std::vector<AtomRef> atoms;
  bool inFunctions = false;
  Walker walker;
  walker.intoFolds = false;
  walker.onAtom = [&](AtomRef atom) {
    if (atom->kind == AtomKind::abs || atom->kind == AtomKind::maximum) atoms.push_back(atom);
    inFunctions = inFunctions || atom->kind == AtomKind::exp || atom->kind == AtomKind::log ||
                  atom->kind == AtomKind::sqrt;
  };
  walker.walk(p);
  // Without functions around the solver does it.
  if (atoms.empty() || atoms.size() > 4 || !inFunctions) return false;
  Substitution expand(c_);
  for (const AtomRef atom : atoms) {
    if (atom->kind == AtomKind::abs) {
      // (2 [q > 0] - 1) q, also for q = 0.
      const PolyRef sign = subtract(c_, scale(c_, whenPositive(c_, atom->poly), 2), c_.arena.one);
      expand.map(atom, multiply(c_, sign, atom->poly));
      continue;
    }
    PolyRef largest = atom->polys[0];
    for (const PolyRef part : atom->polys) {
      if (part != largest) largest = choose(c_, whenPositive(c_, subtract(c_, part, largest)), part, largest);
    }
    expand.map(atom, largest);
  }
  const PolyRef expanded = expand(p);
  const auto mark = recorder_.mark();
  note("cases", "absolute values and maxima written by conditions", p, expanded);
  if (expanded->isZero() || (expanded->indicators && byCases(expanded, hypotheses))) return true;
  recorder_.takeBack(mark);
  return false;
}

bool ZeroTest::branch(PolyRef p, const Conditions& conditions, const std::vector<PolyRef>& hypotheses,
                      int depth) {
  c_.tick();
  if (p->isZero() || multipliedThrough(c_, p)->isZero()) return true;
  if (depth > 12) return false;
  // [e >= 0] and not [e - 1 >= 0]: e is 0.
  for (const auto& [yes, yesValue] : conditions) {
    if (yes->kind != AtomKind::intNonNegative) continue;
    for (const auto& [no, noValue] : conditions) {
      if (no->kind != AtomKind::intNonNegative || yes == no) continue;
      const IntRef gap = add(c_, asFact(c_, yes, yesValue), asFact(c_, no, noValue));
      if (!gap->isZero()) continue;
      Substitution value(c_);
      if (!solveInteger(c_, asFact(c_, yes, yesValue), value)) continue;
      const PolyRef q = value(p);
      if (q != p) return branch(q, conditions, hypotheses, depth + 1);
    }
  }
  // e >= 0 where e <= 0 is known: e is 0.
  for (const auto& [given, value] : conditions) {
    if (given->kind != AtomKind::intNonNegative) continue;
    const IntRef e = asFact(c_, given, value);
    Substitution zero(c_);
    if (!nonNegative(c_, negate(c_, e)) || !solveInteger(c_, e, zero)) continue;
    const PolyRef q = zero(p);
    if (q != p) return branch(q, conditions, hypotheses, depth + 1);
  }
  const AtomRef atom = firstIndicator(p);
  if (atom == nullptr) return leaf(p, conditions, hypotheses);
  const int known = decided(c_, conditions, atom);
  if (known >= 0) return branch(setIndicator(c_, p, atom, known == 1), conditions, hypotheses, depth + 1);
  for (const bool value : {true, false}) {
    PolyRef q = setIndicator(c_, p, atom, value);
    Conditions more = conditions;
    more.emplace_back(atom, value);
    if (value && (atom->kind == AtomKind::intZero || atom->kind == AtomKind::zero)) {
      Substitution s(c_);
      const bool solved =
          atom->kind == AtomKind::intZero ? solveInteger(c_, atom->intTerm, s) : solveReal(c_, atom->poly, s);
      if (solved) q = s(q);
    }
    if (!branch(q, more, hypotheses, depth + 1)) {
      // Perhaps the branch cannot be taken.
      if (!fitForSolver(p) || !oracle_.impossible({more, {}, nullptr})) return false;
      recorder_.use("z3");
    }
  }
  return true;
}

bool ZeroTest::leaf(PolyRef p, const Conditions& conditions, const std::vector<PolyRef>& hypotheses) {
  const PolyRef through = multipliedThrough(c_, p);
  if (through->isZero()) return true;
  if (byCongruence(through, 1, hypotheses)) return true;
  if (!fitForSolver(through) || !oracle_.impossible({conditions, hypotheses, through})) return false;
  recorder_.use("z3");
  return true;
}

}  // namespace nuscope::proof
