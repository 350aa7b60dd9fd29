#include "views/sweep/plot.h"

#include <QBuffer>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QSvgGenerator>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nuscope::views {

void stylePlot(QCustomPlot& plot, const PlotStyle& style) {
  plot.setBackground(QBrush(style.surface));
  const QPen linePen(style.line, 1);
  for (QCPAxisRect* rect : plot.axisRects()) {
    for (QCPAxis* axis : rect->axes()) {
      axis->setBasePen(linePen);
      axis->setTickPen(linePen);
      axis->setSubTickPen(Qt::NoPen);
      axis->setTickLabelColor(style.muted);
      axis->setLabelColor(style.muted);
      axis->setTickLabelFont(style.numbers);
      axis->setLabelFont(style.labels);
      axis->setTickLengthIn(0);
      axis->setTickLengthOut(0);
      axis->setSubTicks(false);
      axis->grid()->setPen(linePen);
      axis->grid()->setSubGridVisible(false);
      axis->grid()->setZeroLinePen(Qt::NoPen);
    }
  }
}

QString candidateSummary(const PlotCandidate& candidate) {
  if (candidate.state != PlotState::measured) return candidate.label + QStringLiteral("\n") + candidate.why;
  QString text =
      candidate.label + QStringLiteral("\n") + millisecondsText(candidate.median) + QStringLiteral(" ms");
  if (!candidate.samples.empty()) {
    text += QStringLiteral(" (median of %1 runs, 5 % to 95 %: %2 to %3)")
                .arg(candidate.samples.size())
                .arg(millisecondsText(quantile(candidate.samples, 0.05)),
                     millisecondsText(quantile(candidate.samples, 0.95)));
  }
  if (candidate.modelled)
    text += QStringLiteral(", modelled %1 ms").arg(millisecondsText(*candidate.modelled));
  return text;
}

std::optional<double> rankCorrelation(const std::vector<PlotCandidate>& candidates) {
  std::vector<std::pair<double, double>> values;
  for (const PlotCandidate& candidate : candidates) {
    if (candidate.state == PlotState::measured && candidate.modelled)
      values.emplace_back(*candidate.modelled, candidate.median);
  }
  const std::size_t n = values.size();
  if (n < 3) return std::nullopt;
  // Equal values share the mean of their ranks.
  const auto ranks = [n](auto get) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return get(a) < get(b); });
    std::vector<double> rank(n);
    for (std::size_t i = 0; i < n;) {
      std::size_t j = i;
      while (j + 1 < n && get(order[j + 1]) == get(order[i])) ++j;
      for (std::size_t k = i; k <= j; ++k) rank[order[k]] = static_cast<double>(i + j) / 2;
      i = j + 1;
    }
    return rank;
  };
  const auto x = ranks([&](std::size_t i) { return values[i].first; });
  const auto y = ranks([&](std::size_t i) { return values[i].second; });
  const double mean = static_cast<double>(n - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

QByteArray plotSvg(QCustomPlot& plot, int width, int height) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize({width, height});
  generator.setViewBox(QRect(0, 0, width, height));
  generator.setTitle(plot.accessibleName());
  generator.setDescription(plot.accessibleDescription());
  QCPPainter painter;
  painter.begin(&generator);
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  plot.toPainter(&painter, width, height);
  painter.end();
  return bytes;
}

// LatencyPlot
// --------------------------------------------------------------------------------------------------------

namespace {

/// Ticks at the ranks; rejected columns carry a word beside their mark instead.
QSharedPointer<QCPAxisTickerText> columnTicker(const std::vector<const PlotCandidate*>& columns) {
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i]->state == PlotState::measured)
      ticker->addTick(static_cast<double>(i + 1), QString::number(i + 1));
  }
  return ticker;
}

QString rejectionWord(PlotState state) {
  switch (state) {
    case PlotState::wrong:
      return QStringLiteral("wrong");
    case PlotState::timedOut:
      return QStringLiteral("timed out");
    default:
      return QStringLiteral("failed");
  }
}

/// The same spread at every painting: a golden-ratio sequence, not random.
double jitter(std::size_t i) {
  const double turned = static_cast<double>(i) * 0.6180339887498949;
  return (turned - std::floor(turned) - 0.5) * 0.5;
}

