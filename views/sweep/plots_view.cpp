#include "views/sweep/plots_view.h"

#include <QPainter>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QSvgRenderer>
#include <QToolButton>

#include "views/document.h"
#include "views/selection.h"
#include "views/sweep/sweep_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

PlotsView::PlotsView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "plots", tr("Latency"), parent) {
  latencyChip_ = addChip(tr("Latency"), true, [this](bool) { showPage(latency); });
  modelChip_ = addChip(tr("Model against measured"), false, [this](bool) { showPage(model); });
  setTitle(tr("Times"));
  pages_ = new QStackedWidget(this);
  latency_ = new LatencyPlot(pages_);
  model_ = new ModelPlot(pages_);
  pages_->addWidget(latency_);
  pages_->addWidget(model_);
  setContent(pages_);
  connect(latency_, &LatencyPlot::candidatePicked, this, &PlotsView::pick);
  connect(model_, &ModelPlot::candidatePicked, this, &PlotsView::pick);
  connect(&context().document, &Document::sweepChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.candidate == before.candidate) return;
    if (page_ == latency) {
      latency_->setSelected(static_cast<int>(now.candidate));
    } else {
      model_->setSelected(static_cast<int>(now.candidate));
    }
  });
}

void PlotsView::showPage(Page page) {
  page_ = page;
  pages_->setCurrentIndex(page);
  const QSignalBlocker quietLatency(latencyChip_);
  const QSignalBlocker quietModel(modelChip_);
  latencyChip_->setChecked(page == latency);
  modelChip_->setChecked(page == model);
  markStale();
}

/// Only the page that is shown is painted anew.
void PlotsView::refresh() {
  snapshot_ = context().document.sweep();
  const PlotStyle style = plotStyle(theme());
  const int selected = static_cast<int>(context().selection.place().candidate);
  std::vector<PlotCandidate> candidates;
  if (snapshot_) candidates = plotCandidates(*snapshot_);
  if (page_ == model) {
    model_->setStyle(style);
    model_->setSelected(selected);
    model_->show(std::move(candidates));
    return;
  }
  latency_->setStyle(style);
  latency_->setSelected(selected);
  if (snapshot_) {
    latency_->show(latencyData(candidates, plotBaselines(*snapshot_)), snapshot_->bestSoFar,
                   snapshot_->seconds, deviceText(*snapshot_));
  } else {
    latency_->show({}, {}, 0, QString());
  }
}

void PlotsView::pick(int candidate) {
  if (!snapshot_) return;
  if (const SweepRowRef row = snapshot_->find(candidate))
    context().selection.selectCandidate(candidate, row->candidate.variant);
}

QWidget* PlotsView::focusTarget() const {
  return page_ == latency ? static_cast<QWidget*>(latency_) : model_;
}

QSizeF PlotsView::exportSize() const {
  if (!snapshot_) return {};
  return QSizeF(focusTarget()->size());
}

void PlotsView::paintExport(QPainter& painter) const {
  auto* plot = static_cast<QCustomPlot*>(focusTarget());
  QSvgRenderer renderer(plotSvg(*plot, plot->width(), plot->height()));
  renderer.render(&painter, QRectF(QPointF(0, 0), exportSize()));
}

QString PlotsView::csv() const {
  if (!snapshot_) return {};
  QString out = QStringLiteral("candidate,run,milliseconds\n");
  for (const PlotCandidate& candidate : plotCandidates(*snapshot_)) {
    for (std::size_t i = 0; i < candidate.samples.size(); ++i) {
      out += QStringLiteral("%1,%2,%3\n").arg(candidate.id).arg(i + 1).arg(candidate.samples[i], 0, 'g', 9);
    }
  }
  return out;
}

QString PlotsView::summary() const {
  return snapshot_ ? sweepHeadline(*snapshot_) : tr("No sweep yet");
}

}  // namespace nuscope::views

#include "moc_plots_view.cpp"
