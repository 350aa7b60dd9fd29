#include "views/schedule/schedule_screen.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "core/schedule/named_region.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/schedule/changes_view.h"
#include "views/schedule/counters_view.h"
#include "views/schedule/findings_view.h"
#include "views/schedule/hang_view.h"
#include "views/schedule/json_view.h"
#include "views/schedule/memory_view.h"
#include "views/schedule/queues_view.h"
#include "views/schedule/schedule_inspector.h"
#include "views/schedule/schedule_words.h"
#include "views/schedule/stepper_bar.h"
#include "views/schedule/tasks_view.h"
#include "views/schedule/waits_view.h"
#include "views/schedule/why_view.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/window/explore_screen.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

ScheduleScreen::ScheduleScreen(const ViewContext& context, QWidget* parent)
    : QWidget(parent), context_(context), schedule_(*ScheduleDocument::of(context.document)) {
  setObjectName(QStringLiteral("scheduleScreen"));
  setAttribute(Qt::WA_StyledBackground, false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  pages_ = new QStackedWidget(this);
  buildHeader();
  buildEmpty();
  pages_->addWidget(empty_);
  planViews();
  layout->addWidget(header_);
  layout->addWidget(pages_, 1);
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::selectionChanged,
                            &ScheduleDocument::repairsChanged})
    connect(&schedule_, signal, this, [this] { update(); });
  connect(&schedule_, &ScheduleDocument::differenceChanged, this, [this] {
    if (schedule_.difference()) showDetail(changesPage);
  });
  connect(&schedule_, &ScheduleDocument::hangChanged, this, [this] {
    if (schedule_.hang() != nullptr) showDetail(hangPage);
  });
  connect(&context_.theme, &ThemeSource::changed, this, [this] { retheme(); });
  retheme();
  update();
}

void ScheduleScreen::buildHeader() {
  header_ = new QWidget(this);
  mark_ = new StateLabel(context_.theme);
  headline_ = new QLabel;
  headline_->setObjectName(QStringLiteral("scheduleHeadline"));
  headline_->setAccessibleName(tr("Verdict of the schedule"));
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  headline_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  subtitle_ = new QLabel;
  subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  stepper_ = new StepperBar(context_.theme, schedule_);
  auto* row = new QHBoxLayout(header_);
  auto* words = new QVBoxLayout;
  words->setSpacing(0);
  words->addWidget(headline_);
  words->addWidget(subtitle_);
  row->addWidget(mark_, 0, Qt::AlignTop);
  row->addLayout(words, 1);
  row->addWidget(stepper_, 0, Qt::AlignVCenter);
}

void ScheduleScreen::buildEmpty() {
  empty_ = new QWidget(pages_);
  emptyTitle_ = new QLabel;
  emptyText_ = new WrappedLabel(tr(
      "A schedule says which task of a megakernel runs on which queue, what it waits for and what it raises. "
      "Open one (AutoMegaKernel JSON) and it is checked exactly: every interleaving, every element. If it is "
      "unsafe, the run that shows it can be stepped through, and repairs are offered that have been "
      "checked."));
  open_ = new QPushButton(tr("Open a schedule\u2026"));
  open_->setProperty("primary", true);
  open_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(open_, &QPushButton::clicked, this, [this] { context_.commands.action("file.open")->trigger(); });
  cancel_ = new QPushButton(tr("Cancel"));
  cancel_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(cancel_, &QPushButton::clicked, this,
          [this] { context_.jobs.cancel(QStringLiteral("schedule.check")); });
  auto* column = new QVBoxLayout(empty_);
  column->addWidget(emptyTitle_);
  column->addWidget(emptyText_);
  column->addWidget(open_);
  column->addWidget(cancel_);
  column->addStretch(1);
}

void ScheduleScreen::planViews() {
  columns_ = hairSplitter(Qt::Horizontal, "schedule.columns", pages_);
  columns_->hide();  // till it is a page of its own
  const auto column = [this](const char* name) { return hairSplitter(Qt::Vertical, name, columns_); };
  const auto part = [this](int index) { return static_cast<QSplitter*>(columns_->widget(index)); };
  stages_ = {[this, column] {
               QSplitter* left = column("schedule.left");
               left->setMinimumWidth(260);
               findings_ = new FindingsView(context_, left);
             },
             [this, part] {
               new WhyView(context_, part(0));
               shareOut(*part(0), {350, 380}, {2, 3});
             },
             [this, column] { tasks_ = new TasksView(context_, column("schedule.middle")); },
             [this, part] { new QueuesView(context_, part(1)); },
             [this, part] {
               details_ = new QStackedWidget(part(1));
               addDetail(new CountersView(context_, details_));
               addDetail(new MemoryView(context_, details_));
             },
             [this, part] {
               addDetail(changes_ = new ChangesView(context_, details_));
               addDetail(new WaitsView(context_, details_));
               addDetail(hang_ = new HangView(context_, details_));
               shareOut(*part(1), {270, 250, 190}, {4, 4, 3});
             },
             [this, column] {
               QSplitter* right = column("schedule.right");
               right->setMinimumWidth(220);
               new ScheduleInspector(context_, right);
             },
             [this, part] {
               json_ = new JsonView(context_, part(2));
               shareOut(*part(2), {300, 420}, {2, 3});
             },
             [this] {
               shareOut(*columns_, {372, 550, 304}, {2, 5, 2});
               pages_->addWidget(columns_);
             }};
  std::ranges::reverse(stages_);
  QTimer::singleShot(0, this, &ScheduleScreen::buildNext);
}

