#include "views/proof/math_box.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

namespace nuscope::views {

namespace {

qreal levelScale(int level) {
  return level <= 0 ? 1.0 : level == 1 ? 0.72 : 0.6;
}

QColor inkColor(const MathColors& colors, MathInk ink) {
  switch (ink) {
    case MathInk::muted:
      return colors.muted;
    case MathInk::added:
      return colors.added;
    case MathInk::removed:
      return colors.removed;
    case MathInk::moved:
      return colors.moved;
    default:
      return colors.text;
  }
}

QColor tintColor(const MathColors& colors, MathInk ink) {
  switch (ink) {
    case MathInk::added:
      return colors.addedTint;
    case MathInk::removed:
      return colors.removedTint;
    case MathInk::moved:
      return colors.movedTint;
    default:
      return Qt::transparent;
  }
}

/// One bracket as a stroke inside [0, width] x [top, bottom].
QPainterPath bracketPath(const QString& bracket, qreal width, qreal top, qreal bottom) {
  QPainterPath path;
  const qreal middle = (top + bottom) / 2;
  const qreal corner = std::min((bottom - top) / 4, width * 2);
  if (bracket == "(" || bracket == ")") {
    const bool left = bracket == "(";
    const qreal outer = left ? 0 : width;
    const qreal inner = left ? width : 0;
    path.moveTo(inner, top);
    path.cubicTo(outer, top + corner, outer, bottom - corner, inner, bottom);
  } else if (bracket == "{" || bracket == "}") {
    const bool left = bracket == "{";
    const qreal outer = left ? 0 : width;
    const qreal inner = left ? width : 0;
    const qreal spine = width / 2;
    const qreal bend = std::min((bottom - top) / 6, width * 1.5);
    path.moveTo(inner, top);
    path.quadTo(spine, top, spine, top + bend);
    path.lineTo(spine, middle - bend);
    path.quadTo(spine, middle, outer, middle);
    path.quadTo(spine, middle, spine, middle + bend);
    path.lineTo(spine, bottom - bend);
    path.quadTo(spine, bottom, inner, bottom);
  } else if (bracket == "|") {
    path.moveTo(width / 2, top);
    path.lineTo(width / 2, bottom);
  } else {
    const bool left = bracket == "[" || bracket == "\u230A" || bracket == "\u2308";
    const qreal outer = left ? width * 0.2 : width * 0.8;
    const qreal inner = left ? width : 0;
    const bool atTop = bracket != "\u230A" && bracket != "\u230B";
    const bool atBottom = bracket != "\u2308" && bracket != "\u2309";
    path.moveTo(atTop ? inner : outer, top);
    if (atTop) path.lineTo(outer, top);
    path.lineTo(outer, bottom);
    if (atBottom) path.lineTo(inner, bottom);
  }
  return path;
}

}  // namespace

MathFace::MathFace(qreal pixelSize, QString family) : pixelSize_(pixelSize), family_(std::move(family)) {}

QString MathFace::installedFamily() {
  // Asked for once: listing the fonts takes milliseconds.
  static const QString family = [] {
    static constexpr std::array preferred{"STIX Two Text",   "Libertinus Serif", "Latin Modern Roman",
                                          "TeX Gyre Termes", "DejaVu Serif",     "Liberation Serif",
                                          "Nimbus Roman"};
    const QStringList installed = QFontDatabase::families();
    for (const char* name : preferred) {
      if (installed.contains(QString::fromLatin1(name))) return QString::fromLatin1(name);
    }
    return QStringLiteral("serif");
  }();
  return family;
}

QFont MathFace::font(int level, bool italic) const {
  QFont font(family_);
  font.setStyleHint(QFont::Serif);
  font.setPixelSize(std::max(1, static_cast<int>(std::lround(em(level)))));
  font.setItalic(italic);
  return font;
}

qreal MathFace::em(int level) const {
  return pixelSize_ * levelScale(level);
}
qreal MathFace::axis(int level) const {
  return em(level) * 0.26;
}
qreal MathFace::rule(int level) const {
  return std::max(1.0, em(level) / 16);
}

void MathBox::take(const MathBox& part, QPointF at) {
  for (Glyphs glyphs : part.glyphs_) {
    glyphs.at += at;
    glyphs_.push_back(std::move(glyphs));
  }
  for (const Shape& shape : part.shapes_) {
    shapes_.push_back({shape.path.translated(at), shape.pen, shape.ink, shape.tint});
  }
  ascent = std::max(ascent, part.ascent - at.y());
  descent = std::max(descent, part.descent + at.y());
}

void MathBox::cover() {
  ascent = std::max(ascent, 0.0);
  descent = std::max(descent, 0.0);
}

MathBox MathBox::space(qreal width) {
  MathBox box;
  box.width = width;
  return box;
}

MathBox MathBox::text(const MathFace& face, int level, const QString& text, bool italic) {
  MathBox box;
  if (text.isEmpty()) return box;
  const QFont font = face.font(level, italic);
  const QFontMetricsF metrics(font);
  const QRectF ink = metrics.tightBoundingRect(text);
  box.width = metrics.horizontalAdvance(text);
  // A slanted letter leans out of its advance: without this a script or bracket behind it would touch.
  if (italic) box.width = std::max(box.width, ink.right() + face.em(level) * 0.02);
  box.ascent = std::max(-ink.top(), face.em(level) * 0.45);
  box.descent = std::max(ink.bottom(), 0.0);
  box.glyphs_.push_back({{0, 0}, text, font, MathInk::normal});
  return box;
}

MathBox MathBox::row(const std::vector<MathBox>& parts) {
  MathBox box;
  for (const MathBox& part : parts) {
    box.take(part, {box.width, 0});
    box.width += part.width;
  }
  box.cover();
  return box;
}

MathBox MathBox::stack(const std::vector<MathBox>& lines, qreal gap) {
  MathBox box;
  qreal y = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) y += lines[i - 1].descent + gap + lines[i].ascent;
    box.take(lines[i], {0, y});
    box.width = std::max(box.width, lines[i].width);
  }
  return box;
}

