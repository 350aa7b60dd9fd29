#pragma once
// Graphs as texts, for tests that look for a variant.
#include <algorithm>
#include <string>

#include "core/tensor/graph.h"

namespace nuscope::test {

/// Equal texts for graphs that differ in the order of commutative operands only.
inline std::string canonical(tensor::NodeRef node) {
  std::vector<std::string> operands;
  for (const tensor::NodeRef operand : node->operands) operands.push_back(canonical(operand));
  if (node->op == tensor::Op::add || node->op == tensor::Op::multiply || node->op == tensor::Op::maximum ||
      node->op == tensor::Op::minimum) {
    std::ranges::sort(operands);
  }
  std::string result = tensor::describe(node) + "{";
  for (const int axis : node->attributes.axes) result += std::to_string(axis);
  for (const auto& start : node->attributes.starts) result += start.text() + ":";
  for (const auto& operand : operands) result += operand + ";";
  return result + "}";
}

inline std::string canonical(const std::vector<tensor::NodeRef>& results) {
  std::string all;
  for (const tensor::NodeRef result : results) all += canonical(result) + "\n";
  return all;
}

}  // namespace nuscope::test
