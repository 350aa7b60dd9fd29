#pragma once
// Scalars over the reals: rational numbers, balls where a number is not rational (or has grown too large),
// and the semantics' infinities. The arithmetic behind exact.h.
#include <memory>
#include <string>

#include "core/base/exact.h"
#include "core/semantics/concrete.h"

namespace nuscope::semantics {

class Ball;  ///< owns an arb_t

struct ExactScalar {
  enum class Kind : std::uint8_t { rational, ball, minusInfinity, plusInfinity, undefined, undecided };
  Kind kind = Kind::rational;
  Rational rational;
  std::shared_ptr<const Ball> ball;
  std::shared_ptr<const std::string> why;  ///< of undefined

  [[nodiscard]] bool finite() const { return kind <= Kind::ball; }
  [[nodiscard]] bool infinite() const { return kind == Kind::minusInfinity || kind == Kind::plusInfinity; }
};

class ExactArithmetic {
 public:
  using Value = ExactScalar;

  explicit ExactArithmetic(int precision) : precision_(precision) {}

  class Accumulator {
   public:
    Accumulator(const ExactArithmetic& arithmetic, Fold kind, const Node& node)
        : arithmetic_(arithmetic), kind_(kind), node_(node) {}
    void add(const ExactScalar& term);
    [[nodiscard]] ExactScalar finish() const { return value_; }

   private:
    const ExactArithmetic& arithmetic_;
    Fold kind_;
    const Node& node_;
    bool empty_ = true;
    ExactScalar value_;
  };
  [[nodiscard]] Accumulator accumulator(Fold kind, const Node& node) const { return {*this, kind, node}; }

  [[nodiscard]] static ExactScalar constant(const Node& node);
  [[nodiscard]] static ExactScalar number(std::int64_t value, DType type);
  [[nodiscard]] static ExactScalar rational(Rational value);
  [[nodiscard]] ExactScalar apply(Op op, std::span<const ExactScalar> operands, const Node& node) const;
  [[nodiscard]] static ExactScalar undefined(std::string why);
  [[nodiscard]] static ExactScalar undecided();
  [[nodiscard]] static Truth truth(const ExactScalar& value);
  [[nodiscard]] static std::optional<std::int64_t> integer(const ExactScalar& value);

  /// Rationals that enclose a finite scalar.
  static void enclose(const ExactScalar& value, Rational& lower, Rational& upper);

 private:
  [[nodiscard]] ExactScalar unary(Op op, const ExactScalar& a, const Node& node) const;
  [[nodiscard]] ExactScalar binary(Op op, const ExactScalar& a, const ExactScalar& b) const;
  [[nodiscard]] ExactScalar withInfinity(Op op, const ExactScalar& a, const ExactScalar& b) const;
  [[nodiscard]] ExactScalar arithmetic(Op op, const ExactScalar& a, const ExactScalar& b) const;
  [[nodiscard]] ExactScalar function(Op op, const ExactScalar& a) const;
  [[nodiscard]] ExactScalar power(const ExactScalar& a, int exponent) const;
  [[nodiscard]] ExactScalar compare(Op op, const ExactScalar& a, const ExactScalar& b) const;
  [[nodiscard]] ExactScalar extremum(const ExactScalar& a, const ExactScalar& b, bool maximum) const;
  [[nodiscard]] ExactScalar settle(Rational value) const;  ///< a ball if it has grown too large
  [[nodiscard]] std::shared_ptr<const Ball> toBall(const ExactScalar& value) const;
  int precision_;
};

}  // namespace nuscope::semantics
