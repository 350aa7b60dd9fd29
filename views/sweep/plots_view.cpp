#include "views/sweep/plots_view.h"

#include <QPainter>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QSvgRenderer>
#include <QToolButton>

#include "core/base/diagnostics.h"
#include "core/nugraph/nugraph.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/sweep/sweep_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

bool isTimed(const SweepRow& row) {
  return row.candidate.kind == sweep::CandidateKind::emitted &&
         row.candidate.state == sweep::CandidateState::measured && row.measurement;
}

QString labelOf(const SweepRow& row) {
  return PlotsView::tr("Candidate %1, %2 (variant %3)")
      .arg(row.candidate.id)
      .arg(qs(row.candidate.label))
      .arg(row.candidate.variant);
}

}  // namespace

PlotsView::PlotsView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "plots", tr("Times"), parent) {
  const QString names[pageCount] = {tr("Latency"), tr("Model"), tr("Roofline"), tr("Parameters")};
  const QString help[pageCount] = {
      tr("Every run of the fastest candidates, baselines, and the best so far against time."),
      tr("Modelled against measured time of every candidate."),
      tr("Attained GFLOP/s against flops per byte, below what this machine can do."),
      tr("Which parameters matter: each against time, and all together. Dragging marks candidates.")};
  for (int i = 0; i < pageCount; ++i) {
    chips_[i] = addChip(names[i], i == latency, [this, i](bool) { showPage(static_cast<Page>(i)); });
    chips_[i]->setToolTip(help[i]);
  }
  pages_ = new QStackedWidget(this);
  latency_ = new LatencyPlot(pages_);
  model_ = new ModelPlot(pages_);
  roofline_ = new RooflinePlot(pages_);
  parameters_ = new ParameterPlot(pages_);
  for (QWidget* page : {static_cast<QWidget*>(latency_), static_cast<QWidget*>(model_),
                        static_cast<QWidget*>(roofline_), static_cast<QWidget*>(parameters_)})
    pages_->addWidget(page);
  setContent(pages_);
  connect(latency_, &LatencyPlot::candidatePicked, this, &PlotsView::pick);
  connect(model_, &ModelPlot::candidatePicked, this, &PlotsView::pick);
  connect(roofline_, &RooflinePlot::candidatePicked, this, &PlotsView::pick);
  connect(parameters_, &ParameterPlot::candidatePicked, this, &PlotsView::pick);
  connect(parameters_, &ParameterPlot::brushed, this,
          [this](const std::vector<std::int64_t>& ids) { context().selection.brush(ids); });
  connect(&context().document, &Document::sweepChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::brushChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.candidate != before.candidate) followSelection(static_cast<int>(now.candidate));
  });
}

void PlotsView::showPage(Page page) {
  page_ = page;
  pages_->setCurrentIndex(page);
  for (int i = 0; i < pageCount; ++i) {
    const QSignalBlocker quiet(chips_[i]);
    chips_[i]->setChecked(i == page);
  }
  markStale();
}

bool PlotsView::showPage(const QString& name) {
  const QStringList names = {QStringLiteral("latency"), QStringLiteral("model"), QStringLiteral("roofline"),
                             QStringLiteral("parameters")};
  const auto page = names.indexOf(name);
  if (page >= 0) showPage(static_cast<Page>(page));
  return page >= 0;
}

/// Only the page that is shown is painted anew.
void PlotsView::followSelection(int candidate) {
  switch (page_) {
    case latency:
      return latency_->setSelected(candidate);
    case model:
      return model_->setSelected(candidate);
    case roofline:
      return roofline_->setSelected(candidate);
    default:
      return parameters_->setSelected(candidate);
  }
}

void PlotsView::refresh() {
  snapshot_ = context().document.sweep();
  const PlotStyle style = plotStyle(theme());
  const auto& brushed = context().selection.brushed();
  followSelection(static_cast<int>(context().selection.place().candidate));
  switch (page_) {
    case model:
      model_->setStyle(style);
      model_->setBrushed(brushed);
      model_->show(snapshot_ ? plotCandidates(*snapshot_) : std::vector<PlotCandidate>());
      return;
    case roofline:
      roofline_->setStyle(style);
      roofline_->setBrushed(brushed);
      refreshRoofline();
      return;
    case parameters:
      parameters_->setStyle(style);
      parameters_->setBrushed(brushed);
      parameters_->show(parameterData());
      return;
    default:
      break;
  }
  latency_->setStyle(style);
  latency_->setBrushed(brushed);
  if (snapshot_) {
    latency_->show(latencyData(plotCandidates(*snapshot_), plotBaselines(*snapshot_)), snapshot_->bestSoFar,
                   snapshot_->seconds, deviceText(*snapshot_));
  } else {
    latency_->show({}, {}, 0, QString());
  }
}

ParameterData PlotsView::parameterData() const {
  std::vector<ParameterCandidate> candidates;
  if (snapshot_) {
    for (const SweepRowRef& row : snapshot_->rows) {
      if (isTimed(*row))
        candidates.push_back(
            {row->candidate.id, labelOf(*row), row->measurement->median * 1e3, row->candidate.parameters});
    }
  }
  return views::parameterData(candidates);
}

