#pragma once
// The attributes of an operator that is applied to another tensor whose axes correspond to those of its
// operand.
#include <optional>
#include <vector>

#include "core/propagate/builder.h"

namespace nuscope::propagate {

/// `node` takes `from` in a slot; its attributes for `to` in that slot, where axis a of `from` is axis map[a]
/// of `to` (-1: none). Axes without a counterpart are left out where the operator allows it (a reduction over
/// fewer axes, a slice of fewer); empty where it does not, or where nothing would be left.
std::optional<tensor::Attributes> remapped(tensor::NodeRef node, const std::vector<int>& map,
                                           tensor::NodeRef from, tensor::NodeRef to,
                                           const tensor::DimFacts& facts);

}  // namespace nuscope::propagate