int decimalsFor(double span) {
  return std::clamp(static_cast<int>(std::ceil(1 - std::log10(std::max(span, 1e-12)))), 0, 6);
}

QCPItemText* addText(QCustomPlot& plot, QCPAxisRect* rect, const QString& text, const QColor& color,
                     const QFont& font) {
  auto* item = new QCPItemText(&plot);
  item->setClipToAxisRect(false);
  item->setClipAxisRect(rect);
  item->position->setAxisRect(rect);
  item->position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
  item->setText(text);
  item->setColor(color);
  item->setFont(font);
  item->setSelectable(false);
  return item;
}

}  // namespace

LatencyPlot::LatencyPlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("Latency plot"));
  setMinimumSize(280, 220);
  upper_ = axisRect();
  lower_ = new QCPAxisRect(this);
  placeLower(true);
  upper_->setMinimumMargins(QMargins(8, 20, 12, 0));
  lower_->setMinimumMargins(QMargins(8, 4, 12, 0));
  lower_->setMinimumSize(10, 46);
  auto* group = new QCPMarginGroup(this);
  upper_->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  lower_->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  upper_->axis(QCPAxis::atBottom)->grid()->setVisible(false);
  lower_->axis(QCPAxis::atBottom)->grid()->setVisible(false);
  lower_->axis(QCPAxis::atLeft)->grid()->setVisible(false);
  lower_->axis(QCPAxis::atLeft)->setTicks(false);
  lower_->axis(QCPAxis::atLeft)->setBasePen(Qt::NoPen);
}

void LatencyPlot::setStyle(const PlotStyle& style) {
  if (style == style_) return;
  style_ = style;
  rebuild();
}

void LatencyPlot::show(LatencyData data, BestSoFar bestSoFar, double elapsedSeconds, const QString& device) {
  data_ = std::move(data);
  bestSoFar_ = std::move(bestSoFar);
  elapsed_ = elapsedSeconds;
  device_ = device;
  rebuild();
}

void LatencyPlot::setSelected(int candidate) {
  if (selected_ == candidate) return;
  selected_ = candidate;
  rebuild();
}

void LatencyPlot::setBrushed(const std::set<std::int64_t>& candidates) {
  if (brushed_ == candidates) return;
  brushed_ = candidates;
  rebuild();
}

std::vector<const PlotCandidate*> LatencyPlot::columns() const {
  std::vector<const PlotCandidate*> all;
  for (const PlotCandidate& candidate : data_.best) all.push_back(&candidate);
  for (const PlotCandidate& candidate : data_.rejected) all.push_back(&candidate);
  return all;
}

const PlotCandidate* LatencyPlot::columnAt(const QPointF& position) const {
  if (!upper_->rect().adjusted(0, -20, 0, 40).contains(position.toPoint())) return nullptr;
  const double x = upper_->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
  const auto all = columns();
  const auto i = static_cast<std::ptrdiff_t>(std::lround(x)) - 1;
  return i >= 0 && i < std::ssize(all) ? all[static_cast<std::size_t>(i)] : nullptr;
}

std::optional<QPointF> LatencyPlot::positionOf(int candidate) const {
  const auto all = columns();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->id != candidate) continue;
    const double y = all[i]->state == PlotState::measured ? all[i]->median : (data_.low + data_.high) / 2;
    return QPointF(upper_->axis(QCPAxis::atBottom)->coordToPixel(static_cast<double>(i + 1)),
                   upper_->axis(QCPAxis::atLeft)->coordToPixel(y));
  }
  return std::nullopt;
}

