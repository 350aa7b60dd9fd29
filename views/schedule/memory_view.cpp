#include "views/schedule/memory_view.h"

#include <QSignalBlocker>
#include <QToolButton>

#include "views/jobs.h"
#include "views/schedule/lane_chart.h"
#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"

namespace nuscope::views {

MemoryView::MemoryView(const ViewContext& context, QWidget* parent)
    : DetailView(context, "memory", tr("Memory"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      chart_(new LaneChart(context.theme, QStringLiteral("memoryChart"))) {
  buffersChip_ = addChip(tr("buffers"), true, [this](bool) { showPages(false); });
  pagesChip_ = addChip(tr("pages"), false, [this](bool) { showPages(true); });
  chart_->setAccessibleName(tr("Buffers and pages over rounds"));
  LaneChart::Source source;
  source.look = [this](const schedule::Bar& bar) {
    BarLook look;
    if (state_) look.tint = tintOf(state_->schedule->buffers[static_cast<std::size_t>(bar.item)]);
    return look;
  };
  source.label = [this](const schedule::Bar& bar) -> QString {
    if (!state_) return {};
    const auto& b = state_->schedule->buffers[static_cast<std::size_t>(bar.item)];
    return shownPages_ ? state_->bufferName(bar.item)
                       : qs(schedule::text(b.kind)).toLower().replace(QLatin1Char('_'), QLatin1Char(' ')) +
                             QStringLiteral(", ") + grouped(b.bytes()) + QStringLiteral(" B");
  };
  source.tip = [this](const schedule::Bar& bar) -> QString {
    if (!state_) return {};
    const auto& b = state_->schedule->buffers[static_cast<std::size_t>(bar.item)];
    return tr("%1\n%2, %3 bytes\nrounds %4 to %5")
        .arg(state_->bufferName(bar.item), qs(schedule::text(b.kind)), grouped(b.bytes()))
        .arg(bar.begin)
        .arg(bar.end - 1);
  };
  source.axis = [](double value) { return grouped(static_cast<qint64>(value)); };
  chart_->setSource(std::move(source));
  setContent(chart_);
  connect(chart_, &LaneChart::chosen, this, [this](int buffer) { schedule_.selectBuffer(buffer); });
  connect(chart_, &LaneChart::rowChosen, this, [this](int row) {
    if (!shownPages_) schedule_.selectBuffer(chart_->chart()->rows[static_cast<std::size_t>(row)].item);
  });
  connect(&schedule_, &ScheduleDocument::stateChanged, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::selectionChanged, this, [this] { markStale(); });
}

void MemoryView::showPages(bool pages) {
  pages_ = pages;
  const QSignalBlocker a(buffersChip_), b(pagesChip_);
  buffersChip_->setChecked(!pages);
  pagesChip_->setChecked(pages);
  markStale();
}

bool MemoryView::showPage(const QString& name) {
  const bool second = name == QLatin1String("pages");
  if (!second && name != QLatin1String("buffers")) return false;
  showPages(second);
  return true;
}

void MemoryView::refresh() {
  const auto state = schedule_.shown();
  const bool any = state && state->schedule->pages && !state->schedule->pages->pages.empty();
  pagesChip_->setEnabled(any);
  pagesChip_->setToolTip(any ? QString() : tr("This schedule has no pages"));
  if (state && !any && pages_) showPages(false);
  if (!state) {
    state_.reset();
    chart_->setChart(nullptr);
    return;
  }
  if (state == state_ && shownPages_ == pages_) {
    chart_->setSelected(schedule_.place().buffer);
    if (schedule_.place().buffer >= 0) chart_->reveal(schedule_.place().buffer);
    return;
  }
  context().jobs.run(
      this, {.title = tr("Arrange buffers"), .lane = QStringLiteral("schedule.memory"), .quiet = true},
      [state, pages = pages_](JobHandle&) {
        return std::make_shared<const schedule::Chart>(
            pages ? schedule::pageChart(*state->schedule, *state->ids, state->touched, *state->whole)
                  : schedule::bufferChart(*state->schedule, state->touched, *state->whole));
      },
      [this, state, pages = pages_](std::shared_ptr<const schedule::Chart> chart) {
        state_ = state;
        shownPages_ = pages;
        setSubtitle(
            pages ? tr("%1, by round")
                        .arg(counted(static_cast<qint64>(chart->rows.size()), tr("page"), tr("pages")))
                  : tr("%1, by round")
                        .arg(counted(static_cast<qint64>(chart->rows.size()), tr("buffer"), tr("buffers"))));
        chart_->setChart(std::move(chart));
        chart_->setSelected(schedule_.place().buffer);
      });
}

void MemoryView::fit() {
  chart_->fit();
}

QWidget* MemoryView::focusTarget() const {
  return chart_;
}

QSizeF MemoryView::exportSize() const {
  return chart_->pictureSize();
}

void MemoryView::paintExport(QPainter& painter) const {
  chart_->paintPicture(painter);
}

QString MemoryView::csv() const {
  const schedule::Chart* chart = chart_->chart();
  if (chart == nullptr || !state_) return {};
  QString out = QStringLiteral("row,buffer,kind,bytes,first round,last round\n");
  for (const auto& row : chart->rows) {
    for (const auto& bar : row.bars) {
      const auto& b = state_->schedule->buffers[static_cast<std::size_t>(bar.item)];
      out +=
          QStringLiteral("%1,%2,%3,%4,%5,%6\n")
              .arg(csvField(qs(row.name)), csvField(state_->bufferName(bar.item)), qs(schedule::text(b.kind)))
              .arg(b.bytes())
              .arg(bar.begin)
              .arg(bar.end - 1);
    }
  }
  return out;
}

QString MemoryView::summary() const {
  return chart_->chart() == nullptr ? QString() : tr("%1 rows").arg(chart_->chart()->rows.size());
}

}  // namespace nuscope::views

#include "moc_memory_view.cpp"
