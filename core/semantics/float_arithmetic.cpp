#include "core/semantics/float_arithmetic.h"

#include <array>
#include <cmath>
#include <limits>

namespace nuscope::semantics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kFineRoundoff = 0x1p-53;
constexpr double kIntegerLimit = 0x1p53;
constexpr double kInflate = 1 + 0x1p-50;  ///< the bound's own rounding
constexpr double kGrid = 0x1p10;

/// a + b = sum + error, exactly (Knuth).
double sumError(double a, double b, double sum) {
  const double bb = sum - a;
  return (a - (sum - bb)) + (b - bb);
}

/// a * b = product + error, exactly (Dekker) where nothing over- or underflows; else an upper bound of
/// |error|.
double productError(double a, double b, double product) {
  const double magnitude = std::fabs(product);
  if (magnitude < 0x1p-900 || magnitude > 0x1p990 || std::fabs(a) > 0x1p990 || std::fabs(b) > 0x1p990) {
    return magnitude * kFineRoundoff + std::numeric_limits<double>::denorm_min();
  }
  constexpr double split = 0x1p27 + 1;
  const double ca = split * a;
  const double ah = ca - (ca - a);
  const double al = a - ah;
  const double cb = split * b;
  const double bh = cb - (cb - b);
  const double bl = b - bh;
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
}

bool exact(const Number& a) {
  return a.bound == 0;
}
bool exactZero(const Number& a) {
  return a.value == 0 && a.bound == 0;
}
bool infinite(const Number& a) {
  return std::isinf(a.value);
}
bool mayBeZero(const Number& a) {
  return std::fabs(a.value) <= a.bound;
}
Number truthValue(bool value) {
  return {value ? 1.0 : 0.0, 0, State::defined};
}

/// Distance from `value` to the nearest integer, exactly.
double integerDistance(double value) {
  return std::fabs(value - std::nearbyint(value));
}

Number maximum(const Number& a, const Number& b) {
  const Number& high = a.value >= b.value ? a : b;
  const Number& low = a.value >= b.value ? b : a;
  if (infinite(low) || high.value - low.value > (high.bound + low.bound) * kInflate) return high;
  return {high.value, std::max(high.bound, low.bound), State::defined};
}

Number negated(const Number& a) {
  return {-a.value, a.bound, a.state};
}

Number compare(Op op, const Number& a, const Number& b) {
  if (infinite(a) || infinite(b)) return FloatArithmetic::undefined();
  const double bound = a.bound + b.bound;
  if (bound > 0 && !(std::fabs(a.value - b.value) > bound * kInflate)) return FloatArithmetic::undecided();
  switch (op) {
    case Op::less:
      return truthValue(a.value < b.value);
    case Op::lessEqual:
      return truthValue(a.value <= b.value);
    case Op::greater:
      return truthValue(a.value > b.value);
    case Op::greaterEqual:
      return truthValue(a.value >= b.value);
    case Op::equal:
      return truthValue(a.value == b.value);
    default:
      return truthValue(a.value != b.value);
  }
}

Number floorOf(const Number& a) {
  if (!exact(a) && integerDistance(a.value) <= a.bound) return FloatArithmetic::undecided();
  return {std::floor(a.value), 0, State::defined};
}

Number rintOf(const Number& a) {
  if (!exact(a)) {
    const double jump = std::floor(a.value) + 0.5;
    if (std::fabs(a.value) >= 0x1p51 || std::fabs(a.value - jump) <= a.bound)
      return FloatArithmetic::undecided();
  }
  return {std::nearbyint(a.value), 0, State::defined};
}

Number signOf(const Number& a) {
  if (!exact(a) && mayBeZero(a)) return FloatArithmetic::undecided();
  return {a.value > 0 ? 1.0 : (a.value < 0 ? -1.0 : 0.0), 0, State::defined};
}

}  // namespace