void LatencyPlot::addCandidate(const PlotCandidate& candidate, double x) {
  QCPAxis* keys = upper_->axis(QCPAxis::atBottom);
  QCPAxis* values = upper_->axis(QCPAxis::atLeft);
  const bool bright = brushed_.empty() || brushed_.contains(candidate.id);
  const QColor color = candidate.id == selected_ ? style_.selection : bright ? style_.series : style_.muted;
  if (!candidate.samples.empty()) {
    auto* range = addGraph(keys, values);
    const double upTo = std::min(quantile(candidate.samples, 0.95), data_.high);
    range->setData({x, x}, {quantile(candidate.samples, 0.05), upTo}, true);
    range->setPen(QPen(color, 1.5));
    // At most a few hundred dots a column: evenly chosen runs, so that the shape of the distribution stays.
    auto* runs = addGraph(keys, values);
    QVector<double> xs;
    QVector<double> ys;
    const std::size_t stride = std::max<std::size_t>(1, candidate.samples.size() / 200);
    for (std::size_t i = 0; i < candidate.samples.size(); i += stride) {
      const double sample = candidate.samples[i];
      if (sample > data_.high) continue;  // marked below; the tooltip has the percentiles
      xs.push_back(x + jitter(i));
      ys.push_back(sample);
    }
    runs->setLineStyle(QCPGraph::lsNone);
    runs->setPen(Qt::NoPen);  // a scatter without a pen of its own takes the graph's
    QColor dot = color;
    dot.setAlphaF(0.45F);
    runs->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(Qt::NoPen), QBrush(dot), 3.4));
    runs->setData(xs, ys);
  }
  if (runsBeyond(candidate, data_.high)) {
    auto* beyond = addGraph(keys, values);
    beyond->setLineStyle(QCPGraph::lsNone);
    beyond->setPen(Qt::NoPen);
    beyond->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssTriangle, QPen(Qt::NoPen), QBrush(color), 6));
    beyond->setData({x}, {data_.high - (data_.high - data_.low) * 0.03}, true);
  }
  auto* median = addGraph(keys, values);
  median->setData({x - 0.27, x + 0.27}, {candidate.median, candidate.median}, true);
  QPen bar(color, 3);
  bar.setCapStyle(Qt::FlatCap);
  median->setPen(bar);
  if (candidate.modelled && *candidate.modelled >= data_.low && *candidate.modelled <= data_.high) {
    auto* modelled = addGraph(keys, values);
    modelled->setData({x - 0.36, x + 0.36}, {*candidate.modelled, *candidate.modelled}, true);
    modelled->setPen(QPen(style_.muted, 1.2, Qt::DashLine));
  }
}

void LatencyPlot::addRejected(const PlotCandidate& candidate, double x) {
  auto* mark = addGraph(upper_->axis(QCPAxis::atBottom), upper_->axis(QCPAxis::atLeft));
  mark->setLineStyle(QCPGraph::lsNone);
  const bool undecided = candidate.state == PlotState::timedOut;
  const QColor color = undecided ? style_.unknown : style_.refuted;
  mark->setScatterStyle(QCPScatterStyle(undecided ? QCPScatterStyle::ssDiamond : QCPScatterStyle::ssCross,
                                        QPen(color, 2), Qt::NoBrush, 9));
  mark->setData({x}, {(data_.low + data_.high) / 2}, true);
  auto* word = addText(*this, upper_, rejectionWord(candidate.state), color, style_.labels);
  word->setRotation(-90);
  word->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
  word->position->setCoords(x, (data_.low + data_.high) / 2);
  word->setPadding(QMargins(0, 0, 12, 0));
}

/// Whether fewer runs lie just above `value` in the right half of the columns than in the left one.
bool LatencyPlot::emptierRight(double value) const {
  const double above = value + (data_.high - data_.low) * 0.15;
  std::ptrdiff_t left = 0;
  std::ptrdiff_t right = 0;
  for (std::size_t i = 0; i < data_.best.size(); ++i) {
    const auto& samples = data_.best[i].samples;
    (2 * i < data_.best.size() ? left : right) +=
        std::count_if(samples.begin(), samples.end(), [&](double s) { return s >= value && s <= above; });
  }
  return right < left;
}

