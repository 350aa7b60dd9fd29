#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "views/sweep/plot.h"

namespace nuscope::views {

ModelPlot::ModelPlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("Model against measured"));
  setMinimumSize(280, 220);
  axisRect()->setMinimumMargins(QMargins(8, 12, 16, 0));
}

void ModelPlot::setStyle(const PlotStyle& style) {
  if (style == style_) return;
  style_ = style;
  rebuild();
}

void ModelPlot::show(std::vector<PlotCandidate> candidates) {
  std::erase_if(candidates, [](const auto& c) { return c.state != PlotState::measured || !c.modelled; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.median < b.median; });
  candidates_ = std::move(candidates);
  rebuild();
}

void ModelPlot::setSelected(int candidate) {
  if (selected_ == candidate) return;
  selected_ = candidate;
  rebuild();
}

void ModelPlot::setBrushed(const std::set<std::int64_t>& candidates) {
  if (brushed_ == candidates) return;
  brushed_ = candidates;
  rebuild();
}

std::optional<QPointF> ModelPlot::positionOf(int candidate) const {
  for (const PlotCandidate& each : candidates_) {
    if (each.id == candidate)
      return QPointF(xAxis->coordToPixel(*each.modelled), yAxis->coordToPixel(each.median));
  }
  return std::nullopt;
}

void ModelPlot::addDots(bool bright) {
  QVector<double> xs;
  QVector<double> ys;
  for (const PlotCandidate& candidate : candidates_) {
    if ((brushed_.empty() || brushed_.contains(candidate.id)) != bright) continue;
    xs.push_back(*candidate.modelled);
    ys.push_back(candidate.median);
  }
  if (xs.empty()) return;
  auto* points = addGraph();
  points->setLineStyle(QCPGraph::lsNone);
  points->setPen(Qt::NoPen);
  QColor dot = bright ? style_.series : style_.muted;
  dot.setAlphaF(bright ? 0.7F : 0.25F);
  points->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(Qt::NoPen), QBrush(dot), 7));
  points->setData(xs, ys);
}

void ModelPlot::rebuild() {
  clearGraphs();
  clearItems();
  stylePlot(*this, style_);
  double low = INFINITY;
  double high = 0;
  for (const PlotCandidate& candidate : candidates_) {
    low = std::min({low, *candidate.modelled, candidate.median});
    high = std::max({high, *candidate.modelled, candidate.median});
  }
  if (candidates_.empty()) low = 0.5, high = 2;
  const double margin = std::pow(high / low, 0.06) * 1.02;
  for (QCPAxis* axis : {xAxis, yAxis}) {
    const bool wide = high / low > 8;
    axis->setScaleType(wide ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    axis->setRange(low / margin, high * margin);
    if (wide) {
      auto ticker = QSharedPointer<QCPAxisTickerLog>::create();
      ticker->setLogBase(high / low > 50 ? 10 : 2);
      axis->setTicker(ticker);
    } else {
      axis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    }
    axis->setNumberFormat(QStringLiteral("g"));
    axis->setNumberPrecision(3);
    axis->setSubTicks(false);
  }
  xAxis->setLabel(QStringLiteral("modelled, milliseconds"));
  yAxis->setLabel(QStringLiteral("measured, milliseconds"));
  auto* agree = addGraph();
  agree->setData({low / margin, high * margin}, {low / margin, high * margin}, true);
  agree->setPen(QPen(style_.muted, 1.2, Qt::DashLine));
  for (const bool bright : {false, true}) addDots(bright);
  for (const PlotCandidate& candidate : candidates_) {
    if (candidate.id != selected_) continue;
    auto* mark = addGraph();
    mark->setLineStyle(QCPGraph::lsNone);
    mark->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(style_.selection, 2), Qt::NoBrush, 12));
    mark->setData({*candidate.modelled}, {candidate.median}, true);
  }
  QString words = QStringLiteral("%1 candidates; dashed: both agree").arg(candidates_.size());
  if (const auto rho = rankCorrelation(candidates_))
    words += QStringLiteral("; rank correlation \u03C1 = %1").arg(*rho, 0, 'f', 2);
  setAccessibleDescription(words);
  xAxis->setLabel(xAxis->label() + QStringLiteral("\n") + words);
  replot(QCustomPlot::rpQueuedReplot);
}

const PlotCandidate* ModelPlot::nearest(const QPointF& position) const {
  const PlotCandidate* best = nullptr;
  double distance = 14;
  for (const PlotCandidate& candidate : candidates_) {
    const QPointF at(xAxis->coordToPixel(*candidate.modelled), yAxis->coordToPixel(candidate.median));
    const double d = std::hypot(at.x() - position.x(), at.y() - position.y());
    if (d < distance) {
      distance = d;
      best = &candidate;
    }
  }
  return best;
}

bool ModelPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const PlotCandidate* candidate = nearest(help->pos())) {
      QToolTip::showText(help->globalPos(), candidateSummary(*candidate), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QCustomPlot::event(event);
}

void ModelPlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  const PlotCandidate* candidate = event->button() == Qt::LeftButton ? nearest(event->position()) : nullptr;
  if (candidate == nullptr) return;
  const int id = candidate->id;
  setSelected(id);
  Q_EMIT candidatePicked(id);
}

void ModelPlot::keyPressEvent(QKeyEvent* event) {
  const bool back = event->key() == Qt::Key_Left;
  if ((!back && event->key() != Qt::Key_Right) || candidates_.empty()) {
    QCustomPlot::keyPressEvent(event);
    return;
  }
  const auto found =
      std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& c) { return c.id == selected_; });
  std::ptrdiff_t i = found == candidates_.end() ? -1 : found - candidates_.begin();
  i = std::clamp<std::ptrdiff_t>(i + (back ? -1 : 1), 0, std::ssize(candidates_) - 1);
  setSelected(candidates_[static_cast<std::size_t>(i)].id);
  Q_EMIT candidatePicked(selected_);
}

}  // namespace nuscope::views
