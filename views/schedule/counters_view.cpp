#include "views/schedule/counters_view.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>

#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

CountersView::CountersView(const ViewContext& context, QWidget* parent)
    : DetailView(context, "counters", tr("Counters"), parent),
      schedule_(*ScheduleDocument::of(context.document)) {
  aroundChip_ = addChip(tr("finding"), true, [this](bool) { setAround(true); });
  aroundChip_->setToolTip(tr("Only the counters around the finding"));
  allChip_ = addChip(tr("all"), false, [this](bool) { setAround(false); });
  allChip_->setObjectName(QStringLiteral("allCounters"));
  const auto column = [this](int c, const QString& title, const QString& help, bool number) {
    return Column{title, help, number,
                  [this, c](int row, int role) -> QVariant { return cell(row, c, role); }};
  };
  model_ = new RowsModel(
      {column(0, tr("Counter"), tr("Its id"), true),
       column(1, tr("Value"), tr("At the step shown, of all that raise it"), true),
       column(2, tr("Raised by"), {}, false),
       column(3, tr("Waited for by"), tr("With the value that is waited for, where it is not all"), false)},
      this);
  table_ = new TableView(context.theme);
  table_->setObjectName(QStringLiteral("counterRows"));
  table_->setAccessibleName(tr("Counters"));
  table_->setModel(model_);
  setContent(table_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) schedule_.selectCounter(counterAt(now.row()));
          });
  connect(&schedule_, &ScheduleDocument::stateChanged, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::selectionChanged, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::stepChanged, this, [this] { table_->viewport()->update(); });
}

int CountersView::counterAt(int row) const {
  if (rows_.empty()) return row;
  return row < static_cast<int>(rows_.size()) ? rows_[static_cast<std::size_t>(row)] : -1;
}

void CountersView::setAround(bool around) {
  around_ = around;
  const QSignalBlocker a(aroundChip_), b(allChip_);
  aroundChip_->setChecked(around);
  allChip_->setChecked(!around);
  markStale();
}

void CountersView::refresh() {
  const auto state = schedule_.shown();
  const auto count = state ? state->schedule->counters.size() : 0;
  allChip_->setText(tr("all %1").arg(grouped(static_cast<qint64>(count))));
  certificate_ = certificateCounters(schedule_);
  aroundChip_->setVisible(!certificate_.empty());
  allChip_->setVisible(!certificate_.empty());
  std::vector<int> rows;
  if (around_ && !certificate_.empty()) {
    rows.assign(certificate_.begin(), certificate_.end());
    // What was chosen elsewhere is listed as well.
    const int chosen = schedule_.place().counter;
    if (chosen >= 0 && certificate_.count(chosen) == 0) rows.push_back(chosen);
    std::ranges::sort(rows);
  }
  const int wanted = rows.empty() ? static_cast<int>(count) : static_cast<int>(rows.size());
  const bool same = rows == rows_ && model_->rowCount() == wanted;
  rows_ = std::move(rows);
  if (!same) {
    const QSignalBlocker quiet(table_->selectionModel());
    model_->resetRows(wanted);
    table_->fitColumns(3);
    table_->setColumnWidth(2, std::min(table_->columnWidth(2), table_->width() * 2 / 5));
  }
  table_->viewport()->update();
  setSubtitle(rows_.empty() ? counted(static_cast<qint64>(count), tr("counter"), tr("counters"))
                            : tr("%1 of %2").arg(rows_.size()).arg(grouped(static_cast<qint64>(count))));
  followSelection();
}

QVariant CountersView::cell(int row, int column, int role) const {
  const auto state = schedule_.shown();
  const int counter = counterAt(row);
  if (!state || !state->wellFormed() || counter < 0 || counter >= state->model->counters) return {};
  const auto i = static_cast<std::size_t>(counter);
  const auto& producers = state->model->producers[i];
  const auto run = schedule_.run();
  if (role == Qt::ForegroundRole && column == 1 && !rows_.empty() && certificate_.count(counter) > 0 && run &&
      schedule_.step() >= run->faultStep()) {
    // Of the certificate: somebody of it waits in vain.
    for (const int task : certificateTasks(schedule_)) {
      for (const auto& unmet : run->unmetAt(task, schedule_.step())) {
        if (unmet.counter == counter) return theme().refuted;
      }
    }
  }
  if (role == sortRole && column == 0) return static_cast<qlonglong>(state->counterId(counter));
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case 0:
      return QString::number(state->counterId(counter));
    case 1:
      return run && &run->model() == state->model.get()
                 ? tr("%1 of %2").arg(run->counterAt(counter, schedule_.step())).arg(producers.size())
                 : QString();
    case 2:
      return views::summary(*state, producers);
    case 3: {
      const auto& waiters = state->model->waiters[i];
      std::set<std::int64_t> thresholds;
      for (std::size_t w = 0; w < std::min<std::size_t>(waiters.size(), 256); ++w) {
        for (const auto& need : state->model->needs[static_cast<std::size_t>(waiters[w])]) {
          if (need.counter == counter && need.threshold != static_cast<std::int64_t>(producers.size()))
            thresholds.insert(need.threshold);
        }
      }
      QString text = views::summary(*state, waiters);
      if (!thresholds.empty()) {
        QStringList values;
        for (const std::int64_t t : thresholds) values << QString::number(t);
        text += tr(" at %1").arg(values.join(QStringLiteral(", ")));
      }
      return text;
    }
    default:
      return {};
  }
}

void CountersView::followSelection() {
  const int wanted = schedule_.place().counter;
  const QSignalBlocker quiet(table_->selectionModel());
  int row = -1;
  if (wanted >= 0) {
    row = rows_.empty() ? wanted : static_cast<int>(std::ranges::find(rows_, wanted) - rows_.begin());
    if (row >= model_->rowCount()) row = -1;
  }
  if (row < 0) {
    table_->clearSelection();
    table_->setCurrentIndex({});
  } else {
    table_->setCurrentIndex(model_->index(row, 0));
    table_->selectRow(row);
  }
  table_->viewport()->update();
}

QString CountersView::find(const QString& text, bool backwards) {
  if (text.isEmpty()) return {};
  const int rows = model_->rowCount();
  const int from = table_->currentIndex().row();
  for (int i = 1; i <= rows; ++i) {
    const int row = ((from + (backwards ? -i : i)) % rows + rows) % rows;
    for (int c = 0; c < 4; ++c) {
      if (!cell(row, c, Qt::DisplayRole).toString().contains(text, Qt::CaseInsensitive)) continue;
      table_->setCurrentIndex(model_->index(row, 0));
      return tr("row %1").arg(row + 1);
    }
  }
  return tr("no match");
}

QWidget* CountersView::focusTarget() const {
  return table_;
}

QString CountersView::csv() const {
  return model_->rowCount() == 0 ? QString() : table_->csv();
}

QString CountersView::summary() const {
  return table_->plainText(false);
}

}  // namespace nuscope::views

#include "moc_counters_view.cpp"
