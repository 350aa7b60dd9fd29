#include "core/proof/substitute.h"

#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/real_term.h"

namespace nuscope::proof {

void Substitution::map(IntAtomRef from, IntRef to) {
  ints_.emplace(from, to);
  if (from->kind == IntAtom::Kind::variable) {
    unite(domain_, Variables{from});
  } else {
    variablesOnly_ = false;
  }
  unite(range_, to->variables);
}

void Substitution::map(AtomRef from, PolyRef to) {
  atoms_.emplace(from, to);
  variablesOnly_ = false;
  unite(range_, to->variables);
}

bool Substitution::untouched(const Info& node) const {
  return variablesOnly_ && !intersects(node.variables, domain_);
}

IntRef Substitution::operator()(IntRef term) {
  if (untouched(*term)) return term;
  const auto known = intMemo_.find(term);
  if (known != intMemo_.end()) return known->second;
  IntRef result = c_.arena.zeroInt;
  for (const auto& [mono, coefficient] : term->terms) {
    IntRef product = intConstant(c_, coefficient);
    for (const IntAtomRef atom : mono->atoms) product = multiply(c_, product, replace(atom));
    result = add(c_, result, product);
  }
  intMemo_.emplace(term, result);
  return result;
}

IntRef Substitution::replace(IntAtomRef atom) {
  const auto mapped = ints_.find(atom);
  if (mapped != ints_.end()) return mapped->second;
  if (untouched(*atom)) return intOf(c_, atom);
  switch (atom->kind) {
    case IntAtom::Kind::quotient:
      return floorDivide(c_, (*this)(atom->numerator), (*this)(atom->denominator));
    case IntAtom::Kind::element: {
      std::vector<IntRef> subscripts;
      for (const IntRef subscript : atom->subscripts) subscripts.push_back((*this)(subscript));
      return intElement(c_, atom->source, std::move(subscripts));
    }
    case IntAtom::Kind::embed:
      return toInteger(c_, (*this)(atom->value));
    default:
      return intOf(c_, atom);
  }
}

PolyRef Substitution::operator()(PolyRef poly) {
  if (untouched(*poly)) return poly;
  const auto known = polyMemo_.find(poly);
  if (known != polyMemo_.end()) return known->second;
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : poly->terms) {
    PolyRef product = polyConstant(c_, coefficient);
    for (const auto& [atom, exponent] : mono->factors) {
      if (product->isZero()) break;
      product = multiply(c_, product, replace(atom, exponent));
    }
    parts.push_back(product);
  }
  const PolyRef result = parts.empty() ? c_.arena.zero : sumOf(c_, parts);
  polyMemo_.emplace(poly, result);
  return result;
}

PolyRef Substitution::replace(AtomRef atom, const Rational& exponent) {
  const auto mapped = atoms_.find(atom);
  if (mapped == atoms_.end()) {
    if (untouched(*atom)) return polyOf(c_, atom, exponent);
    if (atom->kind == AtomKind::exp) return expOf(c_, scale(c_, (*this)(polyOf(c_, atom->mono)), exponent));
  }
  PolyRef value = nullptr;
  if (mapped != atoms_.end()) {
    value = mapped->second;
  } else {
    const auto known = atomMemo_.find(atom);
    value = known != atomMemo_.end() ? known->second : rebuild(atom);
    atomMemo_.emplace(atom, value);
  }
  if (exponent == 1) return value;
  if (exponent.get_den() != 1) throw GaveUp{"a root of a replaced term", false};
  const unsigned long times = Integer(abs(exponent.get_num())).get_ui();
  const PolyRef raised = power(c_, value, times);
  return exponent > 0 ? raised : inverse(c_, raised);
}

