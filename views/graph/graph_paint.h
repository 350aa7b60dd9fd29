#pragma once
// The one paint path of graphs: screen, PNG and SVG.
#include <QColor>
#include <QFont>
#include <set>

#include "views/graph/graph_content.h"
#include "views/graph/graph_layout.h"

class QPainter;

namespace nuscope::views {

struct Theme;

/// Colours of a kind of operator or stage: of its sign, and the tint that fills its tab.
struct TintColours {
  QColor sign, fill;
};
TintColours tintColours(Tint tint, const Theme& theme);
/// Size of a card for its texts.
QSizeF cardSize(const Box& box, const Theme& theme);
/// Size of an edge's chip; empty without a label.
QSizeF chipSize(const Edge& edge, const Theme& theme);

/// What the sizes of cards and chips depend on.
struct Measure {
  double scale = 0;
  QFont ui, small, code;
  Measure() = default;
  explicit Measure(const Theme& t);
  bool operator==(const Measure&) const = default;
};

struct CardState {
  bool selected = false;
  bool hovered = false;
  bool hit = false;
};
/// `scale`: pixels per unit; decides the level of detail.
void paintCard(QPainter& painter, const QRectF& where, const Box& box, const CardState& state,
               const Theme& theme, double scale);
/// Where the "+n" stub of a card is; empty if it has none.
QRectF stubBox(const QRectF& card, const Box& box, const Theme& theme, bool leftToRight);
void paintStub(QPainter& painter, const QRectF& where, const Box& box, const Theme& theme);

struct EdgeState {
  bool selected = false;
  bool hovered = false;
};
/// What lies far outside `clip` may be left out.
void paintEdge(QPainter& painter, const std::vector<QPointF>& spline, const Edge& edge,
               const EdgeState& state, const Theme& theme, double scale, const QRectF& clip);
void paintChip(QPainter& painter, const QPointF& centre, const Edge& edge, const EdgeState& state,
               const Theme& theme);

}  // namespace nuscope::views
