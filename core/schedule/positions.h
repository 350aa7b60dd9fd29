#pragma once
// Run-time positions as parameters. The order of two bounds that are affine in the position changes at one
// place only, so that a schedule need be looked at once between any two such places to know it for all
// positions.
#include <optional>
#include <vector>

#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// Evaluates every region that depends on the position. Precondition: within the schedule's range.
void setPosition(Schedule& schedule, std::int64_t position);

/// The first position of each stretch within which every comparison of regions has one outcome; ascending,
/// the first is the start of the range. Empty if there are more than `most`.
std::optional<std::vector<std::int64_t>> stretches(const Schedule& schedule, std::size_t most);

}  // namespace nuscope::schedule
