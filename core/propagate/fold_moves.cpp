// Fold merging (DESIGN 6). A sum G over k whose terms use r = F(all k), F a fold over the same extent,
// becomes one fold over the pair (F, G): each round uses the prefix value of F, and what was summed before is
// corrected by the ratio of a term under the new and the old prefix value. That ratio must be free of the
// element; it is formed by putting the old prefix value in the element's place, where a term under its own
// prefix value is one. Whether that is right is for the proof to say; no operator is named here but those
// that folds repeat.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/propagate/axis_map.h"
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

struct FoldRule {
  Op combine;
  int infinity;  ///< of the value before the first round; 0: zero
};

std::optional<FoldRule> ruleOf(Op op) {
  switch (op) {
    case Op::max:
      return FoldRule{Op::maximum, -1};
    case Op::min:
      return FoldRule{Op::minimum, 1};
    case Op::sum:
      return FoldRule{Op::add, 0};
    default:
      return std::nullopt;
  }
}

bool dependsOn(NodeRef node, NodeRef on) {
  const NodeRef roots[] = {node};
  const auto below = tensor::topological(roots);
  return std::ranges::find(below, on) != below.end();
}

bool isRelabelling(NodeRef node) {
  return node->op == Op::expandDims || node->op == Op::squeeze || node->op == Op::broadcastTo;
}

/// A sum over one axis with an operand whose terms use the first fold.
struct Merged {
  NodeRef fold;
  std::size_t slot;  ///< of the operand that uses the first fold
  std::size_t axis;  ///< of that operand
};

/// The graph of one round, and the fold over it.
class Merger {
 public:
  Merger(MoveContext& context, NodeRef first)
      : context_(context),
        first_(first),
        source_(first->operands[0]),
        axis_(static_cast<std::size_t>(first->attributes.axes[0])),
        extent_(source_->shape[axis_]),
        facts_(context.program.facts) {
    int height = 0;
    for (const NodeRef node : context.nodes) height = std::max(height, node->loopHeight);
    counter_ = "@" + std::to_string(height + 1);
    facts_.declareCounter(counter_, extent_);
  }

  void propose(const std::vector<Merged>& sums) {
    Builder build(context_.build.store(), facts_);
    NodeRef kept = first_;  // with its axis kept, the prefix value aligns with the elements
    if (!kept->attributes.keepDims) {
      Attributes at = first_->attributes;
      at.keepDims = true;
      kept = build.make(first_->op, {source_}, std::move(at));
    }
    if (kept == nullptr) return;
    old_ = state(build, 0, kept);
    const NodeRef element = part(build, source_, axis_);
    new_ = build.make(ruleOf(first_->op)->combine, {old_, element});
    std::vector<NodeRef> starts{filled(build, kept, ruleOf(first_->op)->infinity)};
    std::vector<NodeRef> body{new_};
    for (const Merged& sum : sums) {
      const NodeRef before = state(build, static_cast<int>(body.size()), sum.fold);
      const NodeRef next = round(build, sum, before);
      if (next == nullptr) return;
      starts.push_back(filled(build, sum.fold, 0));
      body.push_back(next);
    }
    Attributes at;
    at.name = counter_;
    at.shape = {extent_};
    at.body = std::move(body);
    if (std::ranges::find(at.body, nullptr) != at.body.end()) return;
    finish(build, sums, build.make(Op::loop, std::move(starts), std::move(at)));
  }

