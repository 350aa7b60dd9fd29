#pragma once
// Layouts in a row, joined: what moves leave behind. Computes nothing and knows no arithmetic; it follows
// index maps only, and what it did is proved as part of the step.
#include <vector>

#include "core/propagate/builder.h"

namespace nuscope::propagate {

/// The graph with relabellings in a row (transpose, expand_dims, squeeze, broadcast_to) as few as needed,
/// slices of joined tensors taken from the parts, slices of slices as one, and joins of joins flat. The same
/// graph if there is nothing to do. Loop bodies are left alone.
std::vector<tensor::NodeRef> tidied(Builder& build, const std::vector<tensor::NodeRef>& results);

}  // namespace nuscope::propagate
