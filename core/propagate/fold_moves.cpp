// Fold merging (DESIGN 6). A sum G over k whose terms use r = F(all k), F a fold over the same extent,
// becomes one fold over the pair (F, G): each round takes one element, or a block of them, and uses the
// prefix value of F; what was summed before is corrected by the ratio of a term under the new and the old
// prefix value, which must be free of the element. The ratio is not computed but guessed, in two ways: a term
// whose element is the old prefix value (a term under its own prefix value is often one), or two terms at a
// made-up element in which all that runs along the axis is one. Whether that is right is for the proof to
// say; no operator is named here but those that folds repeat.
#include <fmt/format.h>

#include <algorithm>

#include "core/propagate/axis_map.h"
#include "core/propagate/fold_round.h"
#include "core/propagate/moves.h"
#include "core/propagate/view.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::Dim;
using tensor::isElementwise;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;

/// The graph of one round, and the fold over it.
class Merger {
 public:
  Merger(MoveContext& context, NodeRef first, const Blocks& blocks)
      : context_(context),
        first_(first),
        source_(first->operands[0]),
        axis_(static_cast<std::size_t>(first->attributes.axes[0])),
        blocks_(blocks),
        facts_(context.program.facts),
        build_(context.build.store(), facts_) {
    int height = 0;
    for (const NodeRef node : context.nodes) height = std::max(height, node->loopHeight);
    counter_ = "@" + std::to_string(height + 1);
    facts_.declareCounter(counter_, blocks.rounds);
  }

  /// Both guesses, as one move.
  void propose(const std::vector<Term>& sums) {
    Move move = worded(sums);
    move.before.push_back(first_);
    for (const Term& sum : sums) move.before.push_back(sum.fold);
    move.after = results(sums, Correction::ownPrefix);
    move.otherwise = results(sums, Correction::madeUpElement);
    if (move.after.empty()) std::swap(move.after, move.otherwise);
    if (!move.after.empty()) context_.moves.push_back(std::move(move));
  }

 private:
  /// What takes the place of the folds; empty where it does not type.
  std::vector<NodeRef> results(const std::vector<Term>& sums, Correction correction) {
    NodeRef kept = first_;  // with its axis kept, the prefix value aligns with the elements
    if (!kept->attributes.keepDims) {
      Attributes at = first_->attributes;
      at.keepDims = true;
      kept = build_.make(first_->op, {source_}, std::move(at));
    }
    if (kept == nullptr) return {};
    const RoundParts parts{first_, source_, axis_, blocks_, counter_};
    const NodeRef old = state(0, kept);
    const NodeRef element = parts.along(build_, source_, axis_);
    const NodeRef now = build_.make(ruleOf(first_->op)->combine, {old, folded(element)});
    std::vector<NodeRef> starts{start(parts, kept, correction)};
    std::vector<NodeRef> body{now};
    for (const Term& sum : sums) {
      const NodeRef before = state(static_cast<int>(body.size()), sum.fold);
      const NodeRef added = parts.added(build_, sum, now);
      const NodeRef ratio = parts.ratio(build_, sum, old, now, correction);
      if (added == nullptr || ratio == nullptr) return {};
      starts.push_back(filled(sum.fold, 0));
      body.push_back(build_.make(Op::add, {build_.make(Op::multiply, {before, ratio}), added}));
    }
    if (std::ranges::find(body, nullptr) != body.end()) return {};
    const NodeRef loop = build_.make(Op::loop, std::move(starts), loopAttributes(std::move(body)));
    if (loop == nullptr) return {};
    std::vector<NodeRef> after{fitted(build_, result(loop, 0), first_->shape)};
    for (std::size_t i = 0; i < sums.size(); ++i) after.push_back(result(loop, static_cast<int>(i) + 1));
    return std::ranges::find(after, nullptr) == after.end() ? after : std::vector<NodeRef>();
  }

  [[nodiscard]] Attributes loopAttributes(std::vector<NodeRef> body) const {
    Attributes at;
    at.name = counter_;
    at.shape = {blocks_.rounds};
    at.body = std::move(body);
    return at;
  }

