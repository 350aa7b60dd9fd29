#pragma once
// Which axis of an operand goes where in the result: the access maps of operators (Axon 4.2.1), as far as
// moving operators needs them. Read off the granular forms; no operator gets a rule of its own beyond its
// index map.
#include <cstddef>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::propagate {

/// What happens to the index of one axis of an operand.
struct AxisLink {
  enum class Kind : std::uint8_t {
    identity,   ///< operand index = result index on axis `output`
    stretched,  ///< extent 1: the operand is constant along it
    bound,      ///< folded over; `label` tells which bound index, shared by the operands of a contraction
    changed     ///< another map (shifted, scanned, joined, regrouped); `output` where one axis corresponds
  };
  Kind kind = Kind::identity;
  int output = -1;  ///< axis of the result; -1: none
  int label = -1;   ///< bound only
};

/// One link per axis of node->operands[slot].
std::vector<AxisLink> axisLinks(tensor::NodeRef node, std::size_t slot, const tensor::DimFacts& facts);

/// For each axis of the result, the axis of the operand that corresponds to it (identity or changed), or -1.
struct InverseLink {
  int axis = -1;
  bool identity = false;
};
std::vector<InverseLink> inverseLinks(tensor::NodeRef node, std::size_t slot, const tensor::DimFacts& facts);

}  // namespace nuscope::propagate
