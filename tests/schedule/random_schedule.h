#pragma once
// Small random well-formed programs: shared counters, partial thresholds, tiles, queues in half of them.
#include <random>

#include "core/schedule/ir.h"

namespace nuscope::schedule::testing {

Schedule randomSchedule(std::mt19937_64& rng);

}  // namespace nuscope::schedule::testing