FloatArithmetic::FloatArithmetic(double roundoff) : roundoff_(roundoff), fine_(roundoff <= kFineRoundoff) {
  top_ = std::numeric_limits<double>::max();
  smallest_ = std::numeric_limits<double>::denorm_min();
  if (!fine_) {
    const bool half = roundoff == tensor::unitRoundoff(DType::f16);
    top_ = half ? 65504.0 : 0x1.fffffep127;
    smallest_ = half ? 0x1p-24 : 0x1p-126;  // a kernel may flush what is below the normal numbers
  }
  splitter_ = 0x1p53 * roundoff_ + 1;
}

Number FloatArithmetic::undefined(std::string_view) {
  return {kNaN, 0, State::undefined};
}
Number FloatArithmetic::undecided() {
  return {kNaN, 0, State::undecided};
}

Truth FloatArithmetic::truth(const Number& value) {
  if (value.state == State::undefined) return Truth::undefined;
  if (value.state == State::undecided) return Truth::undecided;
  return value.value != 0 ? Truth::yes : Truth::no;
}

std::optional<std::int64_t> FloatArithmetic::integer(const Number& value) {
  if (value.state != State::defined || value.bound != 0 || std::fabs(value.value) > kIntegerLimit)
    return std::nullopt;
  return static_cast<std::int64_t>(value.value);
}

bool FloatArithmetic::representable(double value) const {
  if (fine_) return true;
  const double scaled = splitter_ * value;
  return scaled - (scaled - value) == value;
}

double FloatArithmetic::foldRounding(std::int64_t count, double magnitude) const {
  return std::expm1(static_cast<double>(count) * roundoff_) * magnitude * kInflate;  // (1 + u)^n - 1
}

Number FloatArithmetic::finish(double value, double propagated, double rounding, bool integer) const {
  const double magnitude = std::fabs(value);
  if (!(magnitude <= top_)) return undecided();
  if (integer) return magnitude <= kIntegerLimit ? Number{value, 0, State::defined} : undecided();
  double bound = propagated + std::fabs(rounding);
  if (!fine_ && (bound != 0 || !representable(value))) {
    bound += roundoff_ * magnitude + (magnitude < 0x1p-100 || magnitude < smallest_ * 4 ? smallest_ : 0);
  }
  bound *= kInflate;
  return bound < kInfinity ? Number{value, bound, State::defined} : undecided();
}

Number FloatArithmetic::add(const Number& a, const Number& b, bool integer) const {
  const double sum = a.value + b.value;
  if (infinite(a) || infinite(b)) return std::isnan(sum) ? undefined() : Number{sum, 0, State::defined};
  return finish(sum, a.bound + b.bound, sumError(a.value, b.value, sum), integer);
}

Number FloatArithmetic::multiply(const Number& a, const Number& b, bool integer) const {
  if (exactZero(a) || exactZero(b)) return {0, 0, State::defined};
  if (infinite(a) && infinite(b)) return undefined();
  if (infinite(a) || infinite(b))
    return mayBeZero(infinite(a) ? b : a) ? undecided() : Number{a.value * b.value, 0, State::defined};
  const double product = a.value * b.value;
  if (std::isinf(product)) return undecided();
  const double propagated = std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound + a.bound * b.bound;
  return finish(product, propagated, productError(a.value, b.value, product), integer);
}

Number FloatArithmetic::divide(const Number& a, const Number& b) const {
  if (exactZero(b) || infinite(b)) return undefined();
  if (mayBeZero(b)) return undecided();
  if (infinite(a)) return {a.value / b.value, 0, State::defined};
  if (exactZero(a)) return a;
  const double quotient = a.value / b.value;
  if (std::isinf(quotient)) return undecided();
  const double product = quotient * b.value;
  double rounding = std::fabs(quotient) * kFineRoundoff + std::numeric_limits<double>::denorm_min();
  if (std::fabs(quotient) > 0x1p-900 && std::fabs(a.value) > 0x1p-900 && std::fabs(product) < 0x1p990) {
    rounding = std::fabs(((a.value - product) - productError(quotient, b.value, product)) / b.value);
  }
  const double divisor = std::fabs(b.value) - b.bound;
  const double propagated =
      a.bound == 0 && b.bound == 0 ? 0 : (a.bound + std::fabs(quotient) * b.bound) / divisor * (1 + 0x1p-48);
  return finish(quotient, propagated, rounding, false);
}

