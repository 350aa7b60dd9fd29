// The window's part in schedules: opening by name and by drop, saving, status.
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>

#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/schedule/schedule_document.h"
#include "views/schedule/schedule_screen.h"
#include "views/schedule/schedule_words.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/window/main_window.h"
#include "views/window/message_bar.h"

namespace nuscope::views {

bool MainWindow::onSchedule() const {
  return current_ == QLatin1String("schedule");
}

ScheduleScreen* MainWindow::scheduleScreen() {
  auto* made = qobject_cast<ScheduleScreen*>(screen(QStringLiteral("schedule")));
  made->finish();
  return made;
}

void MainWindow::connectSchedule() {
  setAcceptDrops(true);
  Commands& c = context_.commands;
  connect(&schedule_, &ScheduleDocument::opened, this, [this] {
    session_.addRecentFile(schedule_.path());
    updateName();
    updateStatus();
  });
  connect(&schedule_, &ScheduleDocument::nameChanged, this, &MainWindow::updateName);
  connect(&schedule_, &ScheduleDocument::stateChanged, this, &MainWindow::updateStatus);
  connect(&schedule_, &ScheduleDocument::openFailed, this,
          [this](const QString& text) { message_->say(Mark::refuted, text); });
  connect(&schedule_, &ScheduleDocument::saveFailed, this, [this](const QString& text) {
    message_->say(Mark::refuted, text, tr("Save as\u2026"), [this] { saveSchedule(true); });
  });
  connect(&schedule_, &ScheduleDocument::saved, this, [this] {
    session_.addRecentFile(schedule_.path());
    updateName();
    updateStatus();
  });
  c.on("schedule.compare", this, [this] {
    showScreen(QStringLiteral("schedule"));
    scheduleScreen()->compare();
  });
  c.on("schedule.openDump", this, [this] {
    showScreen(QStringLiteral("schedule"));
    scheduleScreen()->explainDump();
  });
  c.on("schedule.waits", this, [this] {
    showScreen(QStringLiteral("schedule"));
    scheduleScreen()->seekWaits();
  });
  c.on("schedule.order", this, [this] { schedule_.setAnchor(schedule_.place().task); });
  c.on("schedule.region", this, [this] {
    showScreen(QStringLiteral("schedule"));
    scheduleScreen()->askForRegion();
  });
  c.on("schedule.exportTrace", this, [this] {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export the modelled run"), QFileInfo(schedule_.path()).path(),
                                     tr("Chrome traces (*.json)"));
    if (path.isEmpty()) return;
    schedule_.exportTrace(QFileInfo(path).suffix().isEmpty() ? path + QStringLiteral(".json") : path);
  });
  connect(&schedule_, &ScheduleDocument::traceWritten, this,
          [this](const QString& words) { message_->say(Mark::proved, words); });
  c.on("schedule.previewRepair", this, [this] {
    showScreen(QStringLiteral("schedule"));
    schedule_.previewed() >= 0 ? schedule_.apply(schedule_.previewed()) : schedule_.preview(0);
  });
  c.on("schedule.toStart", this, [this] { schedule_.setStep(0); });
  c.on("schedule.toFault", this, [this] {
    if (const auto run = schedule_.run())
      schedule_.setStep(schedule_.step() < run->faultStep() ? run->faultStep() : run->steps());
  });
  const auto enable = [this] {
    const auto run = schedule_.run();
    for (const char* id : {"schedule.toStart", "schedule.toFault"})
      context_.commands.setEnabled(id, run != nullptr);
    const auto shown = schedule_.shown();
    for (const char* id :
         {"schedule.compare", "schedule.openDump", "schedule.region", "schedule.exportTrace"})
      context_.commands.setEnabled(id, shown != nullptr);
    context_.commands.setEnabled("schedule.waits", shown && shown->report.verdict == schedule::Safety::safe);
    context_.commands.setEnabled("schedule.order", shown && schedule_.place().task >= 0);
    context_.commands.setEnabled("schedule.previewRepair", !schedule_.repairs().empty());
    if (run && onSchedule()) {
      for (const char* id : {"go.nextStep", "go.previousStep", "go.nextRefused"})
        context_.commands.setEnabled(id, true);
    }
  };
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::repairsChanged,
                            &ScheduleDocument::selectionChanged})
    connect(&schedule_, signal, this, enable);
  enable();
}

void MainWindow::openPath(const QString& path) {
  if (!ScheduleDocument::isSchedulePath(path)) {
    context_.document.open(path);
    return;
  }
  showScreen(QStringLiteral("schedule"));
  schedule_.open(path);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() != 1 || !urls.first().isLocalFile()) return;
  event->acceptProposedAction();
  const QString path = urls.first().toLocalFile();
  // The question about unsaved changes must not keep the other program's drag waiting.
  QMetaObject::invokeMethod(
      this,
      [this, path] {
        if (ScheduleDocument::isSchedulePath(path) ? mayLeaveSchedule() : mayLeave()) openPath(path);
      },
      Qt::QueuedConnection);
}

void MainWindow::saveSchedule(bool as, const std::function<void()>& then) {
  if (!schedule_.isOpen()) return;
  QString path = schedule_.path();
  if (as) {
    path = QFileDialog::getSaveFileName(this, tr("Save schedule"), path, tr("Schedules (*.json)"));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".json");
  }
  if (then) {
    auto* once = new QObject(this);
    connect(&schedule_, &ScheduleDocument::saved, once, [once, then] {
      once->deleteLater();
      then();
    });
    connect(&schedule_, &ScheduleDocument::saveFailed, once, &QObject::deleteLater);
  }
  schedule_.save(path);
}

bool MainWindow::mayLeaveSchedule() {
  if (!schedule_.dirty()) return true;
  QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
                  tr("%1 has changes that are not saved.").arg(schedule_.displayName()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  const int answer = box.exec();
  if (answer == QMessageBox::Save) saveSchedule(false);
  return answer == QMessageBox::Discard;
}

void MainWindow::updateScheduleStatus() {
  const auto state = schedule_.state();
  if (schedule_.checking()) {
    state_->setState(Mark::running, tr("Checking"));
  } else if (!state) {
    state_->setState(Mark::none, tr("No schedule is open"));
  } else if (state->report.verdict == schedule::Safety::safe) {
    state_->setState(Mark::proved, tr("Safe. %1").arg(qs(schedule::assumptions())));
  } else {
    QStringList parts;
    if (!state->faults.empty())
      parts << counted(static_cast<qint64>(state->faults.size()), tr("fault"), tr("faults"));
    if (!state->report.findings.empty())
      parts << counted(static_cast<qint64>(state->report.findings.size()), tr("finding"), tr("findings"));
    parts << tr("checked in %1").arg(duration(state->report.seconds));
    state_->setState(markOf(state->report.verdict), parts.join(QStringLiteral(", ")));
  }
}

}  // namespace nuscope::views
