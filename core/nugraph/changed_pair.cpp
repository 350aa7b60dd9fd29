#include "core/nugraph/changed_pair.h"

namespace nuscope::nugraph {

std::pair<tensor::NodeRef, tensor::NodeRef> changedPair(tensor::NodeRef left, tensor::NodeRef right) {
  while (left != right && left->op == right->op && left->operands.size() == right->operands.size() &&
         left->attributes == right->attributes && left->shape == right->shape) {
    std::size_t differing = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < left->operands.size(); ++i) {
      if (left->operands[i] == right->operands[i]) continue;
      ++differing;
      where = i;
    }
    if (differing != 1) break;
    const tensor::NodeRef a = left->operands[where];
    const tensor::NodeRef b = right->operands[where];
    // A change of shape is part of what happened: the pair stays above it.
    if (a->shape != b->shape) break;
    left = a;
    right = b;
  }
  return {left, right};
}

}  // namespace nuscope::nugraph