Number FloatArithmetic::floorDivide(const Number& a, const Number& b, bool integer) const {
  if (exactZero(b)) return undefined();
  if (infinite(a) || infinite(b)) return undefined();
  if (!exact(a) || !exact(b)) {
    const Number quotient = divide(a, b);
    return quotient.state == State::defined ? floorOf(quotient) : quotient;
  }
  double rest = std::fmod(a.value, b.value);  // exact
  double quotient = std::nearbyint((a.value - rest) / b.value);
  if (rest != 0 && (rest < 0) != (b.value < 0)) quotient -= 1;
  if (std::fabs(quotient) > 0x1p51) return undecided();
  return finish(quotient, 0, 0, integer);
}

Number FloatArithmetic::modulo(const Number& a, const Number& b, bool integer) const {
  if (exactZero(b)) return undefined();
  if (infinite(a) || infinite(b)) return undefined();
  const Number quotient = floorDivide(a, b, integer);
  if (quotient.state != State::defined) return quotient;
  const double rest = std::fmod(a.value, b.value);
  double value = rest;
  if (rest != 0 && (rest < 0) != (b.value < 0)) value += b.value;
  if (!exact(a) || !exact(b)) value = a.value - quotient.value * b.value;
  double rounding = sumError(rest, b.value, value);
  if (value == rest) rounding = 0;
  if (!exact(a) || !exact(b)) {
    rounding = kFineRoundoff * 2 * (std::fabs(quotient.value * b.value) + std::fabs(value));
  }
  return finish(value, a.bound + std::fabs(quotient.value) * b.bound, rounding, integer);
}

Number FloatArithmetic::function(Op op, const Number& a) const {
  const double x = a.value;
  const double ulps = 4 * roundoff_;
  // 4 u for the function itself; finish adds the rounding of a coarser type once more, which does no harm.
  const auto result = [&](double value, double propagated, double scale) {
    return finish(value, propagated, ulps * scale, false);
  };
  switch (op) {
    case Op::exp: {
      if (infinite(a)) return x < 0 ? Number{0, 0, State::defined} : undefined();
      if (exactZero(a)) return {1, 0, State::defined};
      const double value = std::exp(x);
      const double propagated = a.bound == 0 ? 0 : value * std::expm1(a.bound) + (value == 0 ? smallest_ : 0);
      Number number = result(value, propagated, value);
      if (value < 0x1p-900) number.bound += smallest_;
      return number;
    }
    case Op::log:
      if (infinite(a) || (x <= 0 && x + a.bound <= 0)) return undefined();
      if (x <= a.bound) return undecided();
      if (x == 1 && exact(a)) return {0, 0, State::defined};
      return result(std::log(x), -std::log1p(-a.bound / x) * (1 + 0x1p-40), std::fabs(std::log(x)));
    case Op::sqrt: {
      if (infinite(a) || (x < 0 && x + a.bound < 0)) return undefined();
      if (exactZero(a)) return a;
      if (x - a.bound < 0 || x <= 0) return undecided();
      const double root = std::sqrt(x);
      const double square = root * root;
      double rounding = root * kFineRoundoff;
      if (x > 0x1p-800) rounding = std::fabs((x - square) - productError(root, root, square)) / root;
      return finish(root, a.bound / root, rounding, false);
    }
    case Op::tanh: {
      if (infinite(a)) return undefined();
      if (exactZero(a)) return a;
      const double nearest = std::tanh(std::max(0.0, std::fabs(x) - a.bound));
      return result(std::tanh(x), a.bound * (1 - nearest * nearest) + a.bound * 0x1p-48,
                    std::fabs(std::tanh(x)));
    }
    case Op::sin:
      if (infinite(a)) return undefined();
      if (exactZero(a)) return a;
      return result(std::sin(x), a.bound * std::min(1.0, std::fabs(std::cos(x)) + a.bound + 0x1p-48),
                    std::min(1.0, std::fabs(x)));
    default:  // cos
      if (infinite(a)) return undefined();
      if (exactZero(a)) return {1, 0, State::defined};
      return result(std::cos(x), a.bound * std::min(1.0, std::fabs(std::sin(x)) + a.bound + 0x1p-48), 1);
  }
}

