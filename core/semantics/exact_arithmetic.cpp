#include "core/semantics/exact_arithmetic.h"

#include <arb.h>
#include <flint/fmpq.h>

#include <array>

namespace nuscope::semantics {

class Ball {
 public:
  Ball() { arb_init(value); }
  ~Ball() { arb_clear(value); }
  Ball(const Ball&) = delete;
  Ball& operator=(const Ball&) = delete;
  arb_t value;
};

namespace {

using Kind = ExactScalar::Kind;

constexpr std::size_t kLargestRational = std::size_t{1}
                                         << 14;  ///< bits of numerator and denominator together
constexpr long kLargestExponent = 1 << 17;       ///< of balls, so that their ends fit in memory

std::size_t bits(const Integer& value) {
  return mpz_sizeinbase(value.get_mpz_t(), 2);
}

ExactScalar infinity(bool positive) {
  ExactScalar result;
  result.kind = positive ? Kind::plusInfinity : Kind::minusInfinity;
  return result;
}

ExactScalar truthValue(bool value) {
  return ExactArithmetic::rational(value ? 1 : 0);
}

/// A ball as a scalar; undecided if it says nothing.
ExactScalar fromBall(std::shared_ptr<Ball> ball) {
  if (!arb_is_finite(ball->value)) return ExactArithmetic::undecided();
  const bool zero = arf_is_zero(arb_midref(ball->value)) != 0;
  if (!zero && (arf_cmpabs_2exp_si(arb_midref(ball->value), kLargestExponent) > 0 ||
                arf_cmpabs_2exp_si(arb_midref(ball->value), -kLargestExponent) < 0)) {
    return ExactArithmetic::undecided();
  }
  ExactScalar result;
  result.kind = Kind::ball;
  result.ball = std::move(ball);
  return result;
}

Rational fromArf(const arf_t value) {
  fmpq_t fraction;
  fmpq_init(fraction);
  arf_get_fmpq(fraction, value);
  Rational result;
  fmpq_get_mpq(result.get_mpq_t(), fraction);
  fmpq_clear(fraction);
  return result;
}

/// Sign of a finite scalar; empty if a ball leaves it open.
std::optional<int> signOf(const ExactScalar& a) {
  if (a.kind == Kind::rational) return sgn(a.rational);
  if (arb_is_positive(a.ball->value)) return 1;
  if (arb_is_negative(a.ball->value)) return -1;
  if (arb_is_zero(a.ball->value)) return 0;
  return std::nullopt;
}

Integer floorOf(const Rational& value) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

Integer truncated(const Rational& value) {
  Integer result;
  mpz_tdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

/// Nearest integer, ties to even.
Integer rintOf(const Rational& value) {
  const Integer below = floorOf(value);
  const Rational rest = value - below;
  const Rational half(1, 2);
  if (rest < half) return below;
  if (rest > half) return below + 1;
  return mpz_even_p(below.get_mpz_t()) != 0 ? below : Integer(below + 1);
}

/// f of every number in the enclosure, if it is one integer.
template <class F>
ExactScalar jump(const ExactScalar& a, F f) {
  if (a.kind == Kind::rational) return ExactArithmetic::rational(Rational(f(a.rational)));
  Rational lower;
  Rational upper;
  ExactArithmetic::enclose(a, lower, upper);
  if (bits(lower.get_num()) > kLargestRational) return ExactArithmetic::undecided();
  const Integer value = f(lower);
  return value == f(upper) ? ExactArithmetic::rational(Rational(value)) : ExactArithmetic::undecided();
}

std::string shortText(const ExactScalar& a) {
  if (a.kind == Kind::rational) {
    const std::string text = decimalText(a.rational);
    return text.size() <= 16 ? text : std::to_string(a.rational.get_d());
  }
  if (a.infinite()) return a.kind == Kind::plusInfinity ? "\u221E" : "-\u221E";
  return std::to_string(arf_get_d(arb_midref(a.ball->value), ARF_RND_NEAR));
}

ExactScalar negated(const ExactScalar& a) {
  if (a.infinite()) return infinity(a.kind == Kind::minusInfinity);
  if (a.kind == Kind::rational) return ExactArithmetic::rational(-a.rational);
  auto result = std::make_shared<Ball>();
  arb_neg(result->value, a.ball->value);
  return fromBall(std::move(result));
}

}  // namespace

ExactScalar ExactArithmetic::rational(Rational value) {
  ExactScalar result;
  result.rational = std::move(value);
  return result;
}

ExactScalar ExactArithmetic::undefined(std::string why) {
  ExactScalar result;
  result.kind = Kind::undefined;
  result.why = std::make_shared<const std::string>(std::move(why));
  return result;
}

ExactScalar ExactArithmetic::undecided() {
  ExactScalar result;
  result.kind = Kind::undecided;
  return result;
}

Truth ExactArithmetic::truth(const ExactScalar& value) {
  if (value.kind == Kind::undefined) return Truth::undefined;
  if (value.kind != Kind::rational) return Truth::undecided;
  return value.rational != 0 ? Truth::yes : Truth::no;
}

std::optional<std::int64_t> ExactArithmetic::integer(const ExactScalar& value) {
  if (value.kind != Kind::rational || value.rational.get_den() != 1 ||
      !value.rational.get_num().fits_slong_p()) {
    return std::nullopt;
  }
  return value.rational.get_num().get_si();
}

void ExactArithmetic::enclose(const ExactScalar& value, Rational& lower, Rational& upper) {
  if (value.kind == Kind::rational) {
    lower = upper = value.rational;
    return;
  }
  arf_t a;
  arf_t b;
  arf_init(a);
  arf_init(b);
  arb_get_interval_arf(a, b, value.ball->value, 1280);
  lower = fromArf(a);
  upper = fromArf(b);
  arf_clear(a);
  arf_clear(b);
}

std::shared_ptr<const Ball> ExactArithmetic::toBall(const ExactScalar& value) const {
  if (value.kind == Kind::ball) return value.ball;
  auto ball = std::make_shared<Ball>();
  fmpq_t fraction;
  fmpq_init(fraction);
  fmpq_set_mpq(fraction, value.rational.get_mpq_t());
  arb_set_fmpq(ball->value, fraction, precision_);
  fmpq_clear(fraction);
  return ball;
}

ExactScalar ExactArithmetic::settle(Rational value) const {
  if (bits(value.get_num()) + bits(value.get_den()) <= kLargestRational) return rational(std::move(value));
  ExactScalar result;
  result.kind = Kind::ball;
  result.ball = toBall(rational(std::move(value)));
  return result;
}

ExactScalar ExactArithmetic::constant(const Node& node) {
  if (node.attributes.infinity != 0) return infinity(node.attributes.infinity > 0);
  return rational(node.attributes.value);
}

ExactScalar ExactArithmetic::number(std::int64_t value, DType) {
  return rational(Rational(Integer(static_cast<long>(value))));
}

/// +, -, * and / of finite scalars; the divisor is not zero.
ExactScalar ExactArithmetic::arithmetic(Op op, const ExactScalar& a, const ExactScalar& b) const {
  if (a.kind == Kind::rational && b.kind == Kind::rational) {
    switch (op) {
      case Op::add:
        return settle(a.rational + b.rational);
      case Op::subtract:
        return settle(a.rational - b.rational);
      case Op::multiply:
        return settle(a.rational * b.rational);
      default:
        return settle(a.rational / b.rational);
    }
  }
  const auto zero = [](const ExactScalar& x) { return x.kind == Kind::rational && x.rational == 0; };
  if (zero(a) && (op == Op::multiply || op == Op::divide)) return a;
  if (zero(b) && op != Op::divide) return op == Op::multiply ? b : a;
  const auto x = toBall(a);
  const auto y = toBall(b);
  auto result = std::make_shared<Ball>();
  switch (op) {
    case Op::add:
      arb_add(result->value, x->value, y->value, precision_);
      break;
    case Op::subtract:
      arb_sub(result->value, x->value, y->value, precision_);
      break;
    case Op::multiply:
      arb_mul(result->value, x->value, y->value, precision_);
      break;
    default:
      arb_div(result->value, x->value, y->value, precision_);
      break;
  }
  return fromBall(std::move(result));
}

ExactScalar ExactArithmetic::extremum(const ExactScalar& a, const ExactScalar& b, bool maximum) const {
  const Kind least = maximum ? Kind::minusInfinity : Kind::plusInfinity;
  if (a.kind == least) return b;
  if (b.kind == least) return a;
  if (a.infinite()) return a;
  if (b.infinite()) return b;
  if (a.kind == Kind::rational && b.kind == Kind::rational)
    return (a.rational < b.rational) == maximum ? b : a;
  const auto x = toBall(a);
  const auto y = toBall(b);
  if (arb_lt(x->value, y->value)) return maximum ? b : a;
  if (arb_gt(x->value, y->value)) return maximum ? a : b;
  auto result = std::make_shared<Ball>();
  if (maximum) {
    arb_max(result->value, x->value, y->value, precision_);
  } else {
    arb_min(result->value, x->value, y->value, precision_);
  }
  return fromBall(std::move(result));
}

ExactScalar ExactArithmetic::compare(Op op, const ExactScalar& a, const ExactScalar& b) const {
  const ExactScalar difference = arithmetic(Op::subtract, a, b);
  const auto sign = difference.finite() ? signOf(difference) : std::nullopt;
  if (!sign) return undecided();
  switch (op) {
    case Op::less:
      return truthValue(*sign < 0);
    case Op::lessEqual:
      return truthValue(*sign <= 0);
    case Op::greater:
      return truthValue(*sign > 0);
    case Op::greaterEqual:
      return truthValue(*sign >= 0);
    case Op::equal:
      return truthValue(*sign == 0);
    default:
      return truthValue(*sign != 0);
  }
}

ExactScalar ExactArithmetic::power(const ExactScalar& a, int exponent) const {
  if (exponent == 0) return rational(1);
  if (a.kind == Kind::ball) {
    auto result = std::make_shared<Ball>();
    arb_pow_ui(result->value, a.ball->value, static_cast<ulong>(exponent), precision_);
    return fromBall(std::move(result));
  }
  ExactScalar result = rational(1);
  for (int i = 0; i < exponent; ++i) {
    result = arithmetic(Op::multiply, result, a);
    if (result.kind == Kind::ball) return power({Kind::ball, {}, toBall(a), {}}, exponent);
  }
  return result;
}

ExactScalar ExactArithmetic::function(Op op, const ExactScalar& a) const {
  const auto sign = signOf(a);
  if (op == Op::log) {
    if (sign && *sign <= 0) return undefined("log(" + shortText(a) + ")");
    if (!sign) return undecided();
    if (a.kind == Kind::rational && a.rational == 1) return rational(0);
  }
  if (op == Op::sqrt) {
    if (sign && *sign < 0) return undefined("sqrt(" + shortText(a) + ")");
    if (!sign) return undecided();
    if (a.kind == Kind::rational && mpz_perfect_square_p(a.rational.get_num_mpz_t()) != 0 &&
        mpz_perfect_square_p(a.rational.get_den_mpz_t()) != 0) {
      return rational(Rational(sqrt(a.rational.get_num()), sqrt(a.rational.get_den())));
    }
  }
  if (a.kind == Kind::rational && a.rational == 0) return rational(op == Op::exp || op == Op::cos ? 1 : 0);
  const auto x = toBall(a);
  auto result = std::make_shared<Ball>();
  switch (op) {
    case Op::exp:
      arb_exp(result->value, x->value, precision_);
      break;
    case Op::log:
      arb_log(result->value, x->value, precision_);
      break;
    case Op::sqrt:
      arb_sqrt(result->value, x->value, precision_);
      break;
    case Op::tanh:
      arb_tanh(result->value, x->value, precision_);
      break;
    case Op::sin:
      arb_sin(result->value, x->value, precision_);
      break;
    default:
      arb_cos(result->value, x->value, precision_);
      break;
  }
  return fromBall(std::move(result));
}

ExactScalar ExactArithmetic::unary(Op op, const ExactScalar& a, const Node& node) const {
  if (op == Op::negate) return negated(a);
  if (op == Op::cast && a.infinite() && tensor::isReal(node.dtype)) return a;
  if (op == Op::exp && a.kind == Kind::minusInfinity) return rational(0);
  if (op == Op::power && node.attributes.index == 0) return rational(1);
  if (a.infinite()) return undefined(std::string(tensor::name(op)) + "(" + shortText(a) + ")");
  switch (op) {
    case Op::logicalNot:
      return truthValue(a.rational == 0);
    case Op::power:
      return power(a, node.attributes.index);
    case Op::floor:
      return jump(a, floorOf);
    case Op::rint:
      return jump(a, rintOf);
    case Op::sign: {
      const auto sign = signOf(a);
      return sign ? rational(*sign) : undecided();
    }
    case Op::abs: {
      const auto sign = signOf(a);
      if (sign) return *sign < 0 ? negated(a) : a;
      auto result = std::make_shared<Ball>();
      arb_abs(result->value, a.ball->value);
      return fromBall(std::move(result));
    }
    case Op::cast:
      if (node.dtype == DType::boolean) {
        const auto sign = signOf(a);
        return sign ? truthValue(*sign != 0) : undecided();
      }
      return tensor::isReal(node.dtype) ? a : jump(a, truncated);
    default:
      return function(op, a);
  }
}

/// Where at least one operand is an infinity of the semantics.
ExactScalar ExactArithmetic::withInfinity(Op op, const ExactScalar& a, const ExactScalar& b) const {
  switch (op) {
    case Op::add:
      if (a.infinite() && b.infinite() && a.kind != b.kind) return undefined("\u221E - \u221E");
      return a.infinite() ? a : b;
    case Op::subtract:
      return withInfinity(Op::add, a, negated(b));
    case Op::maximum:
      return extremum(a, b, true);
    case Op::minimum:
      return extremum(a, b, false);
    case Op::multiply: {
      if (a.infinite() && b.infinite()) break;
      const auto sign = signOf(a.infinite() ? b : a);
      if (!sign) return undecided();
      if (*sign == 0) return rational(0);
      return infinity((*sign > 0) == ((a.infinite() ? a : b).kind == Kind::plusInfinity));
    }
    case Op::divide: {
      if (b.infinite()) break;
      const auto sign = signOf(b);
      if (!sign) return undecided();
      return infinity((*sign > 0) == (a.kind == Kind::plusInfinity));
    }
    default:
      break;
  }
  return undefined(shortText(a) + " " + std::string(tensor::symbol(op)) + " " + shortText(b));
}

ExactScalar ExactArithmetic::binary(Op op, const ExactScalar& a, const ExactScalar& b) const {
  const bool division = op == Op::divide || op == Op::floorDivide || op == Op::modulo;
  if (division && b.kind == Kind::rational && b.rational == 0) {
    return undefined(shortText(a) +
                     std::string(op == Op::divide   ? "/"
                                 : op == Op::modulo ? " % "
                                                    : " // ") +
                     "0");
  }
  if (a.infinite() || b.infinite()) return withInfinity(op, a, b);
  if (division && !signOf(b)) return undecided();
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
      return arithmetic(op, a, b);
    case Op::floorDivide:
    case Op::modulo: {
      const ExactScalar quotient = arithmetic(Op::divide, a, b);
      if (!quotient.finite()) return quotient;
      const ExactScalar whole = jump(quotient, floorOf);
      if (op == Op::floorDivide || !whole.finite()) return whole;
      return arithmetic(Op::subtract, a, arithmetic(Op::multiply, b, whole));
    }
    case Op::maximum:
      return extremum(a, b, true);
    case Op::minimum:
      return extremum(a, b, false);
    case Op::logicalAnd:
      return truthValue(a.rational != 0 && b.rational != 0);
    case Op::logicalOr:
      return truthValue(a.rational != 0 || b.rational != 0);
    default:
      return compare(op, a, b);
  }
}

ExactScalar ExactArithmetic::apply(Op op, std::span<const ExactScalar> operands, const Node& node) const {
  for (const ExactScalar& operand : operands) {
    if (operand.kind == Kind::undefined) return operand;
  }
  for (const ExactScalar& operand : operands) {
    if (operand.kind == Kind::undecided) return operand;
  }
  return operands.size() == 1 ? unary(op, operands[0], node) : binary(op, operands[0], operands[1]);
}

void ExactArithmetic::Accumulator::add(const ExactScalar& term) {
  if (empty_) {
    value_ = term;
    empty_ = false;
    return;
  }
  constexpr std::array<Op, 5> ops{Op::add, Op::multiply, Op::maximum, Op::minimum, Op::logicalAnd};
  const std::array<ExactScalar, 2> pair{value_, term};
  value_ = arithmetic_.apply(ops[static_cast<std::size_t>(kind_)], pair, node_);
}

}  // namespace nuscope::semantics