PolyRef Substitution::rebuild(AtomRef atom) {
  switch (atom->kind) {
    case AtomKind::element: {
      std::vector<IntRef> subscripts;
      for (const IntRef subscript : atom->subscripts) subscripts.push_back((*this)(subscript));
      return element(c_, atom->source, std::move(subscripts));
    }
    case AtomKind::integer:
      return toReal(c_, replace(atom->integer));
    case AtomKind::exp:
      return expOf(c_, (*this)(polyOf(c_, atom->mono)));
    case AtomKind::log:
      return logOf(c_, (*this)(atom->poly));
    case AtomKind::sqrt:
      return sqrtOf(c_, (*this)(atom->poly));
    case AtomKind::abs:
      return absOf(c_, (*this)(atom->poly));
    case AtomKind::sin:
      return sinOf(c_, (*this)(atom->poly));
    case AtomKind::cos:
      return cosOf(c_, (*this)(atom->poly));
    case AtomKind::power:
      return (*this)(atom->poly);
    case AtomKind::intNonNegative:
      return whenNonNegative(c_, (*this)(atom->intTerm));
    case AtomKind::intZero:
      return whenZero(c_, (*this)(atom->intTerm));
    case AtomKind::positive:
      return whenPositive(c_, (*this)(atom->poly));
    case AtomKind::zero:
      return whenZero(c_, (*this)(atom->poly));
    case AtomKind::maximum: {
      std::vector<PolyRef> parts;
      for (const PolyRef part : atom->polys) parts.push_back((*this)(part));
      return maximumOf(c_, parts);
    }
    case AtomKind::sum:
    case AtomKind::maxFold:
    case AtomKind::productFold:
      return rebuildFold(atom);
    case AtomKind::function: {
      const PolyRef argument = (*this)(atom->poly);
      if (atom->name == "floor") return floorOf(c_, argument);
      if (atom->name == "rint") return rintOf(c_, argument);
      Atom copy;
      copy.kind = AtomKind::function;
      copy.name = atom->name;
      copy.poly = argument;
      return polyOf(c_, c_.arena.intern(std::move(copy)));
    }
    case AtomKind::symbol:
      return polyOf(c_, atom);
  }
  return polyOf(c_, atom);
}

PolyRef Substitution::rebuildFold(AtomRef atom) {
  const Opened opened = open(c_, atom);
  std::vector<IntAtomRef> variables;
  Substitution inner(*this);
  inner.intMemo_.clear();
  inner.polyMemo_.clear();
  inner.atomMemo_.clear();
  // Extents that change give new variables.
  for (const IntAtomRef variable : opened.variables) {
    const IntRef extent = inner(variable->extent);
    if (extent == variable->extent) {
      variables.push_back(variable);
      continue;
    }
    const IntAtomRef moved = freshIndex(c_, extent, variable->name);
    variables.push_back(moved);
    inner.map(variable, intOf(c_, moved));
  }
  const PolyRef body = inner(opened.body);
  if (atom->kind == AtomKind::sum) return makeSum(c_, variables, body);
  if (atom->kind == AtomKind::productFold) return makeProduct(c_, variables, body);
  return makeMax(c_, variables, body, inner(opened.guard));
}

PolyRef substitute(Calculus& c, PolyRef poly, IntAtomRef from, IntRef to) {
  Substitution s(c);
  s.map(from, to);
  return s(poly);
}

IntRef substitute(Calculus& c, IntRef term, IntAtomRef from, IntRef to) {
  Substitution s(c);
  s.map(from, to);
  return s(term);
}

Opened open(Calculus& c, AtomRef fold) {
  Opened result;
  Substitution rename(c);
  for (const IntAtomRef bound : fold->bound) {
    const IntAtomRef fresh = freshVariable(c, rename(bound->extent), bound->ranged, "k");
    result.variables.push_back(fresh);
    rename.map(bound, intOf(c, fresh));
  }
  result.body = rename(fold->kind == AtomKind::sum ? polyOf(c, fold->mono) : fold->poly);
  result.guard = fold->guard == nullptr ? c.arena.one : rename(fold->guard);
  return result;
}

Opened openAt(Calculus& c, AtomRef fold, std::span<const IntRef> indices) {
  Opened result;
  Substitution rename(c);
  for (std::size_t i = 0; i < fold->bound.size(); ++i) rename.map(fold->bound[i], indices[i]);
  result.body = rename(fold->kind == AtomKind::sum ? polyOf(c, fold->mono) : fold->poly);
  result.guard = fold->guard == nullptr ? c.arena.one : rename(fold->guard);
  return result;
}

}  // namespace nuscope::proof
