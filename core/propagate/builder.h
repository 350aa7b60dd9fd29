#pragma once
// Building candidates: NodeStore::make with "null means ill-typed", for code that tries many forms and keeps
// those that type.
#include <utility>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::propagate {

/// Makes nodes in one store under one set of facts. Null operands give null. Not thread-safe (ids).
class Builder {
 public:
  Builder(tensor::NodeStore& store, const tensor::DimFacts& facts) : store_(store), facts_(facts) {}

  /// Null when the operands do not fit.
  tensor::NodeRef make(tensor::Op op, std::vector<tensor::NodeRef> operands,
                       tensor::Attributes attributes = {});
  /// `like` with other operands, same operator and attributes.
  tensor::NodeRef with(tensor::NodeRef like, std::vector<tensor::NodeRef> operands) {
    return make(like->op, std::move(operands), like->attributes);
  }
  /// `like` with one operand exchanged.
  tensor::NodeRef withSlot(tensor::NodeRef like, std::size_t slot, tensor::NodeRef operand);

  tensor::NodeRef transpose(tensor::NodeRef x, std::vector<int> axes);
  tensor::NodeRef expandDims(tensor::NodeRef x, std::vector<int> axes);
  tensor::NodeRef squeeze(tensor::NodeRef x, std::vector<int> axes);
  tensor::NodeRef reshape(tensor::NodeRef x, tensor::Shape shape);
  tensor::NodeRef broadcastTo(tensor::NodeRef x, tensor::Shape shape);
  tensor::NodeRef slice(tensor::NodeRef x, int axis, const tensor::Dim& start, const tensor::Dim& stop);
  tensor::NodeRef concatenate(std::vector<tensor::NodeRef> operands, int axis);

  [[nodiscard]] const tensor::DimFacts& facts() const { return facts_; }
  [[nodiscard]] bool isOne(const tensor::Dim& extent) const { return facts_.equal(extent, 1); }
  [[nodiscard]] tensor::NodeStore& store() const { return store_; }

 private:
  tensor::NodeStore& store_;
  const tensor::DimFacts& facts_;
};

}  // namespace nuscope::propagate
