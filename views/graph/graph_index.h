#pragma once
// Which boxes and edges of a layout may be within a rectangle: for painting and pointing. Looks at every
// bounding rectangle, which takes a tenth of a millisecond for 20,000 boxes; an index by cells took longer,
// because every long edge stands in hundreds of them.
#include <QRectF>
#include <vector>

#include "views/graph/graph_layout.h"

namespace nuscope::views {

struct Bounds {
  double left = 0, top = 0, right = 0, bottom = 0;
};

class GraphIndex {
 public:
  explicit GraphIndex(const GraphLayout& layout);
  /// In ascending order. Edges by their curve and their chip; those that were not routed are left out.
  void query(const QRectF& where, std::vector<int>& boxes, std::vector<int>& edges) const;

 private:
  std::vector<Bounds> boxes_, edges_;
};

}  // namespace nuscope::views
