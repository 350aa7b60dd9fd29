#include "views/sweep/roofline_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "views/text.h"

namespace nuscope::views {

double RooflineData::allowed(double intensity, const QString& level) const {
  for (const RooflineCeiling& ceiling : ceilings) {
    if (ceiling.level == level) return std::min(peak, ceiling.gigabytes * intensity);
  }
  return 0;
}

RooflinePlot::RooflinePlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("Roofline"));
  setMinimumSize(280, 220);
  axisRect()->setMinimumMargins(QMargins(8, 20, 16, 0));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    axis->setNumberFormat(QStringLiteral("g"));
    axis->setNumberPrecision(3);
  }
  connect(this, &QCustomPlot::afterLayout, this, &RooflinePlot::turnLabels);
}

/// All bandwidths rise alike on axes of powers of ten; how steeply depends on the size of the plot.
void RooflinePlot::turnLabels() {
  const auto pixelsPerE = [](const QCPAxis& axis, int pixels) {
    return pixels / std::log(axis.range().upper / axis.range().lower);
  };
  const double slope =
      std::atan2(pixelsPerE(*yAxis, axisRect()->height()), pixelsPerE(*xAxis, axisRect()->width()));
  for (QCPItemText* item : along_) item->setRotation(-slope * 180 / M_PI);
}

void RooflinePlot::setStyle(const PlotStyle& style) {
  if (style == style_) return;
  style_ = style;
  rebuild();
}

void RooflinePlot::show(RooflineData data) {
  data_ = std::move(data);
  std::erase_if(data_.marks,
                [](const RooflineMark& mark) { return mark.intensity <= 0 || mark.gigaflops <= 0; });
  rebuild();
}

void RooflinePlot::setSelected(int candidate) {
  if (selected_ == candidate) return;
  selected_ = candidate;
  rebuild();
}

void RooflinePlot::setBrushed(const std::set<std::int64_t>& candidates) {
  if (brushed_ == candidates) return;
  brushed_ = candidates;
  rebuild();
}

std::optional<QPointF> RooflinePlot::positionOf(int candidate) const {
  for (const RooflineMark& mark : data_.marks) {
    if (mark.id == candidate)
      return QPointF(xAxis->coordToPixel(mark.intensity), yAxis->coordToPixel(mark.gigaflops));
  }
  return std::nullopt;
}

QString RooflinePlot::summaryOf(const RooflineMark& mark) const {
  const double allowed = data_.allowed(mark.intensity, mark.level);
  QString text = QStringLiteral("%1\n%2 GFLOP/s at %3 flops per byte of %4")
                     .arg(mark.label, number(mark.gigaflops, 3), number(mark.intensity, 3), mark.level);
  if (allowed > 0) {
    const bool compute = allowed >= data_.peak;
    text += QStringLiteral(": %1 % of what %2 allows")
                .arg(100 * mark.gigaflops / allowed, 0, 'f', 0)
                .arg(compute ? QStringLiteral("the peak of multiply-adds") : mark.level);
  }
  return text;
}

/// The marks, and where the ceilings meet.
void RooflinePlot::fitAxes() {
  double left = INFINITY;
  double right = 0;
  double low = INFINITY;
  double high = data_.peak;
  for (const RooflineMark& mark : data_.marks) {
    left = std::min(left, mark.intensity);
    right = std::max(right, mark.intensity);
    low = std::min(low, mark.gigaflops);
    high = std::max(high, mark.gigaflops);
  }
  if (data_.marks.empty()) left = 0.1, right = 10, low = 1;
  for (const RooflineCeiling& ceiling : data_.ceilings) {
    if (ceiling.gigabytes <= 0) continue;
    right = std::max(right, data_.peak / ceiling.gigabytes);
    left = std::min(left, data_.peak / ceiling.gigabytes / 2);
  }
  xAxis->setRange(left / 2.5, right * 2);
  yAxis->setRange(std::max(low / 2.5, high * 1e-5), std::max(high, 1e-3) * 1.8);
}

