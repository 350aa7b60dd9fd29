#pragma once
// Index arithmetic of the emitted loops: integer expressions that are linear in loop variables and in opaque
// atoms (floor quotients, subscripts read from a tensor). Linear terms cancel, so that the index of a
// reshaped, sliced or transposed operand becomes plain address arithmetic wherever that is possible.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/dim.h"

namespace nuscope::fusion {

/// constant + sum of coefficient * atom. Atoms belong to one IndexSpace.
struct Affine {
  std::int64_t constant = 0;
  std::map<int, std::int64_t> terms;  ///< no zero coefficients

  Affine() = default;
  Affine(std::int64_t value) : constant(value) {}  // NOLINT(google-explicit-constructor)
  static Affine atom(int id) {
    Affine result;
    result.terms[id] = 1;
    return result;
  }
  [[nodiscard]] bool isConstant() const { return terms.empty(); }
  [[nodiscard]] std::int64_t coefficient(int atom) const {
    const auto found = terms.find(atom);
    return found == terms.end() ? 0 : found->second;
  }
  Affine& operator+=(const Affine& other);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator-(const Affine& a, const Affine& b) { return a + b * -1; }
  friend Affine operator*(const Affine& a, std::int64_t factor);
  bool operator==(const Affine&) const = default;
  bool operator<(const Affine& other) const {
    return constant != other.constant ? constant < other.constant : terms < other.terms;
  }
};

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// What an atom stands for.
struct Atom {
  enum class Kind { variable, quotient, product, value } kind = Kind::variable;
  std::string text;    ///< variable, value: as it is printed
  Affine left, right;  ///< quotient: left / right.constant, rounded down; product: left * right
  Range range;
  int depth = 0;            ///< of the deepest block that it depends on; the emitter's business
  bool lanes = false;       ///< has a different value in each lane of a vector
  bool vectorText = false;  ///< value: `text` is a vector of lanes already
};

class IndexSpace {
 public:
  /// A loop variable with values in `range`.
  int variable(std::string text, Range range, int depth, bool lanes = false);
  /// A subscript that is read from memory.
  int value(std::string text, Range range, int depth, bool lanes);

  Affine quotient(const Affine& numerator, std::int64_t divisor);  ///< rounded down; divisor > 0
  Affine remainder(const Affine& numerator, std::int64_t divisor) {
    return numerator - quotient(numerator, divisor) * divisor;
  }
  Affine product(const Affine& a, const Affine& b);

  [[nodiscard]] Range range(const Affine& value) const;
  [[nodiscard]] int depth(const Affine& value) const;
  [[nodiscard]] bool lanes(const Affine& value) const;
  [[nodiscard]] const Atom& atom(int id) const { return atoms_[static_cast<std::size_t>(id)]; }
  void setRange(int id, Range range) { atoms_[static_cast<std::size_t>(id)].range = range; }
  /// Forgets atoms made after `size` was `count`.
  [[nodiscard]] std::size_t size() const { return atoms_.size(); }

  /// C++ text; `lanes` variables stand for their value in lane 0.
  [[nodiscard]] std::string text(const Affine& value) const;
  /// C++ text of the vector of values in all lanes.
  [[nodiscard]] std::string vectorText(const Affine& value) const;

 private:
  int add(Atom atom);
  [[nodiscard]] std::string atomText(int id, bool vector) const;
  [[nodiscard]] std::string sumText(const Affine& value, bool vector) const;
  std::vector<Atom> atoms_;
};

/// Row-major strides of a shape.
std::vector<std::int64_t> stridesOf(const std::vector<std::int64_t>& shape);
std::int64_t countOf(const std::vector<std::int64_t>& shape);
/// The position of `index` in a row-major tensor of that shape.
Affine flatten(const std::vector<Affine>& index, const std::vector<std::int64_t>& shape);
/// The inverse: one index per axis of `shape`. The first axis takes what is left.
std::vector<Affine> unflatten(IndexSpace& space, const Affine& position,
                              const std::vector<std::int64_t>& shape);

}  // namespace nuscope::fusion
