// Guesses that make a graph smaller: an operator may equal one of its own inputs, and layouts in a row may be
// one.
#include <fmt/format.h>

#include <algorithm>

#include "core/propagate/moves.h"
#include "core/propagate/view.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

constexpr int identityDepth = 3;

void collect(NodeRef node, int depth, std::vector<NodeRef>& into) {
  for (const NodeRef operand : node->operands) {
    if (operand->op == Op::loop) continue;  // no value of its own, and what it starts with is not its result
    if (std::ranges::find(into, operand) == into.end()) into.push_back(operand);
    if (depth > 1) collect(operand, depth - 1, into);
  }
}

void proposeIdentities(MoveContext& context, NodeRef node) {
  std::vector<NodeRef> inputs;
  collect(node, identityDepth, inputs);
  for (const NodeRef input : inputs) {
    context.propose(
        node, input,
        fmt::format("{} replaced by {}", shortText(context.program, node), shortText(context.program, input)),
        "", nullptr, nullptr, true);
  }
}

bool isRelabelling(NodeRef node) {
  return node->op == Op::transpose || node->op == Op::expandDims || node->op == Op::squeeze ||
         node->op == Op::broadcastTo;
}

void proposeShorterLayout(MoveContext& context, NodeRef node) {
  if (!isRelabelling(node) || !isRelabelling(node->operands[0])) return;
  const View view = viewOf(node, context.program.facts);
  const NodeRef laid = materialise(context.build, view, node->shape, {}, true);
  if (laid == nullptr) return;
  context.propose(node, fitted(context.build, context.build.broadcastTo(laid, node->shape), node->shape),
                  fmt::format("layout steps of {} joined", shortText(context.program, view.base)), "",
                  nullptr, nullptr, true);
}

}  // namespace

void proposeCleanups(MoveContext& context) {
  for (const NodeRef node : context.nodes) {
    const auto kind = tensor::kind(node->op);
    if (kind == OpKind::leaf || kind == OpKind::loop) continue;
    proposeShorterLayout(context, node);
    proposeIdentities(context, node);
  }
}

}  // namespace nuscope::propagate
