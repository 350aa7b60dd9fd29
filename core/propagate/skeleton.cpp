#include "core/propagate/skeleton.h"

#include <algorithm>
#include <unordered_set>

namespace nuscope::propagate {
namespace {

using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

/// First entries of keys: what they are of.
enum Tag : int { leafTag, operatorTag, loopsTag, bordersTag, applicationTag };

bool isLeaf(NodeRef node) {
  return tensor::kind(node->op) == OpKind::leaf;
}

/// Whose operands may change places.
bool isCommutative(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::maximum || op == Op::minimum || op == Op::equal ||
         op == Op::notEqual || op == Op::logicalAnd || op == Op::logicalOr;
}

}  // namespace

int Skeletons::number(Key key) {
  return known_.emplace(std::move(key), static_cast<int>(known_.size())).first->second;
}

/// The operator with its attributes.
int Skeletons::label(NodeRef node) {
  auto& ofOp = labels_[node->op];
  const auto at = std::ranges::find(ofOp, node->attributes, &std::pair<tensor::Attributes, int>::first);
  if (at != ofOp.end()) return at->second;
  ofOp.emplace_back(node->attributes, nextLabel_);
  return nextLabel_++;
}

bool Skeletons::inRegion(NodeRef user, NodeRef operand) const {
  return isElementwise(operand) && facts_.equal(operand->shape, user->shape);
}

std::vector<NodeRef> Skeletons::region(NodeRef root) const {
  std::vector<NodeRef> nodes{root};
  std::unordered_set<NodeRef> seen{root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const NodeRef operand : nodes[i]->operands) {
      if (inRegion(root, operand) && seen.insert(operand).second) nodes.push_back(operand);
    }
  }
  return nodes;
}

/// An operator of a region on its operands, without the order inside of these.
int Skeletons::application(NodeRef node) {
  Key key{applicationTag, label(node)};
  for (const NodeRef operand : node->operands)
    key.push_back(inRegion(node, operand) ? of(operand).loops : of(operand).borders);
  if (isCommutative(node->op)) std::sort(key.begin() + 2, key.end());
  return number(std::move(key));
}

Skeletons::Numbers Skeletons::regionNumbers(NodeRef root) {
  std::vector<int> operators;
  std::vector<int> readLoops;
  std::vector<int> readBorders;
  std::vector<int> first;
  for (const NodeRef node : region(root)) {
    operators.push_back(label(node));
    bool takesMade = false;
    for (const NodeRef operand : node->operands) {
      if (inRegion(root, operand)) continue;
      readLoops.push_back(of(operand).loops);
      readBorders.push_back(of(operand).borders);
      takesMade = takesMade || !isLeaf(operand);
    }
    if (takesMade) first.push_back(application(node));
  }
  std::ranges::sort(operators);
  std::ranges::sort(first);
  const auto keyOf = [&](int tag, std::vector<int> read) {
    std::ranges::sort(read);
    read.erase(std::unique(read.begin(), read.end()), read.end());
    Key key{tag, static_cast<int>(operators.size()), static_cast<int>(read.size())};
    key.insert(key.end(), operators.begin(), operators.end());
    key.insert(key.end(), read.begin(), read.end());
    return key;
  };
  Key borders = keyOf(bordersTag, std::move(readBorders));
  borders.push_back(application(root));
  borders.insert(borders.end(), first.begin(), first.end());
  return {number(keyOf(loopsTag, std::move(readLoops))), number(std::move(borders))};
}

Skeletons::Numbers Skeletons::numbersOf(NodeRef node) {
  if (isLeaf(node)) {
    const int leaf = number({leafTag, static_cast<int>(node->id)});
    return {leaf, leaf};
  }
  if (isElementwise(node)) return regionNumbers(node);
  Key loops{operatorTag, label(node)};
  Key borders = loops;
  for (const NodeRef operand : node->operands) {
    loops.push_back(of(operand).loops);
    borders.push_back(of(operand).borders);
  }
  return {number(std::move(loops)), number(std::move(borders))};
}

void Skeletons::visit(const std::vector<NodeRef>& results) {
  for (const NodeRef node : tensor::topologicalOutsideLoops(results)) {
    if (!numbers_.contains(node)) numbers_.emplace(node, numbersOf(node));
  }
}

std::vector<int> Skeletons::loops(const std::vector<NodeRef>& results) {
  visit(results);
  std::vector<int> numbers;
  for (const NodeRef result : results) numbers.push_back(of(result).loops);
  return numbers;
}

std::vector<int> Skeletons::borders(const std::vector<NodeRef>& results) {
  visit(results);
  std::vector<int> numbers;
  for (const NodeRef result : results) numbers.push_back(of(result).borders);
  return numbers;
}

}  // namespace nuscope::propagate
