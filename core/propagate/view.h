#pragma once
// A tensor seen from another index space: what lets a side operand follow an operator that moves. [M] stays
// on the rows past a matmul, [K] on the columns of x becomes [K, 1] on the rows of w.
#include <optional>
#include <vector>

#include "core/propagate/builder.h"

namespace nuscope::propagate {

/// `base` with each of its axes placed at a position of a space, or nowhere (-1: extent 1). Along positions
/// without an axis it is constant.
struct View {
  tensor::NodeRef base = nullptr;
  std::vector<int> at;
};

/// The node in the space of its own axes, seen through transposes, expand_dims, squeezes and broadcasts.
View viewOf(tensor::NodeRef node, const tensor::DimFacts& facts);
/// The node itself, its axes aligned at the right of a space of `rank` axes; not seen through anything.
View plainView(tensor::NodeRef node, std::size_t rank, const tensor::DimFacts& facts);
/// viewOf, aligned at the right of a space of `rank` axes.
View alignedView(tensor::NodeRef node, std::size_t rank, const tensor::DimFacts& facts);

/// position p of the old space becomes map[p]. Empty if the view varies along a position that is mapped to
/// -1.
std::optional<View> moved(const View& view, const std::vector<int>& map);
/// The view varies along this position.
bool variesAlong(const View& view, int position);

/// A node that broadcasts (aligned at the right) to `space` and equals the view there: transposes, squeezes
/// and expand_dims as few as needed. Positions in `full` get their whole extent by broadcast_to; with
/// `wholeRank` no leading axis is left out. Null if two axes share a position or the types do not allow it.
tensor::NodeRef materialise(Builder& build, const View& view, const tensor::Shape& space,
                            const std::vector<bool>& full = {}, bool wholeRank = false);

/// The node with exactly this shape, by axes of extent 1 added or removed; null if that does not do it.
tensor::NodeRef fitted(Builder& build, tensor::NodeRef node, const tensor::Shape& shape);

}  // namespace nuscope::propagate
