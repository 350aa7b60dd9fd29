#include "core/propagate/builder.h"

#include <algorithm>

namespace nuscope::propagate {

using tensor::Attributes;
using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;
using tensor::Shape;

NodeRef Builder::make(Op op, std::vector<NodeRef> operands, Attributes attributes) {
  if (std::ranges::find(operands, nullptr) != operands.end()) return nullptr;
  auto made = store_.make(op, std::move(operands), std::move(attributes), facts_);
  return made ? *made : nullptr;
}

NodeRef Builder::withSlot(NodeRef like, std::size_t slot, NodeRef operand) {
  std::vector<NodeRef> operands = like->operands;
  operands.at(slot) = operand;
  return with(like, std::move(operands));
}

NodeRef Builder::transpose(NodeRef x, std::vector<int> axes) {
  Attributes at;
  at.axes = std::move(axes);
  return make(Op::transpose, {x}, std::move(at));
}

NodeRef Builder::expandDims(NodeRef x, std::vector<int> axes) {
  if (x == nullptr || axes.empty()) return x;
  Attributes at;
  at.axes = std::move(axes);
  return make(Op::expandDims, {x}, std::move(at));
}

NodeRef Builder::squeeze(NodeRef x, std::vector<int> axes) {
  if (x == nullptr || axes.empty()) return x;
  Attributes at;
  at.axes = std::move(axes);
  return make(Op::squeeze, {x}, std::move(at));
}

NodeRef Builder::reshape(NodeRef x, Shape shape) {
  Attributes at;
  at.shape = std::move(shape);
  return make(Op::reshape, {x}, std::move(at));
}

NodeRef Builder::broadcastTo(NodeRef x, Shape shape) {
  if (x == nullptr || facts_.equal(x->shape, shape)) return x;
  Attributes at;
  at.shape = std::move(shape);
  return make(Op::broadcastTo, {x}, std::move(at));
}

NodeRef Builder::slice(NodeRef x, int axis, const Dim& start, const Dim& stop) {
  if (x == nullptr) return nullptr;
  Attributes at;
  at.starts.assign(x->shape.size(), Dim(0));
  at.stops = x->shape;
  at.starts[static_cast<std::size_t>(axis)] = start;
  at.stops[static_cast<std::size_t>(axis)] = stop;
  return make(Op::slice, {x}, std::move(at));
}

NodeRef Builder::concatenate(std::vector<NodeRef> operands, int axis) {
  Attributes at;
  at.axes = {axis};
  return make(Op::concatenate, std::move(operands), std::move(at));
}

}  // namespace nuscope::propagate
