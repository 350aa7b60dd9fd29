#pragma once
// What asserts say about inputs, as far as inputs can be constructed to satisfy them.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::semantics {

/// About every element of one parameter.
struct ElementConstraints {
  std::optional<double> equal;
  std::optional<double> lower, upper;
  bool lowerStrict = false, upperStrict = false;
  std::vector<double> excluded;
  double multipleOf = 0;  ///< 0: any
  double residue = 0;
  bool zeroOrOne = false;
  bool symmetric = false;              ///< x == x.T
  std::vector<std::size_t> sameAlong;  ///< axes along which all elements are equal
};

/// Between parameters, or about a fold of one: repaired after drawing.
struct Relationship {
  enum class Kind : std::uint8_t {
    multiple,     ///< left is a multiple of right, both whole
    order,        ///< left op right, element by element
    productSign,  ///< left * right op 0
    rowExtremum   ///< some element along `axes` of left satisfies op constant (max > c, min < c)
  };
  Kind kind = Kind::order;
  std::string left, right;
  tensor::Op op = tensor::Op::lessEqual;
  double constant = 0;
  std::vector<int> axes;
};

struct InputConstraints {
  std::map<std::string, ElementConstraints> elements;
  std::vector<Relationship> relationships;
  std::map<std::string, std::int64_t> indexBelow;  ///< parameters that index an axis (take), and its extent
};

/// From the conditions of the preconditions; what has no such form is left out (and must be checked).
void collectConstraints(const tensor::Program& program, const tensor::Extents& extents,
                        InputConstraints& into);

}  // namespace nuscope::semantics
