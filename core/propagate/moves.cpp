#include "core/propagate/moves.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::OpKind;

bool isPointwise(NodeRef node) {
  return tensor::kind(node->op) == OpKind::elementwise || tensor::kind(node->op) == OpKind::leaf;
}

}  // namespace

MoveContext::MoveContext(const tensor::Program& p, std::vector<NodeRef> r)
    : program(p),
      results(std::move(r)),
      build(*p.store, p.facts),
      nodes(tensor::topologicalOutsideLoops(results)),
      uses(tensor::useCounts(results)) {
  for (const NodeRef node : nodes) {
    for (const NodeRef operand : node->operands) {
      auto& list = users[operand];
      if (list.empty() || list.back() != node) list.push_back(node);
    }
  }
}

void MoveContext::propose(NodeRef before, NodeRef after, std::string what, std::string brief, NodeRef moved,
                          NodeRef past, bool quiet) {
  if (after == nullptr || after == before || after->dtype != before->dtype) return;
  if (!program.facts.equal(after->shape, before->shape)) return;
  const NodeRef roots[] = {after};
  const auto below = tensor::topological(roots);
  if (std::ranges::find(below, before) != below.end()) return;
  Move move;
  move.before = {before};
  move.after = {after};
  move.what = std::move(what);
  move.brief = std::move(brief);
  if (moved != nullptr) move.moved = tensor::name(moved->op);
  if (past != nullptr) move.past = tensor::name(past->op);
  const bool pointwise = isPointwise(before) && (moved == nullptr || isPointwise(moved)) &&
                         (past == nullptr || isPointwise(past));
  move.cost = pointwise ? MoveCost::pointwise : MoveCost::structural;
  move.quiet = quiet;
  moves.push_back(std::move(move));
}

bool MoveContext::usedOnlyBy(NodeRef node, NodeRef user) const {
  return uses.at(node) == static_cast<int>(std::ranges::count(user->operands, node));
}

std::vector<Move> movesOf(const tensor::Program& program, const std::vector<NodeRef>& results) {
  MoveContext context(program, results);
  proposeCleanups(context);
  proposeClones(context);
  proposeSiblings(context);
  proposeFactors(context);
  proposeMerges(context);
  proposeSplits(context);
  proposeBlocks(context);
  proposeFoldMerges(context);
  std::set<std::pair<std::vector<NodeRef>, std::vector<NodeRef>>> seen;
  std::vector<Move> moves;
  for (Move& move : context.moves) {
    if (seen.emplace(move.before, move.after).second) moves.push_back(std::move(move));
  }
  std::ranges::stable_sort(moves, {}, &Move::cost);
  return moves;
}

}  // namespace nuscope::propagate
