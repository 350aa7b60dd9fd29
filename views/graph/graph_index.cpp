#include "views/graph/graph_index.h"

#include <algorithm>
#include <limits>

namespace nuscope::views {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double chipReach = 140;  // half the width of the widest chip, at the largest scale of fonts

Bounds boundsOf(const QRectF& box) {
  return {box.left(), box.top(), box.right(), box.bottom()};
}

void take(Bounds& bounds, const QPointF& p, double reach) {
  bounds.left = std::min(bounds.left, p.x() - reach);
  bounds.right = std::max(bounds.right, p.x() + reach);
  bounds.top = std::min(bounds.top, p.y() - reach);
  bounds.bottom = std::max(bounds.bottom, p.y() + reach);
}

void collect(const std::vector<Bounds>& all, const Bounds& where, std::vector<int>& into) {
  into.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Bounds& b = all[i];
    if (b.left <= where.right && b.right >= where.left && b.top <= where.bottom && b.bottom >= where.top)
      into.push_back(static_cast<int>(i));
  }
}

}  // namespace

GraphIndex::GraphIndex(const GraphLayout& layout) {
  for (const QRectF& box : layout.boxes) boxes_.push_back(boundsOf(box));
  for (std::size_t e = 0; e < layout.edges.size(); ++e) {
    Bounds bounds{inf, inf, -inf, -inf};  // of nothing
    if (!layout.edges[e].empty()) {
      bounds = boundsOf(QRectF(layout.edges[e][0], QSizeF(0, 0)));
      for (const QPointF& p : layout.edges[e]) take(bounds, p, 0);
      if (e < layout.labels.size()) take(bounds, layout.labels[e], chipReach);
    }
    edges_.push_back(bounds);
  }
}

void GraphIndex::query(const QRectF& where, std::vector<int>& boxes, std::vector<int>& edges) const {
  collect(boxes_, boundsOf(where), boxes);
  collect(edges_, boundsOf(where), edges);
}

}  // namespace nuscope::views
