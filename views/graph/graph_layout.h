#pragma once
// What a layout takes and gives, as plain numbers. Shared with nuscope-layout, so it needs Qt Core only.
//
// Licence: GPL-3.0-or-later; as an additional permission under section 7, this file, layout_text.* and
// app/layout_main.cpp may be combined with Graphviz, whose licence is EPL-1.0.
#include <QPointF>
#include <QRectF>
#include <vector>

namespace nuscope::views {

/// Sizes in, positions out; in device-independent pixels at scale 1.
struct LayoutInput {
  struct Edge {
    int from = 0, to = 0;
    double labelWidth = 0, labelHeight = 0;  ///< 0: no label
  };
  std::vector<QSizeF> boxes;
  std::vector<Edge> edges;
  bool leftToRight = false;
  double betweenRanks = 44;
  double betweenBoxes = 28;
};

struct GraphLayout {
  std::vector<QRectF> boxes;
  /// Per edge a cubic spline: 1 + 3n points; empty for an edge that was not routed (a self-loop).
  std::vector<std::vector<QPointF>> edges;
  std::vector<QPointF> labels;  ///< centres
  QRectF bounds;
};

}  // namespace nuscope::views
