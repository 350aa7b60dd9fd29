#pragma once
// A cycle as a picture: the first half of its boxes from left to right, the rest back below them, so that
// every edge is short and the way round is seen at once.
#include "views/graph/graph_layout.h"

namespace nuscope::views {

/// Precondition: edge i leads from box i to box i + 1, the last to the first; at least two boxes.
GraphLayout ringLayout(const LayoutInput& input);

}  // namespace nuscope::views
