#pragma once
// Float64 scalars with a running error bound and definedness; the rules are those of evaluate.h and
// tensor/graph.h.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/semantics/concrete.h"
#include "core/semantics/evaluate.h"

namespace nuscope::semantics {

/// A scalar. An infinity in `value` is the semantics' own (a guarded element), never an overflow.
struct Number {
  double value = 0;
  double bound = 0;
  State state = State::defined;
};

class FloatArithmetic {
 public:
  using Value = Number;

  explicit FloatArithmetic(double roundoff);

  /// Folds in the order of `add`; the bound covers every order where the roundoff is coarser than float64's.
  class Accumulator {
   public:
    Accumulator(const FloatArithmetic& arithmetic, Fold kind, bool integer)
        : arithmetic_(arithmetic), kind_(kind), integer_(integer) {}
    void add(const Number& term);
    [[nodiscard]] Number finish() const;

   private:
    void addToSum(const Number& term);
    const FloatArithmetic& arithmetic_;
    Fold kind_;
    bool integer_;
    bool onGrid_ = true;  ///< all terms exact multiples of 2^-10
    std::int64_t count_ = 0;
    double magnitude_ = 0;  ///< sum |terms|
    Number value_;
  };
  [[nodiscard]] Accumulator accumulator(Fold kind, const Node& node) const {
    return {*this, kind, tensor::sort(node.dtype) == tensor::Sort::integer};
  }

  [[nodiscard]] Number constant(const Node& node) const;
  [[nodiscard]] Number number(std::int64_t value, DType type) const;
  [[nodiscard]] Number apply(Op op, std::span<const Number> operands, const Node& node) const;
  [[nodiscard]] Number unary(Op op, const Number& a, const Node& node) const;
  [[nodiscard]] Number binary(Op op, const Number& a, const Number& b, bool integer) const;
  [[nodiscard]] static Number undefined(std::string_view = {});
  [[nodiscard]] static Number undecided();
  [[nodiscard]] static Truth truth(const Number& value);
  [[nodiscard]] static std::optional<std::int64_t> integer(const Number& value);

  [[nodiscard]] double roundoff() const { return roundoff_; }
  /// Bound of the rounding in a sum of `count` products or terms whose magnitudes sum to `magnitude`.
  [[nodiscard]] double foldRounding(std::int64_t count, double magnitude) const;
  /// A sum of terms on the grid 2^-10 with this magnitude is exact in every order.
  [[nodiscard]] bool exactOnGrid(double magnitude) const { return magnitude <= 0x1p-11 / roundoff_; }
  /// Largest finite number of the type that the roundoff stands for.
  [[nodiscard]] double top() const { return top_; }

 private:
  [[nodiscard]] Number finish(double value, double propagated, double rounding, bool integer) const;
  [[nodiscard]] bool representable(double value) const;
  [[nodiscard]] Number add(const Number& a, const Number& b, bool integer) const;
  [[nodiscard]] Number multiply(const Number& a, const Number& b, bool integer) const;
  [[nodiscard]] Number divide(const Number& a, const Number& b) const;
  [[nodiscard]] Number floorDivide(const Number& a, const Number& b, bool integer) const;
  [[nodiscard]] Number modulo(const Number& a, const Number& b, bool integer) const;
  [[nodiscard]] Number function(Op op, const Number& a) const;
  [[nodiscard]] Number cast(const Number& a, const Node& node) const;

  double roundoff_;
  bool fine_;  ///< float64: rounding is taken as it happened
  double top_;
  double smallest_;  ///< absolute error of an underflow
  double splitter_;  ///< Veltkamp's constant for the precision of the roundoff
};

}  // namespace nuscope::semantics
