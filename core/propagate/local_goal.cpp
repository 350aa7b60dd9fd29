#include "core/propagate/local_goal.h"

#include <fmt/format.h>

#include <algorithm>

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using tensor::StoreCopy;
using NodeSet = std::unordered_set<NodeRef>;

NodeSet cone(const std::vector<NodeRef>& roots) {
  const auto nodes = tensor::topological(roots);
  return {nodes.begin(), nodes.end()};
}

bool mayBeInfinite(NodeRef node) {
  const NodeRef roots[] = {node};
  return std::ranges::any_of(tensor::topological(roots),
                             [](NodeRef n) { return n->attributes.infinity != 0; });
}

/// Whether -inf or inf can be a value of the node itself. exp and comparisons of one are finite.
bool carriesInfinity(NodeRef node, NodeSet& seen) {
  if (node->attributes.infinity != 0) return true;
  if (!seen.insert(node).second) return false;  // found finite, or its other way here will tell
  if (node->op == Op::exp || node->dtype == tensor::DType::boolean) return false;
  if (node->op == Op::loop || node->op == Op::loopResult) return mayBeInfinite(node);
  return std::ranges::any_of(node->operands, [&](NodeRef operand) { return carriesInfinity(operand, seen); });
}

bool cuttable(NodeRef node) {
  const auto kind = tensor::kind(node->op);
  if (kind == OpKind::leaf || node->op == Op::loop || mayBeInfinite(node)) return false;
  // A relabelled tensor says more than an opaque one, and so does a cast condition.
  return node->op != Op::transpose && node->op != Op::expandDims && node->op != Op::squeeze &&
         node->op != Op::broadcastTo && node->op != Op::reshape && node->op != Op::cast;
}

/// Maximal shared nodes below the roots that can be cut, in order of a walk from the roots.
void collectCut(const std::vector<NodeRef>& roots, const NodeSet& shared, std::vector<NodeRef>& cut) {
  NodeSet visited;
  std::vector<NodeRef> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const NodeRef node = stack.back();
    stack.pop_back();
    if (!visited.insert(node).second) continue;
    const bool root = std::ranges::find(roots, node) != roots.end();
    if (!root && shared.contains(node) && cuttable(node)) {
      if (std::ranges::find(cut, node) == cut.end()) cut.push_back(node);
      continue;
    }
    stack.insert(stack.end(), node->operands.rbegin(), node->operands.rend());
  }
}

/// Shared nodes may lie below each other; those inside another cut node's cone stay too, as their own opaque
/// tensors.
std::vector<NodeRef> cutOf(const std::vector<NodeRef>& before, const std::vector<NodeRef>& after) {
  const NodeSet left = cone(before);
  NodeSet shared;
  for (const NodeRef node : cone(after)) {
    if (left.contains(node)) shared.insert(node);
  }
  std::vector<NodeRef> cut;
  collectCut(before, shared, cut);
  collectCut(after, shared, cut);
  return cut;
}

tensor::Program skeleton(const tensor::Program& program, std::shared_ptr<tensor::NodeStore> store) {
  tensor::Program result;
  result.name = program.name;
  result.store = std::move(store);
  result.facts = program.facts;
  result.dimensions = program.dimensions;
  return result;
}

}  // namespace

tensor::Program copied(const tensor::Program& program, const std::vector<NodeRef>& results, StoreCopy& copy,
                       std::shared_ptr<tensor::NodeStore> store) {
  tensor::Program result = skeleton(program, std::move(store));
  result.parameters = program.parameters;
  for (auto& parameter : result.parameters) parameter.node = copy(parameter.node);
  result.preconditions = program.preconditions;
  for (auto& precondition : result.preconditions) {
    if (precondition.condition != nullptr) precondition.condition = copy(precondition.condition);
  }
  result.results = copy(results);
  result.resultNames = program.resultNames;
  result.resultNames.resize(result.results.size(), "result");
  return result;
}

Sides wholeGoal(const tensor::Program& program, const std::vector<NodeRef>& from,
                const std::vector<NodeRef>& to) {
  auto store = std::make_shared<tensor::NodeStore>();
  StoreCopy copy(*store, program.facts);
  Sides sides;
  sides.left = copied(program, from, copy, store);
  sides.right = copied(program, to, copy, store);
  return sides;
}

bool mayYieldInfinity(const std::vector<NodeRef>& nodes) {
  NodeSet seen;
  return std::ranges::any_of(nodes, [&](NodeRef node) { return carriesInfinity(node, seen); });
}

LocalGoal localGoal(const tensor::Program& program, const std::vector<NodeRef>& before,
                    const std::vector<NodeRef>& after) {
  LocalGoal goal;
  const auto cut = cutOf(before, after);
  auto store = std::make_shared<tensor::NodeStore>();
  StoreCopy copy(*store, program.facts);
  std::vector<NodeRef> both = before;
  both.insert(both.end(), after.begin(), after.end());
  goal.context = copied(program, both, copy, store);
  goal.before = copy(before);
  goal.after = copy(after);
  for (const NodeRef node : cut) goal.cut.insert(copy(node));

  auto openStore = std::make_shared<tensor::NodeStore>();
  StoreCopy open(*openStore, program.facts);
  // Asserts speak of the real inputs; nodes that they share with the goal stay as they are there.
  tensor::Program shell = copied(program, {}, open, openStore);
  StoreCopy opened(*openStore, program.facts);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const std::string name = fmt::format("cut_{}", i + 1);
    const NodeRef input = openStore->input(name, cut[i]->dtype, cut[i]->shape);
    opened.set(cut[i], input);
    shell.parameters.push_back({name, input});
  }
  goal.opened = {shell, shell};
  goal.opened.left.results = opened(before);
  goal.opened.right.results = opened(after);
  goal.opened.left.resultNames.assign(before.size(), "before");
  goal.opened.right.resultNames.assign(after.size(), "after");
  return goal;
}

}  // namespace nuscope::propagate
