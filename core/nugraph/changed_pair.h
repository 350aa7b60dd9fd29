#pragma once
// Where two graphs part: what a reader should look at in a step.
#include <utility>

#include "core/tensor/graph.h"

namespace nuscope::nugraph {

/// The innermost pair of nodes in which two results differ: from the results down, as long as both sides are
/// the same operator with the same attributes and exactly one operand differs, without a change of its shape.
/// Equal results give themselves. Both nodes must belong to one store.
std::pair<tensor::NodeRef, tensor::NodeRef> changedPair(tensor::NodeRef left, tensor::NodeRef right);

}  // namespace nuscope::nugraph