/// What was counted is shown; what was measured since is counted, one job at a time.
void PlotsView::refreshRoofline() {
  const auto graph = context().document.nuGraph();
  const int sweep = snapshot_ ? snapshot_->record.id : -1;
  if (counted_.graph != graph.get() || counted_.sweep != sweep) {
    counted_ = {};
    counted_.graph = graph.get();
    counted_.sweep = sweep;
  }
  roofline_->show(rooflineData());
  if (!snapshot_ || !graph || counting_) return;
  std::vector<sweep::CandidateRecord> missing;
  for (const SweepRowRef& row : snapshot_->rows) {
    if (isTimed(*row) && !counted_.points.contains(row->candidate.id)) missing.push_back(row->candidate);
  }
  if (!missing.empty()) count(std::move(missing));
}

void PlotsView::count(std::vector<sweep::CandidateRecord> candidates) {
  counting_ = true;
  const auto graph = context().document.nuGraph();
  Job* job = context().jobs.run(
      this, {.title = tr("Count flops and bytes"), .lane = QStringLiteral("roofline"), .quiet = true},
      [graph, record = snapshot_->record, candidates = std::move(candidates)](JobHandle& handle) {
        Counted counted;
        counted.graph = graph.get();
        counted.sweep = record.id;
        try {
          const sweep::Explainer explainer(*graph, record);
          counted.ceiling = explainer.ceiling();
          counted.calibrated = explainer.calibrated();
          counted.model = qs(explainer.model());
          for (const auto& level : explainer.target().memory) counted.levels.push_back(level.name);
          for (const sweep::CandidateRecord& candidate : candidates) {
            handle.progress().check();
            counted.points[candidate.id] =
                sweep::rooflinePoint(candidate, 0, explainer.work(candidate), explainer.target());
          }
        } catch (const UserError& error) {
          counted.error = QString::fromUtf8(error.what());
        }
        return counted;
      },
      [this](Counted counted) {
        if (counted.graph != counted_.graph || counted.sweep != counted_.sweep) return;
        counted.points.merge(counted_.points);
        counted_ = std::move(counted);
        if (counted_.error.isEmpty()) {
          markStale();
        } else {
          roofline_->show(rooflineData());
        }
      });
  connect(job, &Job::ended, this, [this] { counting_ = false; });
}

RooflineData PlotsView::rooflineData() const {
  RooflineData roof;
  roof.peak = counted_.ceiling.gigaflops;
  roof.measured = counted_.calibrated;
  roof.model = counted_.error.isEmpty() ? counted_.model : counted_.error;
  for (const std::string& level : counted_.levels) {
    const auto found = counted_.ceiling.gigabytes.find(level);
    if (found != counted_.ceiling.gigabytes.end()) roof.ceilings.push_back({qs(level), found->second});
  }
  if (!snapshot_) return roof;
  for (const SweepRowRef& row : snapshot_->rows) {
    const auto found = counted_.points.find(row->candidate.id);
    if (found == counted_.points.end() || !isTimed(*row)) continue;
    sweep::RooflinePoint point = found->second;
    point.seconds = row->measurement->median;
    roof.marks.push_back(
        {row->candidate.id, labelOf(*row), point.intensity(), point.gigaflops(), qs(point.level)});
  }
  return roof;
}

void PlotsView::pick(int candidate) {
  if (!snapshot_) return;
  if (const SweepRowRef row = snapshot_->find(candidate))
    context().selection.selectCandidate(candidate, row->candidate.variant);
}

QWidget* PlotsView::focusTarget() const {
  return pages_->currentWidget();
}

QSizeF PlotsView::exportSize() const {
  if (!snapshot_) return {};
  return QSizeF(focusTarget()->size());
}

void PlotsView::paintExport(QPainter& painter) const {
  if (page_ == parameters) {
    parameters_->paintAt(painter, exportSize());
    return;
  }
  auto* plot = static_cast<QCustomPlot*>(focusTarget());
  QSvgRenderer renderer(plotSvg(*plot, plot->width(), plot->height()));
  renderer.render(&painter, QRectF(QPointF(0, 0), exportSize()));
}

QString PlotsView::csv() const {
  if (!snapshot_) return {};
  QString out;
  if (page_ == roofline) {
    out = QStringLiteral("candidate,level,flops per byte (modelled),GFLOP/s\n");
    for (const RooflineMark& mark : roofline_->data().marks)
      out += QStringLiteral("%1,%2,%3,%4\n")
                 .arg(mark.id)
                 .arg(mark.level)
                 .arg(mark.intensity)
                 .arg(mark.gigaflops);
    return out;
  }
  out = QStringLiteral("candidate,run,milliseconds\n");
  for (const PlotCandidate& candidate : plotCandidates(*snapshot_)) {
    for (std::size_t i = 0; i < candidate.samples.size(); ++i) {
      out += QStringLiteral("%1,%2,%3\n").arg(candidate.id).arg(i + 1).arg(candidate.samples[i], 0, 'g', 9);
    }
  }
  return out;
}

QString PlotsView::summary() const {
  if (!snapshot_) return tr("No sweep yet");
  const QString page = focusTarget()->accessibleDescription();
  return page_ == latency || page.isEmpty() ? sweepHeadline(*snapshot_) : page;
}

}  // namespace nuscope::views

#include "moc_plots_view.cpp"
