#include "core/tensor/dim_facts.h"

#include <algorithm>

namespace nuscope::tensor {
namespace {

std::string_view sign(Relation relation) {
  switch (relation) {
    case Relation::equal:
      return "==";
    case Relation::notEqual:
      return "!=";
    case Relation::less:
      return "<";
    case Relation::lessEqual:
      return "<=";
  }
  return "==";
}

/// value = coefficient * atom + rest, where the atom occurs linearly and nowhere else.
struct Linear {
  Dim coefficient;
  Dim rest;
};

std::optional<Linear> linearIn(const Dim& value, const Dim::Atom& atom) {
  Linear result;
  for (const auto& [monomial, factor] : value.terms()) {
    const auto count = std::count(monomial.begin(), monomial.end(), atom);
    if (count > 1) return std::nullopt;
    Dim term(factor);
    for (const Dim::Atom& other : monomial) {
      if (other == atom) continue;
      if (!atom.quotient && other.quotient &&
          (other.quotient->numerator.mentions(atom.symbol) ||
           other.quotient->denominator.mentions(atom.symbol))) {
        return std::nullopt;
      }
      term = term * (other.quotient ? floorDiv(other.quotient->numerator, other.quotient->denominator)
                                    : Dim::symbol(other.symbol));
    }
    if (count == 1) {
      result.coefficient = result.coefficient + term;
    } else {
      result.rest = result.rest + term;
    }
  }
  return result;
}

std::set<Dim::Atom> atomsOf(const Dim& value) {
  std::set<Dim::Atom> result;
  for (const auto& [monomial, factor] : value.terms()) result.insert(monomial.begin(), monomial.end());
  return result;
}

}  // namespace

bool DimRelation::holds(const Extents& extents) const {
  const std::int64_t a = left.evaluate(extents);
  const std::int64_t b = right.evaluate(extents);
  switch (relation) {
    case Relation::equal:
      return a == b;
    case Relation::notEqual:
      return a != b;
    case Relation::less:
      return a < b;
    case Relation::lessEqual:
      return a <= b;
  }
  return false;
}

std::string DimRelation::text() const {
  return left.text() + " " + std::string(sign(relation)) + " " + right.text();
}

void DimFacts::declareCounter(const std::string& counter, const Dim& extent) {
  const Dim rounds = normalise(extent);
  counters_.insert_or_assign(counter, rounds);
  learnNonNegative(rounds - 1);  // where there is a counter, there is a round
}

void DimFacts::assume(const DimRelation& relation) {
  relations_.push_back(relation);
  const auto substitute = [this](const std::string& symbol, const Dim& value) {
    // Nothing is known to be lost: a symbol with a lower bound above 1 is only replaced when the value keeps
    // it.
    if (lower_.contains(symbol) && !nonNegative(value - lower_.at(symbol))) return;
    if (!value.isConstant() && !positive(value)) return;
    if (value.isConstant() && *value.constant() < 1) return;
    const std::map<std::string, Dim> one{{symbol, value}};
    for (auto& [name, old] : substitutions_) old = old.substitute(one);
    for (auto& [name, extent] : counters_) extent = extent.substitute(one);
    substitutions_.emplace(symbol, value);
  };
  const Dim difference = normalise(relation.left) - normalise(relation.right);
  const bool counters =
      std::ranges::any_of(atomsOf(difference), [](const auto& a) { return isCounter(a.symbol); });
  if (counters) return;
  if (relation.relation == Relation::equal) {
    // x - d*(x//d) == 0 (or its negative): x is a multiple of d.
    for (const Dim::Atom& atom : atomsOf(difference)) {
      if (!atom.quotient) continue;
      const Dim divided = floorDiv(atom.quotient->numerator, atom.quotient->denominator);
      const Dim remainder = atom.quotient->numerator - atom.quotient->denominator * divided;
      if (!(difference == remainder) && !(difference == -remainder)) continue;
      const auto symbol = atom.quotient->numerator.asSymbol();
      if (!symbol || isCounter(*symbol) || atom.quotient->denominator.mentions(*symbol)) continue;
      if (!positive(atom.quotient->denominator)) continue;
      substitute(*symbol, atom.quotient->denominator * Dim::symbol(*symbol + "'"));
      return;
    }
    for (const Dim::Atom& atom : atomsOf(difference)) {  // solve for a symbol with coefficient 1 or -1
      if (atom.quotient) continue;
      const auto linear = linearIn(difference, atom);
      if (!linear || !linear->coefficient.isConstant()) continue;
      const auto coefficient = *linear->coefficient.constant();
      if (coefficient != 1 && coefficient != -1) continue;
      const Dim value = coefficient == 1 ? -linear->rest : linear->rest;
      if (!value.isConstant() && !positive(value)) continue;
      substitute(atom.symbol, value);
      return;
    }
    return;
  }
  if (relation.relation == Relation::notEqual) return;
  const Dim room = -difference - (relation.relation == Relation::less ? 1 : 0);
  learnNonNegative(room);
}

/// One symbol with a positive coefficient: a lower bound.
void DimFacts::learnNonNegative(const Dim& room) {
  const auto atoms = atomsOf(room);
  if (atoms.size() != 1 || atoms.begin()->quotient) return;
  const auto linear = linearIn(room, *atoms.begin());
  if (!linear || !linear->rest.isConstant() || !linear->coefficient.isConstant()) return;
  const auto coefficient = *linear->coefficient.constant();
  if (coefficient <= 0) return;
  const auto bound = -*floorDiv(*linear->rest.constant(), coefficient).constant();
  auto& lower = lower_.try_emplace(atoms.begin()->symbol, 1).first->second;
  lower = std::max(lower, bound);
}

Dim DimFacts::normalise(const Dim& value) const {
  return substitutions_.empty() ? value : value.substitute(substitutions_);
}

bool DimFacts::equal(const Dim& a, const Dim& b) const {
  if (a == b) return true;
  const Dim difference = normalise(a) - normalise(b);
  if (difference == Dim(0)) return true;
  if (difference.isConstant()) return false;
  return nonNegative(difference) && nonNegative(-difference);
}

bool DimFacts::equal(const Shape& a, const Shape& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [this](const Dim& x, const Dim& y) { return equal(x, y); });
}

