#include "views/sweep/parameter_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/sweep/why.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

/// The same spread at every painting, so that dots on one value lie side by side.
double jitter(std::size_t i) {
  const double turned = static_cast<double>(i) * 0.6180339887498949;
  return turned - std::floor(turned) - 0.5;
}

}  // namespace

ParameterData parameterData(const std::vector<ParameterCandidate>& candidates, int most) {
  std::vector<sweep::TimedPoint> timed;
  for (const ParameterCandidate& one : candidates) timed.push_back({one.parameters, one.milliseconds});
  ParameterData data;
  std::vector<std::string> names;
  for (const sweep::ParameterEffect& effect : sweep::parameterEffects(timed)) {
    if (std::ssize(data.axes) >= most) {
      ++data.axesMore;
      continue;
    }
    ParameterData::Axis axis{
        qs(effect.name).replace(QLatin1Char('_'), QLatin1Char(' ')), {}, effect.spread()};
    for (const auto& value : effect.values) axis.values.push_back(value.value);
    data.axes.push_back(std::move(axis));
    names.push_back(effect.name);
  }
  for (const ParameterCandidate& one : candidates) {
    ParameterData::Point point{one.id, one.label, one.milliseconds, {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = one.parameters.find(names[i]);
      const auto& values = data.axes[i].values;
      point.at.push_back(
          found == one.parameters.end()
              ? -1
              : static_cast<int>(std::ranges::lower_bound(values, found->second) - values.begin()));
    }
    data.points.push_back(std::move(point));
  }
  std::ranges::stable_sort(data.points, {}, &ParameterData::Point::milliseconds);
  if (!data.points.empty()) {
    data.low = data.points.front().milliseconds;
    data.high = std::max(data.points.back().milliseconds, data.low * 1.02);
  }
  return data;
}

/// Places of everything in a picture of some size.
struct ParameterPlot::Layout {
  std::vector<QRectF> scatters;
  QRectF lines;     ///< of the parallel coordinates, between the outermost axes
  double row = 14;  ///< height of a line of text
  double low = 0, high = 1;
  std::vector<std::size_t> counts;  ///< values an axis

  /// Times are shown by their logarithm: half of the candidates lie near the fastest.
  [[nodiscard]] double up(double milliseconds) const {
    const double span = std::log(high / low);
    return span > 0 ? std::clamp(std::log(milliseconds / low) / span, 0.0, 1.0) : 0;
  }
  [[nodiscard]] QPointF dot(std::size_t axis, int at, double milliseconds, std::size_t order) const {
    const QRectF box = scatters[axis].adjusted(4, 4, -4, -4);
    const double step = box.width() / static_cast<double>(counts[axis]);
    return {box.left() + step * (at + 0.5 + 0.6 * jitter(order)),
            box.bottom() - box.height() * up(milliseconds)};
  }
  [[nodiscard]] double axisX(std::size_t axis) const {
    return lines.left() + lines.width() * static_cast<double>(axis) / static_cast<double>(counts.size());
  }
  /// Of a value on a vertical axis; without one below it.
  [[nodiscard]] double valueY(std::size_t axis, int at) const {
    if (at < 0) return lines.bottom() + row * 0.5;
    const double most = std::max(1.0, static_cast<double>(counts[axis]) - 1);
    return counts[axis] == 1 ? lines.center().y() : lines.bottom() - lines.height() * at / most;
  }
  [[nodiscard]] double timeY(double milliseconds) const {
    return lines.bottom() - lines.height() * up(milliseconds);
  }
};

ParameterPlot::ParameterPlot(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("Parameters against time"));
  setMinimumSize(280, 220);
}

void ParameterPlot::setStyle(const PlotStyle& style) {
  if (style == style_) return;
  style_ = style;
  picture_ = {};
  update();
}

void ParameterPlot::show(ParameterData data) {
  data_ = std::move(data);
  picture_ = {};
  describe();
  update();
}

void ParameterPlot::setSelected(int candidate) {
  if (selected_ == candidate) return;
  selected_ = candidate;
  picture_ = {};
  update();
}

void ParameterPlot::setBrushed(const std::set<std::int64_t>& candidates) {
  if (brushed_ == candidates) return;
  brushed_ = candidates;
  picture_ = {};
  describe();
  update();
}

void ParameterPlot::describe() {
  QStringList lines;
  for (const ParameterData::Axis& axis : data_.axes)
    lines << QStringLiteral("%1: medians differ by a factor of %2").arg(axis.name, number(axis.spread, 3));
  if (!brushed_.empty()) lines << QStringLiteral("%1 candidates are marked").arg(brushed_.size());
  setAccessibleDescription(lines.join(QStringLiteral("; ")));
}

