#include "views/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QThread>
#include <QToolButton>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/source_view.h"
#include "views/graph/graph_widget.h"
#include "views/jobs.h"
#include "views/lessons/lesson_panel.h"
#include "views/marks.h"
#include "views/schedule/schedule_document.h"
#include "views/schedule/schedule_screen.h"
#include "views/selection.h"
#include "views/state_label.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/variant_costs.h"
#include "views/variants/variants_view.h"
#include "views/window/activity_bar.h"
#include "views/window/command_palette.h"
#include "views/window/jobs_panel.h"
#include "views/window/kernel_export.h"
#include "views/window/message_bar.h"
#include "views/window/shortcut_sheet.h"

namespace nuscope::views {

namespace {

const QString fileFilter = QStringLiteral(
    "Programs, studies and schedules (*.py *.nuscope *.json);;NumPy programs (*.py);;Studies "
    "(*.nuscope);;Schedules (*.json);;All files (*)");

QString ago(qint64 since) {
  const qint64 seconds = (QDateTime::currentMSecsSinceEpoch() - since) / 1000;
  if (seconds < 5) return QObject::tr("just now");
  if (seconds < 60) return QObject::tr("%1 s ago").arg(seconds);
  if (seconds < 3600) return QObject::tr("%1 min ago").arg(seconds / 60);
  return QObject::tr("at %1").arg(QDateTime::fromMSecsSinceEpoch(since).toString(QStringLiteral("HH:mm")));
}

}  // namespace

MainWindow::MainWindow(const ViewContext& context, const Session& session)
    : context_(context),
      schedule_(*ScheduleDocument::of(context.document)),
      session_(session),
      specs_(screens()) {
  setObjectName(QStringLiteral("nuscope"));
  setWindowIcon(QIcon(QStringLiteral(":/icons/nuscope.svg")));
  scale_ = context.theme.theme().scale;
  auto* central = new QWidget;
  auto* rows = new QVBoxLayout(central);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  message_ = new MessageBar(context.theme);
  auto* columns = new QHBoxLayout;
  columns->setContentsMargins(0, 0, 0, 0);
  columns->setSpacing(1);
  activity_ = new ActivityBar(context.theme, specs_);
  stack_ = new QStackedWidget;
  columns->addWidget(activity_);
  columns->addWidget(stack_, 1);
  lessons_ = new LessonPanel(*this, context_);
  lessons_->hide();
  columns->addWidget(lessons_);
  rows->addSpacing(1);
  rows->addWidget(message_);
  rows->addLayout(columns, 1);
  buildStatus();
  rows->addSpacing(1);
  rows->addWidget(status_);
  setCentralWidget(central);
  connectCommands();
  connectSchedule();
  buildTop();
  palette_ = new CommandPalette(context_, this);
  jobsPanel_ = new JobsPanel(context_, this);

  activity_->addPanel(*context_.commands.action("view.lessons"), QStringLiteral("lessons"));
  connect(lessons_, &LessonPanel::closed, this, [this] { showLessons(false); });
  connect(activity_, &ActivityBar::chosen, this, [this](const QString& id) { showScreen(id); });
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (QWidget* w = now; w; w = w->parentWidget()) {
      if (auto* v = qobject_cast<View*>(w)) {
        active_ = v;
        return;
      }
    }
  });
  Document& document = context_.document;
  connect(&document, &Document::nameChanged, this, &MainWindow::updateName);
  connect(&document, &Document::opened, this, [this] {
    session_.addRecentFile(context_.document.path());
    updateName();
    updateStatus();
    const QString reason = context_.document.readOnlyReason();
    if (!reason.isEmpty())
      message_->say(Mark::warning, tr("%1 Changes can be saved under another name.").arg(reason));
  });
  connect(&document, &Document::openFailed, this,
          [this](const QString& text) { message_->say(Mark::refuted, text); });
  connect(&document, &Document::saveFailed, this, [this](const QString& text) {
    message_->say(Mark::refuted, text, tr("Save as…"), [this] { save(true); });
  });
  connect(&document, &Document::noticed, this,
          [this](const QString& text) { message_->say(Mark::warning, text); });
  connect(&document, &Document::exploreFailed, this, [this](const QString& text) {
    message_->say(Mark::refuted, tr("Exploring failed. %1").arg(text));
  });
  for (const auto signal : {&Document::exploreChanged, &Document::parsed, &Document::nuGraphChanged})
    connect(&document, signal, this, &MainWindow::updateStatus);
  connect(&document, &Document::saved, this, [this] {
    session_.addRecentFile(context_.document.path());
    updateStatus();
  });
  connect(&context_.jobs, &Jobs::started, this, &MainWindow::updateStatus);
  connect(&context_.jobs, &Jobs::progressed, this, &MainWindow::updateStatus);
  connect(&context_.jobs, &Jobs::ended, this, &MainWindow::updateStatus);
  connect(&context_.selection, &Selection::historyChanged, this, [this] {
    context_.commands.setEnabled("go.back", context_.selection.canGoBack());
    context_.commands.setEnabled("go.forward", context_.selection.canGoForward());
  });
  connect(&context_.theme, &ThemeSource::changed, this, &MainWindow::retheme);
  connect(VariantCosts::of(document), &VariantCosts::changed, this, [this] {
    updateStatus();
    proposeVariant();
  });
  tick_.setInterval(5000);
  connect(&tick_, &QTimer::timeout, this, &MainWindow::updateStatus);
  tick_.start();
  resize(1280, 800);
  setMinimumSize(900, 560);
  session_.restoreWindow(*this);
  retheme();
  updateName();
  updateStatus();
  showScreen(QStringLiteral("variants"));
}

