#include "core/tensor/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_set>

#include "core/base/hash.h"
#include "core/tensor/shapes.h"

namespace nuscope::tensor {
namespace {

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
  std::size_t h = mixHash(hashText(name(node.op)), node.operands.size());
  for (const NodeRef operand : node.operands) h = mixHash(h, operand->hash);
  h = mixHash(h, hashText(at.name));
  h = mixHash(h, hashText(at.value.get_str()));
  h = mixHash(h, static_cast<std::size_t>(at.infinity + 1));
  h = mixHash(h, static_cast<std::size_t>(at.dtype));
  for (const int axis : at.axes) h = mixHash(h, static_cast<std::size_t>(axis));
  h = mixHash(h, at.keepDims ? 2 : 1);
  h = mixHash(h, static_cast<std::size_t>(at.index));
  h = mixHash(h, hashShape(at.shape));
  h = mixHash(h, hashShape(at.starts));
  h = mixHash(h, hashShape(at.stops));
  for (const NodeRef root : at.body) h = mixHash(h, root->hash);
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

std::vector<NodeRef> inOrder(std::span<const NodeRef> roots, bool enterLoops) {
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
      std::vector<NodeRef> inputs = node->operands;
      if (enterLoops) inputs.insert(inputs.end(), node->attributes.body.begin(), node->attributes.body.end());
      for (auto at = inputs.rbegin(); at != inputs.rend(); ++at) stack.emplace_back(*at, false);
    }
  }
  return order;
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
  return inOrder(roots, true);
}

std::vector<NodeRef> topologicalOutsideLoops(std::span<const NodeRef> roots) {
  return inOrder(roots, false);
}

std::unordered_map<NodeRef, int> useCounts(std::span<const NodeRef> roots) {
  std::unordered_map<NodeRef, int> counts;
  for (const NodeRef node : topological(roots)) {
    forEachInput(node, [&](NodeRef input) { ++counts[input]; });
  }
  for (const NodeRef root : roots) ++counts[root];
  return counts;
}

namespace {

/// Rebuilds graphs with nodes replaced and counters renamed. A loop's body is rebuilt within a scope of its
/// own: a node inside it may belong to several loops whose counters share a name, under different facts.
class Rebuilder {
 public:
  using Nodes = std::unordered_map<NodeRef, NodeRef>;
  explicit Rebuilder(NodeStore& store) : store_(store) {}

  struct Scope {
    Nodes image;
    const Scope* outer = nullptr;
    const DimFacts* facts = nullptr;
    std::map<std::string, std::string> renamed;  ///< counters: from, to
  };

  std::optional<Refusal> rebuild(std::span<const NodeRef> roots, Scope& scope) {
    for (const NodeRef node : topologicalOutsideLoops(roots)) {
      if (find(scope, node)) continue;
      auto rebuilt = node->op == Op::loop ? loop(node, scope) : plain(node, scope);
      if (!rebuilt) return rebuilt.refusal();
      scope.image.emplace(node, *rebuilt);
    }
    return std::nullopt;
  }

  static NodeRef find(const Scope& scope, NodeRef node) {
    for (const Scope* at = &scope; at; at = at->outer) {
      if (const auto found = at->image.find(node); found != at->image.end()) return found->second;
    }
    return nullptr;
  }

 private:
  static void rename(Attributes& attributes, const std::map<std::string, std::string>& names) {
    if (names.empty()) return;
    std::map<std::string, Dim> symbols;
    for (const auto& [from, to] : names) symbols.emplace(from, Dim::symbol(to));
    for (Shape* shape : {&attributes.shape, &attributes.starts, &attributes.stops}) {
      for (Dim& dim : *shape) dim = dim.substitute(symbols);
    }
  }

  Result<NodeRef> plain(NodeRef node, const Scope& scope) {
    Attributes attributes = node->attributes;
    rename(attributes, scope.renamed);
    if (node->op == Op::loopState) {
      if (const auto to = scope.renamed.find(attributes.name); to != scope.renamed.end())
        attributes.name = to->second;
    }
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(find(scope, operand));
    if (operands == node->operands && attributes == node->attributes) return node;
    return store_.make(node->op, std::move(operands), std::move(attributes), *scope.facts);
  }

  Result<NodeRef> loop(NodeRef node, const Scope& scope) {
    Attributes attributes = node->attributes;
    rename(attributes, scope.renamed);
    std::string counter = attributes.name;
    while (true) {
      DimFacts facts = *scope.facts;
      facts.declareCounter(counter, attributes.shape[0]);
      Scope inner;
      inner.outer = &scope;
      inner.facts = &facts;
      inner.renamed = scope.renamed;
      inner.renamed.erase(node->attributes.name);
      if (counter != node->attributes.name) inner.renamed[node->attributes.name] = counter;
      if (auto refusal = rebuild(node->attributes.body, inner)) return *refusal;
      int height = 0;
      for (std::size_t i = 0; i < attributes.body.size(); ++i) {
        attributes.body[i] = find(inner, node->attributes.body[i]);
        height = std::max(height, attributes.body[i]->loopHeight);
      }
      // A loop that came into the body may have taken the counter's name.
      if (loopHeightOf(counter) > height) break;
      counter = "@" + std::to_string(height + 1);
    }
    attributes.name = counter;
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(find(scope, operand));
    if (operands == node->operands && attributes == node->attributes) return node;
    return store_.make(node->op, std::move(operands), std::move(attributes), *scope.facts);
  }

  NodeStore& store_;
};

}  // namespace

int loopHeightOf(std::string_view counter) {
  int height = 0;
  for (const char c : counter.substr(isCounter(counter) ? 1 : counter.size())) {
    if (c < '0' || c > '9' || height > 1000000) return 0;
    height = 10 * height + (c - '0');
  }
  return height;
}

Result<NodeRef> replaceNodes(NodeStore& store, NodeRef root,
                             const std::unordered_map<NodeRef, NodeRef>& replacements,
                             const DimFacts& facts) {
  Rebuilder rebuilder(store);
  Rebuilder::Scope scope;
  scope.image = replacements;
  scope.facts = &facts;
  const NodeRef roots[] = {root};
  if (auto refusal = rebuilder.rebuild(roots, scope)) return *refusal;
  return Rebuilder::find(scope, root);
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
