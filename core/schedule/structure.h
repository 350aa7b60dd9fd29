#pragma once
// The rules of a well-formed schedule: ids, references, operations, parameters, capacities. All faults at
// once.
#include "core/schedule/finding.h"
#include "core/schedule/footprint.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {

/// Faults that make a schedule malformed. Empty: later stages may rely on every reference, arity and
/// parameter.
std::vector<Fault> malformations(const Schedule& schedule, const Ids& ids);

}  // namespace nuscope::schedule
