#include "views/graph/graph_index.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nuscope::views {

namespace {

constexpr std::int64_t mostCells = 256;

std::int64_t keyOf(std::int64_t x, std::int64_t y) {
  return (x << 32) ^ (y & 0xFFFFFFFF);
}

void unique(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

GraphIndex::GraphIndex(const GraphLayout& layout) {
  const auto put = [&](const QRectF& where, int id, bool box) {
    const auto x0 = static_cast<std::int64_t>(std::floor(where.left() / cell_));
    const auto x1 = static_cast<std::int64_t>(std::floor(where.right() / cell_));
    const auto y0 = static_cast<std::int64_t>(std::floor(where.top() / cell_));
    const auto y1 = static_cast<std::int64_t>(std::floor(where.bottom() / cell_));
    if (!box && (x1 - x0 + 1) * (y1 - y0 + 1) > mostCells) {
      long_.push_back(id);
      return;
    }
    for (auto x = x0; x <= x1; ++x) {
      for (auto y = y0; y <= y1; ++y) {
        Cell& cell = cells_[keyOf(x, y)];
        (box ? cell.boxes : cell.edges).push_back(id);
      }
    }
  };
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) put(layout.boxes[i], static_cast<int>(i), true);
  for (std::size_t e = 0; e < layout.edges.size(); ++e) {
    const auto& spline = layout.edges[e];
    if (spline.empty()) continue;
    QRectF where(spline[0], QSizeF(0, 0));
    for (const QPointF& p : spline) {
      where.setLeft(std::min(where.left(), p.x()));
      where.setRight(std::max(where.right(), p.x()));
      where.setTop(std::min(where.top(), p.y()));
      where.setBottom(std::max(where.bottom(), p.y()));
    }
    put(where, static_cast<int>(e), false);
  }
}

void GraphIndex::query(const QRectF& where, std::vector<int>& boxes, std::vector<int>& edges) const {
  boxes.clear();
  edges = long_;
  const auto x0 = static_cast<std::int64_t>(std::floor(where.left() / cell_));
  const auto x1 = static_cast<std::int64_t>(std::floor(where.right() / cell_));
  const auto y0 = static_cast<std::int64_t>(std::floor(where.top() / cell_));
  const auto y1 = static_cast<std::int64_t>(std::floor(where.bottom() / cell_));
  const auto take = [&](const Cell& cell) {
    boxes.insert(boxes.end(), cell.boxes.begin(), cell.boxes.end());
    edges.insert(edges.end(), cell.edges.begin(), cell.edges.end());
  };
  if (static_cast<double>(x1 - x0 + 1) * static_cast<double>(y1 - y0 + 1) >
      static_cast<double>(cells_.size())) {
    for (const auto& [key, cell] : cells_) take(cell);
  } else {
    for (auto x = x0; x <= x1; ++x) {
      for (auto y = y0; y <= y1; ++y) {
        const auto it = cells_.find(keyOf(x, y));
        if (it != cells_.end()) take(it->second);
      }
    }
  }
  unique(boxes);
  unique(edges);
}

}  // namespace nuscope::views
