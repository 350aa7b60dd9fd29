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
enum Tag : int { leafTag, operatorTag, readsTag, loopsTag, bordersTag, applicationTag, loopTag, stateTag };

void makeSet(std::vector<int>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

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
int Skeletons::label(Op op, const tensor::Attributes& attributes) {
  auto& ofOp = labels_[op];
  const auto at = std::ranges::find(ofOp, attributes, &std::pair<tensor::Attributes, int>::first);
  if (at != ofOp.end()) return at->second;
  ofOp.emplace_back(attributes, nextLabel_);
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
  Key key{applicationTag, label(node->op, node->attributes)};
  for (const NodeRef operand : node->operands)
    key.push_back(inRegion(node, operand) ? of(operand).loops : of(operand).borders);
  if (isCommutative(node->op)) std::sort(key.begin() + 2, key.end());
  return number(std::move(key));
}

/// What an elementwise operator and those below it read; a constant is nothing to read.
const std::vector<int>& Skeletons::readBy(NodeRef node) {
  std::vector<int> read;
  for (const NodeRef operand : node->operands) {
    if (isElementwise(operand)) {
      const auto& more = readBy_.at(operand);
      read.insert(read.end(), more.begin(), more.end());
    } else if (operand->op != Op::constant) {
      read.push_back(of(operand).reads);
    }
  }
  makeSet(read);
  return readBy_[node] = std::move(read);
}

Skeletons::Numbers Skeletons::regionNumbers(NodeRef root) {
  std::vector<int> operators;
  std::vector<int> readLoops;
  std::vector<int> readBorders;
  std::vector<int> first;
  for (const NodeRef node : region(root)) {
    operators.push_back(label(node->op, node->attributes));
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
    makeSet(read);
    Key key{tag, static_cast<int>(operators.size()), static_cast<int>(read.size())};
    key.insert(key.end(), operators.begin(), operators.end());
    key.insert(key.end(), read.begin(), read.end());
    return key;
  };
  Key borders = keyOf(bordersTag, std::move(readBorders));
  borders.push_back(application(root));
  borders.insert(borders.end(), first.begin(), first.end());
  Key reads{readsTag};
  const auto& read = readBy(root);
  reads.insert(reads.end(), read.begin(), read.end());
  return {number(std::move(reads)), number(keyOf(loopsTag, std::move(readLoops))),
          number(std::move(borders))};
}

/// What the states are like after one more round, told from what they were like before.
std::vector<int> Skeletons::afterRound(NodeRef loop, const std::vector<int>& states) {
  const auto numbers = numbers_;
  const auto readBy = readBy_;
  for (const NodeRef node : tensor::topological(loop->attributes.body)) {
    if (node->op != Op::loopState || node->attributes.name != loop->attributes.name) continue;
    const int state = states[static_cast<std::size_t>(node->attributes.index)];
    numbers_[node] = {state, state, state};
  }
  for (const NodeRef node : tensor::topologicalOutsideLoops(loop->attributes.body)) {
    if (!numbers_.contains(node)) numbers_.emplace(node, numbersOf(node));
  }
  std::vector<int> after;
  for (std::size_t i = 0; i < states.size(); ++i) {
    after.push_back(number({stateTag, states[i], of(loop->attributes.body[i]).loops}));
  }
  numbers_ = numbers;
  readBy_ = readBy;
  return after;
}

/// States are told apart by how they start and by how rounds change them.
Skeletons::Numbers Skeletons::loopNumbers(NodeRef loop) {
  std::vector<int> states;
  for (const NodeRef start : loop->operands) states.push_back(number({stateTag, of(start).loops}));
  for (std::size_t round = 0; round <= loop->operands.size(); ++round) states = afterRound(loop, states);
  tensor::Attributes bare = loop->attributes;
  bare.body.clear();
  Key key{loopTag, label(loop->op, bare)};
  key.insert(key.end(), states.begin(), states.end());
  std::sort(key.begin() + 2, key.end());
  states_[loop] = std::move(states);
  const int all = number(std::move(key));
  return {all, all, all};
}

Skeletons::Numbers Skeletons::numbersOf(NodeRef node) {
  if (node->op == Op::loop) return loopNumbers(node);
  if (node->op == Op::loopResult) {
    const NodeRef loop = node->operands[0];
    const int state = states_.at(loop)[static_cast<std::size_t>(node->attributes.index)];
    const int result = number({loopTag, of(loop).loops, state});
    return {result, result, result};
  }
  if (isLeaf(node)) {
    const int leaf = number({leafTag, static_cast<int>(node->id)});
    return {leaf, leaf, leaf};
  }
  if (isElementwise(node)) return regionNumbers(node);
  Key reads{operatorTag, label(node->op, node->attributes)};
  Key loops = reads;
  Key borders = reads;
  for (const NodeRef operand : node->operands) {
    reads.push_back(of(operand).reads);
    loops.push_back(of(operand).loops);
    borders.push_back(of(operand).borders);
  }
  return {number(std::move(reads)), number(std::move(loops)), number(std::move(borders))};
}

std::vector<int> Skeletons::ofAll(const std::vector<NodeRef>& results, int Numbers::*which) {
  for (const NodeRef node : tensor::topologicalOutsideLoops(results)) {
    if (!numbers_.contains(node)) numbers_.emplace(node, numbersOf(node));
  }
  std::vector<int> numbers;
  for (const NodeRef result : results) numbers.push_back(of(result).*which);
  return numbers;
}

std::vector<int> Skeletons::reads(const std::vector<NodeRef>& results) {
  return ofAll(results, &Numbers::reads);
}

std::vector<int> Skeletons::loops(const std::vector<NodeRef>& results) {
  return ofAll(results, &Numbers::loops);
}

std::vector<int> Skeletons::borders(const std::vector<NodeRef>& results) {
  return ofAll(results, &Numbers::borders);
}

}  // namespace nuscope::propagate