Number FloatArithmetic::cast(const Number& a, const Node& node) const {
  const DType from = node.operands[0]->dtype;
  switch (tensor::sort(node.dtype)) {
    case tensor::Sort::real:
      if (infinite(a)) return a;
      return finish(a.value, a.bound, 0, false);
    case tensor::Sort::condition:
      if (infinite(a)) return undefined();
      if (!exact(a) && mayBeZero(a)) return undecided();
      return truthValue(a.value != 0);
    default:
      break;
  }
  if (infinite(a)) return undefined();
  if (!tensor::isReal(from)) return a;
  const double value = std::trunc(a.value);
  if (exact(a) || std::fabs(a.value) + a.bound < 1) return finish(value, 0, 0, true);
  const bool near = std::nearbyint(a.value) != 0 && integerDistance(a.value) <= a.bound;
  if (near || std::fabs(a.value) >= kIntegerLimit) return undecided();
  // The other way round: an integer jump within the bound that is not the nearest integer needs a bound >=
  // 1/2.
  return a.bound < 0.5 ? finish(value, 0, 0, true) : undecided();
}

Number FloatArithmetic::unary(Op op, const Number& a, const Node& node) const {
  if (a.state != State::defined) return a;
  switch (op) {
    case Op::negate:
      return negated(a);
    case Op::logicalNot:
      return truthValue(a.value == 0);
    case Op::cast:
      return cast(a, node);
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
      return function(op, a);
    default:
      break;
  }
  if (infinite(a)) return undefined();
  switch (op) {
    case Op::abs:
      return {std::fabs(a.value), a.bound, State::defined};
    case Op::sign:
      return signOf(a);
    case Op::floor:
      return floorOf(a);
    case Op::rint:
      return rintOf(a);
    case Op::power: {
      const bool integer = tensor::sort(node.dtype) == tensor::Sort::integer;
      Number result{1, 0, State::defined};
      Number square = a;
      for (int n = node.attributes.index; n > 0 && result.state == State::defined; n >>= 1) {
        if (n & 1) result = multiply(result, square, integer);
        if (n > 1) square = multiply(square, square, integer);
        if (square.state != State::defined) return square;
      }
      return result;
    }
    default:
      throw InternalError("float evaluation: " + std::string(tensor::name(op)) + " is not unary");
  }
}

Number FloatArithmetic::binary(Op op, const Number& a, const Number& b, bool integer) const {
  if (a.state != State::defined || b.state != State::defined) {
    return a.state == State::undefined || b.state == State::undefined ? undefined() : undecided();
  }
  switch (op) {
    case Op::add:
      return add(a, b, integer);
    case Op::subtract:
      return add(a, negated(b), integer);
    case Op::multiply:
      return multiply(a, b, integer);
    case Op::divide:
      return divide(a, b);
    case Op::floorDivide:
      return floorDivide(a, b, integer);
    case Op::modulo:
      return modulo(a, b, integer);
    case Op::maximum:
      return maximum(a, b);
    case Op::minimum:
      return negated(maximum(negated(a), negated(b)));
    case Op::logicalAnd:
      return truthValue(a.value != 0 && b.value != 0);
    case Op::logicalOr:
      return truthValue(a.value != 0 || b.value != 0);
    default:
      return compare(op, a, b);
  }
}

