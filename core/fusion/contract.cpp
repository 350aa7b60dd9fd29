#include "core/fusion/contract.h"

#include <algorithm>

#include "core/tensor/shapes.h"

namespace nuscope::fusion {
namespace {

/// Labels of a matmul's operands and result, as an einsum would name them.
tensor::EinsumSpec matmulSpec(NodeRef node) {
  const NodeRef a = node->operands[0];
  const NodeRef b = node->operands[1];
  const bool row = a->shape.size() > 1;
  const bool column = b->shape.size() > 1;
  const std::size_t batch = node->shape.size() - (row ? 1 : 0) - (column ? 1 : 0);
  const auto batchLabels = [&](std::size_t rank) {
    std::string labels;
    for (std::size_t i = batch - rank; i < batch; ++i) labels += static_cast<char>('a' + i);
    return labels;
  };
  tensor::EinsumSpec spec;
  spec.operands = {row ? batchLabels(a->shape.size() - 2) + "MK" : "K",
                   column ? batchLabels(b->shape.size() - 2) + "KN" : "K"};
  spec.result = batchLabels(batch) + (row ? "M" : "") + (column ? "N" : "");
  return spec;
}

bool repeats(const std::string& labels) {
  std::string sorted = labels;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

}  // namespace

bool ContractForm::sharedB() const {
  return std::ranges::all_of(batch, [](const ContractAxis& axis) { return axis.inB < 0; });
}

std::vector<Affine> ContractForm::index(bool ofA, const std::vector<Affine>& batchIndex,
                                        const std::vector<Affine>& rowIndex,
                                        const std::vector<Affine>& columnIndex,
                                        const std::vector<Affine>& depthIndex) const {
  std::vector<Affine> result(ofA ? rankA : rankB);
  const auto put = [&](const std::vector<ContractAxis>& axes, const std::vector<Affine>& values) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int at = ofA ? axes[i].inA : axes[i].inB;
      if (at >= 0) result[static_cast<std::size_t>(at)] = values[i];
    }
  };
  put(batch, batchIndex);
  put(m, rowIndex);
  put(n, columnIndex);
  put(k, depthIndex);
  return result;
}

std::optional<ContractForm> contractForm(const Concrete& concrete, NodeRef node) {
  if (node->operands.size() != 2) return std::nullopt;
  const tensor::EinsumSpec spec =
      node->op == Op::matmul ? matmulSpec(node) : tensor::parseEinsum(node->attributes.name).value();
  if (repeats(spec.operands[0]) || repeats(spec.operands[1])) return std::nullopt;
  const auto axisOf = [&](std::size_t operand, char label) {
    const auto at = spec.operands[operand].find(label);
    if (at == std::string::npos) return -1;
    // A batch axis of extent 1 is stretched.
    return node->op == Op::matmul && concrete.facts().equal(node->operands[operand]->shape[at], 1) &&
                   spec.result.find(label) != std::string::npos
               ? -1
               : static_cast<int>(at);
  };
  const auto axis = [&](char label) {
    ContractAxis result;
    result.inA = axisOf(0, label);
    result.inB = axisOf(1, label);
    const auto at = spec.result.find(label);
    if (at != std::string::npos) {
      result.inResult = static_cast<int>(at);
      result.extent = concrete.shape(node)[at];
    } else {
      const std::size_t operand = result.inA >= 0 ? 0 : 1;
      result.extent = concrete.shape(node->operands[operand])[spec.operands[operand].find(label)];
    }
    return result;
  };
  ContractForm form;
  form.a = node->operands[0];
  form.b = node->operands[1];
  std::vector<ContractAxis> result;
  for (const char label : spec.result) result.push_back(axis(label));
  std::string summed;
  for (const std::string& labels : spec.operands) {
    for (const char label : labels) {
      if (spec.result.find(label) == std::string::npos && summed.find(label) == std::string::npos)
        summed += label;
    }
  }
  for (const char label : summed) form.k.push_back(axis(label));
  form.rankA = spec.operands[0].size();
  form.rankB = spec.operands[1].size();
  // The last axis of the result is a column: it must be of one operand only.
  if (!result.empty() && result.back().inA >= 0 && result.back().inB < 0) {
    form.swapped = true;
    std::swap(form.a, form.b);
    std::swap(form.rankA, form.rankB);
    for (auto* axes : {&result, &form.k}) {
      for (ContractAxis& one : *axes) std::swap(one.inA, one.inB);
    }
    // A row of a matrix-vector product is no column: keep the operands as they are written.
  }
  while (!result.empty() && result.back().inA < 0) {
    form.n.insert(form.n.begin(), result.back());
    result.pop_back();
  }
  std::size_t batches = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].inB >= 0) batches = i + 1;
  }
  form.batch.assign(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(batches));
  form.m.assign(result.begin() + static_cast<std::ptrdiff_t>(batches), result.end());
  if (form.n.empty()) return std::nullopt;
  return form;
}

}  // namespace nuscope::fusion
