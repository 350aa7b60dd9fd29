#include "core/propagate/fold_round.h"

#include <algorithm>
#include <functional>

#include "core/propagate/axis_map.h"
#include "core/propagate/view.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::Dim;
using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;

bool isRelabelling(NodeRef node) {
  return node->op == Op::expandDims || node->op == Op::squeeze || node->op == Op::broadcastTo;
}

/// A term of the sum, rebuilt with other leaves.
class TermBuilder {
 public:
  /// What stands for a node that does not use the first fold; `axis`: of that node, -1 where it does not run
  /// along.
  using Leaf = std::function<NodeRef(NodeRef node, int axis)>;

  TermBuilder(Builder& build, const RoundParts& parts, const Term& sum, NodeRef prefix)
      : build_(build), parts_(parts), prefix_(prefix) {
    const NodeRef operand = sum.fold->operands[sum.slot];
    rank_ = operand->shape.size();
    axis_ = sum.axis;
  }

  /// Every element as it is in this round.
  NodeRef asItIs(NodeRef node) {
    return rebuilt(node, [this](NodeRef leaf, int axis) {
      return axis < 0 ? leaf : parts_.along(build_, leaf, static_cast<std::size_t>(axis));
    });
  }

  /// With `element` in place of the source's element, and one in place of all else that runs along the axis.
  NodeRef atElement(NodeRef node, NodeRef element) {
    return rebuilt(node, [this, element](NodeRef leaf, int axis) { return replaced(leaf, axis, element); });
  }

 private:
  [[nodiscard]] int axisOf(NodeRef node) const {
    const int own = static_cast<int>(axis_) - static_cast<int>(rank_ - node->shape.size());
    return own < 0 || build_.isOne(node->shape[static_cast<std::size_t>(own)]) ? -1 : own;
  }

  NodeRef one(NodeRef like) {
    Attributes at;
    at.value = 1;
    at.dtype = like->dtype;
    return build_.make(Op::constant, {}, std::move(at));
  }

  NodeRef replaced(NodeRef leaf, int axis, NodeRef element) {
    if (axis < 0) return leaf;
    if (element == nullptr || !dependsOn(leaf, parts_.source)) return one(leaf);
    if (leaf == parts_.source) return axis == static_cast<int>(parts_.sourceAxis) ? element : nullptr;
    if (!isElementwise(leaf)) return nullptr;
    std::vector<NodeRef> operands;
    for (const NodeRef operand : leaf->operands)
      operands.push_back(replaced(operand, axisOf(operand), element));
    return applied(leaf, std::move(operands));
  }

  NodeRef rebuilt(NodeRef node, const Leaf& leaf) {
    if (node == parts_.first) return fitted(build_, prefix_, node->shape);
    if (!dependsOn(node, parts_.first)) return leaf(node, axisOf(node));
    if (node->op == Op::broadcastTo) return rebuilt(node->operands[0], leaf);
    if (!isRelabelling(node) && !isElementwise(node)) return nullptr;
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(rebuilt(operand, leaf));
    return applied(node, std::move(operands));
  }

  [[nodiscard]] bool isOne(NodeRef node) const {
    return node != nullptr && node->op == Op::constant && node->attributes.infinity == 0 &&
           node->attributes.value == 1;
  }

  /// The operator on other operands. A made-up one is not multiplied with, and a made-up condition holds.
  NodeRef applied(NodeRef node, std::vector<NodeRef> operands) {
    if (node->op == Op::multiply && operands[0] != node->operands[0] && isOne(operands[0]))
      return operands[1];
    if (node->op == Op::multiply && operands[1] != node->operands[1] && isOne(operands[1]))
      return operands[0];
    if (node->op == Op::where && operands[0] != node->operands[0] && isOne(operands[0])) {
      const bool second =
          !dependsOn(node->operands[1], parts_.first) && dependsOn(node->operands[2], parts_.first);
      return operands[second ? 2 : 1];
    }
    return build_.with(node, std::move(operands));
  }

  Builder& build_;
  const RoundParts& parts_;
  NodeRef prefix_;
  std::size_t rank_ = 0;
  std::size_t axis_ = 0;
};

