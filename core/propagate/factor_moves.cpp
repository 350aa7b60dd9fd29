// What several operands of an operator have in common is done once behind it: the reverse of cloning a
// consumer onto several operands.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/propagate/axis_map.h"
#include "core/propagate/moves.h"
#include "core/propagate/remap.h"
#include "core/propagate/view.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

/// Operands of one operator, all with the same operator above them and the same operands but one each.
struct Common {
  std::vector<std::size_t> slots;   ///< of the joining operator
  std::vector<std::size_t> varies;  ///< for each, the slot in which it differs
};

/// The slot in which each node differs from the first; empty when they have more or less than one difference.
std::optional<std::vector<std::size_t>> differingSlots(const std::vector<NodeRef>& nodes) {
  const NodeRef first = nodes[0];
  for (std::size_t s = 0; s < first->operands.size(); ++s) {
    std::vector<std::size_t> slots{s};
    for (std::size_t n = 1; n < nodes.size(); ++n) {
      // The others keep the rest of the first, in any order: c*a + b*c.
      for (std::size_t t = 0; t < first->operands.size(); ++t) {
        std::vector<NodeRef> restFirst = first->operands;
        std::vector<NodeRef> rest = nodes[n]->operands;
        restFirst.erase(restFirst.begin() + static_cast<std::ptrdiff_t>(s));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(t));
        if (rest == restFirst) {
          slots.push_back(t);
          break;
        }
      }
    }
    if (slots.size() == nodes.size()) return slots;
  }
  return std::nullopt;
}

std::optional<Common> commonOf(NodeRef node, const std::vector<std::size_t>& slots) {
  const NodeRef first = node->operands[slots[0]];
  std::vector<NodeRef> operands;
  for (const std::size_t slot : slots) {
    const NodeRef operand = node->operands[slot];
    if (operand->op != first->op || operand->operands.size() != first->operands.size() ||
        operand->attributes != first->attributes) {
      return std::nullopt;
    }
    operands.push_back(operand);
  }
  const auto kind = tensor::kind(first->op);
  if (kind == OpKind::leaf || kind == OpKind::loop ||
      std::ranges::count(operands, first) == std::ssize(operands)) {
    return std::nullopt;
  }
  const auto differing = differingSlots(operands);
  if (!differing) return std::nullopt;
  return Common{slots, *differing};
}

/// The joining operator on the differing operands, then the common one.
NodeRef factored(MoveContext& context, NodeRef node, const Common& common) {
  Builder& build = context.build;
  const auto& facts = context.program.facts;
  const NodeRef first = node->operands[common.slots[0]];
  const std::size_t varying = common.varies[0];
  const bool pointwise = isElementwise(first) && isElementwise(node);
  std::vector<NodeRef> inner = node->operands;
  for (std::size_t i = 0; i < common.slots.size(); ++i) {
    const NodeRef part = node->operands[common.slots[i]];
    inner[common.slots[i]] = part->operands[common.varies[i]];
  }
  const NodeRef kept = inner[common.slots[0]];
  std::optional<tensor::Attributes> attributes = node->attributes;
  if (!pointwise) {
    std::vector<int> map;
    for (const InverseLink& link : inverseLinks(first, varying, facts))
      map.push_back(link.identity ? link.axis : -1);
    for (std::size_t r = 0; r < inner.size(); ++r) {  // a condition over both follows into their space
      if (std::ranges::find(common.slots, r) != common.slots.end()) continue;
      const auto view = moved(alignedView(inner[r], first->shape.size(), facts), map);
      inner[r] = view && node->shape.size() == first->shape.size() ? materialise(build, *view, kept->shape)
                                                                   : nullptr;
    }
    attributes = remapped(node, map, first, kept, facts);
    if (!attributes) return nullptr;
  }
  std::vector<NodeRef> outer = first->operands;
  outer[varying] = build.make(node->op, std::move(inner), *attributes);
  tensor::Attributes above = first->attributes;
  if (first->op == Op::reshape || first->op == Op::broadcastTo) above.shape = node->shape;
  return fitted(build, build.make(first->op, std::move(outer), std::move(above)), node->shape);
}

}  // namespace

void proposeFactors(MoveContext& context) {
  for (const NodeRef node : context.nodes) {
    if (node->operands.size() < 2 || (!isElementwise(node) && node->op != Op::concatenate)) continue;
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::size_t> all(node->operands.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    groups.push_back(all);
    if (node->op == Op::where) groups = {{1, 2}};
    for (const auto& slots : groups) {
      const auto common = commonOf(node, slots);
      if (!common) continue;
      const NodeRef shared = node->operands[slots[0]];
      context.propose(
          node, factored(context, node, *common),
          fmt::format("{} done once behind {}", actionText(context.program, shared, common->varies[0]),
                      tensor::name(node->op)),
          fmt::format("one {} behind {}", tensor::name(shared->op), tensor::name(node->op)), shared, node);
    }
  }
}

}  // namespace nuscope::propagate