MainWindow::~MainWindow() {
  closing_ = true;
}

// Top and status bar

void MainWindow::buildTop() {
  top_ = new QWidget;
  auto* row = new QHBoxLayout(top_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* leftSide = new QWidget;
  auto* left = new QHBoxLayout(leftSide);
  left->setContentsMargins(12, 0, 0, 0);
  left->setSpacing(4);
  brand_ = new QLabel(QStringLiteral("Nuscope"));
  auto* menus = new QMenuBar;
  menus->setNativeMenuBar(false);
  std::map<QString, QMenu*> byName;
  for (const CommandSpec& spec : commandTable()) {
    QString name = QString::fromUtf8(spec.menu);
    if (name.isEmpty()) continue;
    const bool separated = name.startsWith(QLatin1Char('-'));
    if (separated) name.remove(0, 1);
    QMenu*& menu = byName[name];
    if (!menu) menu = menus->addMenu(QLatin1Char('&') + name);
    if (separated) menu->addSeparator();
    QAction* action = context_.commands.action(spec.id);
    menu->addAction(action);
    addAction(action);
    if (QLatin1String(spec.id) == QLatin1String("file.open")) {
      QMenu* recent = menu->addMenu(tr("Open recent"));
      connect(recent, &QMenu::aboutToShow, this, [this, recent] { fillRecent(*recent); });
      QMenu* examples = menu->addMenu(tr("Examples"));
      connect(examples, &QMenu::aboutToShow, this, [this, examples] { fillExamples(*examples); });
    }
  }
  for (const CommandSpec& spec : commandTable()) {
    if (*spec.menu == '\0') addAction(context_.commands.action(spec.id));
  }
  menus->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  left->addWidget(brand_);
  left->addWidget(menus, 0, Qt::AlignVCenter);
  left->addStretch(1);
  search_ = new QToolButton;
  search_->setObjectName(QStringLiteral("searchField"));
  search_->setAccessibleName(tr("Command palette"));
  search_->setToolTip(tr("Commands, variants, operators, refused moves"));
  search_->setFocusPolicy(Qt::TabFocus);
  connect(search_, &QToolButton::clicked, this, &MainWindow::openPalette);
  auto* inside = new QHBoxLayout(search_);
  inside->setContentsMargins(10, 0, 10, 0);
  auto* words = new QLabel(tr("Commands, variants, operators"));
  auto* keys = new QLabel(QStringLiteral("Ctrl+K"));
  for (QLabel* label : {words, keys}) label->setAttribute(Qt::WA_TransparentForMouseEvents);
  inside->addWidget(words);
  inside->addStretch(1);
  inside->addWidget(keys);
  auto* rightSide = new QWidget;
  auto* right = new QHBoxLayout(rightSide);
  right->setContentsMargins(0, 0, 12, 0);
  name_ = new QLabel;
  name_->setObjectName(QStringLiteral("documentName"));
  right->addStretch(1);
  right->addWidget(name_);
  row->addWidget(leftSide, 1);
  row->addWidget(search_);
  row->addWidget(rightSide, 1);
  setMenuWidget(top_);
}

void MainWindow::buildStatus() {
  status_ = new QWidget;
  auto* row = new QHBoxLayout(status_);
  row->setSpacing(18);
  state_ = new StateLabel(context_.theme);
  state_->setObjectName(QStringLiteral("statusState"));
  host_ = new QLabel;
  running_ = new StateLabel(context_.theme);
  running_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);  // the sentence beside it gives way
  running_->setObjectName(QStringLiteral("statusJobs"));
  running_->setCursor(Qt::PointingHandCursor);
  running_->setToolTip(tr("Jobs (Ctrl+J)"));
  connect(running_, &StateLabel::clicked, this, [this] { context_.commands.action("view.jobs")->trigger(); });
  row->addWidget(state_);
  row->addWidget(host_);
  row->addStretch(1);
  row->addWidget(running_);
}

