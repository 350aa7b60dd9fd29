#include "core/tensor/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "core/tensor/shapes.h"

namespace nuscope::tensor {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::size_t hashText(std::string_view text) {  // FNV-1a: the same on every machine
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

std::size_t hashShape(const Shape& shape) {
  return hashText(text(shape));
}

std::size_t hashNode(const Node& node) {
  const Attributes& at = node.attributes;
  std::size_t h = mix(hashText(name(node.op)), node.operands.size());
  for (const NodeRef operand : node.operands) h = mix(h, operand->hash);
  h = mix(h, hashText(at.name));
  h = mix(h, hashText(at.value.get_str()));
  h = mix(h, static_cast<std::size_t>(at.infinity + 1));
  h = mix(h, static_cast<std::size_t>(at.dtype));
  for (const int axis : at.axes) h = mix(h, static_cast<std::size_t>(axis));
  h = mix(h, at.keepDims ? 2 : 1);
  h = mix(h, static_cast<std::size_t>(at.index));
  h = mix(h, hashShape(at.shape));
  h = mix(h, hashShape(at.starts));
  h = mix(h, hashShape(at.stops));
  for (const NodeRef root : at.body) h = mix(h, root->hash);
  return h;
}

int heightOf(const Node& node) {
  int height = 0;
  for (const NodeRef operand : node.operands) height = std::max(height, operand->loopHeight);
  for (const NodeRef root : node.attributes.body) height = std::max(height, root->loopHeight + 1);
  return height;
}

template <class Visit>
void forEachInput(NodeRef node, Visit visit) {
  for (const NodeRef operand : node->operands) visit(operand);
  for (const NodeRef root : node->attributes.body) visit(root);
}

}  // namespace

Result<NodeRef> NodeStore::make(Op op, std::vector<NodeRef> operands, Attributes attributes,
                                const DimFacts& facts) {
  auto type = inferType(op, operands, attributes, facts);
  if (!type) return type.refusal();
  Node node;
  node.op = op;
  node.operands = std::move(operands);
  node.attributes = std::move(attributes);
  node.shape = type->shape;
  node.dtype = type->dtype;
  node.hash = hashNode(node);
  node.loopHeight = heightOf(node);
  const std::lock_guard lock(mutex_);
  const auto [first, last] = byHash_.equal_range(node.hash);
  for (auto at = first; at != last; ++at) {
    const Node& other = *at->second;
    if (other.op == node.op && other.operands == node.operands && other.attributes == node.attributes &&
        other.shape == node.shape) {
      return at->second;
    }
  }
  node.id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  const NodeRef added = &nodes_.back();
  byHash_.emplace(added->hash, added);
  return added;
}

std::size_t NodeStore::size() const {
  const std::lock_guard lock(mutex_);
  return nodes_.size();
}

NodeRef NodeStore::input(std::string name, DType dtype, Shape shape) {
  Attributes at;
  at.name = std::move(name);
  at.dtype = dtype;
  at.shape = std::move(shape);
  auto node = make(Op::input, {}, std::move(at), {});
  if (!node) throw InternalError(node.refusal().message);
  return *node;
}

NodeRef NodeStore::constant(const Rational& value, DType dtype) {
  Attributes at;
  at.value = value;
  at.dtype = dtype;
  auto node = make(Op::constant, {}, std::move(at), {});
  if (!node) throw InternalError(node.refusal().message);
  return *node;
}

std::vector<NodeRef> topological(std::span<const NodeRef> roots) {
  std::vector<NodeRef> order;
  std::unordered_set<NodeRef> done;
  std::vector<std::pair<NodeRef, bool>> stack;  // explicit: graphs may be deep
  for (const NodeRef root : roots) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      const auto [node, expanded] = stack.back();
      stack.pop_back();
      if (expanded) {
        if (done.insert(node).second) order.push_back(node);
        continue;
      }
      if (done.contains(node)) continue;
      stack.emplace_back(node, true);
      std::vector<NodeRef> inputs;
      forEachInput(node, [&](NodeRef input) { inputs.push_back(input); });
      for (auto at = inputs.rbegin(); at != inputs.rend(); ++at) stack.emplace_back(*at, false);
    }
  }
  return order;
}

std::unordered_map<NodeRef, int> useCounts(std::span<const NodeRef> roots) {
  std::unordered_map<NodeRef, int> counts;
  for (const NodeRef node : topological(roots)) {
    forEachInput(node, [&](NodeRef input) { ++counts[input]; });
  }
  for (const NodeRef root : roots) ++counts[root];
  return counts;
}

Result<NodeRef> replaceNodes(NodeStore& store, NodeRef root,
                             const std::unordered_map<NodeRef, NodeRef>& replacements,
                             const DimFacts& facts) {
  std::unordered_map<NodeRef, NodeRef> image(replacements);
  const NodeRef roots[] = {root};
  DimFacts inner = facts;  // bodies are rebuilt too: their slices need to know the counters
  for (const NodeRef node : topological(roots)) {
    if (node->op == Op::loop) inner.declareCounter(node->attributes.name, node->attributes.shape[0]);
  }
  for (const NodeRef node : topological(roots)) {
    if (image.contains(node)) continue;
    bool changed = false;
    const auto mapped = [&](NodeRef input) {
      const NodeRef to = image.at(input);
      changed = changed || to != input;
      return to;
    };
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(mapped(operand));
    Attributes attributes = node->attributes;
    for (NodeRef& body : attributes.body) body = mapped(body);
    if (!changed) {
      image.emplace(node, node);
      continue;
    }
    auto rebuilt = store.make(node->op, std::move(operands), std::move(attributes), inner);
    if (!rebuilt) return rebuilt.refusal();
    image.emplace(node, *rebuilt);
  }
  return image.at(root);
}

std::string typeText(DType dtype, const Shape& shape) {
  return std::string(text(dtype)) + (shape.empty() ? "" : text(shape));
}

std::string describe(NodeRef node) {
  std::string operands;
  for (const NodeRef operand : node->operands) {
    operands += (operands.empty() ? "" : ", ") + typeText(operand->dtype, operand->shape);
  }
  if (node->op == Op::input) operands = node->attributes.name;
  if (node->op == Op::constant) operands = decimalText(node->attributes.value);
  return fmt::format("{}({}) -> {}", name(node->op), operands, typeText(node->dtype, node->shape));
}

}  // namespace nuscope::tensor
