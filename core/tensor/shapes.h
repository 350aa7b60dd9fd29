#pragma once
// Shape and type rules of all operators: one function a kind of operator. Refusals say which axis, and what
// to write.
#include "core/tensor/graph.h"

namespace nuscope::tensor {

struct Type {
  DType dtype = DType::f32;
  Shape shape;
};

/// The type of `op` applied to operands, or why there is none. May complete attributes (nothing is guessed).
Result<Type> inferType(Op op, std::span<const NodeRef> operands, const Attributes& attributes,
                       const DimFacts& facts);

/// NumPy's broadcasting of two shapes with the rule of graph.h.
Result<Shape> broadcastShapes(const Shape& a, const Shape& b, const DimFacts& facts);

/// An einsum spelled out: one label list per operand, and of the result. Letters only, no ellipsis; a label
/// may occur several times in one operand (diagonal).
struct EinsumSpec {
  std::vector<std::string> operands;
  std::string result;
};
Result<EinsumSpec> parseEinsum(std::string_view text);

}  // namespace nuscope::tensor
