#pragma once
// Ground truth by brute force: every interleaving of starts and completions of a small schedule, element by
// element, for every rule of an unsafe schedule (cases/schedules/README.md). Shares nothing with the checker
// but the records of the IR.
#include <set>
#include <string>

#include "core/schedule/check.h"

namespace nuscope::schedule::testing {

struct Truth {
  std::set<std::string> rules;  ///< codes that must be reported; empty: safe
  std::set<std::string> also;   ///< codes that hold too but are mere consequences; they may be reported
};
/// Only for well-formed schedules of at most 12 tasks, storages of at most 64 elements and at most 64
/// elements of buffers on pages. Buffers on pages have no aliases.
Truth explore(const Schedule& schedule);

/// The codes of a report's findings.
std::set<std::string> codesOf(const Report& report);
/// What a report lacks or has too much against the truth, in words; empty: nothing.
std::string disagreement(const Report& report, const Truth& truth);

}  // namespace nuscope::schedule::testing
