// A fold over an extent that comes in blocks is the fold of the folds of the blocks; and a product whose
// columns come in blocks is one product for each block.
#include <fmt/format.h>

#include "core/propagate/blocks.h"
#include "core/propagate/moves.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using tensor::Shape;

/// x with one axis as two: blocks, and elements of a block.
NodeRef inBlocks(Builder& build, NodeRef x, std::size_t axis, const Blocks& blocks) {
  Shape shape = x->shape;
  shape[axis] = blocks.size;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), blocks.rounds);
  return build.reshape(x, std::move(shape));
}

/// Cutting one operator opens less than what moves past another: it is tried later.
void proposeLate(MoveContext& context, NodeRef before, NodeRef after, std::string what, std::string brief) {
  const std::size_t count = context.moves.size();
  context.propose(before, after, std::move(what), std::move(brief), before, before);
  if (context.moves.size() > count) context.moves.back().cost = MoveCost::blocks;
}

/// Along this axis a joined operand comes in parts of its own (split_moves.cpp).
bool isJoined(NodeRef x, int axis) {
  return x->op == Op::concatenate && x->attributes.axes[0] == axis;
}

NodeRef reduced(Builder& build, Op op, NodeRef x, int axis, bool keepDims) {
  Attributes at;
  at.axes = {axis};
  at.keepDims = keepDims;
  return build.make(op, {x}, std::move(at));
}

void proposeBlocksOfFold(MoveContext& context, NodeRef fold) {
  if (fold->attributes.axes.size() != 1) return;
  const NodeRef x = fold->operands[0];
  const int axis = fold->attributes.axes[0];
  if (isJoined(x, axis)) return;
  for (const Blocks& blocks : waysToCut(x->shape[static_cast<std::size_t>(axis)], context.program)) {
    Builder& build = context.build;
    const NodeRef inner =
        reduced(build, fold->op, inBlocks(build, x, static_cast<std::size_t>(axis), blocks), axis + 1, false);
    proposeLate(context, fold, reduced(build, fold->op, inner, axis, fold->attributes.keepDims),
                fmt::format("{} in blocks of {}", actionText(context.program, fold), blocks.size.text()),
                fmt::format("{} in blocks of {}", tensor::name(fold->op), blocks.size.text()));
  }
}

/// [M, K] @ [K, N], cut along K: the products of the blocks, summed.
void proposeBlocksOfDepth(MoveContext& context, NodeRef product) {
  const NodeRef a = product->operands[0];
  const NodeRef b = product->operands[1];
  if (isJoined(a, 1) || isJoined(b, 0)) return;
  for (const Blocks& blocks : waysToCut(b->shape[0], context.program)) {
    Builder& build = context.build;
    const NodeRef parts = build.make(Op::matmul, {build.transpose(inBlocks(build, a, 1, blocks), {1, 0, 2}),
                                                  inBlocks(build, b, 0, blocks)});
    proposeLate(context, product, reduced(build, Op::sum, parts, 0, false),
                fmt::format("{} split over {} in blocks of {}", actionText(context.program, product),
                            b->shape[0].text(), blocks.size.text()),
                fmt::format("matmul in blocks of {} of {}", blocks.size.text(), b->shape[0].text()));
  }
}

/// Cut along N: the products with the blocks, side by side.
void proposeBlocksOfColumns(MoveContext& context, NodeRef product) {
  const NodeRef a = product->operands[0];
  const NodeRef b = product->operands[1];
  if (isJoined(b, 1)) return;
  for (const Blocks& blocks : waysToCut(b->shape[1], context.program)) {
    Builder& build = context.build;
    const NodeRef parts =
        build.make(Op::matmul, {a, build.transpose(inBlocks(build, b, 1, blocks), {1, 0, 2})});
    proposeLate(context, product, build.reshape(build.transpose(parts, {1, 0, 2}), product->shape),
                fmt::format("{} split over {} in blocks of {}", actionText(context.program, product),
                            b->shape[1].text(), blocks.size.text()),
                fmt::format("matmul in blocks of {} of {}", blocks.size.text(), b->shape[1].text()));
  }
}

}  // namespace

void proposeBlocks(MoveContext& context) {
  for (const NodeRef node : context.nodes) {
    if (tensor::kind(node->op) == OpKind::reduce) proposeBlocksOfFold(context, node);
    if (node->op != Op::matmul || node->operands[0]->shape.size() != 2 ||
        node->operands[1]->shape.size() != 2)
      continue;
    proposeBlocksOfDepth(context, node);
    proposeBlocksOfColumns(context, node);
  }
}

}  // namespace nuscope::propagate