void LatencyPlot::addBaselines() {
  QCPAxis* keys = upper_->axis(QCPAxis::atBottom);
  QCPAxis* values = upper_->axis(QCPAxis::atLeft);
  const double span = data_.high - data_.low;
  double last = -INFINITY;
  bool lastRight = false;
  for (const PlotBaseline& baseline : data_.inside) {
    auto* line = addGraph(keys, values);
    line->setData({keys->range().lower, keys->range().upper}, {baseline.median, baseline.median}, true);
    line->setPen(QPen(style_.baseline, 1.6));
    auto* label =
        addText(*this, upper_, baseline.label + QStringLiteral(" ") + millisecondsText(baseline.median),
                style_.baseline, style_.labels);
    label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    label->position->setTypeY(QCPItemPosition::ptPlotCoords);
    // Where fewer runs lie; close lines at opposite ends, so that no label covers another.
    const bool right = baseline.median - last < span * 0.12 ? !lastRight : emptierRight(baseline.median);
    label->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
    label->setPadding(QMargins(4, 0, 4, 2));
    label->setLayer(QStringLiteral("overlay"));
    label->setBrush(style_.surface);  // points behind the words would be read as letters
    label->position->setCoords(right ? 1 : 0, baseline.median);
    last = baseline.median;
    lastRight = right;
  }
  if (data_.above.empty()) return;
  QStringList names;
  for (const PlotBaseline& baseline : data_.above)
    names << baseline.label + QStringLiteral(" ") + millisecondsText(baseline.median);
  const QString joined = QStringLiteral("\u2191 ") + names.join(QStringLiteral(" \u00B7 "));
  const QFontMetrics metrics(style_.labels);
  auto* edge =
      addText(*this, upper_, metrics.elidedText(joined, Qt::ElideRight, std::max(60, upper_->width())),
              style_.baseline, style_.labels);
  edge->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
  edge->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  edge->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  edge->setPadding(QMargins(4, 0, 0, 3));
  edge->position->setCoords(0, 0);
}

/// Without a history of the sweep the upper plot takes all of the room.
void LatencyPlot::placeLower(bool shown) {
  QCPLayoutGrid* grid = plotLayout();
  lower_->setVisible(shown);
  if (shown == (lower_->layout() == grid)) return;
  if (!shown) {
    grid->take(lower_);
    grid->simplify();
    return;
  }
  grid->addElement(1, 0, lower_);
  grid->setRowStretchFactor(0, 4);
  grid->setRowStretchFactor(1, 1);
  grid->setRowSpacing(4);
}

void LatencyPlot::addBestSoFar() {
  if (bestSoFar_.empty()) return;
  QCPAxis* keys = lower_->axis(QCPAxis::atBottom);
  QCPAxis* values = lower_->axis(QCPAxis::atLeft);
  QVector<double> xs;
  QVector<double> ys;
  for (const auto& [seconds, best] : bestSoFar_) {
    xs.push_back(seconds);
    ys.push_back(best);
  }
  const double end = std::max(elapsed_, xs.back());
  xs.push_back(end);
  ys.push_back(ys.back());
  auto* line = addGraph(keys, values);
  line->setLineStyle(QCPGraph::lsStepLeft);
  line->setPen(QPen(style_.series, 2));
  line->setData(xs, ys, true);
  const auto [least, most] = std::minmax_element(ys.begin(), ys.end());
  const double margin = std::max((*most - *least) * 0.15, *most * 0.01);
  keys->setRange(0, std::max(end, 1e-3));
  values->setRange(*least - margin, *most + margin);
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  ticker->addTick(0, QString());
  keys->setTicker(ticker);
  const double unchanged = end - bestSoFar_.back().first;
  const QString words = QStringLiteral("best so far %1 ms after %2 s, unchanged for %3 s")
                            .arg(millisecondsText(bestSoFar_.back().second))
                            .arg(bestSoFar_.back().first, 0, 'f', 0)
                            .arg(unchanged, 0, 'f', 0);
  keys->setLabel(words);
}

