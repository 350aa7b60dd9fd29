#include "views/graph/graph_paint.h"

#include <QFontMetricsF>
#include <QHash>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>

#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr double textFrom = 0.42;    // below: no text at all
constexpr double widestChip = 112;   // of the words; longer ones are elided
constexpr double detailFrom = 0.15;  // below: rectangles and straight lines

QFont titleFont(const Theme& t) {
  QFont font = t.ui;
  font.setWeight(QFont::DemiBold);
  return font;
}

/// Of titles that need two lines.
QFont longTitleFont(const Theme& t) {
  QFont font = t.small;
  font.setWeight(QFont::DemiBold);
  return font;
}

double tabWidth(const Theme& t) {
  return 24 * t.scale;
}
double lineHeight(const Theme& t) {
  return 18 * t.scale;
}
double sidePadding(const Theme& t) {
  return 9 * t.scale;
}

constexpr double widestTitle = 112;  // longer ones take a second line

QStringList brokenTitle(const QString& title, const Theme& t) {
  const QFontMetricsF metrics(titleFont(t));
  if (metrics.horizontalAdvance(title) <= widestTitle * t.scale) return {title};
  qsizetype best = -1;
  double least = 1e30;
  for (qsizetype at = title.indexOf(QLatin1Char(' ')); at > 0; at = title.indexOf(QLatin1Char(' '), at + 1)) {
    const double widest =
        std::max(metrics.horizontalAdvance(title.left(at)), metrics.horizontalAdvance(title.mid(at + 1)));
    if (widest < least) {
      least = widest;
      best = at;
    }
  }
  if (best < 0) return {title};
  return {title.left(best), title.mid(best + 1)};
}

/// The title in one or two lines, broken at a blank near the middle. Remembered: measuring the pieces of a
/// hundred titles anew with every frame took longer than drawing them. Only in the window's thread.
QStringList titleLines(const Box& box, const Theme& t) {
  static QHash<QString, QStringList> known;
  static QFont font;
  static double scale = 0;
  constexpr qsizetype most = 10000;
  if (font != t.ui || scale != t.scale || known.size() > most) {
    known.clear();
    font = t.ui;
    scale = t.scale;
  }
  auto found = known.constFind(box.title);
  if (found == known.constEnd()) found = known.insert(box.title, brokenTitle(box.title, t));
  return *found;
}

int lines(const Box& box, const Theme& t) {
  return static_cast<int>(titleLines(box, t).size()) + (box.second.isEmpty() ? 0 : 1) +
         (box.third.isEmpty() ? 0 : 1);
}

/// Adds what of a cubic curve is near `clip`: dashes along all of a very long edge would take very long.
void addNear(QPainterPath& path, const std::array<QPointF, 4>& p, const QRectF& clip, int depth) {
  const auto [left, right] = std::minmax({p[0].x(), p[1].x(), p[2].x(), p[3].x()});
  const auto [top, bottom] = std::minmax({p[0].y(), p[1].y(), p[2].y(), p[3].y()});
  if (right < clip.left() || left > clip.right() || bottom < clip.top() || top > clip.bottom()) return;
  if (depth == 0 || (right - left <= 2 * clip.width() && bottom - top <= 2 * clip.height())) {
    if (path.elementCount() == 0 || path.currentPosition() != p[0]) path.moveTo(p[0]);
    path.cubicTo(p[1], p[2], p[3]);
    return;
  }
  const auto middle = [](const QPointF& a, const QPointF& b) { return (a + b) / 2; };
  const QPointF a = middle(p[0], p[1]), b = middle(p[1], p[2]), c = middle(p[2], p[3]);
  const QPointF d = middle(a, b), e = middle(b, c), half = middle(d, e);
  addNear(path, {p[0], a, d, half}, clip, depth - 1);
  addNear(path, {half, e, c, p[3]}, clip, depth - 1);
}

void paintTab(QPainter& painter, const QRectF& where, const Box& box, const Theme& t, bool withSign) {
  const TintColours colours = tintColours(box.tint, t);
  QPainterPath card;
  card.addRoundedRect(where, t.radius, t.radius);
  QPainterPath strip;
  strip.addRect(QRectF(where.left(), where.top(), tabWidth(t), where.height()));
  painter.fillPath(card.intersected(strip), colours.fill);
  if (!withSign) return;
  QFont font = t.ui;
  font.setWeight(QFont::DemiBold);
  painter.setFont(font);
  painter.setPen(colours.sign);
  painter.drawText(QRectF(where.left(), where.top(), tabWidth(t), where.height()), Qt::AlignCenter, box.sign);
}

