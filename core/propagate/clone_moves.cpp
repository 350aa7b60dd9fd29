// A producer moves past its consumer. Three cases, by who carries side operands into which space:
//   overElementwise   the producer is elementwise: its side operands go from the producer's space to the
//   consumer's underElementwise  the consumer is: its side operands go from the consumer's space to the
//   producer's operand general           neither is: the axes in the attributes are mapped
// and two for producers that only relabel axes (transposes and the like), which are seen through.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/propagate/axis_map.h"
#include "core/propagate/moves.h"
#include "core/propagate/remap.h"
#include "core/propagate/view.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;

bool isRelabelling(NodeRef node) {
  return node->op == Op::transpose || node->op == Op::expandDims || node->op == Op::squeeze ||
         node->op == Op::broadcastTo;
}

/// A producer at one slot of a consumer.
struct Pair {
  NodeRef producer;
  NodeRef consumer;
  std::size_t slot;
};

using Subset = std::vector<std::size_t>;

/// Non-empty subsets of 0..n-1, by size, then lexicographic.
std::vector<Subset> subsets(std::size_t n) {
  std::vector<Subset> all;
  for (unsigned mask = 1; mask < (1U << n); ++mask) {
    Subset subset;
    for (std::size_t i = 0; i < n; ++i) {
      if ((mask >> i & 1U) != 0) subset.push_back(i);
    }
    all.push_back(std::move(subset));
  }
  std::ranges::stable_sort(all, [](const Subset& a, const Subset& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return all;
}

bool holds(const Subset& subset, std::size_t slot) {
  return std::ranges::find(subset, slot) != subset.end();
}

/// Where each axis of the consumer's slot operand goes in its result; -1 where it is folded or changed.
std::vector<int> outputMap(const std::vector<AxisLink>& links) {
  std::vector<int> map;
  for (const AxisLink& link : links) map.push_back(link.kind == Kind::identity ? link.output : -1);
  return map;
}

/// The consumer on one operand of an elementwise producer. Axes that it folds or changes get their whole
/// extent.
NodeRef consumerOn(MoveContext& context, const Pair& pair, const std::vector<AxisLink>& links,
                   NodeRef operand, bool wholeRank) {
  const tensor::Shape& space = pair.producer->shape;
  std::vector<bool> full(space.size());
  for (std::size_t axis = 0; axis < space.size(); ++axis) {
    const bool constantSlice = pair.consumer->op == Op::slice;  // a slice of what is constant is constant
    full[axis] = !constantSlice && (links[axis].kind == Kind::bound || links[axis].kind == Kind::changed);
  }
  const View view = alignedView(operand, space.size(), context.program.facts);
  if (tensor::kind(pair.consumer->op) ==
      OpKind::reduce) {  // a reduction of what is constant is nobody's gain
    const auto& axes = pair.consumer->attributes.axes;
    if (std::ranges::none_of(axes, [&](int axis) { return variesAlong(view, axis); })) return nullptr;
  }
  const NodeRef laid = materialise(context.build, view, space, full, wholeRank);
  if (laid == nullptr) return nullptr;
  if (!wholeRank) return context.build.withSlot(pair.consumer, pair.slot, laid);
  std::vector<int> same(space.size());
  std::iota(same.begin(), same.end(), 0);
  const auto attributes = remapped(pair.consumer, same, pair.producer, laid, context.program.facts);
  if (!attributes) return nullptr;
  std::vector<NodeRef> operands = pair.consumer->operands;
  operands[pair.slot] = laid;
  return context.build.make(pair.consumer->op, std::move(operands), *attributes);
}

NodeRef overElementwise(MoveContext& context, const Pair& pair, const Subset& cloned) {
  Builder& build = context.build;
  const auto& facts = context.program.facts;
  const auto [producer, consumer, slot] = pair;
  std::vector<NodeRef> operands = producer->operands;
  if (isElementwise(consumer)) {  // right-aligned in both spaces: nothing to lay out
    for (const std::size_t i : cloned) operands[i] = build.withSlot(consumer, slot, operands[i]);
    return build.with(producer, std::move(operands));
  }
  const auto links = axisLinks(consumer, slot, facts);
  const auto map = outputMap(links);
  for (std::size_t j = 0; j < operands.size(); ++j) {
    if (holds(cloned, j) && !isRelabelling(consumer)) {
      NodeRef clone =
          consumer->op == Op::matmul ? consumerOn(context, pair, links, operands[j], false) : nullptr;
      if (clone == nullptr) clone = consumerOn(context, pair, links, operands[j], true);
      operands[j] = clone;
    } else {
      const auto view = moved(alignedView(operands[j], producer->shape.size(), facts), map);
      operands[j] = view ? materialise(build, *view, consumer->shape) : nullptr;
    }
  }
  const NodeRef result = build.with(producer, std::move(operands));
  if (result == nullptr || consumer->op != Op::broadcastTo) return fitted(build, result, consumer->shape);
  return build.broadcastTo(result, consumer->shape);
}

/// For each axis of the consumer's result, the axis of the producer's operand i it corresponds to by
/// identity; -1: none.
std::vector<int> intoOperand(const Pair& pair, std::size_t i, const tensor::DimFacts& facts) {
  const auto inverse = inverseLinks(pair.producer, i, facts);
  const std::size_t offset = pair.consumer->shape.size() - pair.producer->shape.size();
  std::vector<int> map(pair.consumer->shape.size(), -1);
  for (std::size_t axis = 0; axis < inverse.size(); ++axis) {
    if (!inverse[axis].identity) continue;
    if (facts.equal(pair.producer->shape[axis], 1)) continue;
    map[axis + offset] = inverse[axis].axis;
  }
  return map;
}

/// A joined axis: the part of a side operand that meets operand i.
NodeRef partOf(MoveContext& context, const Pair& pair, NodeRef side, std::size_t i) {
  const NodeRef producer = pair.producer;
  const auto axis = static_cast<std::size_t>(producer->attributes.axes[0]);
  const std::size_t rank = pair.consumer->shape.size();
  const auto position = static_cast<int>(axis + rank - producer->shape.size());
  const int own = position - static_cast<int>(rank - side->shape.size());
  if (own < 0 || context.build.isOne(side->shape[static_cast<std::size_t>(own)])) return side;
  tensor::Dim start(0);
  for (std::size_t before = 0; before < i; ++before) start = start + producer->operands[before]->shape[axis];
  return context.build.slice(side, own, start, start + producer->operands[i]->shape[axis]);
}

NodeRef underElementwise(MoveContext& context, const Pair& pair, const Subset& cloned) {
  Builder& build = context.build;
  const auto& facts = context.program.facts;
  const auto [producer, consumer, slot] = pair;
  if (consumer->shape.size() < producer->shape.size()) return nullptr;
  std::vector<NodeRef> operands = producer->operands;
  NodeRef clone = nullptr;
  for (const std::size_t i : cloned) {
    const NodeRef kept = operands[i];
    auto map = intoOperand(pair, i, facts);
    if (producer->op == Op::concatenate) {
      const auto axis = static_cast<std::size_t>(producer->attributes.axes[0]);
      map[axis + consumer->shape.size() - producer->shape.size()] = static_cast<int>(axis);
    }
    std::vector<NodeRef> sides = consumer->operands;
    for (std::size_t r = 0; r < sides.size(); ++r) {
      if (r == slot) {
        sides[r] = kept;
        continue;
      }
      const NodeRef side = producer->op == Op::concatenate ? partOf(context, pair, sides[r], i) : sides[r];
      if (side == nullptr) return nullptr;
      const auto view = moved(alignedView(side, consumer->shape.size(), facts), map);
      sides[r] = view ? materialise(build, *view, kept->shape) : nullptr;
    }
    clone = build.with(consumer, std::move(sides));
    operands[i] = clone;
  }
  if (clone == nullptr) return nullptr;
  Attributes attributes = producer->attributes;
  if (producer->op == Op::reshape || producer->op == Op::broadcastTo) attributes.shape = consumer->shape;
  return fitted(build, build.make(producer->op, std::move(operands), std::move(attributes)), consumer->shape);
}

/// axis a of the result of `node` -> axis of its operand i, identity or changed.
std::vector<int> inverseMap(NodeRef node, std::size_t i, const tensor::DimFacts& facts) {
  std::vector<int> map;
  for (const InverseLink& link : inverseLinks(node, i, facts)) map.push_back(link.identity ? link.axis : -1);
  return map;
}

/// A transposed tensor, seen through what relabels its axes already.
NodeRef transposed(Builder& build, NodeRef x, const std::vector<int>& axes) {
  std::vector<int> positions(axes.size());
  tensor::Shape shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    positions[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
    shape.push_back(x->shape[static_cast<std::size_t>(axes[i])]);
  }
  const auto view = moved(viewOf(x, build.facts()), positions);
  const NodeRef laid = view ? materialise(build, *view, shape, {}, true) : nullptr;
  return laid == nullptr ? nullptr : fitted(build, build.broadcastTo(laid, shape), shape);
}

NodeRef cloneOn(MoveContext& context, const Pair& pair, NodeRef kept, const Attributes& attributes) {
  if (pair.consumer->op == Op::transpose && attributes.axes.size() == kept->shape.size()) {
    return transposed(context.build, kept, attributes.axes);
  }
  std::vector<NodeRef> operands = pair.consumer->operands;
  operands[pair.slot] = kept;
  return context.build.make(pair.consumer->op, std::move(operands), attributes);
}

NodeRef general(MoveContext& context, const Pair& pair, const Subset& cloned, bool mapAxes, bool swapped) {
  Builder& build = context.build;
  const auto& facts = context.program.facts;
  const auto [producer, consumer, slot] = pair;
  std::vector<NodeRef> operands = producer->operands;
  std::optional<Attributes> outer = producer->attributes;
  for (const std::size_t i : cloned) {
    const NodeRef kept = producer->operands[i];
    std::optional<Attributes> attributes = consumer->attributes;
    if (mapAxes) attributes = remapped(consumer, inverseMap(producer, i, facts), producer, kept, facts);
    if (!attributes) return nullptr;
    operands[i] = cloneOn(context, pair, kept, *attributes);
    if (operands[i] == nullptr) return nullptr;
    if (producer->op == Op::reshape || producer->op == Op::broadcastTo) {
      outer->shape = consumer->shape;
    } else if (mapAxes && operands[i]->op == consumer->op) {
      outer = remapped(producer, outputMap(axisLinks(operands[i], slot, facts)), kept, operands[i], facts);
      if (!outer) return nullptr;
    }
  }
  if (swapped) std::ranges::reverse(operands);
  return fitted(build, build.make(producer->op, std::move(operands), *outer), consumer->shape);
}

/// A producer that relabels axes, past anything but a contraction: the consumer works on what is below, and
/// the result is laid out as before.
NodeRef pastRelabelling(MoveContext& context, const Pair& pair) {
  Builder& build = context.build;
  const auto& facts = context.program.facts;
  const auto [producer, consumer, slot] = pair;
  const NodeRef base = producer->operands[0];
  const auto attributes = remapped(consumer, inverseMap(producer, 0, facts), producer, base, facts);
  if (!attributes) return nullptr;
  std::vector<NodeRef> operands = consumer->operands;
  operands[slot] = base;
  const NodeRef clone = build.make(consumer->op, std::move(operands), *attributes);
  if (clone == nullptr) return nullptr;
  const auto down = axisLinks(producer, 0, facts);       // base -> producer
  const auto across = axisLinks(consumer, slot, facts);  // producer -> consumer
  const auto own = axisLinks(clone, slot, facts);        // base -> clone
  View view{clone, std::vector<int>(clone->shape.size(), -1)};
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (own[axis].output < 0 || down[axis].output < 0 ||
        facts.equal(clone->shape[static_cast<std::size_t>(own[axis].output)], 1))
      continue;
    view.at[static_cast<std::size_t>(own[axis].output)] =
        across[static_cast<std::size_t>(down[axis].output)].output;
  }
  const NodeRef laid = materialise(build, view, consumer->shape);
  return laid == nullptr ? nullptr : fitted(build, build.broadcastTo(laid, consumer->shape), consumer->shape);
}

/// x with its last two axes exchanged, seen through transposes.
NodeRef flipped(Builder& build, NodeRef x) {
  if (x->shape.size() < 2) return nullptr;
  View view = viewOf(x, build.facts());
  const auto last = static_cast<int>(x->shape.size()) - 1;
  for (int& position : view.at) {
    if (position >= last - 1) position = 2 * last - 1 - position;
  }
  tensor::Shape shape = x->shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  const NodeRef laid = materialise(build, view, shape, {}, true);
  return laid == nullptr ? nullptr : fitted(build, build.broadcastTo(laid, shape), shape);
}

/// A transposed operand of a matrix product: the operands change places, re-laid by permutation, and so is
/// the result.
NodeRef flippedProduct(MoveContext& context, NodeRef product) {
  Builder& build = context.build;
  const NodeRef a = flipped(build, product->operands[0]);
  const NodeRef b = flipped(build, product->operands[1]);
  if (a == nullptr || b == nullptr) return nullptr;
  const NodeRef other = build.make(Op::matmul, {b, a});
  return other == nullptr ? nullptr : flipped(build, other);
}

bool spreads(const Pair& pair, const Subset& cloned) {
  return cloned.size() > 1 || pair.producer->operands.size() > 2;
}

/// An elementwise consumer that works on the producer's operand now.
bool goesBefore(const Pair& pair) {
  return isElementwise(pair.consumer) && !isElementwise(pair.producer) && pair.consumer->operands.size() <= 2;
}

std::string phrase(MoveContext& context, const Pair& pair, const Subset& cloned) {
  const auto& program = context.program;
  const std::string past = actionText(program, pair.consumer, pair.slot);
  if (goesBefore(pair) && pair.producer->operands.size() > 1) {
    return fmt::format(
        "{} moved before {}{}", past, tensor::name(pair.producer->op),
        cloned.size() > 1 ? "" : " onto " + shortText(program, pair.producer->operands[cloned[0]]));
  }
  if (goesBefore(pair)) return fmt::format("{} moved before {}", past, actionText(program, pair.producer));
  if (spreads(pair, cloned)) return fmt::format("{} spread over {}", tensor::name(pair.producer->op), past);
  return fmt::format("{} moved past {}", actionText(program, pair.producer, cloned[0]), past);
}

std::string briefPhrase(MoveContext& context, const Pair& pair, const Subset& cloned) {
  const auto past = tensor::name(pair.consumer->op);
  if (goesBefore(pair)) {
    const std::string action = actionText(context.program, pair.consumer, pair.slot);
    if (cloned.size() > 1 || pair.producer->operands.size() == 1) {
      return fmt::format("{} before {}", action, tensor::name(pair.producer->op));
    }
    return fmt::format("{} on {}", action, shortText(context.program, pair.producer->operands[cloned[0]]));
  }
  if (spreads(pair, cloned)) return fmt::format("{} spread over {}", tensor::name(pair.producer->op), past);
  return fmt::format("{} after {}", actionText(context.program, pair.producer, cloned[0]), past);
}

void proposePair(MoveContext& context, const Pair& pair) {
  const auto [producer, consumer, slot] = pair;
  const auto propose = [&](NodeRef after, const Subset& cloned) {
    const bool before = goesBefore(pair);
    context.propose(consumer, after, phrase(context, pair, cloned), briefPhrase(context, pair, cloned),
                    before ? consumer : producer, before ? producer : consumer);
  };
  if (isRelabelling(producer) && !isElementwise(consumer)) {
    if (consumer->op == Op::matmul) {
      propose(flippedProduct(context, consumer), {0});
    } else if (!isRelabelling(consumer)) {
      propose(pastRelabelling(context, pair), {0});
    }
    return;
  }
  for (const Subset& cloned : subsets(producer->operands.size())) {
    const bool all = cloned.size() == producer->operands.size();
    if (isElementwise(producer)) {
      if (consumer->op == Op::concatenate || (isRelabelling(consumer) && !all)) continue;
      propose(overElementwise(context, pair, cloned), cloned);
    } else if (isElementwise(consumer)) {
      if (producer->op == Op::concatenate && !all) continue;
      propose(underElementwise(context, pair, cloned), cloned);
    } else {
      if (producer->op == Op::concatenate && !all) continue;
      propose(general(context, pair, cloned, true, false), cloned);
      propose(general(context, pair, cloned, false, false), cloned);
      if (cloned.size() == 2) propose(general(context, pair, cloned, false, true), cloned);
    }
  }
}

}  // namespace

void proposeClones(MoveContext& context) {
  for (const NodeRef consumer : context.nodes) {
    if (tensor::kind(consumer->op) == OpKind::loop) continue;
    for (std::size_t slot = 0; slot < consumer->operands.size(); ++slot) {
      const NodeRef producer = consumer->operands[slot];
      const auto kind = tensor::kind(producer->op);
      if (kind == OpKind::leaf || kind == OpKind::loop || producer->operands.size() > 4) continue;
      // A producer that others need too stays where it is for them; only what costs nothing is doubled.
      if (!context.usedOnlyBy(producer, consumer) && !isRelabelling(producer)) continue;
      proposePair(context, {producer, consumer, slot});
    }
  }
}

}  // namespace nuscope::propagate