ParameterPlot::Layout ParameterPlot::layoutAt(const QSizeF& size) const {
  Layout layout;
  layout.row = QFontMetricsF(style_.labels).height();
  layout.low = data_.low;
  layout.high = data_.high;
  for (const ParameterData::Axis& axis : data_.axes) layout.counts.push_back(axis.values.size());
  const auto count = static_cast<double>(std::max<std::size_t>(1, data_.axes.size()));
  const double margin = 8;
  const double left =
      margin + QFontMetricsF(style_.numbers).horizontalAdvance(millisecondsText(data_.high)) + 4;
  const double upper = (size.height() - 2 * margin) * 0.46;
  const double width = (size.width() - left - margin) / count;
  for (std::size_t i = 0; i < data_.axes.size(); ++i) {
    layout.scatters.emplace_back(left + width * static_cast<double>(i) + 2, margin + layout.row + 2,
                                 width - 4, upper - 2 * layout.row - 6);
  }
  const double top = margin + upper + layout.row + 10;
  layout.lines = QRectF(margin + 30, top, size.width() - 2 * margin - 72,
                        size.height() - top - margin - 2.4 * layout.row);
  return layout;
}

bool ParameterPlot::isBright(const ParameterData::Point& point) const {
  return brushed_.empty() || brushed_.contains(point.id);
}

std::optional<QPointF> ParameterPlot::dotOf(int candidate, int axis) const {
  const Layout layout = layoutAt(size());
  for (std::size_t i = 0; i < data_.points.size(); ++i) {
    const ParameterData::Point& point = data_.points[i];
    const auto a = static_cast<std::size_t>(axis);
    if (point.id == candidate && a < data_.axes.size() && point.at[a] >= 0)
      return layout.dot(a, point.at[a], point.milliseconds, i);
  }
  return std::nullopt;
}

QPointF ParameterPlot::onAxis(int axis, double fraction) const {
  const Layout layout = layoutAt(size());
  return {layout.axisX(static_cast<std::size_t>(axis)),
          layout.lines.bottom() - layout.lines.height() * fraction};
}

QRectF ParameterPlot::scatterOf(int axis) const {
  return layoutAt(size()).scatters.at(static_cast<std::size_t>(axis));
}

void ParameterPlot::paintScatters(QPainter& painter, const Layout& layout) const {
  const QFontMetricsF metrics(style_.labels);
  for (std::size_t a = 0; a < data_.axes.size(); ++a) {
    const ParameterData::Axis& axis = data_.axes[a];
    const QRectF box = layout.scatters[a];
    painter.setFont(style_.labels);
    painter.setPen(style_.text);
    const QString title =
        QStringLiteral("%1  \u00D7%2").arg(axis.name, number(axis.spread, 2));  // by how much medians differ
    painter.drawText(QPointF(box.left(), box.top() - 4),
                     metrics.elidedText(title, Qt::ElideRight, box.width()));
    painter.setPen(style_.line);
    painter.drawRect(box);
    painter.setPen(style_.muted);
    painter.setFont(style_.numbers);
    const double step = (box.width() - 8) / static_cast<double>(axis.values.size());
    const double widest =
        QFontMetricsF(style_.numbers).horizontalAdvance(QString::number(axis.values.back()));
    const auto every = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil((widest + 6) / step)));
    for (std::size_t v = 0; v < axis.values.size(); v += every) {
      const double x = box.left() + 4 + step * (static_cast<double>(v) + 0.5);
      painter.drawText(QRectF(x - 40, box.bottom() + 2, 80, layout.row), Qt::AlignHCenter | Qt::AlignTop,
                       QString::number(axis.values[v]));
    }
    painter.setPen(Qt::NoPen);
    for (const bool bright : {false, true}) {
      QColor color = bright ? style_.series : style_.muted;
      color.setAlphaF(bright ? 0.6F : 0.2F);
      painter.setBrush(color);
      for (std::size_t i = 0; i < data_.points.size(); ++i) {
        const ParameterData::Point& point = data_.points[i];
        if (isBright(point) != bright || point.at[a] < 0) continue;
        painter.drawEllipse(layout.dot(a, point.at[a], point.milliseconds, i), 2.2, 2.2);
      }
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(style_.selection, 2));
    for (std::size_t i = 0; i < data_.points.size(); ++i) {
      if (data_.points[i].id == selected_ && data_.points[i].at[a] >= 0)
        painter.drawEllipse(layout.dot(a, data_.points[i].at[a], data_.points[i].milliseconds, i), 5, 5);
    }
  }
  if (data_.axes.empty()) return;
  painter.setFont(style_.numbers);
  painter.setPen(style_.muted);
  const QRectF box = layout.scatters[0];
  const QRectF label(0, 0, box.left() - 4, layout.row);
  painter.drawText(label.translated(0, box.top()), Qt::AlignRight, millisecondsText(data_.high));
  painter.drawText(label.translated(0, box.bottom() - layout.row), Qt::AlignRight,
                   millisecondsText(data_.low));
}

