#pragma once
// Races, early reads, clobbered pages and incomplete outputs of a live schedule, from footprints and clocks.
//
// Each storage (a buffer with its aliases) is one RegionTree, to which its accesses are added in firing
// order. An access that comes after all it conflicts with, and reads only what was written by then, needs no
// second look; only for the others pairs and elements are looked at one by one.
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/schedule/clocks.h"
#include "core/schedule/finding.h"

namespace nuscope::schedule {

struct ConflictOptions {
  std::size_t listedPerBuffer = 24;  ///< findings listed per code and buffer; the rest is counted
  const std::vector<char>* only =
      nullptr;                       ///< per buffer: storages (smallest position) to look at; null: all
  std::size_t listedPerRule = 4096;  ///< findings listed per code
  std::size_t runsPerRule = 24;      ///< findings that get their run (Finding::firing) at once; see withRun
};

struct Conflicts {
  std::vector<Finding> findings;
  /// Findings beyond those listed, per (rule, buffer position); a lower bound above a million comparisons.
  std::map<std::pair<Rule, std::int32_t>, std::int64_t> unlisted;
  std::vector<std::string> undecided;  ///< storages whose regions are too many to compare
};

Conflicts conflicts(const Schedule& schedule, const Ids& ids, const Model& model,
                    const Footprints& footprints, const std::vector<std::int32_t>& order,
                    const Clocks& clocks, const ConflictOptions& options, const Progress& progress);

/// Outputs with an element that no task writes; needs no run.
std::vector<Finding> incompleteOutputs(const Schedule& schedule, const Footprints& footprints);

}  // namespace nuscope::schedule