void MainWindow::updateName() {
  if (onSchedule() && schedule_.isOpen()) {
    const QString name = schedule_.displayName();
    name_->setText(name + (schedule_.dirty() ? QStringLiteral(" \u2022") : QString()));
    name_->setToolTip(schedule_.path());
    setWindowModified(schedule_.dirty());
    setWindowTitle(name + QStringLiteral("[*] \u2014 Nuscope"));
    return;
  }
  const Document& document = context_.document;
  const QString name = document.displayName();
  name_->setText(name + (document.dirty() ? QStringLiteral(" \u2022") : QString()));
  name_->setToolTip(document.path().isEmpty() ? tr("Not saved yet") : document.path());
  setWindowModified(document.dirty());
  setWindowTitle((name.isEmpty() ? QString() : name + QStringLiteral("[*] \u2014 ")) +
                 QStringLiteral("Nuscope"));
}

void MainWindow::updateStatus() {
  if (closing_) return;
  const Document& document = context_.document;
  const ExploreState& explore = document.exploreState();
  if (onSchedule()) {
    updateScheduleStatus();
  } else if (explore.running) {
    state_->setState(Mark::running, tr("Exploring"));
  } else if (!document.parsing() && !document.textIsValid() && !document.diagnostics().empty()) {
    state_->setState(Mark::refuted, tr("The program has %1")
                                        .arg(counted(static_cast<std::int64_t>(document.diagnostics().size()),
                                                     tr("error"), tr("errors"))));
  } else if (explore.finished > 0 && document.nuGraph()) {
    const QString when = explore.origin == tr("explored") ? tr("Explored %1").arg(ago(explore.finished))
                                                          : tr("Variants %1").arg(explore.origin);
    state_->setState(document.upToDate() || document.parsing() ? Mark::proved : Mark::warning,
                     document.upToDate() ? when : tr("Variants are %1").arg(document.ageText()));
  } else {
    state_->setState(Mark::none, document.program() ? tr("Not explored") : QString());
  }
  const VariantCosts* costs = VariantCosts::of(context_.document);
  host_->setText(tr("this host: %1%2")
                     .arg(counted(QThread::idealThreadCount(), tr("processor"), tr("processors")),
                          costs->target().isEmpty() ? QString() : QStringLiteral(", ") + costs->target()));
  host_->setToolTip(costs->targetWhy());
  const auto jobs = context_.jobs.listed();
  if (jobs.empty()) {
    running_->setState(Mark::none, tr("no job running"));
  } else {
    const Job* job = jobs.front();
    QString text = job->spec().title;
    if (job->fraction() >= 0) text += QStringLiteral(" %1 %").arg(static_cast<int>(job->fraction() * 100));
    if (jobs.size() > 1) text += tr(" and %1 more").arg(jobs.size() - 1);
    running_->setState(Mark::running, text);
  }
  context_.commands.setEnabled("run.cancel", !jobs.empty());
}

