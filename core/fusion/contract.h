#pragma once
// A contraction brought to batches of matrix products: which axis of the result and of the operands is a row,
// a column, a batch or summed.
#include <optional>
#include <vector>

#include "core/fusion/concrete.h"

namespace nuscope::fusion {

struct ContractAxis {
  Extent extent = 1;
  int inA = -1, inB = -1, inResult = -1;  ///< axis, or -1: it has no such axis, or extent 1 there
};

/// result[batch.., m.., n..] = sum over k of a[..] * b[..]; the result's axes are in that order.
struct ContractForm {
  NodeRef a = nullptr, b = nullptr;
  bool swapped = false;  ///< a is the second operand
  std::vector<ContractAxis> batch, m, n, k;
  [[nodiscard]] Extent batches() const { return product(batch); }
  [[nodiscard]] Extent rows() const { return product(m); }
  [[nodiscard]] Extent columns() const { return product(n); }
  [[nodiscard]] Extent depth() const { return product(k); }
  static Extent product(const std::vector<ContractAxis>& axes) {
    Extent result = 1;
    for (const ContractAxis& axis : axes) result *= axis.extent;
    return result;
  }
  /// Whether b is the same for all batches.
  [[nodiscard]] bool sharedB() const;
  /// Index of an operand, given the index of each group's axes.
  [[nodiscard]] std::vector<Affine> index(bool ofA, const std::vector<Affine>& batchIndex,
                                          const std::vector<Affine>& rowIndex,
                                          const std::vector<Affine>& columnIndex,
                                          const std::vector<Affine>& depthIndex) const;
  std::size_t rankA = 0, rankB = 0;
};

/// Empty where the node is no such product: repeated labels, more than two operands, an order of the result's
/// axes that interleaves rows and batches after the columns.
std::optional<ContractForm> contractForm(const Concrete& concrete, NodeRef node);

}  // namespace nuscope::fusion