  [[nodiscard]] Move worded(const std::vector<Term>& sums) const {
    Move move;
    std::string names = shortText(context_.program, first_);
    for (const Term& sum : sums) names += " and " + shortText(context_.program, sum.fold);
    move.brief = blocks_.size.isOne() ? fmt::format("one pass over {}", blocks_.rounds.text())
                                      : fmt::format("one pass in blocks of {}", blocks_.size.text());
    move.what = fmt::format("{} in {}", names, move.brief);
    move.moved = tensor::name(first_->op);
    move.past = tensor::name(sums[0].fold->op);
    return move;
  }

  NodeRef result(NodeRef loop, int index) {
    Attributes at;
    at.index = index;
    return build_.make(Op::loopResult, {loop}, std::move(at));
  }

  NodeRef state(int index, NodeRef like) {
    Attributes at;
    at.name = counter_;
    at.index = index;
    at.shape = like->shape;
    at.dtype = like->dtype;
    return build_.make(Op::loopState, {}, std::move(at));
  }

  NodeRef filled(NodeRef like, int infinity) {
    Attributes at;
    at.dtype = like->dtype;
    at.infinity = infinity;
    return build_.broadcastTo(build_.make(Op::constant, {}, std::move(at)), like->shape);
  }

  /// The first fold of one block.
  NodeRef folded(NodeRef block) {
    if (blocks_.size.isOne()) return block;
    Attributes at = first_->attributes;
    at.keepDims = true;
    return build_.make(first_->op, {block}, std::move(at));
  }

  /// Before the first round. Where the ratio asks for a value that terms can be formed with, that of the
  /// first elements.
  NodeRef start(const RoundParts& parts, NodeRef kept, Correction correction) {
    const FoldRule rule = *ruleOf(first_->op);
    if (correction == Correction::ownPrefix || !rule.idempotent) return filled(kept, rule.infinity);
    return folded(parts.beginning(build_, source_, axis_));
  }

  MoveContext& context_;
  NodeRef first_;
  NodeRef source_;
  std::size_t axis_;
  Blocks blocks_;
  tensor::DimFacts facts_;
  Builder build_;
  std::string counter_;
};

/// Sums over the same extent whose terms use `first` by elementwise operators only.
std::vector<Term> sumsOver(MoveContext& context, NodeRef first) {
  const Dim& extent = first->operands[0]->shape[static_cast<std::size_t>(first->attributes.axes[0])];
  std::vector<Term> sums;
  for (const NodeRef node : context.nodes) {
    if (node->op != Op::sum && !tensor::isContraction(node)) continue;
    if (node->op == Op::sum && node->attributes.axes.size() != 1) continue;
    for (std::size_t slot = 0; slot < node->operands.size(); ++slot) {
      const NodeRef operand = node->operands[slot];
      if (!isElementwise(operand) || !dependsOn(operand, first)) continue;
      const auto links = axisLinks(node, slot, context.program.facts);
      for (std::size_t axis = 0; axis < links.size(); ++axis) {
        if (links[axis].kind != Kind::bound || !context.program.facts.equal(operand->shape[axis], extent))
          continue;
        sums.push_back({node, slot, axis});
        break;
      }
    }
  }
  // A sum that uses another of them cannot run in the same pass.
  const std::vector<Term> all = sums;
  std::erase_if(sums, [&](const Term& sum) {
    return std::ranges::any_of(
        all, [&](const Term& other) { return other.fold != sum.fold && dependsOn(sum.fold, other.fold); });
  });
  return sums;
}

}  // namespace

void proposeFoldMerges(MoveContext& context) {
  for (const NodeRef first : context.nodes) {
    if (tensor::kind(first->op) != OpKind::reduce || !ruleOf(first->op) || first->attributes.axes.size() != 1)
      continue;
    if (!tensor::isReal(first->dtype)) continue;
    const std::vector<Term> sums = sumsOver(context, first);
    if (sums.empty()) continue;
    const Dim& extent = first->operands[0]->shape[static_cast<std::size_t>(first->attributes.axes[0])];
    std::vector<Blocks> ways = waysToCut(extent, context.program);
    ways.insert(ways.begin(), Blocks{1, extent});
    for (const Blocks& blocks : ways) {
      Merger(context, first, blocks).propose(sums);
    }
  }
}

}  // namespace nuscope::propagate
