#pragma once
// What an expression of a program is while it is checked: a tensor (a node), or something that is known now.
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/exact.h"
#include "core/language/syntax.h"
#include "core/tensor/graph.h"

namespace nuscope::language {

struct Value {
  enum class Kind {
    poison,  ///< faulty; reported already, so whatever depends on it says nothing
    tensor,
    number,  ///< a literal, or arithmetic of literals: exact, takes the type of the other operand
    dim,     ///< an integer made of extents and loop counters
    boolean,
    none,
    text,
    ellipsis,
    tuple,    ///< also a list
    type,     ///< np.float32 and the like
    function  ///< a helper
  };
  Kind kind = Kind::poison;
  tensor::NodeRef node = nullptr;
  bool weak =
      false;  ///< tensor: made of literals and extents only, so its real type follows the other operand
  bool python = false;  ///< tensor: a number of Python when NumPy runs the text, e.g. 1 / M: has no methods
  Rational number;
  int infinity = 0;   ///< number: -1 or 1 for -np.inf and np.inf
  bool real = false;  ///< number: written as a real (2.0, not 2)
  bool truth = false;
  tensor::Dim dim;
  std::vector<Value> items;
  std::string text;
  tensor::DType dtype = tensor::DType::f32;
  const Statement* function = nullptr;

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  [[nodiscard]] bool poisoned() const { return kind == Kind::poison; }
  /// A number of Python, not of NumPy.
  [[nodiscard]] bool plainPython() const {
    return kind == Kind::number || kind == Kind::dim || kind == Kind::boolean ||
           (kind == Kind::tensor && python);
  }
  /// An integer that is known now.
  [[nodiscard]] bool integral() const {
    return kind == Kind::dim || (kind == Kind::number && !real && infinity == 0);
  }
};

inline Value tensorValue(tensor::NodeRef node, bool weak = false) {
  Value value;
  if (!node) return value;
  value.kind = Value::Kind::tensor;
  value.node = node;
  value.weak = weak;
  return value;
}
inline Value numberValue(Rational number, bool real) {
  Value value;
  value.kind = Value::Kind::number;
  value.number = std::move(number);
  value.real = real;
  return value;
}
inline Value dimValue(tensor::Dim dim) {
  Value value;
  value.kind = Value::Kind::dim;
  value.dim = std::move(dim);
  return value;
}
inline Value booleanValue(bool truth) {
  Value value;
  value.kind = Value::Kind::boolean;
  value.truth = truth;
  return value;
}
inline Value tupleValue(std::vector<Value> items) {
  Value value;
  value.kind = Value::Kind::tuple;
  value.items = std::move(items);
  return value;
}
inline Value plainValue(Value::Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

}  // namespace nuscope::language
