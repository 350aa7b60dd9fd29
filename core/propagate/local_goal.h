#pragma once
// What a move claims, cut out of its graph: copies in stores of their own, so that proofs may run side by
// side and come out the same whatever else was made meanwhile.
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/tensor/graph.h"
#include "core/tensor/store_copy.h"

namespace nuscope::propagate {

/// The program with other results, copied into a store of its own.
tensor::Program copied(const tensor::Program& program, const std::vector<tensor::NodeRef>& results,
                       tensor::StoreCopy& copy, std::shared_ptr<tensor::NodeStore> store);

/// Two whole programs that share a fresh store.
struct Sides {
  tensor::Program left;
  tensor::Program right;
};
Sides wholeGoal(const tensor::Program& program, const std::vector<tensor::NodeRef>& from,
                const std::vector<tensor::NodeRef>& to);

/// A rewriting with what both sides share taken as opaque.
struct LocalGoal {
  tensor::Program context;  ///< the program, in a fresh store; results: before, then after
  std::vector<tensor::NodeRef> before, after;
  std::unordered_set<tensor::NodeRef>
      cut;       ///< nodes of that store; layouts and what may be infinite are not cut
  Sides opened;  ///< the same with an input in place of each cut node, for draws
};
LocalGoal localGoal(const tensor::Program& program, const std::vector<tensor::NodeRef>& before,
                    const std::vector<tensor::NodeRef>& after);

/// Whether -inf or inf may be a value of one of these nodes. A result of -inf counts as undefined, so
/// "defined and equal there" says nothing of it, but what reads the node does (exp(-inf) is 0): such a
/// rewriting is proved in its whole program only.
bool mayYieldInfinity(const std::vector<tensor::NodeRef>& nodes);

}  // namespace nuscope::propagate