void LatencyPlot::rebuild() {
  clearGraphs();
  clearItems();
  placeLower(!bestSoFar_.empty());
  stylePlot(*this, style_);
  lower_->axis(QCPAxis::atLeft)->setBasePen(Qt::NoPen);
  QCPAxis* keys = upper_->axis(QCPAxis::atBottom);
  QCPAxis* values = upper_->axis(QCPAxis::atLeft);
  const auto all = columns();
  keys->setRange(0.4, std::max<double>(static_cast<double>(all.size()) + 0.6, 1.6));
  values->setRange(data_.low, data_.high);
  values->setBasePen(Qt::NoPen);
  keys->setTicker(columnTicker(all));
  values->setNumberFormat(QStringLiteral("f"));
  values->setNumberPrecision(decimalsFor((data_.high - data_.low) / 4));
  values->ticker()->setTickCount(5);
  QString label = QStringLiteral("by rank, ms on %1").arg(device_);
  QStringList more;
  const bool modelled =
      std::any_of(data_.best.begin(), data_.best.end(), [](const auto& c) { return c.modelled.has_value(); });
  if (modelled) more << QStringLiteral("dashed: modelled");
  if (std::any_of(data_.best.begin(), data_.best.end(),
                  [&](const auto& c) { return runsBeyond(c, data_.high); }))
    more << QStringLiteral("▴: runs beyond the axis");
  if (data_.measuredMore > 0) more << QStringLiteral("not shown: %1 slower").arg(data_.measuredMore);
  if (data_.rejectedMore > 0) more << QStringLiteral("not shown: %1 rejected").arg(data_.rejectedMore);
  if (!more.isEmpty()) {
    const QString words = more.join(QStringLiteral("; "));
    const QString oneLine = label + QStringLiteral("; ") + words;
    const bool fits = QFontMetrics(style_.labels).horizontalAdvance(oneLine) < upper_->width() - 16;
    label = fits ? oneLine : label + QLatin1Char('\n') + words;
  }
  keys->setLabel(all.empty() ? QString() : label);
  addBaselines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = static_cast<double>(i + 1);
    if (all[i]->id == selected_) {
      auto* patch = new QCPItemRect(this);
      patch->setClipToAxisRect(true);
      patch->topLeft->setAxes(keys, values);
      patch->bottomRight->setAxes(keys, values);
      patch->topLeft->setCoords(x - 0.46, data_.high);
      patch->bottomRight->setCoords(x + 0.46, data_.low);
      QColor fill = style_.selection;
      fill.setAlphaF(0.12F);
      patch->setPen(hasFocus() ? QPen(style_.selection, 1) : QPen(Qt::NoPen));
      patch->setBrush(fill);
      patch->setSelectable(false);
    }
    if (all[i]->state == PlotState::measured) {
      addCandidate(*all[i], x);
    } else {
      addRejected(*all[i], x);
    }
  }
  addBestSoFar();
  describe();
  replot(QCustomPlot::rpQueuedReplot);
}

void LatencyPlot::describe() {
  QStringList lines;
  for (std::size_t i = 0; i < data_.best.size() && i < 3; ++i) {
    lines << QStringLiteral("%1. ").arg(i + 1) +
                 QString(candidateSummary(data_.best[i])).replace('\n', QStringLiteral(": "));
  }
  for (const PlotBaseline& baseline : data_.inside)
    lines << baseline.label + QStringLiteral(": ") + millisecondsText(baseline.median) +
                 QStringLiteral(" ms");
  for (const PlotBaseline& baseline : data_.above)
    lines << baseline.label + QStringLiteral(": ") + millisecondsText(baseline.median) +
                 QStringLiteral(" ms");
  setAccessibleDescription(lines.join(QStringLiteral("; ")));
}

bool LatencyPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const PlotCandidate* candidate = columnAt(help->pos())) {
      QToolTip::showText(help->globalPos(), candidateSummary(*candidate), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QCustomPlot::event(event);
}

void LatencyPlot::keyPressEvent(QKeyEvent* event) {
  const auto all = columns();
  const bool left = event->key() == Qt::Key_Left;
  if ((!left && event->key() != Qt::Key_Right) || all.empty()) {
    QCustomPlot::keyPressEvent(event);
    return;
  }
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto* c) { return c->id == selected_; });
  std::ptrdiff_t i = found == all.end() ? (left ? std::ssize(all) : -1) : found - all.begin();
  i = std::clamp<std::ptrdiff_t>(i + (left ? -1 : 1), 0, std::ssize(all) - 1);
  setSelected(all[static_cast<std::size_t>(i)]->id);
  Q_EMIT candidatePicked(selected_);
}

void LatencyPlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  if (event->button() != Qt::LeftButton) return;
  if (const PlotCandidate* candidate = columnAt(event->position())) {
    const int id = candidate->id;
    setSelected(id);
    Q_EMIT candidatePicked(id);
  }
}

void LatencyPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  rebuild();
}

void LatencyPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  rebuild();
}

}  // namespace nuscope::views

#include "moc_plot.cpp"
