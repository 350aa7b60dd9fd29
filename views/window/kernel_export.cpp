#include "views/window/kernel_export.h"

#include <QDir>
#include <QFileInfo>

#include "core/export/export.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

QString tr(const char* text) {
  return QString::fromUtf8(text);
}

}  // namespace

QString exportObstacle(const Document& document) {
  const auto snapshot = document.sweep();
  if (!snapshot || !snapshot->study)
    return tr("Sweep the program first (F9): a kernel that was measured is exported.");
  if (!snapshot->best()) return tr("No candidate passed the gate yet.");
  if (snapshot->running) return tr("The sweep is still running: wait for its end, or cancel it.");
  return {};
}

void exportKernel(const ViewContext& context, QObject* owner, const QString& folder,
                  const std::function<void(Mark, const QString&)>& say) {
  if (const QString why = exportObstacle(context.document); !why.isEmpty()) return say(Mark::warning, why);
  const auto snapshot = context.document.sweep();
  const SweepRowRef chosen = snapshot->find(context.selection.place().candidate);
  exporting::Request request;
  request.candidates.push_back((chosen ? chosen : snapshot->best())->candidate.id);
  request.solvers = context.document.solvers();
  request.studyName = context.document.displayName().toStdString();
  Job* job = context.jobs.run(
      owner, {.title = tr("Export kernel"), .lane = QStringLiteral("export")},
      [study = snapshot->study, request, folder](JobHandle& handle) {
        exporting::Folder made = exporting::makeFolder(*study, request, handle.progress());
        exporting::writeFolder(made, folder.toStdString());
        return made.notes;
      },
      [say, folder](const std::vector<std::string>& notes) {
        QStringList lines{tr("The kernel was exported to %1.").arg(QDir::toNativeSeparators(folder))};
        for (const std::string& note : notes) lines << qs(note) + QLatin1Char('.');
        say(notes.empty() ? Mark::proved : Mark::warning, lines.join(QLatin1Char(' ')));
      });
  QObject::connect(job, &Job::failed, owner, [say](const QString& why) {
    say(Mark::refuted, tr("Nothing was exported. %1").arg(why));
  });
}

}  // namespace nuscope::views