void MainWindow::retheme() {
  const Theme& t = context_.theme.theme();
  QFont brand = t.ui;
  brand.setWeight(QFont::Bold);
  brand_->setFont(brand);
  top_->setFixedHeight(static_cast<int>(36 * t.scale));
  search_->setFixedSize(static_cast<int>(380 * t.scale), static_cast<int>(24 * t.scale));
  search_->setStyleSheet(QStringLiteral("#searchField { background: %1; border: 1px solid %2; border-radius: "
                                        "4px; } #searchField:hover, #searchField:focus { border-color: %3; }")
                             .arg(t.surface.name(), t.line.name(), t.selection.name()));
  QPalette muted = QWidget::palette();
  muted.setColor(QPalette::WindowText, t.muted);
  for (QLabel* label : search_->findChildren<QLabel*>()) label->setPalette(muted);
  name_->setPalette(muted);
  host_->setPalette(muted);
  status_->setFixedHeight(static_cast<int>(26 * t.scale));
  status_->layout()->setContentsMargins(t.gutter, 0, t.gutter, 0);
  updateThemeActions();
  update();
}

void MainWindow::paintEvent(QPaintEvent*) {
  // One-pixel lines between top bar, activity bar, screens and status bar: the gaps of the layout show this
  // ground.
  const Theme& t = context_.theme.theme();
  QPainter painter(this);
  painter.fillRect(rect(), t.window);
  painter.setPen(t.line);
  const QRect inside = centralWidget()->geometry();
  painter.drawLine(inside.left(), inside.top(), inside.right(), inside.top());
  const int status = inside.bottom() - status_->height();
  painter.drawLine(inside.left(), status, inside.right(), status);
  painter.drawLine(activity_->width(), inside.top(), activity_->width(), status);
}

// Screens

QWidget* MainWindow::screen(const QString& id) {
  const auto found = made_.find(id);
  if (found != made_.end()) return found->second;
  for (const ScreenSpec& spec : specs_) {
    if (id != QLatin1String(spec.id)) continue;
    QWidget* made = spec.make(context_, stack_);
    session_.restoreSplitters(*made);
    if (auto* schedule = qobject_cast<ScheduleScreen*>(made))
      connect(schedule, &ScheduleScreen::completed, this,
              [=, this] { session_.restoreSplitters(*schedule); });
    stack_->addWidget(made);
    made_[id] = made;
    makeRoomForLessons();
    return made;
  }
  return nullptr;
}

bool MainWindow::showScreen(const QString& name) {
  const QString id = name.section(QLatin1Char('/'), 0, 0);
  const QString page = name.section(QLatin1Char('/'), 1);
  QWidget* wanted = screen(id);
  View* focus = nullptr;
  QString screenId = id;
  if (!wanted) {
    focus = view(id);
    if (!focus) return false;
    for (const auto& [made, widget] : made_) {
      if (widget == focus || widget->isAncestorOf(focus)) {
        wanted = widget;
        screenId = made;
      }
    }
  }
  if (!page.isEmpty() && (!focus || !focus->showPage(page))) return false;
  if (context_.commands.action("view.alone")->isChecked()) setAlone(false);
  stack_->setCurrentWidget(wanted);
  // A view may be one of several that share a place.
  for (QWidget* w = focus; w != nullptr && w != wanted; w = w->parentWidget()) {
    if (auto* pages = qobject_cast<QStackedWidget*>(w->parentWidget())) pages->setCurrentWidget(w);
  }
  current_ = screenId;
  activity_->setCurrent(screenId);
  if (!focus) focus = qobject_cast<View*>(wanted);
  if (!focus) focus = wanted->findChild<View*>();  // none yet: the screen is still being made
  active_ = focus;
  if (focus && focus->focusTarget()) focus->focusTarget()->setFocus();
  updateName();
  updateStatus();
  return true;
}

View* MainWindow::view(const QString& id) {
  if (QWidget* now = stack_->currentWidget()) {
    for (View* v : viewsOf(now)) {
      if (v->id() == id) return v;
    }
  }
  for (const ScreenSpec& spec : specs_) {
    for (View* v : viewsOf(screen(QLatin1String(spec.id)))) {
      if (v->id() == id) return v;
    }
  }
  return nullptr;
}