void ParameterPlot::paintLines(QPainter& painter, const Layout& layout) const {
  const std::size_t axes = data_.axes.size();
  if (axes == 0) return;
  const auto path = [&](const ParameterData::Point& point) {
    QPolygonF line;
    for (std::size_t a = 0; a < axes; ++a) line << QPointF(layout.axisX(a), layout.valueY(a, point.at[a]));
    line << QPointF(layout.axisX(axes), layout.timeY(point.milliseconds));
    return line;
  };
  // Away from the end of the scale that the background swallows.
  const bool dark = style_.surface.lightness() < 128;
  const auto colorOf = [dark](double up) {
    return Theme::viridis((dark ? 0.35 : 0.0) + (dark ? 0.65 : 0.85) * up);
  };
  // Slow ones first, so that the fast ones lie above them.
  for (const bool bright : {false, true}) {
    for (auto point = data_.points.rbegin(); point != data_.points.rend(); ++point) {
      if (isBright(*point) != bright) continue;
      QColor color = bright ? colorOf(layout.up(point->milliseconds)) : style_.muted;
      color.setAlphaF(bright ? 0.55F : 0.1F);
      painter.setPen(QPen(color, 1.1));
      painter.drawPolyline(path(*point));
    }
  }
  for (const ParameterData::Point& point : data_.points) {
    if (point.id != selected_) continue;
    painter.setPen(QPen(style_.selection, 2.4));
    painter.drawPolyline(path(point));
  }
  for (std::size_t a = 0; a <= axes; ++a) {
    const double x = layout.axisX(a);
    painter.setPen(QPen(style_.muted, 1));
    painter.drawLine(QPointF(x, layout.lines.top()), QPointF(x, layout.lines.bottom()));
    painter.setPen(style_.muted);
    painter.setFont(style_.numbers);
    const bool time = a == axes;
    const QString high = time ? millisecondsText(data_.high) : QString::number(data_.axes[a].values.back());
    const QString low = time ? millisecondsText(data_.low) : QString::number(data_.axes[a].values.front());
    painter.drawText(QRectF(x + 3, layout.lines.top() - 2, 60, layout.row), Qt::AlignLeft, high);
    painter.drawText(QRectF(x + 3, layout.lines.bottom() - layout.row, 60, layout.row), Qt::AlignLeft, low);
    painter.setFont(style_.labels);
    painter.setPen(style_.text);
    painter.drawText(QRectF(x - 50, layout.lines.bottom() + layout.row * 0.8, 100, layout.row),
                     Qt::AlignHCenter, time ? QStringLiteral("time, ms") : data_.axes[a].name);
  }
}

void ParameterPlot::paintAt(QPainter& painter, const QSizeF& size) const {
  painter.fillRect(QRectF(QPointF(0, 0), size), style_.surface);
  painter.setRenderHint(QPainter::Antialiasing);
  if (data_.axes.empty()) {
    painter.setPen(style_.muted);
    painter.setFont(style_.labels);
    painter.drawText(QRectF(QPointF(0, 0), size), Qt::AlignCenter,
                     QStringLiteral("No parameter took two values among the measured candidates."));
    return;
  }
  const Layout layout = layoutAt(size);
  paintScatters(painter, layout);
  paintLines(painter, layout);
  painter.setPen(style_.muted);
  painter.setFont(style_.labels);
  QString words = QStringLiteral(
      "measured, log scale; \u00D7: by how much the medians of its values differ; "
      "drag to mark candidates");
  if (data_.axesMore > 0) words += QStringLiteral("; not shown: %1 that matter less").arg(data_.axesMore);
  painter.drawText(QRectF(8, layout.lines.bottom() + 1.8 * layout.row, size.width() - 16, layout.row),
                   Qt::AlignLeft,
                   QFontMetricsF(style_.labels).elidedText(words, Qt::ElideRight, size.width() - 16));
}

