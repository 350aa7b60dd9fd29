#pragma once
// Brings the right side into the left side's store, so that equal graphs are the same nodes.
#include "core/tensor/graph.h"

namespace nuscope::proof {

struct Imported {
  std::vector<tensor::NodeRef> results;
  std::vector<tensor::Precondition> preconditions;
  std::string refusal;  ///< why it failed; empty otherwise
};

/// Results and asserts of `right` as nodes of left.store, made under the facts of both. Inputs meet by name.
Imported importNodes(const tensor::Program& left, const tensor::Program& right);

}  // namespace nuscope::proof