View* MainWindow::activeView() const {
  QWidget* now = stack_->currentWidget();
  if (active_ && now && (now == active_ || now->isAncestorOf(active_))) return active_;
  if (!now) return nullptr;
  const auto inside = viewsOf(now);
  return inside.empty() ? nullptr : inside.front();
}

void MainWindow::exportKernelAs() {
  const auto say = [this](Mark mark, const QString& text) { message_->say(mark, text); };
  if (const QString why = exportObstacle(context_.document); !why.isEmpty()) return say(Mark::warning, why);
  const QString proposed = context_.document.programName().section(QLatin1Char('.'), 0, 0) + tr("-kernel");
  const QString folder = QFileDialog::getSaveFileName(this, tr("Export the kernel as a folder"), proposed);
  if (!folder.isEmpty()) exportKernel(context_, this, folder, say);
}

void MainWindow::fillExamples(QMenu& menu) {
  menu.clear();
  const QStringList examples =
      QDir(QStringLiteral(":/programs")).entryList({QStringLiteral("*.py")}, QDir::Files, QDir::Name);
  for (const QString& file : examples) {
    const QString name = file.section(QLatin1Char('.'), 0, 0);
    menu.addAction(name, this, [this, name] {
      if (mayLeave()) openExample(name);
    });
  }
}

void MainWindow::fillRecent(QMenu& menu) {
  menu.clear();
  const QStringList files = session_.recentFiles();
  for (const QString& path : files) {
    menu.addAction(path, this, [this, path] {
      if (ScheduleDocument::isSchedulePath(path) ? mayLeaveSchedule() : mayLeave()) openPath(path);
    });
  }
  if (files.isEmpty()) menu.addAction(tr("nothing yet"))->setEnabled(false);
}

bool MainWindow::openExample(const QString& name) {
  QFile file(QStringLiteral(":/programs/%1.py").arg(name));
  if (!file.open(QIODevice::ReadOnly)) return false;
  context_.document.setNew(name + QStringLiteral(".py"), QString::fromUtf8(file.readAll()));
  return true;
}

bool MainWindow::openProgram(const QString& name, const QString& text) {
  if (!mayLeave()) return false;
  context_.document.setNew(name, text);
  return true;
}

bool MainWindow::selectText(const QString& text) {
  const auto graph = context_.document.nuGraph();
  if (onSchedule()) return scheduleScreen()->selectText(text);
  const QStringList parts = text.simplified().split(QLatin1Char(' '));
  bool number = false;
  const int id = parts.value(1).toInt(&number);
  if (const auto sweep = context_.document.sweep();
      sweep && number && parts[0] == QLatin1String("candidate")) {
    for (const SweepRowRef& row : sweep->rows) {
      if (row->candidate.id != id) continue;
      context_.selection.selectCandidate(row->candidate.id, row->candidate.variant);
      return true;
    }
    return false;
  }
  if (!graph || parts.size() != 2 || !number || id < 0) return false;
  const auto i = static_cast<std::size_t>(id);
  if (parts[0] == QLatin1String("variant") && i < graph->variants().size()) {
    const int parent = graph->variants()[i].parent;
    for (const nugraph::Step& step : graph->steps()) {
      if (step.to == id && step.from == parent) {
        context_.selection.selectStep(step.id, id);
        return true;
      }
    }
    context_.selection.selectVariant(id);
    return true;
  }
  if (parts[0] == QLatin1String("step") && i < graph->steps().size()) {
    context_.selection.selectStep(id, graph->steps()[i].to);
    return true;
  }
  if (parts[0] == QLatin1String("refused") && i < graph->refused().size()) {
    context_.selection.selectRefused(id, graph->refused()[i].from);
    return true;
  }
  return false;
}

void MainWindow::proposeVariant() {
  const auto graph = context_.document.nuGraph();
  Selection& selection = context_.selection;
  if (!graph || graph->variants().size() < 2 || context_.document.exploreState().running) return;
  if (selection.place() != Place{} || selection.canGoBack()) return;
  int best = 1;
  double least = 1e300;
  for (const auto& [variant, seconds] : VariantCosts::of(context_.document)->seconds()) {
    if (variant != 0 && (seconds < least || (seconds == least && variant < best))) {
      best = variant;
      least = seconds;
    }
  }
  selectText(QStringLiteral("variant %1").arg(best));
}

