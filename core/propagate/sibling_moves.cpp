// A producer's other operand moves onto a sibling operand of the consumer.
#include <fmt/format.h>

#include "core/propagate/axis_map.h"
#include "core/propagate/moves.h"
#include "core/propagate/view.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::isContraction;
using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;

/// Axis of slot `from` of a node -> axis of slot `to` that runs with it (same result axis or same bound
/// index); -1.
std::vector<int> siblingMap(NodeRef node, std::size_t from, std::size_t to, const tensor::DimFacts& facts) {
  const auto here = axisLinks(node, from, facts);
  const auto there = axisLinks(node, to, facts);
  std::vector<int> map(here.size(), -1);
  for (std::size_t a = 0; a < here.size(); ++a) {
    for (std::size_t b = 0; b < there.size(); ++b) {
      const bool sameOutput = here[a].kind == Kind::identity && there[b].kind == Kind::identity &&
                              here[a].output == there[b].output;
      const bool sameBound =
          here[a].kind == Kind::bound && there[b].kind == Kind::bound && here[a].label == there[b].label;
      if (sameOutput || sameBound) map[a] = static_cast<int>(b);
    }
  }
  return map;
}

/// The elementwise producer of slot q, keeping its operand i there, applied to the consumer's operand r
/// instead.
NodeRef elementwiseOnto(MoveContext& context, NodeRef consumer, std::size_t q, std::size_t i, std::size_t r) {
  const NodeRef producer = consumer->operands[q];
  const NodeRef sibling = consumer->operands[r];
  std::vector<NodeRef> operands = producer->operands;
  operands[i] = sibling;
  if (!isElementwise(consumer)) {
    const auto map = siblingMap(consumer, q, r, context.program.facts);
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (j == i) continue;
      const auto view = moved(alignedView(operands[j], producer->shape.size(), context.program.facts), map);
      operands[j] = view ? materialise(context.build, *view, sibling->shape) : nullptr;
    }
  }
  std::vector<NodeRef> result = consumer->operands;
  result[q] = producer->operands[i];
  result[r] = context.build.with(producer, std::move(operands));
  return context.build.with(consumer, std::move(result));
}

void proposeOnto(MoveContext& context, NodeRef consumer, std::size_t q, std::size_t r) {
  const NodeRef producer = consumer->operands[q];
  const std::string onto = shortText(context.program, consumer->operands[r]);
  for (std::size_t i = 0; i < producer->operands.size(); ++i) {
    const std::string brief =
        producer->operands.size() == 2
            ? fmt::format("{} into {}", shortText(context.program, producer->operands[1 - i]), onto)
            : fmt::format("{} onto {}", tensor::name(producer->op), onto);
    const std::string what = fmt::format("{} moved past {} onto {}", actionText(context.program, producer, i),
                                         tensor::name(consumer->op), onto);
    if (isElementwise(producer)) {
      context.propose(consumer, elementwiseOnto(context, consumer, q, i, r), what, brief, producer, consumer);
      continue;
    }
    if (producer->operands.size() != 2) continue;
    const NodeRef other = producer->operands[1 - i];
    const NodeRef sibling = consumer->operands[r];
    for (const bool swapped : {false, true}) {
      const NodeRef joined =
          context.build.with(producer, swapped ? std::vector{sibling, other} : std::vector{other, sibling});
      std::vector<NodeRef> result = consumer->operands;
      result[q] = producer->operands[i];
      result[r] = joined;
      context.propose(consumer, context.build.with(consumer, std::move(result)), what, brief, producer,
                      consumer);
    }
  }
}

/// Two binary elementwise operators in a row, grouped the other way with each assignment of the two.
void proposeRegrouping(MoveContext& context, NodeRef consumer, std::size_t q) {
  const NodeRef producer = consumer->operands[q];
  if (consumer->operands.size() != 2 || producer->operands.size() != 2) return;
  Builder& build = context.build;
  const NodeRef outer = consumer->operands[1 - q];
  const NodeRef pair[] = {producer, consumer};
  for (const NodeRef first : pair) {
    for (const NodeRef second : pair) {
      const NodeRef after =
          q == 0
              ? build.with(first, {producer->operands[0], build.with(second, {producer->operands[1], outer})})
              : build.with(first,
                           {build.with(second, {outer, producer->operands[0]}), producer->operands[1]});
      context.propose(
          consumer, after,
          fmt::format("{} grouped before {}",
                      shortText(context.program, q == 0 ? outer : producer->operands[0]),
                      actionText(context.program, producer, q == 0 ? 0 : 1)),
          fmt::format("{} and {} regrouped", tensor::name(producer->op), tensor::name(consumer->op)),
          producer, consumer, true);
    }
  }
}

}  // namespace

void proposeSiblings(MoveContext& context) {
  for (const NodeRef consumer : context.nodes) {
    if ((!isElementwise(consumer) && !isContraction(consumer)) || consumer->operands.size() < 2) continue;
    for (std::size_t q = 0; q < consumer->operands.size(); ++q) {
      const NodeRef producer = consumer->operands[q];
      const bool movable = isElementwise(producer) || (isContraction(producer) && isContraction(consumer));
      if (!movable || producer->operands.size() < 2 || context.uses.at(producer) > 1) continue;
      for (std::size_t r = 0; r < consumer->operands.size(); ++r) {
        if (r != q) proposeOnto(context, consumer, q, r);
      }
      if (isElementwise(producer) && isElementwise(consumer)) proposeRegrouping(context, consumer, q);
    }
  }
}

}  // namespace nuscope::propagate