void ScheduleScreen::buildNext() {
  if (complete()) return;
  const auto stage = std::move(stages_.back());
  stage();
  stages_.pop_back();
  if (!complete()) {
    QTimer::singleShot(0, this, &ScheduleScreen::buildNext);
    return;
  }
  Q_EMIT completed();
  update();
}

void ScheduleScreen::finish() {
  while (!complete()) buildNext();
}

/// In the order of DetailPage.
void ScheduleScreen::addDetail(DetailView* view) {
  const QStringList names{tr("counters"), tr("memory"), tr("changes"), tr("waits"), tr("hang")};
  view->addSwitch(names, details_->addWidget(view),
                  [this](int page) { showDetail(static_cast<DetailPage>(page)); });
}

void ScheduleScreen::showDetail(DetailPage page) {
  details_->setCurrentIndex(page);
}

void ScheduleScreen::retheme() {
  const Theme& t = context_.theme.theme();
  headline_->setFont(t.headline);
  emptyTitle_->setFont(t.headline);
  const QString muted = QStringLiteral("color: %1;").arg(t.muted.name());
  subtitle_->setStyleSheet(muted);
  emptyText_->setStyleSheet(muted);
  emptyText_->setMaximumWidth(static_cast<int>(620 * t.scale));
  header_->layout()->setContentsMargins(t.gutter + t.unit, t.padding, t.gutter, t.padding);
  static_cast<QHBoxLayout*>(header_->layout())->setSpacing(t.unit);
  mark_->setFixedSize(static_cast<int>(20 * t.scale), static_cast<int>(24 * t.scale));
  empty_->layout()->setContentsMargins(t.gutter + t.unit, t.gutter, t.gutter, t.gutter);
  static_cast<QVBoxLayout*>(empty_->layout())->setSpacing(t.gutter);
  update();
  QWidget::update();
}

QString ScheduleScreen::headline() const {
  const auto state = schedule_.state();
  if (!state) return {};
  return schedule_.previewed() >= 0 ? tr("Preview, not applied. %1").arg(state->headline) : state->headline;
}

/// All views appear: in a turn of its own, after what told of the schedule.
void ScheduleScreen::turnToViews() {
  turning_ = true;
  QTimer::singleShot(1, this, [this] {
    const QWidget* focus = QApplication::focusWidget();
    const bool here = isAncestorOf(focus) && !columns_->isAncestorOf(focus);
    update();
    turning_ = false;
    if (here) findings_->focusTarget()->setFocus();
  });
}

void ScheduleScreen::update() {
  const Theme& t = context_.theme.theme();
  const auto state = schedule_.state();
  const bool opening = schedule_.checking() && !state;
  if (state && !complete()) return;  // update() comes again when the views are there
  if (state && pages_->currentIndex() == 0 && isVisible() && !turning_) return turnToViews();
  pages_->setCurrentIndex(state ? 1 : 0);
  header_->setVisible(state != nullptr);
  emptyTitle_->setText(opening ? tr("Reading and checking\u2026") : tr("Is a megakernel's schedule safe?"));
  emptyText_->setVisible(!opening);
  open_->setVisible(!opening);
  cancel_->setVisible(opening);
  if (!state) return;
  const bool busy = schedule_.checking();
  mark_->setState(busy ? Mark::running : markOf(state->report.verdict), QString());
  const QString words = headline();
  const int room = width() - stepper_->sizeHint().width() - static_cast<int>(80 * t.scale);
  headline_->setText(QFontMetrics(t.headline).elidedText(words, Qt::ElideRight, std::max(240, room)));
  headline_->setToolTip(words);
  headline_->setAccessibleDescription(words);
  const QColor colour = state->report.verdict == schedule::Safety::safe        ? t.proved
                        : state->report.verdict == schedule::Safety::undecided ? t.unknown
                                                                               : t.refuted;
  if (const QString sheet = QStringLiteral("color: %1;").arg(colour.name()); sheet != headline_->styleSheet())
    headline_->setStyleSheet(sheet);  // a widget that is styled anew is laid out and painted anew
  QStringList facts;
  if (schedule_.previewed() >= 0) facts << state->what;
  if (state->schedule) {
    facts << counted(static_cast<qint64>(state->schedule->tasks.size()), tr("task"), tr("tasks"));
    if (state->wellFormed())
      facts << counted(static_cast<qint64>(state->model->queues.size()), tr("queue"), tr("queues"));
    facts << counted(static_cast<qint64>(state->schedule->counters.size()), tr("counter"), tr("counters"))
          << tr("checked in %1").arg(duration(state->report.seconds));
  }
  if (state->report.position) facts << tr("first at position %1").arg(*state->report.position);
  if (state->schedule && state->schedule->positions)
    facts << tr("positions %1 to %2")
                 .arg(state->schedule->positions->from)
                 .arg(state->schedule->positions->to - 1);
  if (state->report.verdict == schedule::Safety::safe) facts << qs(schedule::assumptions());
  const QString line = join(facts);
  subtitle_->setText(QFontMetrics(t.ui).elidedText(line, Qt::ElideRight, std::max(240, room)));
  subtitle_->setToolTip(line);
}

