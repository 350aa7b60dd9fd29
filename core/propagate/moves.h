#pragma once
// Candidates: every way to move an operator of a graph past a neighbour that types. Nothing here knows what
// is true; each candidate is only a proposal, formed from index maps (axis_map.h) and types.
#include <string>
#include <unordered_map>
#include <vector>

#include "core/propagate/builder.h"

namespace nuscope::propagate {

/// Where a move stands in the order of exploration: what matters for speed comes first. The sum along a
/// derivation (with the operators that each step adds) is the distance from the program as written.
enum class MoveCost : std::uint8_t {
  structural = 1,  ///< a contraction, reduction, scan or layout takes part
  pointwise = 3,   ///< only elementwise operators take part
  blocks = 4       ///< one operator, cut into blocks
};

struct Move {
  std::vector<tensor::NodeRef> before;  ///< nodes of the graph
  std::vector<tensor::NodeRef> after;   ///< what takes their place, one for each, of the same type
  std::vector<tensor::NodeRef>
      otherwise;            ///< a second guess for `after`, tried where that is not proved; may be empty
  std::string what;         ///< "divide by s moved past matmul with w"
  std::string brief;        ///< for titles of variants: "divide by s after matmul"; may be empty
  std::string moved, past;  ///< operator names
  MoveCost cost = MoveCost::structural;
  bool quiet = false;  ///< a guess of which most are wrong: nobody learns from its refusal
};

/// What the generators share. One per variant.
struct MoveContext {
  const tensor::Program& program;  ///< names, facts
  std::vector<tensor::NodeRef> results;
  Builder build;
  std::vector<tensor::NodeRef> nodes;             ///< reachable outside loop bodies, operands first
  std::unordered_map<tensor::NodeRef, int> uses;  ///< by operators of `nodes`, loop bodies and results
  std::unordered_map<tensor::NodeRef, std::vector<tensor::NodeRef>>
      users;  ///< each once, in order of `nodes`
  std::vector<Move> moves;

  MoveContext(const tensor::Program& program, std::vector<tensor::NodeRef> results);
  /// Adds a move of one node, unless `after` is null, the node itself, of another type, or contains the node.
  void propose(tensor::NodeRef before, tensor::NodeRef after, std::string what, std::string brief,
               tensor::NodeRef moved, tensor::NodeRef past, bool quiet = false);
  /// The node is used by this user only (in any number of slots).
  [[nodiscard]] bool usedOnlyBy(tensor::NodeRef node, tensor::NodeRef user) const;
};

/// A producer moves past its consumer, which is cloned onto k of the producer's operands, k ascending.
void proposeClones(MoveContext& context);
/// A producer's other operand moves onto a sibling operand of the consumer: (x*g)@w -> x@(g*w), (x@a)@b ->
/// x@(a@b); and two elementwise operators are grouped the other way.
void proposeSiblings(MoveContext& context);
/// What several operands of an operator have in common is done once behind it: x@a + x@b -> x@(a+b).
void proposeFactors(MoveContext& context);
/// Siblings that share an operand become one operator on joined operands, and slices: x@a, x@b -> x@[a|b].
void proposeMerges(MoveContext& context);
/// Folds over joined operands are split, and joined where they were split.
void proposeSplits(MoveContext& context);
/// Folds and matrix products in blocks, where the program says that an extent comes in blocks.
void proposeBlocks(MoveContext& context);
/// A sum whose terms use a fold over the same extent, and that fold, in one pass (online softmax and its
/// like).
void proposeFoldMerges(MoveContext& context);
/// An operator that may equal one of its own inputs (two transposes, a product with one), and layouts in a
/// row.
void proposeCleanups(MoveContext& context);

/// All of them, in a fixed order, each pair (before, after) once.
std::vector<Move> movesOf(const tensor::Program& program, const std::vector<tensor::NodeRef>& results);

}  // namespace nuscope::propagate
