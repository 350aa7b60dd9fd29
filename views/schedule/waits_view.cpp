#include "views/schedule/waits_view.h"

#include <QLabel>
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

using Kind = schedule::WaitNote::Kind;

WaitsView::WaitsView(const ViewContext& context, QWidget* parent)
    : DetailView(context, "waits", tr("Waits"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      pages_(new QStackedWidget),
      empty_(new QWidget),
      hint_(new WrappedLabel),
      look_(new QPushButton(tr("Look for them"))),
      drop_(new QPushButton),
      table_(new TableView(context.theme)) {
  look_->setObjectName(QStringLiteral("lookForWaits"));
  look_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(look_, &QPushButton::clicked, &schedule_, &ScheduleDocument::seekWaits);
  drop_->setObjectName(QStringLiteral("dropWaits"));
  drop_->setToolTip(tr("Makes a version without them, which is checked; undo takes it back"));
  connect(drop_, &QPushButton::clicked, &schedule_, &ScheduleDocument::dropRedundantWaits);
  addHeaderWidget(drop_);
  auto* column = new QVBoxLayout(empty_);
  column->addWidget(hint_);
  column->addWidget(look_);
  column->addStretch(1);
  empty_->setObjectName(QStringLiteral("sheet"));
  const auto make = [this](int c, const QString& title, bool number) {
    return Column{title, {}, number, [this, c](int row, int role) -> QVariant { return cell(row, c, role); }};
  };
  model_ = new RowsModel({make(0, tr("Wait"), false), make(1, tr("Task"), false),
                          make(2, tr("Counter"), true), make(3, tr("Why"), false)},
                         this);
  table_->setObjectName(QStringLiteral("waitRows"));
  table_->setAccessibleName(tr("Waits that could go"));
  table_->setModel(model_);
  pages_->addWidget(empty_);
  pages_->addWidget(table_);
  setContent(pages_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            const WaitAdvice* advice = schedule_.waitAdvice();
            if (advice != nullptr && now.isValid())
              schedule_.selectTask(advice->notes.notes[static_cast<std::size_t>(now.row())].task);
          });
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::waitsChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
}

QVariant WaitsView::cell(int row, int column, int role) const {
  const WaitAdvice* advice = schedule_.waitAdvice();
  if (advice == nullptr || row >= static_cast<int>(advice->notes.notes.size())) return {};
  const auto& note = advice->notes.notes[static_cast<std::size_t>(row)];
  if (role == mutedRole) return column == 3;
  if (role == Qt::ToolTipRole) return qs(note.text);
  const auto& wait = advice->of->schedule->tasks[static_cast<std::size_t>(note.task)].waits[note.wait];
  if (role == sortRole && column == 2) return static_cast<qlonglong>(wait.counter);
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case 0:
      return note.kind == Kind::redundant ? tr("redundant") : tr("unneeded");
    case 1:
      return advice->of->taskName(note.task);
    case 2:
      return tr("%1 \u2265 %2").arg(wait.counter).arg(wait.threshold);
    default:
      return note.kind == Kind::redundant ? tr("its other waits and its queue imply it")
                                          : tr("no conflict asks for it; without it alone: safe");
  }
}

QString WaitsView::hint() const {
  const auto state = schedule_.shown();
  if (schedule_.seekingWaits()) return tr("Looking\u2026");
  if (!state || state->report.verdict != schedule::Safety::safe)
    return tr(
        "Of a safe schedule: which waits others imply, which no conflict asks for, and what dropping "
        "them would gain, modelled. This one has to be safe first.");
  const WaitAdvice* advice = schedule_.waitAdvice();
  if (advice == nullptr)
    return tr(
        "Every wait costs a look at a counter. Some are implied by others, and some are asked for by no "
        "conflict: they can be found, each checked, with the modelled gain of dropping them.");
  return advice->notes.notExamined > 0 ? tr("None found in the time given; %1 were not examined.")
                                             .arg(grouped(static_cast<qint64>(advice->notes.notExamined)))
                                       : tr("Every wait is needed.");
}

void WaitsView::refresh() {
  empty_->layout()->setContentsMargins(theme().gutter, theme().padding, theme().gutter, theme().padding);
  hint_->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
  const WaitAdvice* advice = schedule_.waitAdvice();
  const bool any = advice != nullptr && !advice->notes.notes.empty();
  const auto state = schedule_.shown();
  hint_->setText(hint());
  look_->setVisible(advice == nullptr);
  look_->setEnabled(!schedule_.seekingWaits() && state && state->report.verdict == schedule::Safety::safe);
  drop_->setVisible(any && advice->redundant > 0);
  if (any)
    drop_->setText(
        tr("Drop %1").arg(counted(advice->redundant, tr("redundant wait"), tr("redundant waits"))));
  const QSignalBlocker quiet(table_->selectionModel());
  model_->resetRows(any ? static_cast<int>(advice->notes.notes.size()) : 0);
  pages_->setCurrentWidget(any ? static_cast<QWidget*>(table_) : empty_);
  if (!any) {
    setSubtitle({});
    return;
  }
  table_->fitColumns(3);
  QStringList words{
      tr("%1 redundant").arg(grouped(advice->redundant)),
      tr("%1 unneeded").arg(grouped(static_cast<qint64>(advice->notes.notes.size()) - advice->redundant))};
  if (advice->notes.notExamined > 0)
    words << tr("%1 not examined").arg(grouped(static_cast<qint64>(advice->notes.notExamined)));
  if (advice->gain)
    words << tr("modelled on %1: %2 with the redundant ones, %3 without")
                 .arg(qs(advice->gain->target.name), duration(advice->gain->before),
                      duration(advice->gain->after));
  if (!advice->refusal.isEmpty()) words << tr("no modelled gain: %1").arg(advice->refusal);
  setSubtitle(words.join(QStringLiteral(", ")));
}

QWidget* WaitsView::focusTarget() const {
  return pages_->currentWidget();
}

QString WaitsView::csv() const {
  return model_->rowCount() == 0 ? QString() : table_->csv();
}

QString WaitsView::summary() const {
  return model_->rowCount() == 0 ? hint_->text() : table_->plainText(false);
}

}  // namespace nuscope::views

#include "moc_waits_view.cpp"
