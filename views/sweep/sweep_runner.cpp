#include "views/sweep/sweep_runner.h"

#include <chrono>
#include <unordered_map>

#include "core/nugraph/nugraph.h"
#include "core/sweep/best_so_far.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

using Clock = std::chrono::steady_clock;

/// Collects the events of a sweep into snapshots. Lives in the sweep's thread.
class Collector {
 public:
  Collector(std::shared_ptr<sweep::Study> study, const SweepSettings& settings) {
    now_.study = std::move(study);
    now_.running = true;
    now_.secondsBudget = settings.seconds;
    now_.candidateBudget = settings.candidates;
  }

  void take(const sweep::SweepEvent& event) {
    now_.seconds = std::max(now_.seconds, event.seconds);
    switch (event.kind) {
      case sweep::SweepEvent::Kind::started:
        for (const sweep::SweepRecord& record : now_.study->sweeps()) {
          if (record.id == event.sweep) now_.record = record;
        }
        break;
      case sweep::SweepEvent::Kind::enumerated:
        readAll(event.sweep);
        break;
      case sweep::SweepEvent::Kind::candidate:
      case sweep::SweepEvent::Kind::baseline:
        put(event);
        break;
      case sweep::SweepEvent::Kind::best:
        put(event);
        if (event.measurement) now_.bestSoFar.emplace_back(event.seconds, event.measurement->median * 1e3);
        break;
      case sweep::SweepEvent::Kind::note:
        now_.notes.push_back(event.text);
        break;
      case sweep::SweepEvent::Kind::finished:
        break;
    }
    if (event.counts.enumerated > 0) now_.counts = event.counts;
  }

  /// True when the last snapshot is old enough.
  [[nodiscard]] bool due() const { return Clock::now() - last_ >= std::chrono::milliseconds(500); }

  std::shared_ptr<const SweepSnapshot> snapshot() {
    last_ = Clock::now();
    if (unsorted_) {
      sortRows(now_.rows, now_.running ? -1 : sweep::chosenBest(now_.record));
      sortRows(now_.baselines);
      reindex();
      unsorted_ = false;
    }
    return std::make_shared<const SweepSnapshot>(now_);
  }

  std::shared_ptr<const SweepSnapshot> finish(const sweep::SweepResult& result) {
    now_.running = false;
    now_.cancelled = result.cancelled;
    now_.seconds = result.seconds;
    now_.counts = result.counts;
    now_.notes = result.notes;
    if (result.best) {
      now_.record.environment[sweep::bestKey] = std::to_string(result.best->id);
      now_.record.state = sweep::SweepState::finished;
      unsorted_ = true;
    }
    return snapshot();
  }
  std::shared_ptr<const SweepSnapshot> abandon() {
    now_.running = false;
    now_.cancelled = true;
    return snapshot();
  }

 private:
  void readAll(int sweepId) {
    now_.rows.clear();
    now_.baselines.clear();
    for (sweep::CandidateRecord& candidate : now_.study->candidates(sweepId)) {
      auto row = std::make_shared<SweepRow>();
      if (candidate.measurement) row->measurement = now_.study->measurement(*candidate.measurement);
      row->candidate = std::move(candidate);
      listOf(row->candidate).push_back(std::move(row));
    }
    reindex();
    unsorted_ = true;
  }

  std::vector<SweepRowRef>& listOf(const sweep::CandidateRecord& candidate) {
    return candidate.kind == sweep::CandidateKind::baseline ? now_.baselines : now_.rows;
  }

  void reindex() {
    index_.clear();
    for (const auto* list : {&now_.rows, &now_.baselines}) {
      for (std::size_t i = 0; i < list->size(); ++i) index_[(*list)[i]->candidate.id] = i;
    }
  }

  void put(const sweep::SweepEvent& event) {
    if (event.candidate.id == 0) return;
    auto row = std::make_shared<SweepRow>();
    row->candidate = event.candidate;
    row->measurement = event.measurement;
    auto& list = listOf(event.candidate);
    const auto found = index_.find(event.candidate.id);
    if (found != index_.end()) {
      if (!row->measurement) row->measurement = list[found->second]->measurement;
      list[found->second] = std::move(row);
    } else {
      index_[event.candidate.id] = list.size();
      list.push_back(std::move(row));
    }
    unsorted_ = true;
  }

  SweepSnapshot now_;
  std::unordered_map<int, std::size_t> index_;
  Clock::time_point last_{};
  bool unsorted_ = true;
};

}  // namespace