MathBox MathBox::fraction(const MathFace& face, int level, const MathBox& numerator,
                          const MathBox& denominator) {
  MathBox box;
  const qreal em = face.em(level);
  const qreal side = em * 0.12;
  const qreal gap = em * 0.18;
  const qreal rule = face.rule(level);
  const qreal axis = face.axis(level);
  box.width = std::max(numerator.width, denominator.width) + 2 * side + em * 0.1;
  box.take(numerator, {(box.width - numerator.width) / 2, -axis - rule / 2 - gap - numerator.descent});
  box.take(denominator, {(box.width - denominator.width) / 2, -axis + rule / 2 + gap + denominator.ascent});
  Shape bar;
  bar.path.addRect(em * 0.05, -axis - rule / 2, box.width - em * 0.1, rule);
  box.shapes_.push_back(std::move(bar));
  return box;
}

MathBox MathBox::radical(const MathFace& face, int level, const MathBox& body) {
  return radical(face, level, body, {});
}

MathBox MathBox::radical(const MathFace& face, int level, const MathBox& body, const MathBox& index) {
  MathBox box;
  const qreal em = face.em(level);
  const qreal rule = face.rule(level);
  const qreal gap = em * 0.12 + rule;
  const qreal top = -std::max(body.ascent, em * 0.6) - gap;
  const qreal bottom = std::max(body.descent, em * 0.08);
  const qreal hook = em * 0.62;
  const qreal indent = std::max(0.0, index.width - hook * 0.45);
  const qreal height = bottom - top;
  Shape sign;
  sign.pen = rule;
  sign.path.moveTo(indent + hook * 0.05, bottom - std::min(height * 0.42, em * 0.5));
  sign.path.lineTo(indent + hook * 0.26, bottom - std::min(height * 0.48, em * 0.58));
  sign.path.lineTo(indent + hook * 0.55, bottom);
  sign.path.lineTo(indent + hook, top + rule / 2);
  sign.path.lineTo(indent + hook + body.width + em * 0.1, top + rule / 2);
  box.shapes_.push_back(std::move(sign));
  box.take(body, {indent + hook + em * 0.04, 0});
  if (!index.empty()) box.take(index, {0, bottom - std::min(height * 0.55, em * 0.66) - index.descent});
  box.width = indent + hook + body.width + em * 0.16;
  box.ascent = std::max(box.ascent, -top + rule);
  box.descent = std::max(box.descent, bottom);
  return box;
}

MathBox MathBox::scripts(const MathFace& face, int level, const MathBox& base, const MathBox& below,
                         const MathBox& above) {
  MathBox box;
  const qreal em = face.em(level);
  box.take(base, {0, 0});
  const qreal x = base.width + em * 0.03;
  qreal raise = std::max(em * 0.38, base.ascent - em * 0.28);
  qreal drop = std::max(em * 0.18, base.descent - em * 0.04);
  if (!below.empty() && !above.empty()) {
    const qreal overlap = em * 0.08 - ((raise - above.descent) + (drop - below.ascent));
    if (overlap > 0) drop += overlap;
  }
  if (!below.empty()) box.take(below, {x, drop});
  if (!above.empty()) box.take(above, {x, -raise});
  box.width = x + std::max(below.width, above.width) + em * 0.04;
  return box;
}

