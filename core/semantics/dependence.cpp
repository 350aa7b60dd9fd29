#include "core/semantics/dependence.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace nuscope::semantics {

using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;
using tensor::Shape;

namespace {

void collect(const Shape& shape, std::set<std::string>& into) {
  std::set<std::string> symbols;
  for (const Dim& extent : shape) extent.collectSymbols(symbols);
  for (const std::string& symbol : symbols) {
    if (tensor::isCounter(symbol)) into.insert(symbol);
  }
}

std::set<std::string> dimensionCounters(NodeRef node) {
  std::set<std::string> result;
  collect(node->shape, result);
  for (const NodeRef operand : node->operands) collect(operand->shape, result);
  collect(node->attributes.shape, result);
  collect(node->attributes.starts, result);
  collect(node->attributes.stops, result);
  return result;
}

}  // namespace

const Counters& Dependence::ofDimensions(NodeRef node) {
  const auto found = dimensions_.find(node);
  if (found != dimensions_.end()) return found->second;
  const auto set = dimensionCounters(node);
  return dimensions_.emplace(node, Counters(set.begin(), set.end())).first->second;
}

const Counters& Dependence::of(NodeRef root) {
  if (const auto found = whole_.find(root); found != whole_.end()) return found->second;
  const std::array<NodeRef, 1> roots{root};
  for (const NodeRef node : tensor::topological(roots)) {
    if (whole_.contains(node)) continue;
    std::set<std::string> result = dimensionCounters(node);
    if (node->op == Op::loopState) result.insert(node->attributes.name);
    for (const NodeRef value : node->attributes.body) {
      const Counters& inner = whole_.at(value);
      result.insert(inner.begin(), inner.end());
    }
    if (node->op == Op::loop) result.erase(node->attributes.name);
    for (const NodeRef operand : node->operands) {
      const Counters& below = whole_.at(operand);
      result.insert(below.begin(), below.end());
    }
    whole_.emplace(node, Counters(result.begin(), result.end()));
  }
  return whole_.at(root);
}

std::vector<NodeRef> scopeOrder(std::span<const NodeRef> roots) {
  std::vector<NodeRef> order;
  std::unordered_set<NodeRef> done;
  std::vector<std::pair<NodeRef, std::size_t>> stack;
  for (const NodeRef root : roots) {
    if (!done.contains(root)) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const NodeRef node = stack.back().first;
      if (stack.back().second < node->operands.size()) {
        const NodeRef next = node->operands[stack.back().second++];
        if (!done.contains(next)) stack.emplace_back(next, 0);
        continue;
      }
      stack.pop_back();
      if (done.insert(node).second) order.push_back(node);
    }
  }
  return order;
}

}  // namespace nuscope::semantics
