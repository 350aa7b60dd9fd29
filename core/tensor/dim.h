#pragma once
// Symbolic integers: extents of tensors, bounds of slices, loop counters.
//
// A Dim is a canonical polynomial with integer coefficients over atoms. An atom is a symbol or a floor
// quotient floor(numerator / denominator). A symbol is a *dimension* (any integer >= 1, the same at all its
// occurrences) or, when its name starts with '@', the *counter* of a symbolic loop (0 <= counter < extent).
// There is no modulo: a % b is a - b * floor(a / b). Two Dims that are equal as polynomials compare equal;
// the reverse does not hold in the presence of facts and quotients (see dim_facts.h). Coefficients are 64-bit
// and checked: overflow throws UserError. Proofs do not compute in this type; they convert it to arbitrary
// precision (core/proof).
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope::tensor {

class Dim;
struct Quotient;

/// Extents by name, e.g. {"M": 512, "K": 1024}; loop counters while a loop is evaluated.
using Extents = std::map<std::string, std::int64_t, std::less<>>;

class Dim {
 public:
  struct Atom {
    std::string symbol;                        ///< empty for a quotient
    std::shared_ptr<const Quotient> quotient;  ///< null for a symbol
    std::strong_ordering operator<=>(const Atom& other) const;
    bool operator==(const Atom& other) const { return (*this <=> other) == std::strong_ordering::equal; }
  };
  using Monomial = std::vector<Atom>;  ///< sorted, with repetition for powers; empty: the constant term
  using Terms = std::map<Monomial, std::int64_t>;  ///< no zero coefficients

  Dim(std::int64_t constant = 0);  // NOLINT(google-explicit-constructor): 2 * K + 1 should read so
  static Dim symbol(std::string name);

  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] bool isConstant() const;
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  [[nodiscard]] bool isOne() const { return constant() == 1; }
  /// The symbol's name if this is one symbol with coefficient 1.
  [[nodiscard]] std::optional<std::string> asSymbol() const;
  void collectSymbols(std::set<std::string>& into) const;
  [[nodiscard]] bool mentions(std::string_view symbol) const;

  /// Symbols replaced simultaneously, also inside quotients.
  [[nodiscard]] Dim substitute(const std::map<std::string, Dim>& values) const;
  /// Throws UserError when a symbol has no extent, a divisor is 0, or the value leaves 63 bits.
  [[nodiscard]] std::int64_t evaluate(const Extents& extents) const;
  /// Python text that parses back: "4*K + 1", "N // 4".
  [[nodiscard]] std::string text() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  Dim operator-() const { return Dim(0) - *this; }
  std::strong_ordering operator<=>(const Dim& other) const;
  bool operator==(const Dim& other) const { return (*this <=> other) == std::strong_ordering::equal; }

 private:
  friend Dim floorDiv(const Dim&, const Dim&);
  void add(const Monomial& monomial, std::int64_t coefficient);
  Terms terms_;
};

struct Quotient {
  Dim numerator;
  Dim denominator;
};

/// floor(a / b), simplified where that holds for all values: multiples of b leave the quotient if b is a
/// positive constant or a product of dimensions. Throws UserError if b is the constant 0.
Dim floorDiv(const Dim& a, const Dim& b);
inline Dim modulo(const Dim& a, const Dim& b) {
  return a - b * floorDiv(a, b);
}

using Shape = std::vector<Dim>;
std::string text(const Shape& shape);  ///< "[M, K]", "[]" for a scalar
Dim product(const Shape& shape);
std::vector<std::int64_t> evaluate(const Shape& shape, const Extents& extents);

inline bool isCounter(std::string_view symbol) {
  return symbol.starts_with('@');
}

}  // namespace nuscope::tensor
