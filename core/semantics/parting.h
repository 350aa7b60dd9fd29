#pragma once
// Both sides of a rewrite at the same inputs, value by value: what a reader of a counterexample follows down
// to the first value in which the two sides part. Float64 with error bounds (evaluate.h): values "agree"
// where their enclosures meet, so rounding never shows as a difference.
#include <memory>
#include <string>
#include <vector>

#include "core/semantics/evaluate.h"

namespace nuscope::semantics {

/// A value that both sides compute, or only one of them.
struct Pair {
  enum class Relation : std::uint8_t {
    agree,   ///< in every element
    parts,   ///< differs although everything it is computed from agrees: the place to look at
    differ,  ///< differs because something below it does
    only     ///< computed on one side only
  };
  Relation relation = Relation::agree;
  bool shared = false;  ///< the same expression over the same inputs on both sides
  std::string name;  ///< of a variable, or the operator over its operands: "sqrt(ms + 1e-05)"; "left | right"
                     ///< where they differ
  tensor::NodeRef left = nullptr, right = nullptr;  ///< at most one is null
  Evaluated leftValue, rightValue;                  ///< empty where the node is null
  std::vector<std::int64_t> at;                     ///< the first element that differs
};

struct Partings {
  std::shared_ptr<const tensor::NodeStore> store;  ///< of the nodes: copies of both sides
  /// Operands before users, results last; inputs and constants are not listed.
  std::vector<Pair> pairs;
  std::size_t hidden = 0;  ///< beyond `limit`: pairs that agree, which come first to go
};

/// Both programs have the same parameters and as many results; extents and inputs fit them. Nodes are paired
/// where they are results, where they are the same expression, where their variables have one name, and where
/// the same operator of the same type stands between pairs, and where they are the same operand of such an
/// operator. Costs one evaluation of each side. Throws as
/// `evaluate`.
Partings partings(const tensor::Program& left, const tensor::Program& right, const tensor::Extents& extents,
                  const Inputs& inputs, std::size_t limit = 200, const Progress& progress = {});

/// "ms", "x * g", "sqrt(ms + 1e-05)": two levels of operators at most, deeper ones as dots.
std::string nodeText(const tensor::Program& context, tensor::NodeRef node, int depth = 2);

}  // namespace nuscope::semantics
