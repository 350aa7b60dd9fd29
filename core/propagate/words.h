#pragma once
// Moves in words: "divide by sqrt(ms + 1e-5) moved past matmul".
#include <string>

#include "core/tensor/graph.h"

namespace nuscope::propagate {

/// A node as a short formula over the program's names, at most `limit` characters: "g", "sqrt(ms + 1e-5)", "x
/// @ w".
std::string shortText(const tensor::Program& program, tensor::NodeRef node, std::size_t limit = 28);

/// What an operator does to the operand it keeps: "multiply by g", "divide by s", "exp", "sum over axis 1",
/// "matmul with w". `kept`: the slot of that operand.
std::string actionText(const tensor::Program& program, tensor::NodeRef node, std::size_t kept = 0);

}  // namespace nuscope::propagate
