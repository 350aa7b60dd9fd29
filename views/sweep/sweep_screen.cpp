#include "views/sweep/sweep_screen.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyle>
#include <QThread>
#include <QTimer>
#include <QVBoxLayout>

#include "core/nugraph/nugraph.h"
#include "views/code/code_view.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/sweep/candidates_view.h"
#include "views/sweep/faster_view.h"
#include "views/sweep/plots_view.h"
#include "views/sweep/sweep_words.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

template <class Label = QLabel>
QLabel* plainLabel(QWidget* parent) {
  auto* label = new Label(parent);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

/// A new style sheet, even an equal one, has the whole label laid out again.
void tint(QLabel& label, const QColor& color) {
  const QString sheet = QStringLiteral("color: %1;").arg(color.name());
  if (label.styleSheet() != sheet) label.setStyleSheet(sheet);
}

}  // namespace

SweepScreen::SweepScreen(const ViewContext& context, QWidget* parent)
    : QWidget(parent), context_(context), runner_(new SweepRunner(context.document, context.jobs, this)) {
  setObjectName(QStringLiteral("sweepScreen"));
  candidates_ = new CandidatesView(context);
  plots_ = new PlotsView(context);
  code_ = new CodeView(context, nullptr, "sweepCode");
  faster_ = new FasterView(context);
  details_ = new QStackedWidget;
  int index = 0;
  for (DetailView* view : {static_cast<DetailView*>(code_), static_cast<DetailView*>(faster_)}) {
    details_->addWidget(view);
    view->addSwitch({tr("Kernel"), tr("Why faster")}, index++, [this](int detail) { showDetail(detail); });
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  buildHeader();
  right_ = new QSplitter(Qt::Vertical);
  right_->addWidget(plots_);
  right_->addWidget(details_);
  right_->setStretchFactor(0, 3);
  right_->setStretchFactor(1, 2);
  right_->setSizes({540, 460});
  columns_ = new QSplitter(Qt::Horizontal);
  columns_->addWidget(candidates_);
  columns_->addWidget(right_);
  columns_->setStretchFactor(0, 5);
  columns_->setStretchFactor(1, 4);
  columns_->setSizes({800, 440});
  for (QSplitter* splitter : {right_, columns_}) {
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
  }
  pages_ = new QStackedWidget;
  pages_->addWidget(empty_);
  pages_->addWidget(columns_);
  layout->addWidget(header_);
  layout->addWidget(pages_, 1);

  connect(&context_.document, &Document::sweepChanged, this, [this] { updateSoon(); });
  connect(&context_.document, &Document::nuGraphChanged, this, [this] { updateSoon(); });
  connect(&context_.document, &Document::exploreChanged, this, [this] { updateSoon(); });
  connect(&context_.document, &Document::extentsChanged, this, [this] { updateSoon(); });
  connect(&context_.document, &Document::parsed, this, [this] { updateSoon(); });
  connect(&context_.document, &Document::opened, this, [this] {
    message_.clear();
    updateSoon();
  });
  connect(&context_.theme, &ThemeSource::changed, this, [this] { retheme(); });
  connect(runner_, &SweepRunner::started, this, [this] {
    message_.clear();
    updateSoon();
  });
  connect(runner_, &SweepRunner::ended, this, [this] {
    selectFastest();
    updateSoon();
  });
  connect(runner_, &SweepRunner::failed, this, [this](const QString& message) {
    message_ = message;
    updateSoon();
  });
  context_.commands.on("run.sweep", this, [this] { startSweep(); });
  retheme();
  update();
}

void SweepScreen::buildHeader() {
  header_ = new QWidget(this);
  headline_ = plainLabel<WrappedLabel>(header_);
  headline_->setAccessibleName(tr("Result of the sweep"));
  subtitle_ = plainLabel(header_);
  subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  progressText_ = plainLabel(header_);
  note_ = plainLabel<WrappedLabel>(header_);
  progress_ = new QProgressBar(header_);
  progress_->setTextVisible(false);
  progress_->setRange(0, 1000);
  progress_->setAccessibleName(tr("Progress of the sweep"));
  seconds_ = new QSpinBox(header_);
  seconds_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  seconds_->setRange(0, 24 * 3600);
  seconds_->setValue(60);
  seconds_->setSuffix(tr(" s"));
  seconds_->setSpecialValueText(tr("every candidate"));
  seconds_->setAccessibleName(tr("Budget in seconds"));
  seconds_->setToolTip(tr("Time for compiling and measuring. At 0 every candidate is measured."));
  threads_ = new QSpinBox(header_);
  threads_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  threads_->setRange(1, 1024);
  threads_->setValue(std::max(1, QThread::idealThreadCount()));
  threads_->setAccessibleName(tr("Threads"));
  threads_->setToolTip(tr("Threads of each kernel and of each baseline."));
  start_ = new QPushButton(tr("Sweep"), header_);
  start_->setProperty("primary", true);
  continue_ = new QPushButton(tr("Continue"), header_);
  continue_->setToolTip(tr("Goes on where the last sweep stopped; nothing is measured twice."));
  cancel_ = new QPushButton(tr("Cancel"), header_);
  cancel_->setToolTip(tr("Stops within a second; what was measured is kept."));
  connect(start_, &QPushButton::clicked, this, &SweepScreen::startSweep);
  connect(continue_, &QPushButton::clicked, this, &SweepScreen::continueSweep);
  connect(cancel_, &QPushButton::clicked, runner_, &SweepRunner::cancel);
  auto* layout = new QVBoxLayout(header_);
  auto* top = new QHBoxLayout;
  top->addWidget(subtitle_, 1);
  auto* budget = new QLabel(tr("Budget"), header_);
  budget->setBuddy(seconds_);
  auto* threads = new QLabel(tr("Threads"), header_);
  threads->setBuddy(threads_);
  for (QWidget* widget :
       {static_cast<QWidget*>(budget), static_cast<QWidget*>(seconds_), static_cast<QWidget*>(threads),
        static_cast<QWidget*>(threads_), static_cast<QWidget*>(continue_), static_cast<QWidget*>(cancel_),
        static_cast<QWidget*>(start_)}) {
    top->addWidget(widget, 0, Qt::AlignVCenter);
  }
  auto* bottom = new QHBoxLayout;
  bottom->addWidget(progress_, 1);
  bottom->addWidget(progressText_);
  layout->addWidget(headline_);
  layout->addLayout(top);
  layout->addLayout(bottom);
  layout->addWidget(note_);

  empty_ = new QWidget;
  emptyTitle_ = plainLabel(empty_);
  emptyText_ = plainLabel<WrappedLabel>(empty_);
  emptyWhy_ = plainLabel<WrappedLabel>(empty_);
  emptyStart_ = new QPushButton(tr("Sweep candidates"), empty_);
  emptyStart_->setProperty("primary", true);
  emptyStart_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(emptyStart_, &QPushButton::clicked, this, &SweepScreen::startSweep);
  auto* column = new QVBoxLayout(empty_);
  column->addWidget(emptyTitle_);
  column->addWidget(emptyText_);
  column->addWidget(emptyWhy_);
  column->addWidget(emptyStart_);
  column->addStretch(1);
}

void SweepScreen::retheme() {
  const Theme& t = context_.theme.theme();
  headline_->setFont(t.headline);
  subtitle_->setFont(t.ui);
  progressText_->setFont(t.code);
  emptyTitle_->setFont(t.headline);
  emptyText_->setMaximumWidth(static_cast<int>(620 * t.scale));
  emptyWhy_->setMaximumWidth(static_cast<int>(620 * t.scale));
  const QString muted = QStringLiteral("color: %1;").arg(t.muted.name());
  subtitle_->setStyleSheet(muted);
  emptyText_->setStyleSheet(muted);
  note_->setStyleSheet(muted);
  header_->layout()->setContentsMargins(t.gutter + t.unit, t.padding, t.gutter + t.unit, t.padding);
  static_cast<QVBoxLayout*>(header_->layout())->setSpacing(t.unit);
  empty_->layout()->setContentsMargins(t.gutter + t.unit, t.gutter, t.gutter, t.gutter);
  static_cast<QVBoxLayout*>(empty_->layout())->setSpacing(t.gutter);
  for (QSplitter* splitter : {right_, columns_}) splitter->setHandleWidth(1);
  QWidget::update();
}

void SweepScreen::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& t = context_.theme.theme();
  painter.fillRect(rect(), t.surface);
  painter.setPen(t.line);
  painter.drawLine(0, header_->height() - 1, width(), header_->height() - 1);
}