void RooflinePlot::addCeilings() {
  if (data_.peak <= 0) return;
  const double left = xAxis->range().lower;
  const double right = xAxis->range().upper;
  const Qt::PenStyle line = data_.measured ? Qt::SolidLine : Qt::DashLine;
  const auto label = [&](const QString& text, double x, double y, Qt::Alignment alignment) {
    auto* item = new QCPItemText(this);
    item->setText(text);
    item->setColor(style_.baseline);
    item->setFont(style_.labels);
    item->setPositionAlignment(alignment);
    item->setPadding(QMargins(3, 1, 3, 1));
    item->setSelectable(false);
    item->setClipToAxisRect(false);
    item->position->setCoords(x, y);
    return item;
  };
  for (const RooflineCeiling& ceiling : data_.ceilings) {
    if (ceiling.gigabytes <= 0) continue;
    const double ridge = std::min(data_.peak / ceiling.gigabytes, right);
    auto* roof = addGraph();
    roof->setData({left, ridge}, {left * ceiling.gigabytes, ridge * ceiling.gigabytes}, true);
    roof->setPen(QPen(style_.baseline, 1.2, line));
    // Named along the line, from where it enters the plot: at its left edge, or at its lower one.
    const double x = std::max(left * 1.06, yAxis->range().lower * 1.15 / ceiling.gigabytes);
    along_.push_back(label(QStringLiteral("%1 %2 GB/s").arg(ceiling.level, number(ceiling.gigabytes, 3)), x,
                           x * ceiling.gigabytes, Qt::AlignLeft | Qt::AlignBottom));
  }
  double nearest = 0;
  for (const RooflineCeiling& ceiling : data_.ceilings) nearest = std::max(nearest, ceiling.gigabytes);
  auto* peak = addGraph();
  peak->setData({nearest > 0 ? std::max(left, data_.peak / nearest) : left, right}, {data_.peak, data_.peak},
                true);
  peak->setPen(QPen(style_.baseline, 1.6, line));
  label(QStringLiteral("peak %1 GFLOP/s").arg(number(data_.peak, 3)), right, data_.peak,
        Qt::AlignRight | Qt::AlignBottom);
}

void RooflinePlot::addMarks() {
  const auto dots = [&](bool brushed) {
    QVector<double> xs;
    QVector<double> ys;
    for (const RooflineMark& mark : data_.marks) {
      if ((brushed_.empty() || brushed_.contains(mark.id)) != brushed) continue;
      xs.push_back(mark.intensity);
      ys.push_back(mark.gigaflops);
    }
    if (xs.empty()) return;
    auto* points = addGraph();
    points->setLineStyle(QCPGraph::lsNone);
    points->setPen(Qt::NoPen);
    QColor dot = brushed ? style_.series : style_.muted;
    dot.setAlphaF(brushed ? 0.7F : 0.25F);
    points->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(Qt::NoPen), QBrush(dot), 7));
    points->setData(xs, ys);
  };
  dots(false);
  dots(true);
  for (const RooflineMark& mark : data_.marks) {
    if (mark.id != selected_) continue;
    auto* ring = addGraph();
    ring->setLineStyle(QCPGraph::lsNone);
    ring->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(style_.selection, 2), Qt::NoBrush, 12));
    ring->setData({mark.intensity}, {mark.gigaflops}, true);
  }
}

void RooflinePlot::rebuild() {
  clearGraphs();
  clearItems();
  along_.clear();
  stylePlot(*this, style_);
  fitAxes();
  addCeilings();
  addMarks();
  xAxis->setLabel(QStringLiteral("flops per byte, modelled, of the furthest level that is used\nlines: %1")
                      .arg(data_.model));
  yAxis->setLabel(QStringLiteral("GFLOP/s, measured"));
  QStringList lines;
  for (std::size_t i = 0; i < data_.marks.size() && i < 3; ++i)
    lines << summaryOf(data_.marks[i]).replace('\n', QStringLiteral(": "));
  setAccessibleDescription(lines.join(QStringLiteral("; ")));
  replot(QCustomPlot::rpQueuedReplot);
}

const RooflineMark* RooflinePlot::nearest(const QPointF& position) const {
  const RooflineMark* best = nullptr;
  double distance = 14;
  for (const RooflineMark& mark : data_.marks) {
    const double d = std::hypot(xAxis->coordToPixel(mark.intensity) - position.x(),
                                yAxis->coordToPixel(mark.gigaflops) - position.y());
    if (d >= distance) continue;
    distance = d;
    best = &mark;
  }
  return best;
}

bool RooflinePlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const RooflineMark* mark = nearest(help->pos())) {
      QToolTip::showText(help->globalPos(), summaryOf(*mark), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QCustomPlot::event(event);
}

void RooflinePlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  const RooflineMark* mark = event->button() == Qt::LeftButton ? nearest(event->position()) : nullptr;
  if (mark == nullptr) return;
  const int id = mark->id;
  setSelected(id);
  Q_EMIT candidatePicked(id);
}

void RooflinePlot::keyPressEvent(QKeyEvent* event) {
  const bool back = event->key() == Qt::Key_Left;
  if ((!back && event->key() != Qt::Key_Right) || data_.marks.empty()) {
    QCustomPlot::keyPressEvent(event);
    return;
  }
  const auto found = std::ranges::find(data_.marks, selected_, &RooflineMark::id);
  std::ptrdiff_t i = found == data_.marks.end() ? -1 : found - data_.marks.begin();
  i = std::clamp<std::ptrdiff_t>(i + (back ? -1 : 1), 0, std::ssize(data_.marks) - 1);
  setSelected(data_.marks[static_cast<std::size_t>(i)].id);
  Q_EMIT candidatePicked(selected_);
}

}  // namespace nuscope::views

#include "moc_roofline_plot.cpp"
