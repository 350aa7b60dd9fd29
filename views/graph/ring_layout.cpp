#include "views/graph/ring_layout.h"

#include <algorithm>

namespace nuscope::views {

namespace {

std::vector<QPointF> straight(QPointF from, QPointF to) {
  return {from, from + (to - from) / 3, from + (to - from) * 2 / 3, to};
}

}  // namespace

GraphLayout ringLayout(const LayoutInput& input) {
  const std::size_t n = input.boxes.size();
  const std::size_t top = n == 2 ? 2 : (n + 1) / 2;
  QSizeF card(0, 0);
  QSizeF label(0, 0);
  for (const QSizeF& box : input.boxes) card = card.expandedTo(box);
  for (const auto& edge : input.edges) label = label.expandedTo({edge.labelWidth, edge.labelHeight});
  const double across = card.width() + std::max(input.betweenRanks, label.width() + 28);
  const double down = card.height() + std::max(input.betweenRanks, label.height() + 30);
  GraphLayout layout;
  for (std::size_t i = 0; i < n; ++i) {
    // Below, the way leads back from under the last box of the upper row.
    const bool above = i < top;
    const double column = above ? static_cast<double>(i) : static_cast<double>(2 * top - 1 - i);
    const QPointF corner(column * across + (card.width() - input.boxes[i].width()) / 2, above ? 0 : down);
    layout.boxes.emplace_back(corner, input.boxes[i]);
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const QRectF from = layout.boxes[static_cast<std::size_t>(input.edges[e].from)];
    const QRectF to = layout.boxes[static_cast<std::size_t>(input.edges[e].to)];
    std::vector<QPointF> line;
    if (n == 2) {  // there and back, one above the other
      const double shift = from.height() / 4 * (e == 0 ? -1 : 1);
      const bool right = from.center().x() < to.center().x();
      line = straight({right ? from.right() : from.left(), from.center().y() + shift},
                      {right ? to.left() : to.right(), to.center().y() + shift});
    } else if (from.top() == to.top()) {
      const bool right = from.center().x() < to.center().x();
      line = straight({right ? from.right() : from.left(), from.center().y()},
                      {right ? to.left() : to.right(), to.center().y()});
    } else if (from.center().x() == to.center().x()) {
      const bool down_ = from.top() < to.top();
      line = straight({from.center().x(), down_ ? from.bottom() : from.top()},
                      {to.center().x(), down_ ? to.top() : to.bottom()});
    } else {  // an odd number: the last one stands a column further, and turns up
      const QPointF start(from.left(), from.center().y());
      const QPointF end(to.center().x(), to.bottom());
      line = {start, {end.x(), start.y()}, {end.x(), start.y()}, end};
    }
    layout.labels.push_back(line.size() == 4 && from.top() != to.top() && from.center().x() != to.center().x()
                                ? QPointF(line[3].x(), (line[0].y() + line[3].y()) / 2)
                                : (line.front() + line.back()) / 2);
    layout.edges.push_back(std::move(line));
  }
  for (const QRectF& box : layout.boxes) layout.bounds = layout.bounds.united(box);
  return layout;
}

}  // namespace nuscope::views