// Files

void MainWindow::openFile() {
  const QString near = onSchedule() && schedule_.isOpen() ? schedule_.path() : context_.document.path();
  const QString path = QFileDialog::getOpenFileName(this, tr("Open"), QFileInfo(near).path(), fileFilter);
  if (path.isEmpty()) return;
  if (ScheduleDocument::isSchedulePath(path) ? mayLeaveSchedule() : mayLeave()) openPath(path);
}

void MainWindow::save(bool as) {
  const Document& document = context_.document;
  QString path = document.path();
  if (as || path.isEmpty() || !document.readOnlyReason().isEmpty()) {
    QString proposal = path;
    if (proposal.isEmpty())
      proposal = document.programName().section(QLatin1Char('.'), 0, 0) + QStringLiteral(".nuscope");
    QFileDialog dialog(
        this, tr("Save"), QFileInfo(proposal).path(),
        tr("Study: program, variants, proofs, measurements (*.nuscope);;NumPy program (*.py)"));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(QStringLiteral("nuscope"));
    dialog.selectFile(QFileInfo(proposal).fileName());
    connect(&dialog, &QFileDialog::filterSelected, &dialog, [&dialog](const QString& filter) {
      dialog.setDefaultSuffix(filter.contains(QLatin1String("*.py")) ? QStringLiteral("py")
                                                                     : QStringLiteral("nuscope"));
    });
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
    path = dialog.selectedFiles().first();
  }
  context_.document.save(path);
}

void MainWindow::afterSave(const std::function<void()>& then) {
  auto* once = new QObject(this);
  connect(&context_.document, &Document::saved, once, [once, then] {
    once->deleteLater();
    then();
  });
  connect(&context_.document, &Document::saveFailed, once, &QObject::deleteLater);
}

bool MainWindow::mayLeave() {
  if (!context_.document.dirty()) return true;
  QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
                  tr("%1 has changes that are not saved.").arg(context_.document.displayName()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  box.setInformativeText(
      tr("Save keeps the program with its variants, proofs and measurements. Discard forgets the edits."));
  const int answer = box.exec();
  if (answer == QMessageBox::Discard) {
    Document::dropAutosave();
    return true;
  }
  if (answer == QMessageBox::Save) save(false);
  return false;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!closing_ && !mayLeaveSchedule()) {
    event->ignore();
    return;
  }
  if (!closing_ && context_.document.dirty()) {
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
                    tr("%1 has changes that are not saved.").arg(context_.document.displayName()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    const int answer = box.exec();
    if (answer == QMessageBox::Cancel) {
      event->ignore();
      return;
    }
    if (answer == QMessageBox::Save) {
      event->ignore();
      afterSave([this] {
        closing_ = true;
        close();
      });
      save(false);
      return;
    }
    Document::dropAutosave();
  }
  setAlone(false);
  session_.saveWindow(*this);
  for (const auto& [name, widget] : made_) {
    const auto* schedule = qobject_cast<ScheduleScreen*>(widget);
    if (!schedule || schedule->complete()) session_.saveSplitters(*widget);
  }
  closing_ = true;
  context_.jobs.cancelAll();
  event->accept();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && alone_) {
    setAlone(false);
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (palette_) palette_->hide();
  if (jobsPanel_) jobsPanel_->hide();
  makeRoomForLessons();
}

bool MainWindow::settled() const {
  if (!context_.jobs.idle() || schedule_.checking() || context_.document.parsing() ||
      context_.document.exploreState().running)
    return false;
  QWidget* now = stack_->currentWidget();
  if (!now) return false;
  if (const auto* made = qobject_cast<ScheduleScreen*>(now); made && !made->complete()) return false;
  for (const GraphWidget* graph : now->findChildren<GraphWidget*>()) {
    if (!graph->settled()) return false;
  }
  for (const View* shown : now->findChildren<View*>()) {
    if (shown->refreshPending()) return false;
  }
  return true;
}

}  // namespace nuscope::views
