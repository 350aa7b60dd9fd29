#include "views/schedule/changes_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

ChangesView::ChangesView(const ViewContext& context, QWidget* parent)
    : DetailView(context, "changes", tr("Changes"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      pages_(new QStackedWidget),
      empty_(new QWidget),
      hint_(new WrappedLabel(
          tr("The preview of a repair is listed here, task by task. Another schedule can be compared "
             "as well: tasks are matched by their labels."))),
      table_(new TableView(context.theme)) {
  auto* compare = new QPushButton(tr("Compare with\u2026"));
  compare->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(compare, &QPushButton::clicked, this, &ChangesView::askAndCompare);
  auto* column = new QVBoxLayout(empty_);
  column->addWidget(hint_);
  column->addWidget(compare);
  column->addStretch(1);
  empty_->setObjectName(QStringLiteral("sheet"));
  const auto make = [this](int c, const QString& title) {
    return Column{title, {}, false, [this, c](int row, int role) -> QVariant { return cell(row, c, role); }};
  };
  model_ = new RowsModel(
      {make(0, tr("Task")), make(1, tr("What")), make(2, tr("Before")), make(3, tr("Now"))}, this);
  table_->setObjectName(QStringLiteral("changeRows"));
  table_->setAccessibleName(tr("Changes"));
  table_->setModel(model_);
  pages_->addWidget(empty_);
  pages_->addWidget(table_);
  setContent(pages_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            const auto difference = schedule_.difference();
            if (!difference || !now.isValid()) return;
            const auto& change = difference->changes[static_cast<std::size_t>(now.row())];
            if (change.after >= 0) schedule_.selectTask(change.after);
          });
  connect(&schedule_, &ScheduleDocument::differenceChanged, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::stateChanged, this, [this] { markStale(); });
}

QVariant ChangesView::cell(int row, int column, int role) const {
  const auto difference = schedule_.difference();
  if (!difference || row >= static_cast<int>(difference->changes.size())) return {};
  const auto& change = difference->changes[static_cast<std::size_t>(row)];
  if (role == markRole && column == 0) return static_cast<int>(markOf(change.kind));
  if (role == mutedRole) return column == 2;
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case 0: {
      const auto of = change.after >= 0 ? schedule_.shown() : schedule_.differenceBase();
      const int task = change.after >= 0 ? change.after : change.before;
      if (!of || !of->schedule || task >= static_cast<int>(of->schedule->tasks.size())) return {};
      return of->taskName(task);
    }
    case 1:
      return qs(change.what);
    case 2:
      return qs(change.was);
    default:
      return qs(change.is);
  }
}

void ChangesView::refresh() {
  empty_->layout()->setContentsMargins(theme().gutter, theme().padding, theme().gutter, theme().padding);
  hint_->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
  const auto difference = schedule_.difference();
  const QSignalBlocker quiet(table_->selectionModel());
  model_->resetRows(difference ? static_cast<int>(difference->changes.size()) : 0);
  pages_->setCurrentWidget(difference ? static_cast<QWidget*>(table_) : empty_);
  if (!difference) {
    setSubtitle({});
    return;
  }
  table_->fitColumns(3);
  const auto base = schedule_.differenceBase();
  setSubtitle(tr("against %1 (%2): %3, %4 same%5")
                  .arg(schedule_.differenceName(),
                       base ? qs(schedule::text(base->report.verdict)) : QString(),
                       counted(static_cast<qint64>(difference->changes.size()), tr("change"), tr("changes")),
                       grouped(difference->same),
                       difference->recordsDiffer ? tr(", other buffers or counters") : QString()));
}

void ChangesView::askAndCompare() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Compare with"), QFileInfo(schedule_.path()).path(), tr("Schedules (*.json);;All files (*)"));
  if (!path.isEmpty()) schedule_.compareWith(path);
}

void ChangesView::fillContextMenu(QMenu& menu) {
  menu.addAction(tr("Compare with\u2026"), this, &ChangesView::askAndCompare);
  if (schedule_.difference() && schedule_.previewed() < 0)
    menu.addAction(tr("Forget the comparison"), this, [this] { schedule_.dropComparison(); });
  View::fillContextMenu(menu);
}

QWidget* ChangesView::focusTarget() const {
  return schedule_.difference() ? static_cast<QWidget*>(table_) : empty_;
}

QString ChangesView::csv() const {
  return model_->rowCount() == 0 ? QString() : table_->csv();
}

QString ChangesView::summary() const {
  return table_->plainText(false);
}

}  // namespace nuscope::views

#include "moc_changes_view.cpp"