void ParameterPlot::paintEvent(QPaintEvent*) {
  if (picture_.isNull()) {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&picture_);
    paintAt(painter, size());
  }
  QPainter painter(this);
  painter.drawPixmap(0, 0, picture_);
  if (hasFocus()) {
    painter.setPen(QPen(style_.selection, 1));
    painter.drawRect(QRectF(0.5, 0.5, width() - 1, height() - 1));
  }
  if (!from_ || !to_) return;
  QColor fill = style_.selection;
  fill.setAlphaF(0.15F);
  painter.setPen(QPen(style_.selection, 1));
  painter.setBrush(fill);
  painter.drawRect(QRectF(*from_, *to_).normalized());
}

void ParameterPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  picture_ = {};
}

/// Of a box in a scatter: the dots in it. Of one across vertical axes: the lines that cross all of them in
/// it.
std::vector<std::int64_t> ParameterPlot::inside(const QRectF& box) const {
  const Layout layout = layoutAt(size());
  std::vector<std::int64_t> ids;
  const auto scatter =
      std::ranges::find_if(layout.scatters, [&](const QRectF& r) { return r.intersects(box); });
  if (scatter != layout.scatters.end()) {
    const auto a = static_cast<std::size_t>(scatter - layout.scatters.begin());
    for (std::size_t i = 0; i < data_.points.size(); ++i) {
      const ParameterData::Point& point = data_.points[i];
      if (point.at[a] >= 0 && box.contains(layout.dot(a, point.at[a], point.milliseconds, i)))
        ids.push_back(point.id);
    }
    return ids;
  }
  // A narrow box near an axis means that axis.
  constexpr double reach = 12;
  std::vector<std::size_t> crossed;
  for (std::size_t a = 0; a <= data_.axes.size(); ++a) {
    const double x = layout.axisX(a);
    if (x >= box.left() - reach && x <= box.right() + reach) crossed.push_back(a);
  }
  if (crossed.empty() || !box.intersects(layout.lines.adjusted(-reach, -reach, reach, reach))) return ids;
  for (const ParameterData::Point& point : data_.points) {
    const bool all = std::ranges::all_of(crossed, [&](std::size_t a) {
      const double y =
          a == data_.axes.size() ? layout.timeY(point.milliseconds) : layout.valueY(a, point.at[a]);
      return y >= box.top() && y <= box.bottom();
    });
    if (all) ids.push_back(point.id);
  }
  return ids;
}

const ParameterData::Point* ParameterPlot::nearest(const QPointF& position) const {
  const Layout layout = layoutAt(size());
  const ParameterData::Point* best = nullptr;
  double distance = 8;
  for (std::size_t i = 0; i < data_.points.size(); ++i) {
    const ParameterData::Point& point = data_.points[i];
    for (std::size_t a = 0; a < data_.axes.size(); ++a) {
      if (point.at[a] < 0) continue;
      const QPointF away = layout.dot(a, point.at[a], point.milliseconds, i) - position;
      const double d = std::hypot(away.x(), away.y());
      if (d < distance) {
        distance = d;
        best = &point;
      }
    }
  }
  return best;
}

void ParameterPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) from_ = event->position();
}

void ParameterPlot::mouseMoveEvent(QMouseEvent* event) {
  if (!from_) return;
  to_ = event->position();
  update();
}

void ParameterPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !from_) return;
  const QRectF box = QRectF(*from_, event->position()).normalized();
  from_.reset();
  to_.reset();
  update();
  if (box.height() >= 4 || box.width() >= 4) {
    mark(inside(box));
  } else if (const ParameterData::Point* point = nearest(event->position())) {
    Q_EMIT candidatePicked(point->id);
  } else {
    mark({});
  }
}

/// Shown here at once; the other views follow.
void ParameterPlot::mark(const std::vector<std::int64_t>& candidates) {
  setBrushed({candidates.begin(), candidates.end()});
  Q_EMIT brushed(candidates);
}

void ParameterPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && !brushed_.empty()) {
    mark({});
    return;
  }
  const bool back = event->key() == Qt::Key_Left;
  if ((!back && event->key() != Qt::Key_Right) || data_.points.empty()) {
    QWidget::keyPressEvent(event);
    return;
  }
  const auto found = std::ranges::find(data_.points, selected_, &ParameterData::Point::id);
  std::ptrdiff_t i = found == data_.points.end() ? -1 : found - data_.points.begin();
  i = std::clamp<std::ptrdiff_t>(i + (back ? -1 : 1), 0, std::ssize(data_.points) - 1);
  Q_EMIT candidatePicked(data_.points[static_cast<std::size_t>(i)].id);
}

bool ParameterPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const ParameterData::Point* point = nearest(help->pos())) {
      QToolTip::showText(
          help->globalPos(),
          point->label + QStringLiteral("\n") + millisecondsText(point->milliseconds) + QStringLiteral(" ms"),
          this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace nuscope::views

#include "moc_parameter_plot.cpp"
