#pragma once
// Ground truth by brute force: every interleaving of starts and completions of a small schedule, element by
// element. Shares nothing with the checker but the records of the IR.
#include <set>
#include <string>

#include "core/schedule/ir.h"

namespace nuscope::schedule::testing {

/// Codes that hold: deadlock, race, uninitialised-read, unsatisfiable-wait. Only for schedules of at most 12
/// tasks that use COPY, GELU, ADD, GEMV_TILE and NOP over buffers of rank 2, without pages and aliases.
std::set<std::string> explore(const Schedule& schedule);

}  // namespace nuscope::schedule::testing
