#pragma once
// Small random well-formed programs.
#include <random>

#include "core/schedule/ir.h"

namespace nuscope::schedule::testing {

/// Shared counters, partial thresholds, tiles, queues in half of them; rows of four columns only.
Schedule randomSchedule(std::mt19937_64& rng);

/// Every operation with a footprint of its own, declared rectangles, several counters a task, caches of two
/// and of four axes, twins and aliases, pages, on-chip buffers, outputs, now and then a tile that leaves its
/// buffer, a write to what is read-only or an SM that does not exist. Most conflicts are waited for.
Schedule randomMemorySchedule(std::mt19937_64& rng);

}  // namespace nuscope::schedule::testing
