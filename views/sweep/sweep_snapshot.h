#pragma once
// What the sweep views show: one sweep at one moment, immutable. Built from the events of a running sweep or
// read from a study; kept by Document::setSweep. Rows are shared between successive snapshots, so that a new
// one for 30,000 candidates costs a vector of pointers.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sweep/study.h"

namespace nuscope::views {

struct SweepRow {
  sweep::CandidateRecord candidate;
  std::optional<sweep::Measurement> measurement;
};
using SweepRowRef = std::shared_ptr<const SweepRow>;

struct SweepSnapshot {
  std::shared_ptr<sweep::Study> study;  ///< holds the whole sweep; saving a document is saveCopy of it
  sweep::SweepRecord record;
  std::vector<SweepRowRef> rows;  ///< emitted and foreign kernels, fastest first, then by modelled time
  std::vector<SweepRowRef> baselines;
  sweep::CandidateCounts counts;
  std::vector<std::pair<double, double>> bestSoFar;  ///< seconds since the start, best median in milliseconds
  std::vector<std::string> notes;                    ///< what was cut, reused, restarted
  bool running = false;
  bool cancelled = false;
  double seconds = 0;        ///< of this run so far
  double secondsBudget = 0;  ///< 0: none
  int candidateBudget = 0;   ///< 0: none

  /// The row of a candidate, baselines included; null if there is none.
  [[nodiscard]] SweepRowRef find(std::int64_t candidate) const;
  /// Fastest emitted one that passed the gate; null while there is none. A foreign one is never it.
  [[nodiscard]] SweepRowRef best() const;
};

/// Rows in the order of `rows`.
void sortRows(std::vector<SweepRowRef>& rows, int chosen = -1);

/// The latest sweep of a revision in a study, as it was recorded; null if there is none. Reads only; may take
/// long for large studies: call it in a job. Best-so-far is not recorded and stays empty.
std::shared_ptr<const SweepSnapshot> readSweep(const std::shared_ptr<sweep::Study>& study, int revision);

}  // namespace nuscope::views