MathBox MathBox::fold(const MathFace& face, int level, const QString& symbol, const MathBox& below,
                      const MathBox& above) {
  const qreal em = face.em(level);
  const bool word = symbol.size() > 1;
  MathBox sign;
  if (word) {
    sign = text(face, level, symbol, false);
  } else {
    const MathFace larger = face.scaled(1.45 * em / face.em(0));
    sign = text(larger, 0, symbol, false);
    // Centred on the axis, so that the body stands beside its middle.
    const qreal shift = (sign.ascent - sign.descent) / 2 - face.axis(level);
    MathBox centred;
    centred.width = sign.width;
    centred.take(sign, {0, shift});
    sign = centred;
  }
  MathBox box;
  box.width = std::max({sign.width, below.width, above.width});
  box.take(sign, {(box.width - sign.width) / 2, 0});
  const qreal gap = em * 0.12;
  if (!below.empty()) box.take(below, {(box.width - below.width) / 2, sign.descent + gap + below.ascent});
  if (!above.empty()) box.take(above, {(box.width - above.width) / 2, -sign.ascent - gap - above.descent});
  return box;
}

MathBox MathBox::delimited(const MathFace& face, int level, const QString& left, const MathBox& body,
                           const QString& right) {
  const qreal em = face.em(level);
  const qreal axis = face.axis(level);
  // Symmetric about the axis, as brackets are.
  const qreal reach = std::max({body.ascent - axis, body.descent + axis, em * 0.42}) + em * 0.08;
  const bool bar = left == "|";
  const qreal width = bar ? em * 0.22 : em * (0.2 + std::min(0.12, reach / em * 0.04));
  MathBox box;
  const auto bracket = [&](const QString& which) {
    if (which.isEmpty()) return;
    Shape shape;
    shape.pen = face.rule(level) * (reach > em ? 1.25 : 1.1);
    shape.path = bracketPath(which, width, -axis - reach, -axis + reach).translated(box.width + em * 0.04, 0);
    box.shapes_.push_back(std::move(shape));
    box.width += width + em * 0.08;
  };
  bracket(left);
  if (!left.isEmpty()) box.width += em * 0.05;
  box.take(body, {box.width, 0});
  box.width += body.width + em * 0.05;
  bracket(right);
  box.ascent = std::max(box.ascent, axis + reach);
  box.descent = std::max(box.descent, reach - axis);
  return box;
}

MathBox MathBox::cases(const MathFace& face, int level,
                       const std::vector<std::pair<MathBox, MathBox>>& rows) {
  const qreal em = face.em(level);
  qreal column = 0;
  for (const auto& [value, condition] : rows) column = std::max(column, value.width);
  std::vector<MathBox> lines;
  for (const auto& [value, condition] : rows) {
    lines.push_back(row({value, space(column - value.width + em * 0.9), condition}));
  }
  const MathBox all = stack(lines, em * 0.3);
  MathBox centred;
  centred.width = all.width;
  centred.take(all, {0, (all.ascent - all.descent) / 2 - face.axis(level)});
  centred.cover();
  return delimited(face, level, QStringLiteral("{"), row({space(em * 0.15), centred}), QString());
}

MathBox MathBox::changed(const MathFace& face, int level, const MathBox& body, MathInk ink) {
  const qreal pad = face.em(level) * 0.12;
  MathBox box;
  Shape patch;
  patch.tint = true;
  patch.ink = ink;
  patch.path.addRoundedRect(QRectF(0, -body.ascent - pad, body.width + 2 * pad, body.height() + 2 * pad),
                            pad * 1.5, pad * 1.5);
  box.shapes_.push_back(std::move(patch));
  box.take(body, {pad, 0});
  for (Glyphs& glyphs : box.glyphs_) glyphs.ink = ink;
  for (Shape& shape : box.shapes_) {
    if (!shape.tint) shape.ink = ink;
  }
  box.width = body.width + 2 * pad;
  box.ascent = body.ascent + pad;
  box.descent = body.descent + pad;
  return box;
}

MathBox MathBox::muted(MathBox body) {
  for (Glyphs& glyphs : body.glyphs_) {
    if (glyphs.ink == MathInk::normal) glyphs.ink = MathInk::muted;
  }
  for (Shape& shape : body.shapes_) {
    if (shape.ink == MathInk::normal) shape.ink = MathInk::muted;
  }
  return body;
}

void MathBox::paint(QPainter& painter, QPointF origin, const MathColors& colors) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(origin);
  for (const Shape& shape : shapes_) {
    if (shape.tint) painter.fillPath(shape.path, tintColor(colors, shape.ink));
  }
  for (const Shape& shape : shapes_) {
    if (shape.tint) continue;
    const QColor color = inkColor(colors, shape.ink);
    if (shape.pen > 0) {
      painter.strokePath(shape.path, QPen(color, shape.pen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    } else {
      painter.fillPath(shape.path, color);
    }
  }
  for (const Glyphs& glyphs : glyphs_) {
    painter.setPen(inkColor(colors, glyphs.ink));
    painter.setFont(glyphs.font);
    painter.drawText(glyphs.at, glyphs.text);
  }
  painter.restore();
}

}  // namespace nuscope::views
