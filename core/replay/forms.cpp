#include "core/replay/forms.h"

#include <algorithm>

namespace nuscope::replay {

using tensor::Dim;
using tensor::DType;
using tensor::Node;
using tensor::NodeRef;
using tensor::Op;
using tensor::Sort;

PolyRef Forms::dim(const Dim& given) {
  const auto convert = [&](const auto& self, const Dim& value) -> PolyRef {
    PolyRef result = k_.arena.zero;
    for (const auto& [mono, coefficient] : value.terms()) {
      PolyRef term = k_.number(Rational(Integer(static_cast<long>(coefficient))));
      for (const Dim::Atom& atom : mono) {
        if (atom.quotient) {
          term = k_.multiply(term, k_.quotient(self(self, atom.quotient->numerator),
                                               self(self, atom.quotient->denominator)));
          continue;
        }
        const auto bound = symbols_.find(atom.symbol);
        if (bound == symbols_.end() && tensor::isCounter(atom.symbol))
          throw Refused{"a loop counter outside its loop"};
        term = k_.multiply(term, bound != symbols_.end() ? bound->second : k_.dimension(atom.symbol));
      }
      result = k_.add(result, term);
    }
    return result;
  };
  return convert(convert, facts_.normalise(given));
}

void Forms::require(Value& value, PolyRef holds) {
  if (holds == k_.arena.one) return;
  value.requirements.push_back(std::make_shared<const Requirement>(Requirement{holds, k_.arena.one, {}}));
}

/// p /= 0, factor by factor, so that a product of divisors asks the same as the divisors.
void Forms::requireNonZero(Value& value, PolyRef p) {
  if (p->isZero() || p->indicators) {
    require(value, k_.negation(k_.whenZero(p)));
    return;
  }
  const Content c = k_.content(p);
  for (const auto& [atom, e] : c.mono->factors)
    require(value, k_.negation(k_.whenZero(atom->kind == Kind::inverse ? atom->parts[0] : k_.of(atom))));
  require(value, k_.negation(k_.whenZero(c.core)));
}

void Forms::append(Requirements& into, const Requirements& from, PolyRef guard) {
  for (const auto& requirement : from) {
    if (guard == k_.arena.one) {
      if (std::find(into.begin(), into.end(), requirement) == into.end()) into.push_back(requirement);
      continue;
    }
    const PolyRef both = k_.multiply(requirement->guard, guard);
    if (both->isZero()) continue;
    into.push_back(
        std::make_shared<const Requirement>(Requirement{requirement->holds, both, requirement->binders}));
  }
}

PolyRef Forms::either(PolyRef a, PolyRef b) {
  const auto orNull = [](PolyRef p) { return p == nullptr || p->isZero() ? nullptr : p; };
  if (a == nullptr || a == b) return orNull(b);
  if (b == nullptr) return orNull(a);
  return orNull(k_.subtract(k_.add(a, b), k_.multiply(a, b)));
}

Value Forms::element(NodeRef node, std::span<const Int> index) {
  const Requirements pending = std::move(pending_);
  pending_.clear();
  // Programs come from files: their depth must not end the stack.
  struct Deeper {
    explicit Deeper(int& depth) : d(depth) {
      if (d >= 400) throw Refused{"the program is nested too deeply for the checker"};
      ++d;
    }
    ~Deeper() { --d; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& d;
  };
  const Deeper deeper(depth_);
  std::pair<NodeRef, std::vector<PolyRef>> key{node, {index.begin(), index.end()}};
  const auto known = memo_.find(key);
  Value value;
  if (known != memo_.end()) {
    value = known->second;
  } else {
    value = semantics::granular(*this, *node, index, facts_);
    memo_.emplace(std::move(key), value);
  }
  append(value.requirements, pending, k_.arena.one);
  return value;
}

Value Forms::opaque(const std::string& name, Sort sort, std::span<const Int> index, bool total) {
  Value value;
  value.sort = sort;
  std::vector<PolyRef> subscripts(index.begin(), index.end());
  value.p = k_.element(name, subscripts, sort == Sort::integer);
  // A condition of unknown value: [x > 0] of an unknown real x obeys the laws of conditions.
  if (sort == Sort::condition) value.p = k_.whenPositive(value.p);
  if (!total) require(value, k_.whenPositive(k_.element("defined " + name, std::move(subscripts), false)));
  return value;
}

std::string Forms::stateName(NodeRef loop, std::size_t index) {
  const int number = numbers_.emplace(loop, static_cast<int>(numbers_.size())).first->second;
  return "state " + std::to_string(number + 1) + "." + std::to_string(index + 1);
}

Value Forms::leaf(NodeRef node, std::span<const Int> index) {
  if (node->op == Op::input) return opaque(node->attributes.name, sort(node->dtype), index, true);
  const auto scope = scopes_.find(node->attributes.name);
  if (scope == scopes_.end()) throw Refused{"a loop's state is used outside its loop"};
  const auto state = static_cast<std::size_t>(node->attributes.index);
  if (scope->second.first) return element(scope->second.loop->operands[state], index);
  return opaque(stateName(scope->second.loop, state), sort(node->dtype), index, false);
}

Value Forms::stateAfter(NodeRef loop, std::size_t index, std::span<const Int> at, PolyRef counter,
                        bool first) {
  const std::string& name = loop->attributes.name;
  // Inside the body a counter and its states mean this loop's: nothing remembered from elsewhere holds.
  const auto symbols = symbols_;
  const auto scopes = scopes_;
  const auto closed = closed_;
  decltype(memo_) outer;
  outer.swap(memo_);
  symbols_[name] = counter;
  scopes_[name] = {loop, first};
  Value value = element(loop->attributes.body[index], at);
  symbols_ = symbols;
  scopes_ = scopes;
  closed_ = closed;
  memo_.swap(outer);
  return value;
}

Value Forms::stateBefore(NodeRef loop, std::size_t index, std::span<const Int> at) {
  // Nothing is kept of it: a search that takes a step back must meet what its replay meets.
  const auto closed = closed_;
  decltype(memo_) outer;
  outer.swap(memo_);
  Value value = element(loop->operands[index], at);
  closed_ = closed;
  memo_.swap(outer);
  return value;
}

Value Forms::loopResult(NodeRef node, std::span<const Int> index) {
  const NodeRef loop = node->operands[0];
  auto known = closed_.find(loop);
  if (known == closed_.end()) {
    auto states = loops_ ? loops_(*this, loop) : std::nullopt;
    known = closed_.emplace(loop, std::move(states)).first;
  }
  const auto result = static_cast<std::size_t>(node->attributes.index);
  if (!known->second) return opaque("result of " + stateName(loop, result), sort(node->dtype), index, false);
  const ClosedState& state = (*known->second)[result];
  Substitution s(k_);
  for (std::size_t i = 0; i < state.index.size(); ++i) {
    if (state.index[i] != nullptr) s.map(state.index[i], index[i]);
  }
  Value value;
  value.p = s.empty() ? state.value : s(state.value);
  return value;
}

Value Forms::constant(const Node& node) {
  Value value;
  value.sort = sort(node.dtype);
  if (node.attributes.infinity != 0) {
    value.p = k_.arena.zero;
    (node.attributes.infinity < 0 ? value.minus : value.plus) = k_.arena.one;
    return value;
  }
  const Rational& given = node.attributes.value;
  value.p = k_.number(value.sort == Sort::integer ? Rational(given.get_num()) : given);
  if (value.sort == Sort::integer && given.get_den() != 1) throw Refused{"an integer constant that is none"};
  return value;
}

Value Forms::number(const Int& number, DType dtype) {
  Value value;
  value.sort = sort(dtype);
  value.p = number;
  return value;
}

PolyRef Forms::subscript(const Value& value, const Dim& extent) {
  append(pending_, value.requirements, k_.arena.one);
  const PolyRef inside = k_.multiply(k_.whenNotNegative(value.p),
                                     k_.whenNotNegative(k_.plus(k_.subtract(dim(extent), value.p), -1)));
  if (inside != k_.arena.one)
    pending_.push_back(std::make_shared<const Requirement>(Requirement{inside, k_.arena.one, {}}));
  return value.p;
}

Value Forms::choice(const Value& condition, const Value& then, const Value& otherwise) {
  const PolyRef yes = condition.p;
  const PolyRef no = k_.negation(yes);
  Value value;
  value.sort = then.sort == otherwise.sort ? then.sort : Sort::real;
  const auto always = [&](const Value& v) { return v.minus == k_.arena.one || v.plus == k_.arena.one; };
  value.p = always(otherwise) ? then.p : always(then) ? otherwise.p : k_.choose(yes, then.p, otherwise.p);
  const auto infinity = [&](PolyRef a, PolyRef b) -> PolyRef {
    if (a == nullptr && b == nullptr) return nullptr;
    const PolyRef p = k_.choose(yes, a == nullptr ? k_.arena.zero : a, b == nullptr ? k_.arena.zero : b);
    return p->isZero() ? nullptr : p;
  };
  value.minus = infinity(then.minus, otherwise.minus);
  value.plus = infinity(then.plus, otherwise.plus);
  append(value.requirements, condition.requirements, k_.arena.one);
  append(value.requirements, then.requirements, yes);
  append(value.requirements, otherwise.requirements, no);
  return value;
}

Value Forms::folded(semantics::Fold kind, AtomRef variable, const Value& body) {
  const PolyRef one = k_.arena.one;
  Value value;
  value.sort = body.sort;
  const auto always = [&](PolyRef p) { return k_.product({variable}, p); };
  const auto orNull = [](PolyRef p) { return p->isZero() ? nullptr : p; };
  switch (kind) {
    case semantics::Fold::sum: {
      PolyRef finite = body.p;
      if (body.minus != nullptr) {
        finite = k_.multiply(finite, k_.negation(body.minus));
        value.minus = orNull(k_.negation(always(k_.negation(body.minus))));
      }
      if (body.plus != nullptr) require(value, always(k_.negation(body.plus)));
      value.p = k_.sum({variable}, finite);
      if (body.sort == Sort::condition) value.sort = Sort::integer;
      break;
    }
    case semantics::Fold::product:
    case semantics::Fold::all:
      value.p = always(body.p);
      if (body.minus != nullptr || body.plus != nullptr) throw Refused{"a product with an infinite factor"};
      break;
    case semantics::Fold::max:
    case semantics::Fold::min: {
      const bool mirrored = kind == semantics::Fold::min;
      const PolyRef absent = mirrored ? body.plus : body.minus;
      const PolyRef beyond = mirrored ? body.minus : body.plus;
      value.p = k_.max({variable}, mirrored ? k_.negate(body.p) : body.p,
                       absent == nullptr ? one : k_.negation(absent));
      if (mirrored) value.p = k_.negate(value.p);
      if (absent != nullptr) (mirrored ? value.plus : value.minus) = orNull(always(absent));
      if (beyond != nullptr) require(value, always(k_.negation(beyond)));
      break;
    }
  }
  for (const auto& requirement : body.requirements) {
    const bool free = !contains(requirement->holds->variables, variable) &&
                      !contains(requirement->guard->variables, variable) &&
                      std::none_of(requirement->binders.begin(), requirement->binders.end(),
                                   [&](AtomRef b) { return contains(b->extent()->variables, variable); });
    if (free) {
      value.requirements.push_back(requirement);
      continue;
    }
    Requirement bound = *requirement;
    bound.binders.insert(bound.binders.begin(), variable);
    value.requirements.push_back(std::make_shared<const Requirement>(std::move(bound)));
  }
  return value;
}

std::vector<PolyRef> Forms::definedness(const Value& value) {
  std::vector<PolyRef> result;
  const std::function<void(PolyRef)> separate = [&](PolyRef p) {
    if (p == k_.arena.one) return;
    const MonoRef mono = p->asMono();
    if (mono != nullptr && mono->factors.size() > 1) {  // a product of 0/1 terms is 1 where each is
      for (const auto& [atom, e] : mono->factors) separate(k_.of(atom));
      return;
    }
    if (std::find(result.begin(), result.end(), p) == result.end()) result.push_back(p);
  };
  for (const auto& requirement : value.requirements) {
    const PolyRef body = k_.negation(k_.multiply(requirement->guard, k_.negation(requirement->holds)));
    std::vector<AtomRef> binders;
    for (auto at = requirement->binders.rbegin(); at != requirement->binders.rend(); ++at) {
      const bool used = contains(body->variables, *at) ||
                        std::any_of(binders.begin(), binders.end(),
                                    [&](AtomRef b) { return contains(b->extent()->variables, *at); });
      if (used) binders.insert(binders.begin(), *at);
    }
    separate(binders.empty() ? body : k_.product(binders, body));
  }
  for (const PolyRef infinite : {value.minus, value.plus}) {
    if (infinite != nullptr) separate(k_.negation(infinite));
  }
  std::sort(result.begin(), result.end(), Before());
  return result;
}

Value Forms::apply(Op op, std::span<const Value> values, const Node& node) {
  Value result;
  result.sort = sort(node.dtype);
  for (const Value& value : values) append(result.requirements, value.requirements, k_.arena.one);
  const bool infinite = std::any_of(values.begin(), values.end(),
                                    [](const Value& v) { return v.minus != nullptr || v.plus != nullptr; });
  if (infinite) return withInfinity(op, values, node, std::move(result));
  if (tensor::isComparison(op)) return compare(op, k_.subtract(values[0].p, values[1].p), std::move(result));
  if (op == Op::cast) return castTo(values[0], std::move(result));
  return arithmetic(op, values, node, std::move(result));
}

Value Forms::compare(Op op, PolyRef gap, Value result) {
  result.sort = Sort::condition;
  switch (op) {
    case Op::less:
      result.p = k_.whenPositive(k_.negate(gap));
      break;
    case Op::lessEqual:
      result.p = k_.negation(k_.whenPositive(gap));
      break;
    case Op::greater:
      result.p = k_.whenPositive(gap);
      break;
    case Op::greaterEqual:
      result.p = k_.negation(k_.whenPositive(k_.negate(gap)));
      break;
    case Op::equal:
      result.p = k_.whenZero(gap);
      break;
    default:
      result.p = k_.negation(k_.whenZero(gap));
      break;
  }
  return result;
}

Value Forms::castTo(const Value& value, Value result) {
  if (result.sort == Sort::condition) {
    result.p = value.sort == Sort::condition ? value.p : k_.negation(k_.whenZero(value.p));
  } else if (result.sort == Sort::real || value.sort != Sort::real || Kernel::isInteger(value.p)) {
    result.p = value.p;
  } else {  // towards zero
    const PolyRef up = k_.negate(k_.floor(k_.negate(value.p)));
    result.p = k_.choose(k_.whenPositive(k_.negate(value.p)), up, k_.floor(value.p));
  }
  return result;
}

Value Forms::arithmetic(Op op, std::span<const Value> values, const Node& node, Value result) {
  const PolyRef a = values[0].p;
  const PolyRef b = values.size() > 1 ? values[1].p : nullptr;
  const bool integer = result.sort == Sort::integer;
  switch (op) {
    case Op::negate:
      result.p = k_.negate(a);
      break;
    case Op::logicalNot:
      result.p = k_.negation(a);
      break;
    case Op::exp:
      result.p = k_.exp(a);
      break;
    case Op::log:
      require(result, k_.whenPositive(a));
      result.p = k_.log(a);
      break;
    case Op::sqrt:
      require(result, k_.negation(k_.whenPositive(k_.negate(a))));
      result.p = k_.sqrt(a);
      break;
    case Op::tanh:
      result.p = k_.tanh(a);
      break;
    case Op::sin:
      result.p = k_.sin(a);
      break;
    case Op::cos:
      result.p = k_.cos(a);
      break;
    case Op::abs:
      result.p = k_.abs(a);
      break;
    case Op::sign:
      result.p = k_.subtract(k_.whenPositive(a), k_.whenPositive(k_.negate(a)));
      break;
    case Op::floor:
      result.p = integer ? a : k_.floor(a);
      break;
    case Op::rint:
      result.p = integer ? a : k_.rint(a);
      break;
    case Op::power:
      if (node.attributes.index > 64) throw Refused{"an exponent above 64"};
      result.p = k_.power(a, static_cast<unsigned long>(node.attributes.index));
      break;
    case Op::add:
      result.p = k_.add(a, b);
      break;
    case Op::subtract:
      result.p = k_.subtract(a, b);
      break;
    case Op::multiply:
    case Op::logicalAnd:
      result.p = k_.multiply(a, b);
      break;
    case Op::logicalOr:
      result.p = k_.subtract(k_.add(a, b), k_.multiply(a, b));
      break;
    case Op::divide:
      if (integer) throw Refused{"a division of integers"};
      requireNonZero(result, b);
      result.p = k_.multiply(a, k_.inverse(b));
      break;
    case Op::floorDivide:
    case Op::modulo: {
      if (integer) {
        require(result, k_.negation(k_.whenZero(b)));
      } else {
        requireNonZero(result, b);
      }
      const PolyRef quotient = integer ? k_.quotient(a, b) : k_.floor(k_.multiply(a, k_.inverse(b)));
      result.p = op == Op::floorDivide ? quotient : k_.subtract(a, k_.multiply(b, quotient));
      break;
    }
    case Op::maximum:
      result.p = k_.maximum({a, b});
      break;
    case Op::minimum:
      result.p = k_.minimum({a, b});
      break;
    default:
      throw Refused{"the operator " + std::string(tensor::name(op)) + " is not known to the checker"};
  }
  return result;
}

/// Where `infinite` is -inf or inf and the factor not 0: the result is by its sign.
void Forms::scaleInfinity(Value& result, const Value& infinite, PolyRef factor) {
  const auto times = [&](PolyRef where, PolyRef sign) {
    return where == nullptr ? nullptr : k_.multiply(where, k_.whenPositive(sign));
  };
  const PolyRef opposite = k_.negate(factor);
  const PolyRef minus = either(times(infinite.minus, factor), times(infinite.plus, opposite));
  const PolyRef plus = either(times(infinite.plus, factor), times(infinite.minus, opposite));
  result.minus = either(result.minus, minus);
  result.plus = either(result.plus, plus);
}

Value Forms::withInfinity(Op op, std::span<const Value> values, const Node& node, Value result) {
  const Value& a = values[0];
  const PolyRef one = k_.arena.one;
  const auto never = [&](PolyRef p) {
    if (p != nullptr) require(result, k_.negation(p));
  };
  const auto finite = [&](const Value& v) {
    const PolyRef some = either(v.minus, v.plus);
    return some == nullptr ? one : k_.negation(some);
  };
  const auto mirrored = [&](Value v) {
    v.p = k_.negate(v.p);
    std::swap(v.minus, v.plus);
    return v;
  };
  switch (op) {
    case Op::negate:
      result.p = k_.negate(a.p);
      result.minus = a.plus;
      result.plus = a.minus;
      return result;
    case Op::add:
    case Op::subtract: {
      const Value b = op == Op::subtract ? mirrored(values[1]) : values[1];
      result.p = k_.add(a.p, b.p);
      result.minus = either(a.minus, b.minus);
      result.plus = either(a.plus, b.plus);
      if (result.minus != nullptr && result.plus != nullptr) never(k_.multiply(result.minus, result.plus));
      return result;
    }
    case Op::multiply: {
      // 0 times anything is 0; otherwise the sign decides. Two infinities are not multiplied.
      const Value& b = values[1];
      const PolyRef someA = either(a.minus, a.plus);
      const PolyRef someB = either(b.minus, b.plus);
      if (someA != nullptr && someB != nullptr) never(k_.multiply(someA, someB));
      scaleInfinity(result, a, k_.multiply(b.p, finite(b)));
      scaleInfinity(result, b, k_.multiply(a.p, finite(a)));
      result.p = k_.multiply(a.p, b.p);
      // What stands for an infinity may mean nothing: times 0 it is 0.
      const auto clean = [&](PolyRef some, const Value& factor) {
        if (some == nullptr) return;
        result.p = k_.multiply(result.p, k_.negation(k_.multiply(some, k_.whenZero(factor.p))));
      };
      clean(someA, b);
      clean(someB, a);
      return result;
    }
    case Op::divide: {
      std::vector<Value> plain(values.begin(), values.end());
      never(either(plain[1].minus, plain[1].plus));
      for (Value& value : plain) value.minus = value.plus = nullptr;
      Value applied = apply(op, plain, node);
      append(applied.requirements, result.requirements, one);
      scaleInfinity(applied, a, values[1].p);
      return applied;
    }
    case Op::exp:
      result.p = k_.exp(a.p);
      if (a.minus != nullptr) result.p = k_.multiply(result.p, k_.negation(a.minus));
      never(a.plus);
      return result;
    case Op::maximum:
    case Op::minimum: {
      const Value x = op == Op::minimum ? mirrored(a) : a;
      const Value y = op == Op::minimum ? mirrored(values[1]) : values[1];
      PolyRef p = k_.maximum({x.p, y.p});
      if (y.minus != nullptr) p = y.minus == one ? x.p : k_.choose(y.minus, x.p, p);
      if (x.minus != nullptr) p = x.minus == one ? y.p : k_.choose(x.minus, y.p, p);
      result.p = p;
      const PolyRef both = x.minus != nullptr && y.minus != nullptr ? k_.multiply(x.minus, y.minus) : nullptr;
      result.minus = both == nullptr || both->isZero() ? nullptr : both;
      result.plus = either(x.plus, y.plus);
      return op == Op::minimum ? mirrored(std::move(result)) : result;
    }
    case Op::cast:
      if (result.sort != Sort::real) throw Refused{"an infinity is cast"};
      result.p = a.p;
      result.minus = a.minus;
      result.plus = a.plus;
      return result;
    default: {  // undefined where infinite
      std::vector<Value> plain(values.begin(), values.end());
      for (Value& value : plain) {
        never(either(value.minus, value.plus));
        value.minus = nullptr;
        value.plus = nullptr;
      }
      Value applied = apply(op, plain, node);
      append(applied.requirements, result.requirements, one);
      return applied;
    }
  }
}

}  // namespace nuscope::replay
