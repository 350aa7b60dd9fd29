// Elementwise operators in the prover's domain: their values in normal form and where they are defined.
#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"
#include "core/proof/symbolic_domain.h"
#include "core/proof/zero_one.h"

namespace nuscope::proof {

using tensor::DType;
using tensor::Node;
using tensor::Op;
using tensor::Sort;

Scalar SymbolicDomain::apply(Op op, std::span<const Value> values, const Node& node) {
  Value result;
  result.sort = sort(node.dtype);
  for (const Value& value : values) append(result.requirements, value.requirements, c_.arena.one);
  const bool infinite = std::any_of(values.begin(), values.end(),
                                    [](const Value& v) { return v.minus != nullptr || v.plus != nullptr; });
  if (infinite) return withInfinity(op, values, node, std::move(result));
  if (tensor::isComparison(op)) return compare(op, values, std::move(result));
  if (op == Op::cast) return castTo(node.dtype, values[0], std::move(result));
  if (op == Op::logicalNot) {
    result.real = negation(c_, values[0].real);
    return result;
  }
  if (op == Op::logicalAnd || op == Op::logicalOr) {
    const PolyRef both = multiply(c_, values[0].real, values[1].real);
    result.real = op == Op::logicalAnd ? both : subtract(c_, add(c_, values[0].real, values[1].real), both);
    return result;
  }
  return result.sort == Sort::integer ? applyInteger(op, values, node, std::move(result))
                                      : applyReal(op, values, node, std::move(result));
}

Scalar SymbolicDomain::compare(Op op, std::span<const Value> values, Value result) {
  result.sort = Sort::condition;
  const Value& a = values[0];
  const Value& b = values[1];
  if (a.sort == Sort::integer && b.sort == Sort::integer) {
    const IntRef gap = subtract(c_, a.integer, b.integer);
    switch (op) {
      case Op::less:
        result.real = whenNonNegative(c_, proof::plus(c_, negate(c_, gap), -1));
        break;
      case Op::lessEqual:
        result.real = whenNonNegative(c_, negate(c_, gap));
        break;
      case Op::greater:
        result.real = whenNonNegative(c_, proof::plus(c_, gap, -1));
        break;
      case Op::greaterEqual:
        result.real = whenNonNegative(c_, gap);
        break;
      case Op::equal:
        result.real = whenZero(c_, gap);
        break;
      default:
        result.real = negation(c_, whenZero(c_, gap));
        break;
    }
    return result;
  }
  const PolyRef gap = subtract(c_, realOf(a), realOf(b));
  switch (op) {
    case Op::less:
      result.real = whenPositive(c_, negate(c_, gap));
      break;
    case Op::lessEqual:
      result.real = negation(c_, whenPositive(c_, gap));
      break;
    case Op::greater:
      result.real = whenPositive(c_, gap);
      break;
    case Op::greaterEqual:
      result.real = negation(c_, whenPositive(c_, negate(c_, gap)));
      break;
    case Op::equal:
      result.real = whenZero(c_, gap);
      break;
    default:
      result.real = negation(c_, whenZero(c_, gap));
      break;
  }
  return result;
}

Scalar SymbolicDomain::castTo(DType dtype, const Value& value, Value result) {
  result.sort = sort(dtype);
  const PolyRef real = realOf(value);
  if (result.sort == Sort::condition) {
    result.real = value.sort == Sort::condition ? real
                  : value.sort == Sort::integer ? negation(c_, whenZero(c_, value.integer))
                                                : negation(c_, whenZero(c_, real));
    return result;
  }
  if (result.sort == Sort::real) {
    result.real = real;
    return result;
  }
  if (value.sort == Sort::integer) {
    result.integer = value.integer;
    return result;
  }
  if (value.sort == Sort::condition || isIntegerValued(real)) {
    result.integer = toInteger(c_, real);
    return result;
  }
  // Towards zero.
  const PolyRef negative = whenPositive(c_, negate(c_, real));
  const PolyRef down = floorOf(c_, real);
  const PolyRef up = negate(c_, floorOf(c_, negate(c_, real)));
  result.integer = toInteger(c_, proof::choose(c_, negative, up, down));
  return result;
}

Scalar SymbolicDomain::applyInteger(Op op, std::span<const Value> values, const Node& node, Value result) {
  const auto integer = [&](std::size_t i) {
    return values[i].sort == Sort::integer ? values[i].integer : toInteger(c_, values[i].real);
  };
  const IntRef a = integer(0);
  const IntRef b = values.size() > 1 ? integer(1) : nullptr;
  switch (op) {
    case Op::negate:
      result.integer = negate(c_, a);
      break;
    case Op::add:
      result.integer = add(c_, a, b);
      break;
    case Op::subtract:
      result.integer = subtract(c_, a, b);
      break;
    case Op::multiply:
      result.integer = multiply(c_, a, b);
      break;
    case Op::floorDivide:
    case Op::modulo: {
      require(result, negation(c_, whenZero(c_, b)));
      const IntRef quotient = floorDivide(c_, a, b);
      result.integer = op == Op::floorDivide ? quotient : subtract(c_, a, multiply(c_, b, quotient));
      break;
    }
    case Op::maximum:
    case Op::minimum: {
      const bool larger = op == Op::maximum;
      if (atMost(c_, a, b)) {
        result.integer = larger ? b : a;
      } else if (atMost(c_, b, a)) {
        result.integer = larger ? a : b;
      } else {
        const std::vector<PolyRef> parts{toReal(c_, a), toReal(c_, b)};
        result.integer = toInteger(c_, larger ? maximumOf(c_, parts) : minimumOf(c_, parts));
      }
      break;
    }
    case Op::abs:
      result.integer = toInteger(c_, absOf(c_, toReal(c_, a)));
      break;
    case Op::sign:
      result.integer = toInteger(c_, subtract(c_, whenNonNegative(c_, proof::plus(c_, a, -1)),
                                              whenNonNegative(c_, proof::plus(c_, negate(c_, a), -1))));
      break;
    case Op::floor:
    case Op::rint:
      result.integer = a;
      break;
    case Op::power: {
      result.integer = c_.arena.oneInt;
      for (int i = 0; i < node.attributes.index; ++i) result.integer = multiply(c_, result.integer, a);
      break;
    }
    default:
      throw GaveUp{"the operator " + std::string(tensor::name(op)) + " of integers is not supported", false};
  }
  return result;
}

Scalar SymbolicDomain::applyReal(Op op, std::span<const Value> values, const Node& node, Value result) {
  const PolyRef a = realOf(values[0]);
  const PolyRef b = values.size() > 1 ? realOf(values[1]) : nullptr;
  const auto nonZero = [&](PolyRef p) {
    // Factor by factor, so that a product of divisors asks the same as the divisors.
    if (p->isZero() || p->indicators) {
      require(result, negation(c_, whenZero(c_, p)));
      return;
    }
    const Content content = contentOf(c_, p);
    for (const auto& [atom, exponent] : content.mono->factors) {
      const PolyRef base = atom->kind == AtomKind::power ? atom->poly : polyOf(c_, atom);
      require(result, negation(c_, whenZero(c_, base)));
    }
    require(result, negation(c_, whenZero(c_, content.core)));
  };
  switch (op) {
    case Op::negate:
      result.real = negate(c_, a);
      break;
    case Op::exp:
      result.real = expOf(c_, a);
      break;
    case Op::log:
      require(result, whenPositive(c_, a));
      result.real = logOf(c_, a);
      break;
    case Op::sqrt:
      require(result, negation(c_, whenPositive(c_, negate(c_, a))));
      result.real = sqrtOf(c_, a);
      break;
    case Op::tanh:
      result.real = tanhOf(c_, a);
      break;
    case Op::sin:
      result.real = sinOf(c_, a);
      break;
    case Op::cos:
      result.real = cosOf(c_, a);
      break;
    case Op::abs:
      result.real = absOf(c_, a);
      break;
    case Op::sign:
      result.real = subtract(c_, whenPositive(c_, a), whenPositive(c_, negate(c_, a)));
      break;
    case Op::floor:
      result.real = floorOf(c_, a);
      break;
    case Op::rint:
      result.real = rintOf(c_, a);
      break;
    case Op::power:
      result.real = power(c_, a, static_cast<unsigned long>(node.attributes.index));
      break;
    case Op::add:
      result.real = add(c_, a, b);
      break;
    case Op::subtract:
      result.real = subtract(c_, a, b);
      break;
    case Op::multiply:
      result.real = multiply(c_, a, b);
      break;
    case Op::divide:
      nonZero(b);
      result.real = multiply(c_, a, inverse(c_, b));
      break;
    case Op::floorDivide:
    case Op::modulo: {
      nonZero(b);
      const PolyRef quotient = floorOf(c_, multiply(c_, a, inverse(c_, b)));
      result.real = op == Op::floorDivide ? quotient : subtract(c_, a, multiply(c_, b, quotient));
      break;
    }
    case Op::maximum:
    case Op::minimum: {
      const std::vector<PolyRef> parts{a, b};
      result.real = op == Op::maximum ? maximumOf(c_, parts) : minimumOf(c_, parts);
      break;
    }
    default:
      throw GaveUp{"the operator " + std::string(tensor::name(op)) + " is not supported", false};
  }
  return result;
}

/// Where `infinite` is -inf or inf and the factor not 0: the result is by its sign.
void SymbolicDomain::scaleInfinity(Value& result, const Value& infinite, PolyRef factor) {
  const auto where = [&](PolyRef up, PolyRef down) {
    const PolyRef positive = up == nullptr ? nullptr : orNull(multiply(c_, up, whenPositive(c_, factor)));
    const PolyRef negative =
        down == nullptr ? nullptr : orNull(multiply(c_, down, whenPositive(c_, negate(c_, factor))));
    return either(c_, positive, negative);
  };
  result.minus = either(c_, result.minus, where(infinite.minus, infinite.plus));
  result.plus = either(c_, result.plus, where(infinite.plus, infinite.minus));
}

Scalar SymbolicDomain::withInfinity(Op op, std::span<const Value> values, const Node& node, Value result) {
  const Value& a = values[0];
  const PolyRef one = c_.arena.one;
  const auto finite = [&](const Value& v) { return negation(c_, orZero(c_, either(c_, v.minus, v.plus))); };
  const auto never = [&](PolyRef p) {
    if (p != nullptr) require(result, negation(c_, p));
  };
  const auto mirrored = [&](Value v) {
    v.real = negate(c_, v.real);
    std::swap(v.minus, v.plus);
    return v;
  };
  switch (op) {
    case Op::negate: {
      result.real = negate(c_, a.real);
      result.minus = a.plus;
      result.plus = a.minus;
      return result;
    }
    case Op::add:
    case Op::subtract: {
      Value b = values[1];
      b.real = realOf(b);
      if (op == Op::subtract) b = mirrored(b);
      result.real = add(c_, realOf(a), b.real);
      result.minus = either(c_, a.minus, b.minus);
      result.plus = either(c_, a.plus, b.plus);
      if (result.minus != nullptr && result.plus != nullptr)
        never(orNull(multiply(c_, result.minus, result.plus)));
      return result;
    }
    case Op::multiply: {
      // 0 times anything is 0; otherwise the sign decides. Two infinities are not multiplied.
      const Value& b = values[1];
      const PolyRef someA = either(c_, a.minus, a.plus);
      const PolyRef someB = either(c_, b.minus, b.plus);
      if (someA != nullptr && someB != nullptr) never(orNull(multiply(c_, someA, someB)));
      scaleInfinity(result, a, multiply(c_, realOf(b), finite(b)));
      scaleInfinity(result, b, multiply(c_, realOf(a), finite(a)));
      result.real = multiply(c_, realOf(a), realOf(b));
      // What stands for an infinity may mean nothing: times 0 it is 0.
      const auto clean = [&](PolyRef some, const Value& factor) {
        if (some == nullptr) return;
        const PolyRef zero = multiply(c_, some, whenZero(c_, realOf(factor)));
        result.real = multiply(c_, result.real, negation(c_, zero));
      };
      clean(someA, b);
      clean(someB, a);
      return result;
    }
    case Op::divide: {
      std::vector<Value> plain(values.begin(), values.end());
      never(either(c_, plain[1].minus, plain[1].plus));
      for (Value& value : plain) value.minus = value.plus = nullptr;
      Value applied = apply(op, plain, node);
      append(applied.requirements, result.requirements, one);
      scaleInfinity(applied, a, realOf(values[1]));
      return applied;
    }
    case Op::exp: {
      result.real = expOf(c_, a.real);
      if (a.minus != nullptr) result.real = multiply(c_, result.real, negation(c_, a.minus));
      never(a.plus);
      return result;
    }
    case Op::maximum:
    case Op::minimum: {
      Value x = a;
      Value y = values[1];
      x.real = realOf(x);
      y.real = realOf(y);
      if (op == Op::minimum) {
        x = mirrored(x);
        y = mirrored(y);
      }
      const std::vector<PolyRef> parts{x.real, y.real};
      PolyRef real = maximumOf(c_, parts);
      if (y.minus != nullptr) real = y.minus == one ? x.real : proof::choose(c_, y.minus, x.real, real);
      if (x.minus != nullptr) real = x.minus == one ? y.real : proof::choose(c_, x.minus, y.real, real);
      result.real = real;
      result.minus =
          x.minus != nullptr && y.minus != nullptr ? orNull(multiply(c_, x.minus, y.minus)) : nullptr;
      result.plus = either(c_, x.plus, y.plus);
      return op == Op::minimum ? mirrored(std::move(result)) : result;
    }
    case Op::cast: {
      result.real = a.real;
      result.minus = a.minus;
      result.plus = a.plus;
      if (result.sort != Sort::real) throw GaveUp{"an infinity is cast", false};
      return result;
    }
    default: {  // undefined where infinite
      std::vector<Value> finiteValues(values.begin(), values.end());
      for (Value& value : finiteValues) {
        never(either(c_, value.minus, value.plus));
        value.minus = nullptr;
        value.plus = nullptr;
      }
      Value applied = apply(op, finiteValues, node);
      append(applied.requirements, result.requirements, one);
      return applied;
    }
  }
}

}  // namespace nuscope::proof
