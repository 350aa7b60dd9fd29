// What is asked of the open schedule beyond its check: waits that nobody needs, hang dumps, its modelled run
// for other programs.
#include <QFileInfo>

#include "core/schedule/export.h"
#include "core/schedule/timing.h"
#include "views/jobs.h"
#include "views/schedule/schedule_document.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

constexpr double secondsForWaits = 10;
const QString waitsLane = QStringLiteral("schedule.waits");
const QString hangLane = QStringLiteral("schedule.hang");

template <class T>
T orThrow(Result<T> result) {
  if (!result) {
    const Refusal& why = result.refusal();
    throw UserError(why.hint.empty() ? why.message : why.message + ": " + why.hint);
  }
  return std::move(result).value();
}

/// On the schedule's own target, or where it names none, on an H100.
schedule::TimingTarget targetOf(const schedule::Schedule& schedule) {
  auto own = schedule::timingTarget("file", schedule);
  return own ? *own : orThrow(schedule::timingTarget("h100", schedule));
}

std::vector<schedule::WaitNote> redundantOf(const schedule::WaitNotes& notes) {
  std::vector<schedule::WaitNote> result;
  for (const auto& note : notes.notes) {
    if (note.kind == schedule::WaitNote::Kind::redundant) result.push_back(note);
  }
  return result;
}

}  // namespace

// Waits

void ScheduleDocument::seekWaits() {
  const State now = shown();
  if (!now || now->report.verdict != schedule::Safety::safe) return;
  Job* job = jobs_.run(
      this, {.title = tr("Look for waits that nobody needs"), .lane = waitsLane},
      [now](JobHandle& handle) {
        WaitAdvice advice;
        advice.of = now;
        const auto analysis = orThrow(schedule::Analysis::of(now->schedule, handle.progress()));
        advice.notes = schedule::waitNotes(*analysis, secondsForWaits, handle.progress());
        const auto redundant = redundantOf(advice.notes);
        advice.redundant = static_cast<std::int64_t>(redundant.size());
        if (redundant.empty()) return advice;
        const auto gain =
            schedule::gainOfDropping(*analysis, redundant, targetOf(*now->schedule), handle.progress());
        if (gain) {
          advice.gain = *gain;
        } else {
          advice.refusal = qs(gain.refusal().message);
        }
        return advice;
      },
      [this](WaitAdvice advice) { advice_ = std::move(advice); });
  connect(job, &Job::ended, this, &ScheduleDocument::waitsChanged);
  Q_EMIT waitsChanged();
}

bool ScheduleDocument::seekingWaits() const {
  return jobs_.current(waitsLane) != nullptr;
}

const WaitAdvice* ScheduleDocument::waitAdvice() const {
  return advice_ && advice_->of == shown() ? &*advice_ : nullptr;
}

void ScheduleDocument::dropRedundantWaits() {
  const WaitAdvice* advice = waitAdvice();
  if (advice == nullptr || advice->redundant == 0 || advice->of != versions_[at_] || preview_) return;
  std::vector<schedule::Edit> edits;
  for (const auto& note : redundantOf(advice->notes))
    edits.push_back({.kind = schedule::Edit::Kind::dropWait, .task = note.task, .index = note.wait});
  adoptEdits(std::move(edits),
             tr("dropped %1").arg(counted(advice->redundant, tr("redundant wait"), tr("redundant waits"))));
}

// Hang dumps

void ScheduleDocument::openDump(const QString& path) {
  const State now = shown();
  if (!now) return;
  Job* job = jobs_.run(
      this, {.title = tr("Explain %1").arg(QFileInfo(path).fileName()), .lane = hangLane},
      [now, path](JobHandle&) {
        Hang made;
        made.of = now;
        made.path = path;
        made.dump = orThrow(schedule::parseHangDump(*readFile(path)));
        made.why = orThrow(schedule::explainHang(*now->schedule, made.dump));
        return made;
      },
      [this](Hang made) {
        hang_ = std::move(made);
        Q_EMIT hangChanged();
      });
  connect(job, &Job::failed, this, [this, path](const QString& why) {
    Q_EMIT openFailed(tr("%1 could not be explained: %2").arg(QFileInfo(path).fileName(), why));
  });
}

void ScheduleDocument::closeDump() {
  if (!hang_) return;
  hang_.reset();
  Q_EMIT hangChanged();
}

// The modelled run

void ScheduleDocument::exportTrace(const QString& path) {
  const State now = shown();
  if (!now) return;
  Job* job = jobs_.run(
      this,
      {.title = tr("Write %1").arg(QFileInfo(path).fileName()), .lane = QStringLiteral("schedule.trace")},
      [now, path](JobHandle& handle) {
        const auto analysis = orThrow(schedule::Analysis::of(now->schedule, handle.progress()));
        const auto timing =
            orThrow(schedule::modelTime(*analysis, targetOf(*now->schedule), handle.progress()));
        writeFile(path, schedule::chromeTrace(*now->schedule, timing));
        return tr("%1 holds the run as modelled on %2: %3. Open it in ui.perfetto.dev or chrome://tracing.")
            .arg(QFileInfo(path).fileName(), qs(timing.target.name), duration(timing.makespan));
      },
      [this](const QString& words) { Q_EMIT traceWritten(words); });
  connect(job, &Job::failed, this, &ScheduleDocument::saveFailed);
}

}  // namespace nuscope::views
