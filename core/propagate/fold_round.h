#pragma once
// One round of a merged fold (fold_moves.cpp): terms of a sum at the elements of this round, with a prefix
// value in place of the fold that they use.
#include <optional>
#include <string>

#include "core/propagate/blocks.h"
#include "core/propagate/builder.h"

namespace nuscope::propagate {

/// A fold as its rounds see it.
struct FoldRule {
  tensor::Op combine;
  int infinity;     ///< of the value before the first round; 0: zero
  bool idempotent;  ///< an element may be folded twice
};
/// Of max, min and sum.
std::optional<FoldRule> ruleOf(tensor::Op op);

/// Which guess corrects what was summed before.
enum class Correction : std::uint8_t {
  ownPrefix,     ///< the term under the new prefix value of an element that is the old one
  madeUpElement  ///< the quotient of the terms under the new and the old value of an element that is one
};

/// A sum over one axis with an operand whose terms use the first fold.
struct Term {
  tensor::NodeRef fold = nullptr;
  std::size_t slot = 0;  ///< of the operand that uses the first fold
  std::size_t axis = 0;  ///< of that operand
};

bool dependsOn(tensor::NodeRef node, tensor::NodeRef on);

/// The axis that is cut into rounds.
struct RoundParts {
  tensor::NodeRef first;   ///< the fold whose prefix value is used
  tensor::NodeRef source;  ///< its operand
  std::size_t sourceAxis;  ///< that is cut
  Blocks blocks;
  std::string counter;

  /// The elements of this round of a node, along its axis: computed from those of its operands as far down as
  /// index maps allow, so that nothing is computed whole before. Null when ill-typed.
  [[nodiscard]] tensor::NodeRef along(Builder& build, tensor::NodeRef node, std::size_t along) const;
  /// Those of the first round.
  [[nodiscard]] tensor::NodeRef beginning(Builder& build, tensor::NodeRef node, std::size_t along) const;
  /// What this round adds to the sum, with `prefix` as the value of the first fold. Null where its terms
  /// cannot be cut.
  [[nodiscard]] tensor::NodeRef added(Builder& build, const Term& sum, tensor::NodeRef prefix) const;
  /// The correction in the space of the sum. Null where the guess cannot be formed or runs along the axis.
  [[nodiscard]] tensor::NodeRef ratio(Builder& build, const Term& sum, tensor::NodeRef old,
                                      tensor::NodeRef now, Correction correction) const;
};

}  // namespace nuscope::propagate