void SweepScreen::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  update();
}

SweepSettings SweepScreen::settings() const {
  SweepSettings settings;
  settings.seconds = seconds_->value();
  settings.exhaustive = seconds_->value() == 0;
  settings.threads = threads_->value();
  return settings;
}

void SweepScreen::setBudget(int seconds) {
  seconds_->setValue(seconds);
}

void SweepScreen::startSweep() {
  runner_->start(settings(), false);
}
void SweepScreen::continueSweep() {
  runner_->start(settings(), true);
}

/// Several signals come with one click; one update follows them, when the click itself has been answered.
void SweepScreen::updateSoon() {
  if (updateScheduled_) return;
  updateScheduled_ = true;
  QTimer::singleShot(0, this, [this] {
    updateScheduled_ = false;
    update();
  });
}

void SweepScreen::showDetail(int detail) {
  details_->setCurrentIndex(detail);
}

/// After a sweep something is chosen: what was, if it took part, else the fastest.
void SweepScreen::selectFastest() {
  const auto snapshot = context_.document.sweep();
  if (!snapshot || snapshot->find(context_.selection.place().candidate)) return;
  if (const SweepRowRef best = snapshot->best())
    context_.selection.selectCandidate(best->candidate.id, best->candidate.variant);
}

void SweepScreen::update() {
  const auto snapshot = context_.document.sweep();
  const bool running = runner_->running();
  const QString obstacle = runner_->obstacle();
  const Theme& t = context_.theme.theme();
  start_->setVisible(!running && snapshot);
  start_->setEnabled(obstacle.isEmpty());
  start_->setToolTip(obstacle.isEmpty() ? tr("Compiles, checks and times candidates for the budget.")
                                        : obstacle);
  continue_->setVisible(!running && snapshot && snapshot->cancelled);
  continue_->setEnabled(obstacle.isEmpty());
  cancel_->setVisible(running);
  seconds_->setEnabled(!running);
  threads_->setEnabled(!running);
  QWidget* page = snapshot ? static_cast<QWidget*>(columns_) : empty_;
  if (pages_->currentWidget() != page) {
    // The first layout of a page takes as long as all the rest: the window answers in between.
    pages_->setCurrentWidget(page);
    updateSoon();
    return;
  }
  progress_->setVisible(running);
  progressText_->setVisible(snapshot != nullptr);
  emptyStart_->setEnabled(obstacle.isEmpty() && !running);
  emptyStart_->setText(running ? tr("Starting") : tr("Sweep candidates"));
  const int variants =
      context_.document.nuGraph() ? static_cast<int>(context_.document.nuGraph()->variants().size()) : 0;
  emptyTitle_->setText(tr("Which variant is fastest here?"));
  emptyText_->setText(
      tr("A sweep turns every proved variant into kernels with different tiles and blocks, compiles them, "
         "checks each against float64 "
         "within what rounding explains, and times them on this machine next to the program as written. A "
         "crash, a hang or a wrong "
         "result costs one candidate. Results are kept as they arrive, so it can be cancelled at any time."));
  emptyWhy_->setText(obstacle.isEmpty() ? counted(variants, tr("variant is ready"), tr("variants are ready"))
                                        : obstacle);
  tint(*emptyWhy_, obstacle.isEmpty() ? t.text : t.unknown);
  QString headline = snapshot  ? sweepHeadline(*snapshot)
                     : running ? tr("Enumerating candidates")
                               : tr("No sweep yet");
  headline_->setText(headline);
  headline_->setToolTip(headline);
  headline_->setAccessibleDescription(headline);
  QStringList extents;
  for (const auto& [name, extent] : context_.document.extents())
    extents << qs(name) + QStringLiteral(" = ") + grouped(extent);
  subtitle_->setText(snapshot ? sweepSubtitle(*snapshot) : extents.join(QStringLiteral(", ")));
  subtitle_->setToolTip(subtitle_->text());
  QStringList notes;
  if (!message_.isEmpty() && (snapshot || message_ != obstacle)) notes << message_;
  if (snapshot) {
    progressText_->setText(sweepProgress(*snapshot));
    const double fraction = sweepFraction(*snapshot);
    progress_->setRange(0, fraction < 0 ? 0 : 1000);
    progress_->setValue(static_cast<int>(fraction * 1000));
    if (const QString age = context_.document.ageText(); !age.isEmpty())
      notes << tr("These are results %1.").arg(age);
    for (std::size_t i = 0; i < snapshot->notes.size() && i < 2 && !running; ++i)
      notes << qs(snapshot->notes[i]);
    if (snapshot->notes.size() > 2) note_->setToolTip(qs(snapshot->notes[0]));
    if (!running && snapshot->cancelled)
      notes << tr("Stopped before its end; Continue goes on where it was.");
  }
  note_->setText(notes.join(QLatin1Char(' ')));
  note_->setVisible(!notes.isEmpty());
  tint(*note_, message_.isEmpty() ? t.muted : t.refuted);
}

QString SweepScreen::summary() const {
  const auto snapshot = context_.document.sweep();
  QStringList lines;
  lines << (snapshot ? sweepHeadline(*snapshot) : tr("No sweep yet"));
  if (snapshot) lines << sweepSubtitle(*snapshot) << sweepProgress(*snapshot);
  if (!message_.isEmpty()) lines << message_;
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views

#include "moc_sweep_screen.cpp"
