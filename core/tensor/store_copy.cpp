#include "core/tensor/store_copy.h"

#include "core/base/diagnostics.h"

namespace nuscope::tensor {

Result<NodeRef> StoreCopy::copyUnder(NodeRef root, const DimFacts& facts) {
  std::vector<std::pair<NodeRef, bool>> stack{{root, false}};  // explicit: graphs may be deep; bodies recurse
  while (!stack.empty()) {
    const auto [node, expanded] = stack.back();
    stack.pop_back();
    if (image_.contains(node)) continue;
    if (!expanded) {
      stack.emplace_back(node, true);
      for (const NodeRef operand : node->operands) stack.emplace_back(operand, false);
      continue;
    }
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(image_.at(operand));
    Attributes attributes = node->attributes;
    if (node->op == Op::loop) {
      DimFacts inner = facts;
      inner.declareCounter(attributes.name, attributes.shape.at(0));
      const std::size_t outside = made_.size();
      for (NodeRef& body : attributes.body) {
        auto made = copyUnder(body, inner);
        if (!made) {
          for (; made_.size() > outside; made_.pop_back()) image_.erase(made_.back());
          return made.refusal();
        }
        body = *made;
      }
      auto loop = to_.make(node->op, std::move(operands), std::move(attributes), inner);
      // What was made in this body may not hold in another loop, whose counter has the same name.
      for (; made_.size() > outside; made_.pop_back()) image_.erase(made_.back());
      if (!loop) return loop.refusal();
      remember(node, *loop);
      continue;
    }
    auto made = to_.make(node->op, std::move(operands), std::move(attributes), facts);
    if (!made) return made.refusal();
    remember(node, *made);
  }
  return image_.at(root);
}

void StoreCopy::remember(NodeRef node, NodeRef image) {
  image_.emplace(node, image);
  ever_[node] = image;
  made_.push_back(node);
}

NodeRef StoreCopy::copied(NodeRef node) const {
  const auto found = ever_.find(node);
  return found == ever_.end() ? nullptr : found->second;
}

Result<NodeRef> StoreCopy::copy(NodeRef root) {
  return copyUnder(root, facts_);
}

NodeRef StoreCopy::operator()(NodeRef root) {
  auto made = copy(root);
  if (!made) throw InternalError("a node that cannot be copied: " + made.refusal().message);
  return *made;
}

std::vector<NodeRef> StoreCopy::operator()(const std::vector<NodeRef>& roots) {
  std::vector<NodeRef> result;
  for (const NodeRef root : roots) result.push_back((*this)(root));
  return result;
}

}  // namespace nuscope::tensor
