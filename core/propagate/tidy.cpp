#include "core/propagate/tidy.h"

#include <algorithm>

#include "core/propagate/view.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::NodeRef;
using tensor::Op;

bool isRelabelling(NodeRef node) {
  return node->op == Op::transpose || node->op == Op::expandDims || node->op == Op::squeeze ||
         node->op == Op::broadcastTo;
}

int chainLength(NodeRef node, NodeRef base) {
  int length = 0;
  for (; node != base && isRelabelling(node); node = node->operands[0]) ++length;
  return length;
}

NodeRef shorterChain(Builder& build, NodeRef node) {
  const View view = viewOf(node, build.facts());
  NodeRef laid = materialise(build, view, node->shape, {}, true);
  if (laid == nullptr) return node;
  laid = fitted(build, build.broadcastTo(laid, node->shape), node->shape);
  if (laid == nullptr || !build.facts().equal(laid->shape, node->shape)) return node;
  return chainLength(laid, view.base) < chainLength(node, view.base) ? laid : node;
}

NodeRef sliceOfSlice(Builder& build, NodeRef node) {
  const NodeRef inner = node->operands[0];
  Attributes at = node->attributes;
  for (std::size_t i = 0; i < at.starts.size(); ++i) {
    at.starts[i] = inner->attributes.starts[i] + at.starts[i];
    at.stops[i] = inner->attributes.starts[i] + at.stops[i];
  }
  const NodeRef joined = build.make(Op::slice, {inner->operands[0]}, std::move(at));
  return joined == nullptr ? node : joined;
}

/// A slice that covers whole parts of a joined tensor.
NodeRef sliceOfJoin(Builder& build, NodeRef node) {
  const NodeRef join = node->operands[0];
  const auto axis = static_cast<std::size_t>(join->attributes.axes[0]);
  const auto& at = node->attributes;
  std::vector<NodeRef> parts;
  tensor::Dim start(0);
  bool open = false;
  bool closed = false;
  for (const NodeRef part : join->operands) {
    open = open || build.facts().equal(start, at.starts[axis]);
    start = start + part->shape[axis];
    if (open && !closed) parts.push_back(part);
    closed = closed || (open && build.facts().equal(start, at.stops[axis]));
  }
  if (!closed) return node;
  const NodeRef kept =
      parts.size() == 1 ? parts[0] : build.concatenate(std::move(parts), static_cast<int>(axis));
  if (kept == nullptr) return node;
  Attributes rest = at;
  rest.starts[axis] = 0;
  rest.stops[axis] = kept->shape[axis];
  const NodeRef sliced = build.make(Op::slice, {kept}, std::move(rest));
  return sliced == nullptr ? node : sliced;
}

bool isWholeSlice(Builder& build, NodeRef node) {
  for (std::size_t i = 0; i < node->shape.size(); ++i) {
    if (!build.facts().equal(node->attributes.starts[i], 0)) return false;
    if (!build.facts().equal(node->attributes.stops[i], node->operands[0]->shape[i])) return false;
  }
  return true;
}

NodeRef flatJoin(Builder& build, NodeRef node) {
  std::vector<NodeRef> parts;
  for (const NodeRef operand : node->operands) {
    if (operand->op == Op::concatenate && operand->attributes.axes == node->attributes.axes) {
      parts.insert(parts.end(), operand->operands.begin(), operand->operands.end());
    } else {
      parts.push_back(operand);
    }
  }
  if (parts.size() == node->operands.size()) return node;
  const NodeRef flat = build.with(node, std::move(parts));
  return flat == nullptr ? node : flat;
}

NodeRef simplified(Builder& build, NodeRef node) {
  const NodeRef below = node->operands.empty() ? nullptr : node->operands[0];
  if (isRelabelling(node)) return shorterChain(build, node);
  if (node->op == Op::slice) {
    if (isWholeSlice(build, node)) return below;
    if (below->op == Op::slice) return sliceOfSlice(build, node);
    if (below->op == Op::concatenate) return sliceOfJoin(build, node);
  }
  if (node->op == Op::concatenate) return node->operands.size() == 1 ? below : flatJoin(build, node);
  return node;
}

}  // namespace

std::vector<NodeRef> tidied(Builder& build, const std::vector<NodeRef>& results) {
  std::unordered_map<NodeRef, NodeRef> image;
  for (const NodeRef node : tensor::topological(results)) {
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(image.at(operand));
    const bool touchesBody =
        std::ranges::any_of(node->attributes.body, [&](NodeRef body) { return image.at(body) != body; });
    NodeRef to = node;
    if (operands != node->operands) to = build.with(node, std::move(operands));
    if (touchesBody || to == nullptr || node->op == Op::loop) {
      image[node] = node;
      continue;
    }
    for (int round = 0; round < 8; ++round) {
      const NodeRef next = simplified(build, to);
      if (next == to) break;
      to = next;
    }
    image[node] = to;
  }
  std::vector<NodeRef> tidy;
  for (const NodeRef result : results) tidy.push_back(image.at(result));
  return tidy;
}

}  // namespace nuscope::propagate
