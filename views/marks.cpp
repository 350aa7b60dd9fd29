#include "views/marks.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <QSvgRenderer>
#include <cmath>

#include "core/base/diagnostics.h"
#include "views/theme.h"

// Resources of a static library have to be asked for by name, outside of namespaces.
static void initResources() {
  Q_INIT_RESOURCE(nuscope);
}

namespace nuscope::views {

namespace {

QColor colourOf(Mark mark, const Theme& theme) {
  switch (mark) {
    case Mark::proved:
      return theme.proved;
    case Mark::refuted:
      return theme.refuted;
    case Mark::unknown:
    case Mark::warning:
      return theme.unknown;
    case Mark::running:
      return theme.running;
    case Mark::added:
      return theme.added;
    case Mark::removed:
      return theme.removed;
    case Mark::moved:
      return theme.moved;
    case Mark::none:
      break;
  }
  return theme.muted;
}

QPolygonF regular(int corners, double radius, double turn) {
  QPolygonF polygon;
  for (int i = 0; i < corners; ++i) {
    const double angle = (turn + i) * 2 * M_PI / corners;
    polygon << QPointF(radius * std::cos(angle), radius * std::sin(angle));
  }
  return polygon;
}

/// Drawn in a box from -8 to 8.
void paintOutline(QPainter& p, Mark mark) {
  switch (mark) {
    case Mark::refuted:
      p.drawPolygon(regular(8, 7.0, 0.5));
      break;
    case Mark::unknown:
      p.drawPolygon(regular(4, 7.6, 0));
      break;
    case Mark::warning:
      p.drawPolygon(QPolygonF{{0, -7}, {7.4, 6}, {-7.4, 6}});
      break;
    default:
      p.drawEllipse(QPointF(0, 0), 6.6, 6.6);
  }
}

void paintSign(QPainter& p, Mark mark) {
  switch (mark) {
    case Mark::proved:
      p.drawPolyline(QPolygonF{{-3, 0.3}, {-0.8, 2.5}, {3.2, -2.2}});
      break;
    case Mark::refuted:
      p.drawLines({QLineF(-2.4, -2.4, 2.4, 2.4), QLineF(-2.4, 2.4, 2.4, -2.4)});
      break;
    case Mark::added:
      p.drawLines({QLineF(-3.2, 0, 3.2, 0), QLineF(0, -3.2, 0, 3.2)});
      break;
    case Mark::removed:
      p.drawLine(QLineF(-3.2, 0, 3.2, 0));
      break;
    case Mark::moved:
      p.drawLine(QLineF(-3.2, 0, 3, 0));
      p.drawPolyline(QPolygonF{{0.4, -2.8}, {3.2, 0}, {0.4, 2.8}});
      break;
    case Mark::unknown: {
      QPainterPath path;
      path.moveTo(-1.9, -1.6);
      path.cubicTo(-1.8, -4, 2.1, -3.9, 2.0, -1.5);
      path.cubicTo(1.9, 0, 0, 0.1, 0, 1.4);
      p.drawPath(path);
      p.drawPoint(QPointF(0, 3.7));
      break;
    }
    case Mark::warning:
      p.drawLine(QLineF(0, -2.4, 0, 1.4));
      p.drawPoint(QPointF(0, 3.9));
      break;
    default:
      break;
  }
}

/// Renders one colour whatever the file says, at any size and device ratio.
/// An icon that is its painting, at every size.
class PaintedEngine : public QIconEngine {
 public:
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(0, 0), size), mode, state);
    return pixmap;
  }
};

class TintedSvgEngine : public PaintedEngine {
 public:
  TintedSvgEngine(QByteArray svg, QColor normal, QColor disabled, QColor on)
      : svg_(std::move(svg)),
        normal_(std::move(normal)),
        disabled_(std::move(disabled)),
        on_(std::move(on)) {}
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    const QColor& colour = mode == QIcon::Disabled ? disabled_ : state == QIcon::On ? on_ : normal_;
    QByteArray tinted = svg_;
    tinted.replace("#000", colour.name().toLatin1());
    QSvgRenderer renderer(tinted);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    renderer.render(painter, rect);
    painter->restore();
  }
  [[nodiscard]] QIconEngine* clone() const override { return new TintedSvgEngine(*this); }

 private:
  QByteArray svg_;
  QColor normal_, disabled_, on_;
};

class MarkEngine : public PaintedEngine {
 public:
  MarkEngine(Mark mark, const Theme& theme) : mark_(mark), theme_(theme) {}
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override {
    paintMark(*painter, rect, mark_, theme_);
  }
  [[nodiscard]] QIconEngine* clone() const override { return new MarkEngine(*this); }

 private:
  Mark mark_;
  Theme theme_;
};

}  // namespace

Mark markOf(proof::Verdict verdict) {
  switch (verdict) {
    case proof::Verdict::proved:
      return Mark::proved;
    case proof::Verdict::refuted:
      return Mark::refuted;
    case proof::Verdict::unknown:
      return Mark::unknown;
  }
  return Mark::unknown;
}

void paintMark(QPainter& painter, const QRectF& box, Mark mark, const Theme& theme, double turn) {
  if (mark == Mark::none) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(box.center());
  const double scale = std::min(box.width(), box.height()) / 16.0;
  painter.scale(scale, scale);
  painter.setBrush(Qt::NoBrush);
  QPen pen(colourOf(mark, theme), 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  painter.setPen(pen);
  if (mark == Mark::running) {
    pen.setWidthF(2);
    painter.setPen(pen);
    painter.drawArc(QRectF(-6, -6, 12, 12), static_cast<int>(-turn * 360 * 16) + 90 * 16, 270 * 16);
  } else {
    paintOutline(painter, mark);
    paintSign(painter, mark);
  }
  painter.restore();
}

QIcon markIcon(Mark mark, const Theme& theme) {
  return mark == Mark::none ? QIcon() : QIcon(new MarkEngine(mark, theme));
}

QIcon themedIcon(const QString& name, const Theme& theme) {
  initResources();
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  if (!file.open(QIODevice::ReadOnly)) throw InternalError("there is no icon named " + name.toStdString());
  return QIcon(new TintedSvgEngine(file.readAll(), theme.text, theme.disabled, theme.selection));
}

QString wordOf(Mark mark) {
  switch (mark) {
    case Mark::none:
      return {};
    case Mark::proved:
      return QStringLiteral("proved");
    case Mark::refuted:
      return QStringLiteral("refuted");
    case Mark::unknown:
      return QStringLiteral("unknown");
    case Mark::running:
      return QStringLiteral("running");
    case Mark::added:
      return QStringLiteral("added");
    case Mark::removed:
      return QStringLiteral("removed");
    case Mark::moved:
      return QStringLiteral("moved");
    case Mark::warning:
      return QStringLiteral("warning");
  }
  return {};
}

}  // namespace nuscope::views