SweepRunner::SweepRunner(Document& document, Jobs& jobs, QObject* parent)
    : QObject(parent), document_(document), jobs_(jobs) {}

bool SweepRunner::running() const {
  return jobs_.current(QStringLiteral("sweep")) != nullptr;
}

QString SweepRunner::obstacle() const {
  if (document_.text().trimmed().isEmpty()) return tr("There is no program yet: open one, or type it.");
  if (!document_.program()) return tr("The program has errors: put them right first.");
  if (!document_.nuGraph()) return tr("Explore the program first (F5): a sweep measures its variants.");
  if (!document_.upToDate()) return tr("The text was edited since it was explored. Explore it again (F5).");
  if (!document_.study() || document_.revision() == 0) return tr("The variants are still being stored.");
  if (const QString why = document_.readOnlyReason(); !why.isEmpty()) {
    return tr("%1 Save the study under another name to sweep.").arg(why);
  }
  for (const std::string& dimension : document_.program()->dimensions) {
    if (!document_.extents().contains(dimension)) return tr("Dimension %1 has no extent.").arg(qs(dimension));
  }
  return {};
}

void SweepRunner::start(const SweepSettings& settings, bool resume) {
  if (const QString why = obstacle(); !why.isEmpty()) {
    Q_EMIT failed(why);
    return;
  }
  const auto graph = document_.nuGraph();
  const std::shared_ptr<sweep::Study> study = document_.study();
  const int revision = document_.revision();
  sweep::SweepOptions options;
  options.extents = document_.extents();
  options.secondsBudget = settings.exhaustive ? 0 : settings.seconds;
  options.exhaustive = settings.exhaustive;
  options.threads = settings.threads;
  options.resume = resume;
  options.python = settings.python;
  options.candidateBudget = settings.candidates;
  options.against = settings.against;
  Job* job = jobs_.run(
      this, {.title = tr("Sweep %1").arg(document_.programName()), .lane = QStringLiteral("sweep")},
      [this, graph, study, revision, options, settings](JobHandle& handle) {
        Collector collector(study, settings);
        const auto publish = [&](std::shared_ptr<const SweepSnapshot> snapshot) {
          handle.publish([this, snapshot = std::move(snapshot)] { document_.setSweep(snapshot); });
        };
        const auto onEvent = [&](const sweep::SweepEvent& event) {
          collector.take(event);
          if (event.kind == sweep::SweepEvent::Kind::enumerated || collector.due())
            publish(collector.snapshot());
        };
        try {
          const sweep::SweepResult result =
              sweep::runSweep(*study, revision, *graph, options, handle.progress(), onEvent);
          return collector.finish(result);
        } catch (const Cancelled&) {
          return collector.abandon();
        }
      },
      [this](std::shared_ptr<const SweepSnapshot> snapshot) { document_.setSweep(std::move(snapshot)); });
  connect(job, &Job::ended, this, [this] {
    // A cancelled job delivers nothing: what the study has by now is the result.
    const auto last = document_.sweep();
    if (last && last->running) {
      auto stopped = std::make_shared<SweepSnapshot>(*last);
      stopped->running = false;
      stopped->cancelled = true;
      document_.setSweep(std::move(stopped));
    }
    Q_EMIT ended();
  });
  connect(job, &Job::failed, this, &SweepRunner::failed);
  Q_EMIT started();
}

void SweepRunner::raceAgainst(sweep::ForeignKernel kernel) {
  SweepSettings settings;
  settings.seconds = 0;
  settings.candidates = 1;  // the sweep that is continued has tried as many
  if (const auto last = document_.sweep()) settings.threads = last->record.threads;
  settings.against.push_back(std::move(kernel));
  start(settings, true);
}

void SweepRunner::cancel() {
  jobs_.cancel(QStringLiteral("sweep"));
}

QString sweepCommand(const QString& file, const tensor::Extents& extents, const SweepSettings& settings) {
  QStringList parts{QStringLiteral("nuscope sweep"), file, QStringLiteral("--device host")};
  if (!extents.empty()) parts << QStringLiteral("--shape ") + qs(sweep::extentsText(extents));
  if (settings.exhaustive) {
    parts << QStringLiteral("--exhaustive");
  } else if (settings.seconds > 0) {
    parts << QStringLiteral("--budget %1s").arg(settings.seconds);
  }
  parts << QStringLiteral("--threads %1").arg(settings.threads);
  return parts.join(QLatin1Char(' '));
}

}  // namespace nuscope::views

#include "moc_sweep_runner.cpp"
