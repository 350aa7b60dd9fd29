#include <QApplication>
#include <QDir>
#include <QKeyEvent>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/nugraph/nugraph.h"
#include "views/code/code_view.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/source_view.h"
#include "views/jobs.h"
#include "views/lessons/lesson_panel.h"
#include "views/marks.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"
#include "views/schedule/schedule_document.h"
#include "views/schedule/schedule_screen.h"
#include "views/selection.h"
#include "views/theme.h"
#include "views/variants/variant_costs.h"
#include "views/variants/variants_view.h"
#include "views/window/activity_bar.h"
#include "views/window/command_palette.h"
#include "views/window/jobs_panel.h"
#include "views/window/main_window.h"
#include "views/window/shortcut_sheet.h"

namespace nuscope::views {

namespace {

/// A view that stands alone is read from the last row of a lecture hall.
constexpr double aloneFactor = 1.6;

}  // namespace

void MainWindow::connectCommands() {
  connectFileCommands();
  connectEditCommands();
  connectViewCommands();
  connectGoCommands();
  connectRunCommands();
  connectHelpCommands();
}

void MainWindow::connectFileCommands() {
  Commands& c = context_.commands;
  c.on("file.new", this, [this] {
    if (!mayLeave()) return;
    context_.document.setNew(tr("program.py"),
                             QStringLiteral("from __future__ import annotations\nimport numpy as np\n\ndef "
                                            "program(x: f32[M, K]) -> f32[M, K]:\n    return x\n"));
    showScreen(QStringLiteral("program"));
  });
  c.on("file.open", this, [this] { openFile(); });
  c.on("file.save", this, [this] { onSchedule() ? saveSchedule(false) : save(false); });
  c.on("file.saveAs", this, [this] { onSchedule() ? saveSchedule(true) : save(true); });
  c.on("file.export", this, [this] {
    if (View* v = activeView()) v->exportAs();
  });
  c.on("file.exportKernel", this, [this] { exportKernelAs(); });
  c.on("code.editCopy", this, [this] {
    const bool onSweep = current_ == QLatin1String("sweep");
    if (!onSweep) showScreen(QStringLiteral("code"));
    if (auto* code =
            qobject_cast<CodeView*>(view(onSweep ? QStringLiteral("sweepCode") : QStringLiteral("code"))))
      code->editCopy();
  });
  c.on("file.quit", this, [this] { close(); });
}

void MainWindow::connectEditCommands() {
  Commands& c = context_.commands;
  const auto editor = [this]() -> QPlainTextEdit* {
    if (auto* focused = qobject_cast<QPlainTextEdit*>(QApplication::focusWidget())) return focused;
    return nullptr;
  };
  c.on("edit.undo", this, [this, editor] {
    if (onSchedule()) {
      schedule_.undo();
    } else if (auto* e = editor()) {
      e->undo();
    } else if (context_.document.canUndoByHand()) {
      context_.document.undoByHand();
    } else {
      context_.document.source()->undo();
    }
  });
  c.on("edit.redo", this, [this, editor] {
    if (onSchedule()) {
      schedule_.redo();
    } else if (auto* e = editor()) {
      e->redo();
    } else if (context_.document.canRedoByHand()) {
      context_.document.redoByHand();
    } else {
      context_.document.source()->redo();
    }
  });
  c.on("edit.copy", this, [] {
    if (QWidget* focused = QApplication::focusWidget()) {
      QKeyEvent press(QEvent::KeyPress, Qt::Key_C, Qt::ControlModifier);
      QApplication::sendEvent(focused, &press);
    }
  });
  c.on("edit.find", this, [this] {
    View* v = activeView();
    if (v && v->canFind()) {
      v->openFind();
    } else {
      openPalette();
    }
  });
  c.on("edit.findNext", this, [this] {
    if (View* v = activeView()) v->findAgain(false);
  });
  c.on("edit.findPrevious", this, [this] {
    if (View* v = activeView()) v->findAgain(true);
  });
  c.on("edit.nextError", this, [this] {
    if (onSchedule()) return scheduleScreen()->goToNextError();
    if (current_ != QLatin1String("program") && current_ != QLatin1String("variants"))
      showScreen(QStringLiteral("program"));
    if (auto* source = qobject_cast<SourceView*>(view(QStringLiteral("source")))) source->goToNextError();
  });
}

void MainWindow::connectViewCommands() {
  Commands& c = context_.commands;
  for (const ScreenSpec& spec : specs_) {
    const QString id = QLatin1String(spec.id);
    const std::string command = std::string("view.") + spec.id;
    c.on(command.c_str(), this, [this, id] { showScreen(id); });
  }
  c.on("view.jobs", this, [this] {
    if (jobsPanel_->isVisible()) {
      jobsPanel_->hide();
    } else {
      jobsPanel_->openAt(mapFromGlobal(status_->mapToGlobal(QPoint(status_->width() - 8, -4))));
    }
    context_.commands.action("view.jobs")->setChecked(jobsPanel_->isVisible());
  });
  c.on("view.lessons", this, [this](bool shown) { showLessons(shown); });
  c.on("view.alone", this, [this](bool checked) { setAlone(checked); });
  c.on("view.nextView", this, [this] { moveFocus(1); });
  c.on("view.previousView", this, [this] { moveFocus(-1); });
  c.on("view.fit", this, [this] {
    if (View* v = activeView()) v->fit();
  });
  c.on("view.larger", this, [this] { scaleBy(1.1); });
  c.on("view.smaller", this, [this] { scaleBy(1 / 1.1); });
  c.on("view.normalSize", this, [this] { scaleBy(1 / scale_); });
  const auto appearance = [this](Appearance a) {
    return [this, a] {
      context_.theme.setAppearance(a);
      session_.saveTheme(context_.theme, scale_);
    };
  };
  c.on("view.light", this, appearance(Appearance::light));
  c.on("view.dark", this, appearance(Appearance::dark));
  c.on("view.system", this, appearance(Appearance::system));
  c.on("view.resetLayout", this, [this] {
    session_.forgetLayout();
    const QString id = current_;
    if (context_.commands.action("view.alone")->isChecked()) setAlone(false);
    active_ = nullptr;
    for (auto& [name, widget] : made_) {
      stack_->removeWidget(widget);
      widget->deleteLater();
    }
    made_.clear();
    showScreen(id);
  });
  const auto toggle = [this](const QString& viewId, const QString& button) {
    return [this, viewId, button] {
      if (View* v = view(viewId)) {
        if (auto* b = v->findChild<QToolButton*>(button)) b->toggle();
      }
    };
  };
  c.on("variants.table", this, toggle(QStringLiteral("derivation"), QStringLiteral("asTable")));
  c.on("variant.table", this, toggle(QStringLiteral("variant"), QStringLiteral("asTable")));
  c.on("variant.changes", this, toggle(QStringLiteral("variant"), QStringLiteral("ghosts")));
}

void MainWindow::connectGoCommands() {
  Commands& c = context_.commands;
  c.on("go.back", this, [this] { context_.selection.back(); });
  c.on("go.forward", this, [this] { context_.selection.forward(); });
  c.setEnabled("go.back", false);
  c.setEnabled("go.forward", false);
  c.on("go.parent", this, [this] { parentVariant(); });
  c.on("go.nextRefused", this, [this] { onSchedule() ? scheduleScreen()->nextFinding() : nextRefused(); });
  const auto variants = [this](const std::function<void(VariantsView&)>& act) {
    return [this, act] {
      if (current_ != QLatin1String("variants")) showScreen(QStringLiteral("variants"));
      if (auto* v = qobject_cast<VariantsView*>(view(QStringLiteral("derivation")))) act(*v);
    };
  };
  c.on("go.play", this, variants([](VariantsView& v) { v.play(!v.playing()); }));
  const auto step = [this, variants](int by) {
    const auto program = variants([by](VariantsView& v) { v.stepBy(by); });
    return [this, program, by] { onSchedule() ? schedule_.setStep(schedule_.step() + by) : program(); };
  };
  c.on("go.nextStep", this, step(1));
  c.on("go.previousStep", this, step(-1));
  c.on("variants.expandAll", this, variants([this](VariantsView& v) {
         v.setExpandAll(context_.commands.action("variants.expandAll")->isChecked());
       }));
  connect(&context_.document, &Document::nuGraphChanged, this, [this] {
    const bool there = context_.document.nuGraph() != nullptr;
    for (const char* id : {"go.parent", "go.nextRefused", "go.nextStep", "go.previousStep", "go.play"})
      context_.commands.setEnabled(id, there || onSchedule());
    context_.commands.setEnabled("prove.takeBack", context_.document.canUndoByHand());
  });
}

void MainWindow::connectRunCommands() {
  Commands& c = context_.commands;
  c.on("run.explore", this, [this] { context_.document.explore(); });
  c.on("run.prove", this, [this] { showScreen(QStringLiteral("prove")); });
  const auto prove = [this](const std::function<void(ProveScreen&)>& act) {
    return [this, act] {
      if (current_ != QLatin1String("prove")) showScreen(QStringLiteral("prove"));
      act(*static_cast<ProveScreen*>(screen(QStringLiteral("prove"))));
    };
  };
  c.on("prove.standing", this, prove([](ProveScreen& s) { s.askStanding(); }));
  c.on("prove.add", this, prove([](ProveScreen& s) { s.addAsVariant(); }));
  c.on("prove.swap", this, prove([](ProveScreen& s) { s.swapSides(); }));
  c.on("prove.openLeft", this, prove([](ProveScreen& s) { s.left()->openFile(); }));
  c.on("prove.openRight", this, prove([](ProveScreen& s) { s.right()->openFile(); }));
  c.on("prove.takeBack", this, [this] { context_.document.undoByHand(); });
  c.setEnabled("prove.takeBack", false);
  // The sweep screen takes the command over once it exists.
  c.on("run.sweep", this, [this] {
    const bool existed = made_.count(QStringLiteral("sweep")) > 0;
    showScreen(QStringLiteral("sweep"));
    if (!existed) QMetaObject::invokeMethod(screen(QStringLiteral("sweep")), "startSweep");
  });
  c.on("run.cancel", this, [this] {
    for (Job* job : context_.jobs.listed()) job->cancel();
  });
}

void MainWindow::connectHelpCommands() {
  Commands& c = context_.commands;
  c.on("help.palette", this, [this] { openPalette(); });
  c.on("help.shortcuts", this, [this] {
    auto* sheet = new ShortcutSheet(context_.theme, this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->open();
  });
  c.on("help.about", this, [this] {
    const VariantCosts* costs = VariantCosts::of(context_.document);
    QMessageBox::about(
        this, tr("About Nuscope"),
        tr("<b>Nuscope %1</b><br>An explorer for people who write kernels: finds every way it can prove of "
           "computing the same thing, and shows why one wins."
           "<br><br>Licence: GPL-3.0-or-later. Uses Qt %2, QCustomPlot, Z3, GMP, Arb, SQLite; Graphviz in a "
           "process of its own.<br><br>%3")
            .arg(QApplication::applicationVersion(), QString::fromLatin1(qVersion()), costs->targetWhy()));
  });
}

void MainWindow::setAlone(bool alone) {
  context_.commands.action("view.alone")->setChecked(alone);
  const bool was = alone_;
  alone_ = alone && activeView() != nullptr;
  for (const auto& hidden : hiddenWhileAlone_) {
    if (hidden) hidden->show();
  }
  hiddenWhileAlone_.clear();
  const auto hide = [this](QWidget* widget) {
    if (widget->isHidden()) return;
    hiddenWhileAlone_.emplace_back(widget);
    widget->hide();
  };
  if (alone_) {
    QWidget* now = stack_->currentWidget();
    View* view = activeView();
    for (QWidget* w = view; w && w != now; w = w->parentWidget()) {
      auto* splitter = qobject_cast<QSplitter*>(w->parentWidget());
      if (!splitter) continue;
      for (int i = 0; i < splitter->count(); ++i) {
        if (splitter->widget(i) != w) hide(splitter->widget(i));
      }
    }
    for (QWidget* chrome : {top_, static_cast<QWidget*>(activity_), status_, static_cast<QWidget*>(lessons_)})
      hide(chrome);
    if (view->focusTarget()) view->focusTarget()->setFocus();
  }
  if (was != alone_) applyScale();
}

void MainWindow::showLessons(bool shown) {
  context_.commands.action("view.lessons")->setChecked(shown);
  lessons_->setVisible(shown);
  makeRoomForLessons();
  if (shown) lessons_->next().setFocus();
}

void MainWindow::makeRoomForLessons() {
  const auto variants = made_.find(QStringLiteral("variants"));
  if (variants == made_.end() || alone_) return;
  // In a narrow window the lesson stands for program and Explore panel: it does what they offer.
  const bool wide = width() >= static_cast<int>(1600 * context_.theme.theme().scale);
  if (auto* left = variants->second->findChild<QSplitter*>(QStringLiteral("explore.left")))
    left->setVisible(lessons_->isHidden() || wide);
}

void MainWindow::moveFocus(int by) {
  QWidget* now = stack_->currentWidget();
  if (!now) return;
  std::vector<View*> visible;
  for (View* v : viewsOf(now)) {
    if (v->isVisible()) visible.push_back(v);
  }
  if (visible.empty()) return;
  const auto at = std::find(visible.begin(), visible.end(), activeView());
  const auto n = static_cast<int>(visible.size());
  const int i = at == visible.end() ? 0 : static_cast<int>(at - visible.begin());
  View* next = visible[static_cast<std::size_t>((i + by + n) % n)];
  active_ = next;
  if (next->focusTarget()) next->focusTarget()->setFocus(Qt::TabFocusReason);
}

void MainWindow::scaleBy(double factor) {
  scale_ = std::clamp(std::round(scale_ * factor * 20) / 20, smallestScale, largestScale);
  applyScale();
  session_.saveTheme(context_.theme, scale_);
}

void MainWindow::applyScale() {
  context_.theme.setScale(scale_ * (alone_ ? aloneFactor : 1));
}

void MainWindow::updateThemeActions() {
  const Appearance now = context_.theme.appearance();
  context_.commands.action("view.light")->setChecked(now == Appearance::light);
  context_.commands.action("view.dark")->setChecked(now == Appearance::dark);
  context_.commands.action("view.system")->setChecked(now == Appearance::system);
}

void MainWindow::openPalette() {
  std::vector<PaletteEntry> more;
  const QIcon icon = themedIcon(QStringLiteral("program"), context_.theme.theme());
  const QStringList examples =
      QDir(QStringLiteral(":/programs")).entryList({QStringLiteral("*.py")}, QDir::Files, QDir::Name);
  for (const QString& file : examples) {
    const QString name = file.section(QLatin1Char('.'), 0, 0);
    more.push_back({tr("Example %1").arg(name),
                    tr("Example"),
                    {},
                    icon,
                    [this, name] {
                      if (mayLeave()) openExample(name);
                    },
                    true});
  }
  palette_->open(std::move(more));
}

void MainWindow::parentVariant() {
  const auto graph = context_.document.nuGraph();
  const auto now = static_cast<std::size_t>(context_.selection.place().variant);
  if (!graph || now >= graph->variants().size() || graph->variants()[now].parent < 0) return;
  selectText(QStringLiteral("variant %1").arg(graph->variants()[now].parent));
}

void MainWindow::nextRefused() {
  const auto graph = context_.document.nuGraph();
  if (!graph) return;
  const Place& place = context_.selection.place();
  int first = -1;
  for (const nugraph::Refused& r : graph->refused()) {
    if (r.from != place.variant) continue;
    if (first < 0) first = r.id;
    if (r.id > place.refused) {
      context_.selection.selectRefused(r.id, r.from);
      return;
    }
  }
  if (first >= 0) context_.selection.selectRefused(first, place.variant);
}

}  // namespace nuscope::views
