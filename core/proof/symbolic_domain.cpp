#include "core/proof/symbolic_domain.h"

#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/substitute.h"
#include "core/proof/zero_one.h"

namespace nuscope::proof {

using semantics::Fold;
using tensor::Dim;
using tensor::DType;
using tensor::Node;
using tensor::NodeRef;
using tensor::Op;
using tensor::Sort;

SymbolicDomain::SymbolicDomain(Calculus& c, const tensor::DimFacts& facts,
                               const std::unordered_set<NodeRef>& cut)
    : c_(c), facts_(facts), cut_(cut) {}

IntRef SymbolicDomain::convert(const Dim& value) {
  IntRef result = c_.arena.zeroInt;
  for (const auto& [mono, coefficient] : value.terms()) {
    IntRef term = intConstant(c_, Integer(static_cast<long>(coefficient)));
    for (const Dim::Atom& atom : mono) {
      if (atom.quotient) {
        term =
            multiply(c_, term,
                     floorDivide(c_, convert(atom.quotient->numerator), convert(atom.quotient->denominator)));
        continue;
      }
      const auto bound = symbols_.find(atom.symbol);
      term = multiply(c_, term, bound != symbols_.end() ? bound->second : dimension(c_, atom.symbol));
    }
    result = add(c_, result, term);
  }
  return result;
}

IntRef SymbolicDomain::dim(const Dim& value) {
  return convert(facts_.normalise(value));
}
IntRef SymbolicDomain::plus(const Int& a, const Int& b) {
  return add(c_, a, b);
}
IntRef SymbolicDomain::minus(const Int& a, const Int& b) {
  return subtract(c_, a, b);
}
IntRef SymbolicDomain::times(const Int& a, const Int& b) {
  return multiply(c_, a, b);
}
IntRef SymbolicDomain::quotient(const Int& a, const Int& b) {
  return floorDivide(c_, a, b);
}
IntRef SymbolicDomain::next(IntRef last) {
  return proof::plus(c_, last, 1);
}
IntAtomRef SymbolicDomain::indexVariable(IntRef extent) {
  return freshIndex(c_, extent);
}
IntRef SymbolicDomain::asTerm(IntAtomRef variable) {
  return intOf(c_, variable);
}

PolyRef SymbolicDomain::realOf(const Value& value) const {
  return value.sort == Sort::integer ? toReal(c_, value.integer) : value.real;
}

void SymbolicDomain::require(Value& value, PolyRef holds) {
  if (holds == c_.arena.one) return;
  value.requirements.push_back(std::make_shared<const Requirement>(Requirement{holds, c_.arena.one, {}}));
}

void SymbolicDomain::append(Requirements& into, const Requirements& from, PolyRef guard) {
  for (const auto& requirement : from) {
    if (guard == c_.arena.one) {
      if (std::find(into.begin(), into.end(), requirement) == into.end()) into.push_back(requirement);
      continue;
    }
    const PolyRef both = multiply(c_, requirement->guard, guard);
    if (both->isZero()) continue;
    into.push_back(
        std::make_shared<const Requirement>(Requirement{requirement->holds, both, requirement->binders}));
  }
}

Scalar SymbolicDomain::element(NodeRef node, std::span<const Int> index) {
  c_.tick();
  const Requirements pending = std::move(pending_);
  pending_.clear();
  std::pair<NodeRef, std::vector<IntRef>> key{node, {index.begin(), index.end()}};
  const auto known = memo_.find(key);
  Value value;
  if (known != memo_.end()) {
    value = known->second;
  } else {
    value =
        cut_.contains(node) ? opaque(node, index, false) : semantics::granular(*this, *node, index, facts_);
    memo_.emplace(std::move(key), value);
  }
  append(value.requirements, pending, c_.arena.one);
  return value;
}

Scalar SymbolicDomain::opaque(NodeRef node, std::span<const Int> index, bool total) {
  auto known = sources_.find(node);
  if (known == sources_.end()) {
    Source source;
    source.name = node->op == Op::input ? node->attributes.name : std::string(tensor::name(node->op));
    source.key = node->op == Op::input ? nullptr : node;
    source.integer = sort(node->dtype) == Sort::integer;
    for (const Dim& extent : node->shape) source.shape.push_back(dim(extent));
    known = sources_.emplace(node, c_.arena.source(source)).first;
  }
  const int number = known->second;
  Value value;
  value.sort = sort(node->dtype);
  std::vector<IntRef> subscripts(index.begin(), index.end());
  if (value.sort == Sort::integer) {
    value.integer = intElement(c_, number, subscripts);
  } else {
    value.real = proof::element(c_, number, subscripts);
    // A condition of unknown value: [x > 0] of an unknown real x obeys the laws of conditions.
    if (value.sort == Sort::condition) value.real = whenPositive(c_, value.real);
  }
  if (!total) {
    Source defined = c_.arena.source(number);
    defined.name = "defined " + defined.name;
    require(value, whenPositive(c_, proof::element(c_, c_.arena.source(defined), std::move(subscripts))));
  }
  return value;
}

Scalar SymbolicDomain::leaf(NodeRef node, std::span<const Int> index) {
  if (node->op == Op::input) return opaque(node, index, true);
  const auto scope = scopes_.find(node->attributes.name);
  if (scope == scopes_.end()) throw GaveUp{"a loop's state is used outside its loop", false};
  const auto state = static_cast<std::size_t>(node->attributes.index);
  const NodeRef loop = scope->second.loop;
  if (scope->second.first) return element(loop->operands[state], index);
  Value value;
  value.sort = sort(node->dtype);
  const int source = stateSource(loop, state);
  std::vector<IntRef> subscripts(index.begin(), index.end());
  if (value.sort == Sort::integer) {
    value.integer = intElement(c_, source, subscripts);
  } else {
    value.real = proof::element(c_, source, subscripts);
    if (value.sort == Sort::condition) value.real = whenPositive(c_, value.real);
  }
  Source mark = c_.arena.source(source);
  mark.name = "defined " + mark.name;
  require(value, whenPositive(c_, proof::element(c_, c_.arena.source(mark), std::move(subscripts))));
  return value;
}

int SymbolicDomain::stateSource(NodeRef loop, std::size_t index) {
  Source source;
  source.name = "state" + std::to_string(index + 1);
  source.key = loop;
  source.integer = sort(loop->operands[index]->dtype) == Sort::integer;
  return c_.arena.source(source);
}

bool SymbolicDomain::isStateMark(NodeRef loop, int source) const {
  const Source& s = c_.arena.source(source);
  return s.key == loop && s.name.starts_with("defined state");
}

Scalar SymbolicDomain::stateAfter(NodeRef loop, std::size_t index, std::span<const Int> at, IntRef counter,
                                  bool first) {
  const std::string& name = loop->attributes.name;
  // Inside the body a counter and its states mean this loop's: nothing remembered from elsewhere holds.
  const auto symbols = symbols_;
  const auto scopes = scopes_;
  const auto loops = closedLoops_;
  decltype(memo_) outer;
  outer.swap(memo_);
  symbols_[name] = counter;
  scopes_[name] = {loop, first};
  Value value;
  try {
    value = element(loop->attributes.body[index], at);
  } catch (...) {
    symbols_ = symbols;
    scopes_ = scopes;
    closedLoops_ = loops;
    memo_.swap(outer);
    throw;
  }
  symbols_ = symbols;
  scopes_ = scopes;
  closedLoops_ = loops;
  memo_.swap(outer);
  return value;
}

Scalar SymbolicDomain::loopResult(NodeRef node, std::span<const Int> index) {
  const NodeRef loop = node->operands[0];
  if (dim(loop->attributes.shape[0])->isZero())
    return element(loop->operands[static_cast<std::size_t>(node->attributes.index)], index);
  auto known = closedLoops_.find(loop);
  if (known == closedLoops_.end()) {
    std::string why;
    auto closed = solveLoop(c_, *this, loop, why);
    loopNotes_.push_back(
        closed ? "closed forms of a loop's states, proved after the first round and from n to n + 1"
               : "a loop is taken as it stands: " + why);
    known = closedLoops_.emplace(loop, std::move(closed)).first;
    if (known->second) {
      for (std::size_t i = 0; i < known->second->size(); ++i) {
        loopNotes_.push_back("state " + std::to_string(i + 1) +
                             " after n rounds: " + shortText(c_, (*known->second)[i].value, 200));
      }
    }
  }
  if (!known->second) return opaque(node, index, false);
  const ClosedState& state = (*known->second)[static_cast<std::size_t>(node->attributes.index)];
  Substitution s(c_);
  for (std::size_t i = 0; i < state.index.size(); ++i) {
    if (state.index[i] != nullptr) s.map(state.index[i], index[i]);
  }
  Value value;
  value.sort = Sort::real;
  value.real = s(state.last);
  return value;
}

Scalar SymbolicDomain::constant(const Node& node) {
  Value value;
  value.sort = sort(node.dtype);
  if (node.attributes.infinity != 0) {
    value.real = c_.arena.zero;
    (node.attributes.infinity < 0 ? value.minus : value.plus) = c_.arena.one;
    return value;
  }
  if (value.sort == Sort::integer) {
    value.integer = intConstant(c_, node.attributes.value.get_num());
  } else {
    value.real = polyConstant(c_, node.attributes.value);
  }
  return value;
}

Scalar SymbolicDomain::number(const Int& number, DType dtype) {
  Value value;
  value.sort = sort(dtype);
  if (value.sort == Sort::integer) {
    value.integer = number;
  } else {
    value.real = toReal(c_, number);
  }
  return value;
}

IntRef SymbolicDomain::subscript(const Value& value, const Dim& extent) {
  const IntRef index = value.sort == Sort::integer ? value.integer : toInteger(c_, value.real);
  // The range is a requirement of the element that is read next.
  append(pending_, value.requirements, c_.arena.one);
  const PolyRef inside = multiply(c_, whenNonNegative(c_, index),
                                  whenNonNegative(c_, proof::plus(c_, subtract(c_, dim(extent), index), -1)));
  if (inside != c_.arena.one) {
    pending_.push_back(std::make_shared<const Requirement>(Requirement{inside, c_.arena.one, {}}));
  }
  return index;
}

Scalar SymbolicDomain::lessCondition(const Int& a, const Int& b) {
  Value value;
  value.sort = Sort::condition;
  value.real = whenNonNegative(c_, proof::plus(c_, subtract(c_, b, a), -1));
  return value;
}

Scalar SymbolicDomain::choice(const Value& condition, const Value& then, const Value& otherwise) {
  const PolyRef yes = condition.real;
  const PolyRef no = negation(c_, yes);
  Value value;
  value.sort = then.sort;
  const auto infinite = [&](const Value& v) {
    return (v.minus != nullptr && v.minus == c_.arena.one) || (v.plus != nullptr && v.plus == c_.arena.one);
  };
  if (then.sort == Sort::integer && otherwise.sort == Sort::integer) {
    value.integer = then.integer == otherwise.integer
                        ? then.integer
                        : toInteger(c_, proof::choose(c_, yes, realOf(then), realOf(otherwise)));
  } else if (infinite(otherwise)) {
    value.real = realOf(then);
  } else if (infinite(then)) {
    value.real = realOf(otherwise);
  } else {
    if (then.sort != otherwise.sort) value.sort = Sort::real;
    value.real = proof::choose(c_, yes, realOf(then), realOf(otherwise));
  }
  if (then.minus != nullptr || otherwise.minus != nullptr) {
    value.minus = orNull(proof::choose(c_, yes, orZero(c_, then.minus), orZero(c_, otherwise.minus)));
  }
  if (then.plus != nullptr || otherwise.plus != nullptr) {
    value.plus = orNull(proof::choose(c_, yes, orZero(c_, then.plus), orZero(c_, otherwise.plus)));
  }
  append(value.requirements, condition.requirements, c_.arena.one);
  append(value.requirements, then.requirements, yes);
  append(value.requirements, otherwise.requirements, no);
  return value;
}

Scalar SymbolicDomain::folded(Fold kind, IntAtomRef variable, const Value& body) {
  const PolyRef real = realOf(body);
  const PolyRef one = c_.arena.one;
  Value value;
  value.sort = body.sort;
  PolyRef result = nullptr;
  const auto always = [&](PolyRef p) { return makeProduct(c_, {variable}, p); };
  switch (kind) {
    case Fold::sum: {
      PolyRef finite = real;
      if (body.minus != nullptr) {
        finite = multiply(c_, finite, negation(c_, body.minus));
        value.minus = orNull(negation(c_, always(negation(c_, body.minus))));
      }
      if (body.plus != nullptr) require(value, always(negation(c_, body.plus)));
      result = makeSum(c_, {variable}, finite);
      if (body.sort == Sort::condition) value.sort = Sort::integer;
      break;
    }
    case Fold::product:
      result = makeProduct(c_, {variable}, real);
      break;
    case Fold::all:
      result = makeProduct(c_, {variable}, real);
      break;
    case Fold::max:
    case Fold::min: {
      const bool mirrored = kind == Fold::min;
      const PolyRef absent = mirrored ? body.plus : body.minus;
      const PolyRef beyond = mirrored ? body.minus : body.plus;
      const PolyRef guard = absent == nullptr ? one : negation(c_, absent);
      result = makeMax(c_, {variable}, mirrored ? negate(c_, real) : real, guard);
      if (mirrored) result = negate(c_, result);
      if (absent != nullptr) (mirrored ? value.plus : value.minus) = orNull(always(absent));
      if (beyond != nullptr) require(value, always(negation(c_, beyond)));
      break;
    }
  }
  if (value.sort == Sort::integer) {
    value.integer = toInteger(c_, result);
  } else {
    value.real = result;
  }
  for (const auto& requirement : body.requirements) {
    if (!contains(requirement->holds->variables, variable) &&
        !contains(requirement->guard->variables, variable) &&
        std::none_of(requirement->binders.begin(), requirement->binders.end(),
                     [&](IntAtomRef b) { return contains(b->extent->variables, variable); })) {
      value.requirements.push_back(requirement);
      continue;
    }
    Requirement bound = *requirement;
    bound.binders.insert(bound.binders.begin(), variable);
    value.requirements.push_back(std::make_shared<const Requirement>(std::move(bound)));
  }
  return value;
}

}  // namespace nuscope::proof
