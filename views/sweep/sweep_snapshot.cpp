#include "views/sweep/sweep_snapshot.h"

#include <algorithm>
#include <limits>

#include "core/sweep/best_so_far.h"

namespace nuscope::views {

namespace {

bool passed(const SweepRow& row) {
  return row.candidate.state == sweep::CandidateState::measured && row.measurement.has_value();
}

}  // namespace

SweepRowRef SweepSnapshot::find(std::int64_t candidate) const {
  for (const auto* list : {&rows, &baselines}) {
    for (const SweepRowRef& row : *list) {
      if (row->candidate.id == candidate) return row;
    }
  }
  return nullptr;
}

SweepRowRef SweepSnapshot::best() const {
  const int chosen = running ? -1 : sweep::chosenBest(record);
  SweepRowRef found;
  for (const SweepRowRef& row : rows) {
    if (row->candidate.id == chosen && passed(*row)) return row;
    if (row->candidate.kind == sweep::CandidateKind::emitted && passed(*row) &&
        (!found || row->measurement->median < found->measurement->median))
      found = row;
  }
  return found;
}

void sortRows(std::vector<SweepRowRef>& rows, int chosen) {
  // The chosen one, then the measured by time, then by the model's time, unmodelled last; ids keep it stable.
  const auto key = [chosen](const SweepRow& row) {
    const bool measured = passed(row);
    const double modelled = row.candidate.modelledSeconds > 0 ? row.candidate.modelledSeconds
                                                              : std::numeric_limits<double>::infinity();
    return std::tuple(!measured                    ? 2
                      : row.candidate.id == chosen ? 0
                                                   : 1,
                      measured ? row.measurement->median : modelled, row.candidate.id);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const SweepRowRef& a, const SweepRowRef& b) { return key(*a) < key(*b); });
}

std::shared_ptr<const SweepSnapshot> readSweep(const std::shared_ptr<sweep::Study>& study, int revision) {
  std::optional<sweep::SweepRecord> latest;
  for (const sweep::SweepRecord& record : study->sweeps()) {
    if (record.revision == revision && (!latest || record.id > latest->id)) latest = record;
  }
  if (!latest) return nullptr;
  auto snapshot = std::make_shared<SweepSnapshot>();
  snapshot->study = study;
  snapshot->record = *latest;
  snapshot->cancelled = latest->state != sweep::SweepState::finished;
  snapshot->counts = study->counts(latest->id);
  snapshot->seconds = sweep::secondsOf(*latest);
  for (const auto& [seconds, median] : sweep::bestSoFar(*latest))
    snapshot->bestSoFar.emplace_back(seconds, median * 1e3);
  for (sweep::CandidateRecord& candidate : study->candidates(latest->id)) {
    auto row = std::make_shared<SweepRow>();
    if (candidate.measurement) row->measurement = study->measurement(*candidate.measurement);
    row->candidate = std::move(candidate);
    (row->candidate.kind == sweep::CandidateKind::baseline ? snapshot->baselines : snapshot->rows)
        .push_back(std::move(row));
  }
  sortRows(snapshot->rows, sweep::chosenBest(*latest));
  sortRows(snapshot->baselines);
  return snapshot;
}

}  // namespace nuscope::views
