#include "core/proof/int_facts.h"

#include <algorithm>

#include "core/proof/int_term.h"
#include "core/proof/signs.h"

namespace nuscope::proof {
namespace {

bool decide(Calculus& c, IntRef e, int depth);

/// All coefficients of one sign, over factors that are known to be >= 0?
bool termwise(Calculus& c, IntRef e, int depth) {
  for (const auto& [mono, coefficient] : e->terms) {
    if (coefficient < 0) return false;
    for (std::size_t i = 0; i < mono->atoms.size(); ++i) {
      const IntAtomRef atom = mono->atoms[i];
      if (i + 1 < mono->atoms.size() && mono->atoms[i + 1] == atom) {
        ++i;  // a square
        continue;
      }
      if (atom->kind == IntAtom::Kind::dimension || (atom->kind == IntAtom::Kind::variable && atom->ranged))
        continue;
      if (atom->kind == IntAtom::Kind::quotient && depth > 0 && decide(c, atom->numerator, depth - 1) &&
          decide(c, plus(c, atom->denominator, -1), depth - 1)) {
        continue;
      }
      if (atom->kind == IntAtom::Kind::embed && isNonNegative(signOf(c, atom->value))) continue;
      if (atom->kind == IntAtom::Kind::element) {
        const auto fact = c.facts.signs.find(atom->source);
        if (fact != c.facts.signs.end() && isNonNegative(fact->second)) continue;
        const IntRef term = intOf(c, atom);
        if (std::any_of(c.facts.nonNegative.begin(), c.facts.nonNegative.end(), [&](IntRef f) {
              const IntRef gap = subtract(c, term, f);
              return gap->isConstant() && gap->constant() >= 0;
            })) {
          continue;
        }
      }
      return false;
    }
  }
  return true;
}

/// Dimensions are >= 1: put dim = 1 + d' and look again.
IntRef shiftDimensions(Calculus& c, IntRef e) {
  IntRef result = c.arena.zeroInt;
  for (const auto& [mono, coefficient] : e->terms) {
    IntRef term = intConstant(c, coefficient);
    for (const IntAtomRef atom : mono->atoms) {
      IntRef factor = intOf(c, atom);
      if (atom->kind == IntAtom::Kind::dimension) factor = plus(c, factor, 1);
      term = multiply(c, term, factor);
    }
    result = add(c, result, term);
  }
  return result;
}

/// The variable to eliminate first: ranged, linear, in no other variable's extent.
IntAtomRef innermost(IntRef e) {
  Variables top;
  for (const auto& [mono, coefficient] : e->terms) {
    for (const IntAtomRef atom : mono->atoms) {
      if (atom->kind == IntAtom::Kind::variable && atom->ranged) unite(top, Variables{atom});
    }
  }
  for (auto at = top.rbegin(); at != top.rend(); ++at) {
    const bool used = std::any_of(top.begin(), top.end(), [&](IntAtomRef other) {
      return other != *at && contains(other->extent->variables, *at);
    });
    if (!used) return *at;
  }
  return nullptr;
}

bool eliminateVariables(Calculus& c, IntRef e, int depth) {
  Variables tried;
  for (const IntAtomRef variable : e->variables) {
    if (!variable->ranged) continue;
    const bool used = std::any_of(e->variables.begin(), e->variables.end(), [&](IntAtomRef other) {
      return other != variable && other->ranged && contains(other->extent->variables, variable);
    });
    if (used) continue;
    const auto linear = linearIn(c, e, variable);
    if (!linear || linear->coefficient->isZero()) continue;
    if (decide(c, linear->coefficient, depth - 1)) return decide(c, linear->rest, depth - 1);
    if (decide(c, negate(c, linear->coefficient), depth - 1)) {
      const IntRef last = plus(c, variable->extent, -1);
      return decide(c, add(c, linear->rest, multiply(c, linear->coefficient, last)), depth - 1);
    }
  }
  return false;
}

/// e = coefficient * atom + rest, where the atom may occur inside other atoms; empty for higher powers.
std::optional<IntLinear> linearInAtom(Calculus& c, IntRef e, IntAtomRef atom) {
  IntLinear result{c.arena.zeroInt, c.arena.zeroInt};
  for (const auto& [mono, k] : e->terms) {
    const auto count = std::count(mono->atoms.begin(), mono->atoms.end(), atom);
    if (count > 1) return std::nullopt;
    IntRef term = intConstant(c, k);
    for (const IntAtomRef a : mono->atoms) {
      if (a != atom) term = multiply(c, term, intOf(c, a));
    }
    IntRef& part = count > 0 ? result.coefficient : result.rest;
    part = add(c, part, term);
  }
  return result;
}

/// floor(n / d) with d >= 1: (n - d + 1)/d <= q <= n/d, and q >= 0 where n >= 0.
bool eliminateQuotient(Calculus& c, IntRef e, int depth) {
  for (const auto& [mono, factor] : e->terms) {
    for (const IntAtomRef atom : mono->atoms) {
      if (atom->kind != IntAtom::Kind::quotient) continue;
      const auto parts = linearInAtom(c, e, atom);
      if (!parts || !decide(c, plus(c, atom->denominator, -1), depth - 1)) continue;
      const IntRef coefficient = parts->coefficient;
      const IntRef rest = parts->rest;
      const IntRef n = atom->numerator;
      const IntRef d = atom->denominator;
      if (decide(c, negate(c, coefficient), depth - 1)) {
        if (decide(c, add(c, multiply(c, d, rest), multiply(c, coefficient, n)), depth - 1)) return true;
        continue;
      }
      if (!decide(c, coefficient, depth - 1)) continue;
      if (decide(c, n, depth - 1) && decide(c, rest, depth - 1)) return true;
      if (coefficient == c.arena.oneInt) {
        if (decide(c, add(c, n, multiply(c, d, rest)), depth - 1)) return true;  // q >= m iff n >= d*m
        continue;
      }
      const IntRef low = plus(c, subtract(c, n, d), 1);
      if (decide(c, add(c, multiply(c, d, rest), multiply(c, coefficient, low)), depth - 1)) return true;
    }
  }
  return false;
}

/// An element with bounds that the asserts state: the lower one where it occurs positively, else the upper
/// one.
bool eliminateElement(Calculus& c, IntRef e, int depth) {
  for (const auto& [mono, factor] : e->terms) {
    for (const IntAtomRef atom : mono->atoms) {
      if (atom->kind != IntAtom::Kind::element) continue;
      const auto low = c.facts.atLeast.find(atom->source);
      const auto high = c.facts.atMost.find(atom->source);
      if (low == c.facts.atLeast.end() && high == c.facts.atMost.end()) continue;
      const auto parts = linearInAtom(c, e, atom);
      if (!parts) continue;
      const bool rising = low != c.facts.atLeast.end() && decide(c, parts->coefficient, depth - 1);
      const bool falling =
          !rising && high != c.facts.atMost.end() && decide(c, negate(c, parts->coefficient), depth - 1);
      if (!rising && !falling) continue;
      for (const IntRef bound : rising ? low->second : high->second) {
        if (decide(c, add(c, parts->rest, multiply(c, parts->coefficient, bound)), depth - 1)) return true;
      }
    }
  }
  return false;
}

/// e - f >= 0 or e - k*f >= 0 for a fact f.
bool byFact(Calculus& c, IntRef e, int depth) {
  for (const IntRef fact : c.facts.nonNegative) {
    for (const auto& [mono, factor] : fact->terms) {
      if (mono->atoms.empty()) continue;
      for (const auto& [other, coefficient] : e->terms) {
        if (other != mono || (factor > 0) != (coefficient > 0)) continue;
        const Integer times = coefficient / factor;
        if (times < 1) continue;
        if (decide(c, subtract(c, e, scale(c, fact, times)), depth - 1)) return true;
      }
      break;
    }
  }
  return false;
}

bool decide(Calculus& c, IntRef e, int depth) {
  c.tick();
  if (e->isConstant()) return e->constant() >= 0;
  if (depth <= 0) return false;
  const auto known = c.nonNegative.find(e);
  if (known != c.nonNegative.end()) return known->second;
  const IntRef shifted = shiftDimensions(c, e);
  bool result = termwise(c, shifted, depth);
  bool simple = true;
  if (!result) {
    if (innermost(e) != nullptr || !e->variables.empty()) result = eliminateVariables(c, e, depth);
    simple = std::all_of(e->terms.begin(), e->terms.end(), [](const auto& term) {
      return std::all_of(term.first->atoms.begin(), term.first->atoms.end(), [](IntAtomRef atom) {
        return atom->kind == IntAtom::Kind::dimension || atom->kind == IntAtom::Kind::variable;
      });
    });
    if (!result && !simple) result = eliminateQuotient(c, e, depth) || eliminateElement(c, e, depth);
    if (!result && !c.facts.nonNegative.empty()) result = byFact(c, e, depth);
  }
  // A negative answer is remembered only where the depth did not cut it.
  if (result || depth >= 5) c.nonNegative.emplace(e, result);
  return result;
}

}  // namespace

bool nonNegative(Calculus& c, IntRef e) {
  return decide(c, e, 8);
}
bool positive(Calculus& c, IntRef e) {
  return nonNegative(c, plus(c, e, -1));
}
bool atMost(Calculus& c, IntRef a, IntRef b) {
  return nonNegative(c, subtract(c, b, a));
}

}  // namespace nuscope::proof
