#include "core/semantics/parting.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/diagnostics.h"
#include "core/tensor/store_copy.h"

namespace nuscope::semantics {

using tensor::NodeRef;
using tensor::Op;
using tensor::Program;

namespace {

bool listed(NodeRef node) {
  switch (node->op) {
    case Op::input:
    case Op::constant:
    case Op::dimValue:
    case Op::arange:
    case Op::loopState:
    case Op::loop:
      return false;
    default:
      return true;
  }
}

/// Infix sign of an operator of two operands; empty: none.
std::string_view infix(Op op) {
  switch (op) {
    case Op::add:
      return " + ";
    case Op::subtract:
      return " - ";
    case Op::multiply:
      return " * ";
    case Op::divide:
      return " / ";
    case Op::floorDivide:
      return " // ";
    case Op::modulo:
      return " % ";
    case Op::matmul:
      return " @ ";
    default:
      return tensor::isComparison(op) || op == Op::logicalAnd || op == Op::logicalOr ? tensor::symbol(op)
                                                                                     : "";
  }
}

/// Layout that a reader of values looks through.
bool transparent(Op op) {
  return op == Op::expandDims || op == Op::squeeze || op == Op::broadcastTo || op == Op::cast;
}

struct Side {
  Program program;  ///< in the common store
  std::vector<NodeRef> order;
  std::unordered_map<NodeRef, Evaluated> values;
  std::unordered_map<NodeRef, NodeRef> partner;
};

/// The program in another store, with the names of its variables.
Program moved(const Program& from, const std::shared_ptr<tensor::NodeStore>& store) {
  Program to;
  to.name = from.name;
  to.store = store;
  to.facts = from.facts;
  to.dimensions = from.dimensions;
  to.resultNames = from.resultNames;
  tensor::StoreCopy copy(*store, from.facts);
  for (const tensor::Parameter& p : from.parameters) to.parameters.push_back({p.name, copy(p.node)});
  to.results = copy(from.results);
  for (const auto& [node, name] : from.variables) {
    if (const NodeRef image = copy.copied(node)) to.variables.emplace(image, name);
  }
  return to;
}

void pair(Side& left, Side& right, NodeRef a, NodeRef b) {
  if (a->shape.size() != b->shape.size() || left.partner.contains(a) || right.partner.contains(b)) return;
  left.partner[a] = b;
  right.partner[b] = a;
}

void pairUp(Side& left, Side& right) {
  for (std::size_t i = 0; i < left.program.results.size(); ++i)
    pair(left, right, left.program.results[i], right.program.results[i]);
  const std::unordered_set<NodeRef> there(right.order.begin(), right.order.end());
  for (const NodeRef node : left.order) {
    if (there.contains(node)) pair(left, right, node, node);
  }
  std::unordered_map<std::string, NodeRef> byName;
  for (const NodeRef node : right.order) {
    const auto name = right.program.variables.find(node);
    if (name != right.program.variables.end()) byName.emplace(name->second, node);
  }
  for (const NodeRef node : left.order) {
    const auto name = left.program.variables.find(node);
    if (name == left.program.variables.end()) continue;
    const auto other = byName.find(name->second);
    if (other != byName.end() && other->second->shape == node->shape) pair(left, right, node, other->second);
  }
  // The same operator of the same type, in order, between what is paired already.
  std::size_t from = 0;
  for (const NodeRef node : left.order) {
    if (left.partner.contains(node)) {
      const auto at = std::find(right.order.begin(), right.order.end(), left.partner.at(node));
      from = std::max(from, static_cast<std::size_t>(at - right.order.begin()) + 1);
      continue;
    }
    for (std::size_t i = from; i < right.order.size(); ++i) {
      const NodeRef other = right.order[i];
      if (right.partner.contains(other)) break;
      if (other->op != node->op || other->dtype != node->dtype || !(other->shape == node->shape)) continue;
      pair(left, right, node, other);
      from = i + 1;
      break;
    }
  }
}

/// Operands at the same place of paired operators play the same part, whatever computes them.
void pairOperands(Side& left, Side& right) {
  for (auto at = left.order.rbegin(); at != left.order.rend(); ++at) {
    const auto partner = left.partner.find(*at);
    if (partner == left.partner.end() || partner->second->op != (*at)->op) continue;
    const auto& a = (*at)->operands;
    const auto& b = partner->second->operands;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (listed(a[i]) && listed(b[i]) && a[i]->shape == b[i]->shape) pair(left, right, a[i], b[i]);
    }
  }
}

std::vector<std::int64_t> unflatten(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = static_cast<std::int64_t>(flat) % shape[axis];
    flat /= static_cast<std::size_t>(shape[axis]);
  }
  return index;
}

/// The first element in which two tensors certainly differ; in definedness as well.
std::optional<std::size_t> firstDifference(const Evaluated& a, const Evaluated& b) {
  if (a.value.shape != b.value.shape) return 0;
  const auto count = a.value.values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto here = static_cast<State>(a.state[i]);
    const auto there = static_cast<State>(b.state[i]);
    if (here == State::undecided || there == State::undecided) continue;
    if (here != there) return i;
    if (here == State::undefined) continue;
    const double x = a.value.values[i];
    const double y = b.value.values[i];
    if (x != y && !(std::abs(x - y) <= a.bound[i] + b.bound[i])) return i;
  }
  return std::nullopt;
}

