#pragma once
// Loops as folds over a tuple (DESIGN 6): a closed form of each state is derived from one round of the body,
// then proved as base (after the first round) and step. What a state carries as a factor, such as exp(-m) of
// online softmax, is found from the coefficient with which it enters its own next value; no loop is listed.
#include <optional>

#include "core/proof/calculus.h"
#include "core/tensor/graph.h"

namespace nuscope::proof {

class SymbolicDomain;

/// The value of one state, for any element and any number of rounds >= 1.
struct ClosedState {
  std::vector<IntAtomRef> index;  ///< variables of the element
  IntAtomRef rounds = nullptr;    ///< variable: number of rounds done
  PolyRef value = nullptr;
  PolyRef last = nullptr;  ///< after all rounds
};

/// Closed forms of all states, or empty with the reason in `why`.
std::optional<std::vector<ClosedState>> solveLoop(Calculus& c, SymbolicDomain& domain, tensor::NodeRef loop,
                                                  std::string& why);

}  // namespace nuscope::proof