bool DimFacts::nonNegative(const Dim& value) const {
  return nonNegative(normalise(value), 8);
}

bool DimFacts::nonNegative(const Dim& value, int depth) const {
  if (const auto constant = value.constant()) return *constant >= 0;
  if (depth == 0) return false;
  const auto atoms = atomsOf(value);
  // A counter is linear in what we check: its extremes decide.
  for (const Dim::Atom& atom : atoms) {
    if (atom.quotient || !counters_.contains(atom.symbol)) continue;
    const auto linear = linearIn(value, atom);
    if (!linear) return false;
    return nonNegative(linear->rest, depth - 1) &&
           nonNegative(linear->rest + linear->coefficient * (counters_.at(atom.symbol) - 1), depth - 1);
  }
  // floor(n/d), d >= 1:  (n - d + 1)/d <= q <= n/d, and q >= 0 when n >= 0.
  for (const Dim::Atom& atom : atoms) {
    if (!atom.quotient) continue;
    const Dim& n = atom.quotient->numerator;
    const Dim& d = atom.quotient->denominator;
    const auto linear = linearIn(value, atom);
    if (!linear || !nonNegative(d - 1, depth - 1)) return false;
    if (nonNegative(-linear->coefficient, depth - 1)) {
      return nonNegative(d * linear->rest + linear->coefficient * n, depth - 1);
    }
    if (!nonNegative(linear->coefficient, depth - 1)) return false;
    if (nonNegative(n, depth - 1) && nonNegative(linear->rest, depth - 1)) return true;
    if (linear->coefficient.isOne())
      return nonNegative(n + d * linear->rest, depth - 1);  // q >= m iff n >= d*m
    return nonNegative(d * linear->rest + linear->coefficient * (n - d + 1), depth - 1);
  }
  // Only dimensions are left: put symbol = lower + s', s' >= 0, and look for a negative coefficient.
  std::map<std::string, Dim> shifted;
  for (const Dim::Atom& atom : atoms) {
    const auto at = lower_.find(atom.symbol);
    shifted.emplace(atom.symbol, Dim::symbol(atom.symbol) + (at != lower_.end() ? at->second : 1));
  }
  const Dim moved = value.substitute(shifted);
  return std::ranges::all_of(moved.terms(), [](const auto& term) { return term.second >= 0; });
}

}  // namespace nuscope::tensor