void paintTexts(QPainter& painter, const QRectF& where, const Box& box, const Theme& t) {
  const double left = where.left() + tabWidth(t) + sidePadding(t);
  const double badge = box.badge == Mark::none ? 0 : 18 * t.scale;
  const double height = lines(box, t) * lineHeight(t);
  double top = where.center().y() - height / 2;
  const auto line = [&](const QString& text, const QFont& font, const QColor& colour, double width) {
    painter.setFont(font);
    painter.setPen(colour);
    painter.drawText(QRectF(left, top, width, lineHeight(t)),
                     Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
    top += lineHeight(t);
  };
  const double width = where.right() - sidePadding(t) + 2 - left;
  const QStringList parts = titleLines(box, t);
  for (const QString& part : parts) {
    line(part, parts.size() > 1 ? longTitleFont(t) : titleFont(t), box.ghost ? t.muted : t.text,
         width - badge);
  }
  if (!box.second.isEmpty()) line(box.second, t.code, t.muted, width);
  if (!box.third.isEmpty()) line(box.third, t.code, box.ghost ? t.muted : t.text, width);
}

}  // namespace

TintColours tintColours(Tint tint, const Theme& t) {
  switch (tint) {
    case Tint::input:
      return {t.inputKind, t.inputKindFill};
    case Tint::elementwise:
      return {t.elementwiseKind, t.elementwiseKindFill};
    case Tint::fold:
      return {t.foldKind, t.foldKindFill};
    case Tint::contract:
      return {t.contractKind, t.contractKindFill};
    case Tint::layout:
      return {t.layoutKind, t.layoutKindFill};
    case Tint::algebra:
      return {t.stage[0], t.stageFill[0]};
    case Tint::tiled:
      return {t.stage[1], t.stageFill[1]};
    case Tint::instructions:
      return {t.stage[2], t.stageFill[2]};
    case Tint::fused:
      return {t.stage[3], t.stageFill[3]};
  }
  return {t.muted, t.inputKindFill};
}

Measure::Measure(const Theme& t) : scale(t.scale), ui(t.ui), small(t.small), code(t.code) {}

QSizeF cardSize(const Box& box, const Theme& t) {
  if (box.width > 0)
    return {std::ceil(box.width * t.scale), std::ceil(lines(box, t) * lineHeight(t) + 8 * t.scale)};
  const QStringList parts = titleLines(box, t);
  const QFontMetricsF title(parts.size() > 1 ? longTitleFont(t) : titleFont(t));
  const QFontMetricsF code(t.code);
  double text = 0;
  for (const QString& part : parts) text = std::max(text, title.horizontalAdvance(part));
  if (box.badge != Mark::none) text += 18 * t.scale;
  text = std::max(text, code.horizontalAdvance(box.second));
  text = std::max(text, code.horizontalAdvance(box.third));
  const double width = tabWidth(t) + 2 * sidePadding(t) + text + 2;
  return {std::clamp(std::ceil(width), 104 * t.scale, 190 * t.scale),
          std::ceil(lines(box, t) * lineHeight(t) + 8 * t.scale)};
}

QSizeF chipSize(const Edge& edge, const Theme& t) {
  if (edge.label.isEmpty()) return {};
  const double mark = edge.mark == Mark::none ? 0 : 18 * t.scale;
  const double text =
      std::min(QFontMetricsF(t.small).horizontalAdvance(edge.label) + 2, widestChip * t.scale);
  return {std::ceil(text + mark + 16 * t.scale), std::ceil(20 * t.scale)};
}