 private:
  void finish(Builder& build, const std::vector<Merged>& sums, NodeRef loop) {
    if (loop == nullptr) return;
    Move move;
    std::string names;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      Attributes at;
      at.index = static_cast<int>(i) + 1;
      move.before.push_back(sums[i].fold);
      move.after.push_back(build.make(Op::loopResult, {loop}, std::move(at)));
      names += " and " + shortText(context_.program, sums[i].fold);
    }
    move.what =
        fmt::format("{}{} in one pass over {}", shortText(context_.program, first_), names, extent_.text());
    move.brief = fmt::format("one pass over {}", extent_.text());
    move.moved = tensor::name(first_->op);
    move.past = tensor::name(sums[0].fold->op);
    context_.moves.push_back(std::move(move));
  }

  NodeRef state(Builder& build, int index, NodeRef like) const {
    Attributes at;
    at.name = counter_;
    at.index = index;
    at.shape = like->shape;
    at.dtype = like->dtype;
    return build.make(Op::loopState, {}, std::move(at));
  }

  static NodeRef filled(Builder& build, NodeRef like, int infinity) {
    Attributes at;
    at.dtype = like->dtype;
    at.infinity = infinity;
    return build.broadcastTo(build.make(Op::constant, {}, std::move(at)), like->shape);
  }

  [[nodiscard]] NodeRef part(Builder& build, NodeRef node, std::size_t axis) const {
    const Dim counter = Dim::symbol(counter_);
    return build.slice(node, static_cast<int>(axis), counter, counter + 1);
  }

  /// A term of a sum at this round: `prefix` in place of the first fold, and `element` in place of its
  /// operand (null: the operand's own element).
  NodeRef term(Builder& build, NodeRef node, std::size_t rank, std::size_t axis, NodeRef prefix,
               NodeRef element) const {
    if (node == first_) return fitted(build, prefix, node->shape);
    if (node == source_) {
      if (axis != axis_ + (rank - node->shape.size())) return nullptr;  // it runs along another axis here
      return element != nullptr ? element : part(build, node, axis_);
    }
    if (!dependsOn(node, first_)) {
      if (!dependsOn(node, source_) || element == nullptr) return outer(build, node, rank, axis);
      if (!isElementwise(node)) return nullptr;
    }
    if (node->op == Op::broadcastTo) return term(build, node->operands[0], rank, axis, prefix, element);
    if (isRelabelling(node))
      return build.with(node, {term(build, node->operands[0], rank, axis, prefix, element)});
    if (!isElementwise(node)) return nullptr;
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands)
      operands.push_back(term(build, operand, rank, axis, prefix, element));
    return build.with(node, std::move(operands));
  }

  /// What does not use the first fold: its part where it runs along the axis, itself where it does not.
  [[nodiscard]] NodeRef outer(Builder& build, NodeRef node, std::size_t rank, std::size_t axis) const {
    const std::size_t offset = rank - node->shape.size();
    if (axis < offset || build.isOne(node->shape[axis - offset])) return node;
    return part(build, node, axis - offset);
  }

  /// The sum's state after this round.
  NodeRef round(Builder& build, const Merged& sum, NodeRef before) const {
    const NodeRef operand = sum.fold->operands[sum.slot];
    const std::size_t rank = operand->shape.size();
    const NodeRef now = term(build, operand, rank, sum.axis, new_, nullptr);
    const NodeRef ratio = term(build, operand, rank, sum.axis, new_, old_);
    if (now == nullptr || ratio == nullptr || ratio->shape.size() != rank) return nullptr;
    std::vector<NodeRef> operands = sum.fold->operands;
    operands[sum.slot] = now;
    if (!alignOthers(build, sum, operands)) return nullptr;
    NodeRef added = build.with(sum.fold, std::move(operands));
    if (tensor::kind(sum.fold->op) == OpKind::reduce) added = fitted(build, now, sum.fold->shape);
    // The ratio is constant along the axis, so it goes behind the fold like any other side operand.
    const auto links = axisLinks(sum.fold, sum.slot, context_.program.facts);
    std::vector<int> map;
    for (const AxisLink& link : links) map.push_back(link.kind == Kind::identity ? link.output : -1);
    const auto view = moved(alignedView(ratio, rank, facts_), map);
    const NodeRef factor = view ? materialise(build, *view, sum.fold->shape) : nullptr;
    return build.make(Op::add, {build.make(Op::multiply, {before, factor}), added});
  }

  /// The other operands of a contraction: their part along the same bound index.
  bool alignOthers(Builder& build, const Merged& sum, std::vector<NodeRef>& operands) const {
    const auto links = axisLinks(sum.fold, sum.slot, context_.program.facts);
    for (std::size_t other = 0; other < operands.size(); ++other) {
      if (other == sum.slot) continue;
      if (dependsOn(operands[other], first_)) return false;
      const auto there = axisLinks(sum.fold, other, context_.program.facts);
      for (std::size_t axis = 0; axis < there.size(); ++axis) {
        if (there[axis].kind == Kind::bound && there[axis].label == links[sum.axis].label) {
          operands[other] = part(build, operands[other], axis);
        }
      }
    }
    return true;
  }

  MoveContext& context_;
  NodeRef first_;
  NodeRef source_;
  std::size_t axis_;
  Dim extent_;
  tensor::DimFacts facts_;
  std::string counter_;
  NodeRef old_ = nullptr;
  NodeRef new_ = nullptr;
};

/// Sums over the same extent whose terms use `first` by elementwise operators only.
std::vector<Merged> sumsOver(MoveContext& context, NodeRef first) {
  const Dim& extent = first->operands[0]->shape[static_cast<std::size_t>(first->attributes.axes[0])];
  std::vector<Merged> sums;
  for (const NodeRef node : context.nodes) {
    if (node->op != Op::sum && node->op != Op::matmul) continue;
    if (node->op == Op::sum && node->attributes.axes.size() != 1) continue;
    for (std::size_t slot = 0; slot < node->operands.size(); ++slot) {
      const NodeRef operand = node->operands[slot];
      if (!isElementwise(operand) || !dependsOn(operand, first)) continue;
      const auto links = axisLinks(node, slot, context.program.facts);
      const auto bound = std::ranges::find(links, Kind::bound, &AxisLink::kind);
      if (bound == links.end()) continue;
      const auto axis = static_cast<std::size_t>(bound - links.begin());
      if (context.program.facts.equal(operand->shape[axis], extent)) sums.push_back({node, slot, axis});
    }
  }
  return sums;
}

}  // namespace

void proposeFoldMerges(MoveContext& context) {
  for (const NodeRef first : context.nodes) {
    if (tensor::kind(first->op) != OpKind::reduce || !ruleOf(first->op) || first->attributes.axes.size() != 1)
      continue;
    if (!tensor::isReal(first->dtype)) continue;
    std::vector<Merged> sums = sumsOver(context, first);
    // A sum that uses another of them cannot run in the same pass.
    std::erase_if(sums, [&](const Merged& sum) {
      return std::ranges::any_of(sums, [&](const Merged& other) {
        return other.fold != sum.fold && dependsOn(sum.fold, other.fold);
      });
    });
    if (!sums.empty()) Merger(context, first).propose(sums);
  }
}

}  // namespace nuscope::propagate