/// A slice along one axis, taken of the operands where the node maps that axis one to one.
NodeRef part(Builder& build, NodeRef node, std::size_t along, const Dim& begin, const Dim& end) {
  const NodeRef cut = build.slice(node, static_cast<int>(along), begin, end);
  const auto kind = tensor::kind(node->op);
  const bool through = kind == OpKind::elementwise || kind == OpKind::contract || kind == OpKind::reduce ||
                       node->op == Op::transpose || node->op == Op::expandDims || node->op == Op::squeeze;
  if (!through) return cut;
  std::vector<NodeRef> operands = node->operands;
  for (std::size_t slot = 0; slot < operands.size(); ++slot) {
    const auto links = axisLinks(node, slot, build.facts());
    for (std::size_t axis = 0; axis < links.size(); ++axis) {
      if (links[axis].output != static_cast<int>(along)) continue;
      if (links[axis].kind == Kind::changed) return cut;
      if (links[axis].kind == Kind::identity) operands[slot] = part(build, operands[slot], axis, begin, end);
    }
  }
  const NodeRef made = build.with(node, std::move(operands));
  const bool fits = made != nullptr && cut != nullptr && build.facts().equal(made->shape, cut->shape);
  return fits ? made : cut;
}

}  // namespace

std::optional<FoldRule> ruleOf(Op op) {
  switch (op) {
    case Op::max:
      return FoldRule{Op::maximum, -1, true};
    case Op::min:
      return FoldRule{Op::minimum, 1, true};
    case Op::sum:
      return FoldRule{Op::add, 0, false};
    default:
      return std::nullopt;
  }
}

bool dependsOn(NodeRef node, NodeRef on) {
  const NodeRef roots[] = {node};
  const auto below = tensor::topological(roots);
  return std::ranges::find(below, on) != below.end();
}

NodeRef RoundParts::along(Builder& build, NodeRef node, std::size_t along) const {
  const Dim begin = Dim::symbol(counter) * blocks.size;
  return part(build, node, along, begin, begin + blocks.size);
}

NodeRef RoundParts::beginning(Builder& build, NodeRef node, std::size_t along) const {
  return part(build, node, along, 0, blocks.size);
}

NodeRef RoundParts::added(Builder& build, const Term& sum, NodeRef prefix) const {
  const auto& fold = *sum.fold;
  const auto links = axisLinks(sum.fold, sum.slot, build.facts());
  std::vector<NodeRef> operands = fold.operands;
  const NodeRef now = TermBuilder(build, *this, sum, prefix).asItIs(operands[sum.slot]);
  if (now == nullptr || now->shape.size() != operands[sum.slot]->shape.size()) return nullptr;
  operands[sum.slot] = now;
  for (std::size_t other = 0; other < operands.size(); ++other) {
    if (other == sum.slot) continue;
    if (dependsOn(operands[other], first)) return nullptr;
    const auto there = axisLinks(sum.fold, other, build.facts());
    for (std::size_t axis = 0; axis < there.size(); ++axis) {
      if (there[axis].kind == Kind::bound && there[axis].label == links[sum.axis].label)
        operands[other] = along(build, operands[other], axis);
    }
  }
  if (tensor::kind(fold.op) == OpKind::reduce && blocks.size.isOne()) return fitted(build, now, fold.shape);
  return build.with(sum.fold, std::move(operands));
}

NodeRef RoundParts::ratio(Builder& build, const Term& sum, NodeRef old, NodeRef now,
                          Correction correction) const {
  const NodeRef operand = sum.fold->operands[sum.slot];
  NodeRef ratio = nullptr;
  if (correction == Correction::ownPrefix) {
    ratio = TermBuilder(build, *this, sum, now).atElement(operand, old);
  } else {
    ratio = build.make(tensor::Op::divide, {TermBuilder(build, *this, sum, now).atElement(operand, nullptr),
                                            TermBuilder(build, *this, sum, old).atElement(operand, nullptr)});
  }
  if (ratio == nullptr || ratio->shape.size() > operand->shape.size()) return nullptr;
  // It is constant along the axis, so it goes behind the fold like any other side operand.
  std::vector<int> map;
  for (const AxisLink& link : axisLinks(sum.fold, sum.slot, build.facts()))
    map.push_back(link.kind == Kind::identity ? link.output : -1);
  const auto view = moved(alignedView(ratio, operand->shape.size(), build.facts()), map);
  return view ? materialise(build, *view, sum.fold->shape) : nullptr;
}

}  // namespace nuscope::propagate