/// What a node is computed from, through constants and loops.
bool operandsAgree(NodeRef node, const std::unordered_set<NodeRef>& differing) {
  return std::none_of(node->operands.begin(), node->operands.end(), [&](NodeRef operand) {
    if (differing.contains(operand)) return true;
    return operand->op == Op::loop && !operandsAgree(operand, differing);
  });
}

/// Both orders merged: pairs once, what one side has alone at its place.
std::vector<Pair> merged(const Side& left, const Side& right) {
  std::vector<Pair> result;
  std::unordered_set<NodeRef> done;
  const auto alone = [&](const Side& side, std::size_t& at, bool isLeft, NodeRef until) {
    for (; at < side.order.size() && side.order[at] != until; ++at) {
      const NodeRef node = side.order[at];
      if (side.partner.contains(node)) continue;
      Pair p;
      p.relation = Pair::Relation::only;
      (isLeft ? p.left : p.right) = node;
      result.push_back(std::move(p));
    }
  };
  std::size_t l = 0;
  std::size_t r = 0;
  for (const NodeRef node : left.order) {
    const auto partner = left.partner.find(node);
    if (partner == left.partner.end()) continue;
    alone(left, l, true, node);
    const auto there = std::find(right.order.begin(), right.order.end(), partner->second);
    if (static_cast<std::size_t>(there - right.order.begin()) >= r) alone(right, r, false, partner->second);
    Pair p;
    p.left = node;
    p.right = partner->second;
    p.shared = node == partner->second;
    result.push_back(std::move(p));
  }
  alone(left, l, true, nullptr);
  alone(right, r, false, nullptr);
  return result;
}

std::string operandText(const Program& context, NodeRef node, int depth, bool bracket) {
  std::string text = nodeText(context, node, depth);
  return bracket && text.find(' ') != std::string::npos && text.back() != ')' ? "(" + text + ")" : text;
}

}  // namespace

std::string nodeText(const Program& context, NodeRef node, int depth) {
  const auto variable = context.variables.find(node);
  if (depth < 2 && variable != context.variables.end()) return variable->second;
  if (node->op == Op::input) return node->attributes.name;
  if (node->op == Op::constant) {
    if (node->attributes.infinity != 0) return node->attributes.infinity < 0 ? "-inf" : "inf";
    return decimalText(node->attributes.value);
  }
  if (node->op == Op::dimValue) return node->attributes.shape[0].text();
  if (transparent(node->op)) return nodeText(context, node->operands[0], depth);
  if (depth == 0) return "\u2026";
  const std::string_view sign = infix(node->op);
  if (!sign.empty())
    return operandText(context, node->operands[0], depth - 1, true) + std::string(sign) +
           operandText(context, node->operands[1], depth - 1, true);
  if (node->op == Op::power)
    return operandText(context, node->operands[0], depth - 1, true) + "^" +
           std::to_string(node->attributes.index);
  std::string text(tensor::name(node->op));
  text += "(";
  for (std::size_t i = 0; i < node->operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += operandText(context, node->operands[i], depth - 1, false);
  }
  return text + ")";
}

Partings partings(const Program& leftProgram, const Program& rightProgram, const tensor::Extents& extents,
                  const Inputs& inputs, std::size_t limit, const Progress& progress) {
  const auto store = std::make_shared<tensor::NodeStore>();
  Side left{moved(leftProgram, store), {}, {}, {}};
  Side right{moved(rightProgram, store), {}, {}, {}};
  for (Side* side : {&left, &right}) {
    for (const NodeRef node : tensor::topologicalOutsideLoops(side->program.results)) {
      if (listed(node)) side->order.push_back(node);
    }
    side->values = evaluateAll(side->program, side->program.results, extents, inputs, {}, progress);
  }
  pairUp(left, right);
  pairOperands(left, right);
  Partings result;
  result.store = store;
  result.pairs = merged(left, right);
  std::unordered_set<NodeRef> differing;  // of either side
  for (Pair& p : result.pairs) {
    const auto nameOf = [](const Side& side, NodeRef node) {
      const auto variable = side.program.variables.find(node);
      return variable != side.program.variables.end() ? variable->second : nodeText(side.program, node);
    };
    if (p.left) p.name = nameOf(left, p.left);
    const std::string other = p.right ? nameOf(right, p.right) : p.name;
    if (other != p.name) p.name += (p.name.empty() ? "" : " | ") + other;
    if (p.left) p.leftValue = left.values.at(p.left);
    if (p.right) p.rightValue = right.values.at(p.right);
    if (p.left == nullptr || p.right == nullptr || p.shared) continue;
    const auto at = firstDifference(p.leftValue, p.rightValue);
    if (!at) continue;
    const bool below = !operandsAgree(p.left, differing) || !operandsAgree(p.right, differing);
    p.relation = below ? Pair::Relation::differ : Pair::Relation::parts;
    p.at = unflatten(*at, p.leftValue.value.shape);
    differing.insert(p.left);
    differing.insert(p.right);
  }
  while (result.pairs.size() > limit) {
    const auto agreeing = std::find_if(result.pairs.begin(), result.pairs.end(),
                                       [](const Pair& p) { return p.relation == Pair::Relation::agree; });
    result.pairs.erase(agreeing == result.pairs.end() ? result.pairs.begin() : agreeing);
    ++result.hidden;
  }
  return result;
}

}  // namespace nuscope::semantics
