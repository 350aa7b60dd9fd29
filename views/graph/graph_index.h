#pragma once
// Which boxes and edges touch a rectangle: a uniform grid over the layout.
#include <unordered_map>
#include <vector>

#include "views/graph/graph_layout.h"

namespace nuscope::views {

class GraphIndex {
 public:
  explicit GraphIndex(const GraphLayout& layout);
  /// Ascending, each once. A superset of what touches it: a cell is coarse.
  void query(const QRectF& where, std::vector<int>& boxes, std::vector<int>& edges) const;

 private:
  struct Cell {
    std::vector<int> boxes, edges;
  };
  double cell_ = 256;
  std::unordered_map<std::int64_t, Cell> cells_;
  std::vector<int> long_;  ///< edges over more cells than is worth listing
};

}  // namespace nuscope::views
