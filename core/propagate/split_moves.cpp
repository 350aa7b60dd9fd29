// A fold over a joined axis is a fold over each part, combined by the operator that the fold repeats; and
// back.
#include <fmt/format.h>

#include <algorithm>

#include "core/propagate/axis_map.h"
#include "core/propagate/moves.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;

/// The operator that the fold of `op` repeats (granular.h).
std::optional<Op> combiner(Op op) {
  switch (op) {
    case Op::sum:
    case Op::matmul:
    case Op::einsum:
      return Op::add;
    case Op::product:
      return Op::multiply;
    case Op::max:
      return Op::maximum;
    case Op::min:
      return Op::minimum;
    case Op::all:
      return Op::logicalAnd;
    default:
      return std::nullopt;
  }
}

/// The axis of each slot that runs with bound index `label`; -1: none.
std::vector<int> axesOfLabel(NodeRef fold, int label, const tensor::DimFacts& facts) {
  std::vector<int> axes;
  for (std::size_t slot = 0; slot < fold->operands.size(); ++slot) {
    const auto links = axisLinks(fold, slot, facts);
    const auto at = std::ranges::find_if(
        links, [&](const AxisLink& link) { return link.kind == Kind::bound && link.label == label; });
    axes.push_back(at == links.end() ? -1 : static_cast<int>(at - links.begin()));
  }
  return axes;
}

void proposeSplit(MoveContext& context, NodeRef fold, std::size_t slot) {
  const auto combine = combiner(fold->op);
  const NodeRef joined = fold->operands[slot];
  const auto links = axisLinks(fold, slot, context.program.facts);
  const auto axis = static_cast<std::size_t>(joined->attributes.axes[0]);
  if (!combine || links[axis].kind != Kind::bound) return;
  const auto axes = axesOfLabel(fold, links[axis].label, context.program.facts);
  NodeRef result = nullptr;
  tensor::Dim start(0);
  for (const NodeRef part : joined->operands) {
    const tensor::Dim stop = start + part->shape[axis];
    std::vector<NodeRef> operands = fold->operands;
    for (std::size_t other = 0; other < operands.size(); ++other) {
      if (other == slot) {
        operands[other] = part;
      } else if (axes[other] >= 0) {
        operands[other] = context.build.slice(operands[other], axes[other], start, stop);
      }
    }
    const NodeRef piece = context.build.with(fold, std::move(operands));
    if (piece == nullptr) return;
    result = result == nullptr ? piece : context.build.make(*combine, {result, piece});
    start = stop;
  }
  context.propose(fold, result,
                  fmt::format("{} split at the joined axis", actionText(context.program, fold, slot)),
                  fmt::format("{} in parts", tensor::name(fold->op)), joined, fold);
}

/// Two folds combined pointwise, as one fold over joined operands.
void proposeJoin(MoveContext& context, NodeRef node) {
  const NodeRef a = node->operands[0];
  const NodeRef b = node->operands[1];
  const auto combine = combiner(a->op);
  if (!combine || *combine != node->op || a == b || a->op != b->op || a->attributes != b->attributes) return;
  if (a->operands.size() != b->operands.size()) return;
  const auto links = axisLinks(a, 0, context.program.facts);
  const auto bound = std::ranges::find(links, Kind::bound, &AxisLink::kind);
  if (bound == links.end()) return;
  const auto axes = axesOfLabel(a, bound->label, context.program.facts);
  std::vector<NodeRef> operands;
  for (std::size_t slot = 0; slot < axes.size(); ++slot) {
    if (axes[slot] < 0 || a->operands[slot] == b->operands[slot]) return;
    operands.push_back(context.build.concatenate({a->operands[slot], b->operands[slot]}, axes[slot]));
  }
  context.propose(node, context.build.with(a, std::move(operands)),
                  fmt::format("{} and {} joined into one {}", shortText(context.program, a),
                              shortText(context.program, b), tensor::name(a->op)),
                  fmt::format("one {} over joined operands", tensor::name(a->op)), node, a);
}

}  // namespace

void proposeSplits(MoveContext& context) {
  for (const NodeRef node : context.nodes) {
    const auto kind = tensor::kind(node->op);
    if (kind == OpKind::reduce || kind == OpKind::contract) {
      for (std::size_t slot = 0; slot < node->operands.size(); ++slot) {
        if (node->operands[slot]->op == Op::concatenate) proposeSplit(context, node, slot);
      }
    }
    if (kind == OpKind::elementwise && node->operands.size() == 2) proposeJoin(context, node);
  }
}

}  // namespace nuscope::propagate