void ScheduleScreen::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& t = context_.theme.theme();
  painter.fillRect(rect(), t.surface);
  if (!header_->isVisible()) return;
  painter.setPen(t.line);
  painter.drawLine(0, header_->height() - 1, width(), header_->height() - 1);
}

void ScheduleScreen::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  update();
}

bool ScheduleScreen::selectText(const QString& text) {
  const auto state = schedule_.shown();
  const QStringList parts = text.simplified().split(QLatin1Char(' '));
  if (!state) return false;
  const QString rest = text.section(QLatin1Char(' '), 1);
  if (parts[0] == QLatin1String("waits")) {
    seekWaits();
    return true;
  }
  if (parts[0] == QLatin1String("group")) return tasks_->openGroup(rest);
  if (parts[0] == QLatin1String("compare") && !rest.isEmpty()) {
    schedule_.compareWith(rest);
    return true;
  }
  if (parts[0] == QLatin1String("dump") && !rest.isEmpty()) {
    schedule_.openDump(rest);
    return true;
  }
  bool number = false;
  const std::int64_t id = parts.value(1).toLongLong(&number);
  if (parts.size() != 2 || !number) return false;
  const auto found = [](std::int32_t position, const auto& select) {
    if (position < 0) return false;
    select(position);
    return true;
  };
  if (parts[0] == QLatin1String("task"))
    return found(state->ids->task(id), [this](int t) { schedule_.selectTask(t); });
  if (parts[0] == QLatin1String("counter"))
    return found(state->ids->counter(id), [this](int c) { schedule_.selectCounter(c); });
  if (parts[0] == QLatin1String("buffer"))
    return found(state->ids->buffer(id), [this](int b) { schedule_.selectBuffer(b); });
  if (parts[0] == QLatin1String("repair")) {  // numbered from 1, as in `nuscope check`
    if (id < 1 || id > static_cast<std::int64_t>(schedule_.repairs().size())) return false;
    schedule_.preview(static_cast<int>(id - 1));
    return true;
  }
  if (parts[0] == QLatin1String("step")) {
    schedule_.setStep(static_cast<int>(id));
    return schedule_.step() == id;
  }
  if (parts[0] != QLatin1String("finding") || id < 0 ||
      id >= static_cast<std::int64_t>(state->report.findings.size()))
    return false;
  schedule_.selectFinding(static_cast<int>(id));
  return true;
}

void ScheduleScreen::compare() {
  showDetail(changesPage);
  changes_->askAndCompare();
}

void ScheduleScreen::explainDump() {
  showDetail(hangPage);
  hang_->askAndExplain();
}

void ScheduleScreen::seekWaits() {
  showDetail(waitsPage);
  schedule_.seekWaits();
}

void ScheduleScreen::askForRegion() {
  const auto state = schedule_.shown();
  if (!state) return;
  const SchedulePlace& place = schedule_.place();
  QString text =
      place.buffer < 0 ? QString() : qs(schedule::text(*state->schedule, {place.buffer, {place.region}}));
  bool accepted = false;
  text = QInputDialog::getText(this, tr("Who touches a region"),
                               tr("A buffer by name or id, and a range an axis: h0[0:1, 16:32]"),
                               QLineEdit::Normal, text, &accepted);
  if (!accepted) return;
  const auto region = schedule::parseRegion(*state->schedule, text.toStdString());
  if (region) {
    schedule_.selectRegion(region->buffer, region->region);
  } else {
    const auto& why = region.refusal();
    QMessageBox::information(
        this, tr("Who touches a region"),
        qs(why.message) + (why.hint.empty() ? QString() : QStringLiteral(": ") + qs(why.hint)));
  }
}

void ScheduleScreen::nextFinding() {
  const auto state = schedule_.state();
  if (!state || state->report.findings.empty()) return;
  schedule_.selectFinding((schedule_.place().finding + 1) % static_cast<int>(state->report.findings.size()));
}

void ScheduleScreen::goToNextError() {
  json_->goToNextError();
}

}  // namespace nuscope::views

#include "moc_schedule_screen.cpp"