Number FloatArithmetic::apply(Op op, std::span<const Number> operands, const Node& node) const {
  if (operands.size() == 1) return unary(op, operands[0], node);
  return binary(op, operands[0], operands[1], tensor::sort(node.dtype) == tensor::Sort::integer);
}

Number FloatArithmetic::constant(const Node& node) const {
  if (node.attributes.infinity != 0) return {node.attributes.infinity * kInfinity, 0, State::defined};
  const Rational& wanted = node.attributes.value;
  double value = wanted.get_d();  // towards zero
  if (!std::isfinite(value)) return undecided();
  Rational error = abs(wanted - Rational(value));
  const double next = std::nextafter(value, wanted < 0 ? -kInfinity : kInfinity);
  if (error != 0 && std::isfinite(next) && abs(wanted - Rational(next)) < error) {
    value = next;
    error = abs(wanted - Rational(next));
  }
  const double bound = error == 0 ? 0 : std::nextafter(error.get_d(), kInfinity);
  if (tensor::sort(node.dtype) != tensor::Sort::real)
    return bound == 0 ? Number{value, 0, State::defined} : undecided();
  return finish(value, 0, bound, false);
}

Number FloatArithmetic::number(std::int64_t value, DType type) const {
  const auto real = static_cast<double>(value);
  if (std::fabs(real) > kIntegerLimit) return undecided();
  return finish(real, 0, 0, tensor::sort(type) != tensor::Sort::real);
}

void FloatArithmetic::Accumulator::addToSum(const Number& term) {
  const double sum = value_.value + term.value;
  if (infinite(value_) || infinite(term)) {
    value_ = std::isnan(sum) ? undefined() : Number{sum, 0, State::defined};
    return;
  }
  if (std::isinf(sum)) {
    value_ = undecided();
    return;
  }
  const double scaled = term.value * kGrid;
  onGrid_ = onGrid_ && term.bound == 0 && scaled == std::nearbyint(scaled);
  magnitude_ += std::fabs(term.value);
  value_.bound += term.bound + std::fabs(sumError(value_.value, term.value, sum));
  value_.value = sum;
}

void FloatArithmetic::Accumulator::add(const Number& term) {
  if (count_++ == 0) {
    value_ = term;
    if (kind_ == Fold::sum && term.state == State::defined && !infinite(term)) {
      value_ = {};
      addToSum(term);
    }
    return;
  }
  if (value_.state == State::undefined) return;
  if (term.state != State::defined || value_.state != State::defined) {
    value_ = term.state == State::undefined ? undefined() : undecided();
    return;
  }
  switch (kind_) {
    case Fold::sum:
      addToSum(term);
      break;
    case Fold::product:
      value_ = arithmetic_.multiply(value_, term, integer_);
      break;
    case Fold::max:
      value_ = maximum(value_, term);
      break;
    case Fold::min:
      value_ = negated(maximum(negated(value_), negated(term)));
      break;
    case Fold::all:
      value_ = truthValue(value_.value != 0 && term.value != 0);
      break;
  }
}

Number FloatArithmetic::Accumulator::finish() const {
  if (kind_ != Fold::sum || value_.state != State::defined || infinite(value_) || count_ == 1) return value_;
  if (!(std::fabs(value_.value) <= arithmetic_.top_)) return undecided();
  if (integer_) return magnitude_ <= kIntegerLimit ? Number{value_.value, 0, State::defined} : undecided();
  double bound = value_.bound;
  if (!arithmetic_.fine_ && !(onGrid_ && arithmetic_.exactOnGrid(magnitude_))) {
    bound += arithmetic_.foldRounding(count_ - 1, magnitude_);
  }
  bound *= kInflate + static_cast<double>(count_) * 0x1p-52;
  return bound < kInfinity ? Number{value_.value, bound, State::defined} : undecided();
}

}  // namespace nuscope::semantics
