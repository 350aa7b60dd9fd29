#pragma once
// Races, early reads, clobbered pages and incomplete outputs of a live schedule, from footprints and clocks.
//
// Each storage (a buffer with its aliases) is cut into the elementary segments of all regions that touch it.
// In one segment every two accesses overlap, so that a list in firing order is free of races iff neighbours
// are ordered: each write after the write before it and after all reads since, each read after the last
// write. Only where a neighbour is not ordered are pairs looked at one by one.
#include <map>
#include <vector>

#include "core/base/progress.h"
#include "core/schedule/clocks.h"
#include "core/schedule/finding.h"

namespace nuscope::schedule {

struct ConflictOptions {
  std::size_t listedPerBuffer = 24;  ///< findings listed per code and buffer; the rest is counted
};

struct Conflicts {
  std::vector<Finding> findings;
  /// Findings beyond those listed, per (rule, buffer position).
  std::map<std::pair<Rule, std::int32_t>, std::int64_t> unlisted;
};

Conflicts conflicts(const Schedule& schedule, const Ids& ids, const Model& model,
                    const Footprints& footprints, const std::vector<std::int32_t>& order,
                    const Clocks& clocks, const ConflictOptions& options, const Progress& progress);

}  // namespace nuscope::schedule