void paintCard(QPainter& painter, const QRectF& where, const Box& box, const CardState& state, const Theme& t,
               double scale) {
  const QColor outline = state.selected || state.hovered ? t.selection : box.fault ? t.refuted : t.line;
  if (scale < detailFrom) {
    painter.fillRect(where, state.selected ? t.selection : tintColours(box.tint, t).fill);
    return;
  }
  painter.setBrush(t.surface);
  QPen pen(outline, state.selected ? 2.0 : box.fault ? 1.6 : 1.0);
  if (box.ghost) pen.setStyle(Qt::DashLine);
  painter.setPen(Qt::NoPen);
  painter.drawRoundedRect(where, t.radius, t.radius);
  paintTab(painter, where, box, t, scale >= textFrom);
  if (state.hit) {
    QColor tint = t.unknown;
    tint.setAlpha(60);
    painter.setBrush(tint);
    painter.drawRoundedRect(where, t.radius, t.radius);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(pen);
  painter.drawRoundedRect(where, t.radius, t.radius);
  if (scale < textFrom) return;
  paintTexts(painter, where, box, t);
  if (box.badge != Mark::none) {
    const double side = 15 * t.scale;
    paintMark(painter, QRectF(where.right() - side - 5 * t.scale, where.top() + 5 * t.scale, side, side),
              box.badge, t);
  }
}

QRectF stubBox(const QRectF& card, const Box& box, const Theme& t, bool leftToRight) {
  if (box.hidden <= 0) return {};
  const double width =
      QFontMetricsF(t.small).horizontalAdvance(QStringLiteral("+%1").arg(box.hidden)) + 14 * t.scale;
  const double height = 18 * t.scale;
  const double gap = 6 * t.scale;
  // Below the card: at its side stand the edges and their chips.
  return leftToRight ? QRectF(card.right() - width, card.bottom() + 2 * t.scale, width, height)
                     : QRectF(card.center().x() - width / 2, card.bottom() + gap, width, height);
}

void paintStub(QPainter& painter, const QRectF& where, const Box& box, const Theme& t) {
  painter.setBrush(t.surface);
  painter.setPen(QPen(t.line, 1));
  painter.drawRoundedRect(where, where.height() / 2, where.height() / 2);
  painter.setFont(t.small);
  painter.setPen(t.muted);
  painter.drawText(where, Qt::AlignCenter, QStringLiteral("+%1").arg(box.hidden));
}

void paintEdge(QPainter& painter, const std::vector<QPointF>& spline, const Edge& edge,
               const EdgeState& state, const Theme& t, double scale, const QRectF& clip) {
  if (spline.size() < 2) return;
  const bool strong = edge.strong || state.selected;
  QPen pen(strong || state.hovered ? t.selection
           : edge.fault            ? t.refuted
                                   : t.edge,
           strong                        ? 2.0
           : edge.fault || state.hovered ? 1.5
                                         : 1.0);
  if (edge.dashed) pen.setStyle(Qt::DashLine);
  if (edge.ghost) {
    pen.setStyle(Qt::DashLine);
    if (!strong) pen.setColor(t.removed);
  }
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  if (scale < detailFrom) {
    painter.drawLine(spline.front(), spline.back());
    return;
  }
  QPainterPath path;
  for (std::size_t i = 0; i + 3 < spline.size(); i += 3)
    addNear(path, {spline[i], spline[i + 1], spline[i + 2], spline[i + 3]}, clip, 10);
  painter.drawPath(path);
  if (scale < textFrom * 0.7) return;
  const QPointF tip = spline.back();
  QPointF back = spline[spline.size() - 2];
  if (QLineF(back, tip).length() < 0.5) back = spline[spline.size() >= 3 ? spline.size() - 3 : 0];
  const double angle = std::atan2(tip.y() - back.y(), tip.x() - back.x());
  const double length = 7 * t.scale;
  const auto wing = [&](double turn) {
    return tip - QPointF(length * std::cos(angle + turn), length * std::sin(angle + turn));
  };
  pen.setStyle(Qt::SolidLine);
  pen.setCapStyle(Qt::RoundCap);
  painter.setPen(pen);
  painter.drawPolyline(QPolygonF{wing(0.5), tip, wing(-0.5)});
}

void paintChip(QPainter& painter, const QPointF& centre, const Edge& edge, const EdgeState& state,
               const Theme& t) {
  const QSizeF size = chipSize(edge, t);
  if (size.isEmpty()) return;
  const QRectF where(centre - QPointF(size.width() / 2, size.height() / 2), size);
  const bool strong = state.selected || state.hovered;
  painter.setBrush(t.surface);
  painter.setPen(QPen(strong ? t.selection : t.line, state.selected ? 1.5 : 1));
  painter.drawRoundedRect(where, where.height() / 2, where.height() / 2);
  QRectF text = where.adjusted(8 * t.scale, 0, -8 * t.scale, 0);
  if (edge.mark != Mark::none) {
    const double side = 14 * t.scale;
    paintMark(painter, QRectF(where.left() + 5 * t.scale, where.center().y() - side / 2, side, side),
              edge.mark, t);
    text.setLeft(text.left() + 15 * t.scale);
  }
  painter.setFont(t.small);
  painter.setPen(t.text);
  painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                   QFontMetricsF(t.small).elidedText(edge.label, Qt::ElideRight, text.width() + 1));
}

}  // namespace nuscope::views
