#pragma once
// The exact checker. "Safe" is a promise: under every interleaving that the queues and counters allow, all
// tasks complete, no two conflicting accesses can run at once, and nothing is read before it is written. No
// task cap.
#include <memory>

#include "core/base/progress.h"
#include "core/schedule/clocks.h"
#include "core/schedule/conflicts.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {

/// Undecided: no fault was found, and something that this checker cannot decide (Report::undecided) stands
/// between that and "safe".
enum class Safety : std::uint8_t { safe, unsafe, malformed, undecided };
std::string_view text(Safety safety);

struct CheckOptions {
  ConflictOptions conflicts;
  bool keepClocks = false;  ///< leave the clocks in the report, for a certificate of safety
};

struct Report {
  Safety verdict = Safety::malformed;
  std::vector<Fault> faults;           ///< malformed only
  std::vector<Finding> findings;       ///< unsafe only; in the order of the rules
  std::vector<std::string> undecided;  ///< what is not decided, and why; one sentence each
  std::optional<std::int64_t>
      position;  ///< unsafe, positions as parameters: the smallest position with a finding
  std::map<std::pair<Rule, std::int32_t>, std::int64_t> unlisted;
  std::vector<std::int32_t> order;       ///< a firing order of all tasks, where there is no deadlock
  std::shared_ptr<const Clocks> clocks;  ///< where asked for and there is no deadlock
  std::int32_t chains = 0;
  int sweeps = 0;
  double seconds = 0;
};

/// What every "safe" assumes, in one sentence; shown beside it.
std::string_view assumptions();

/// Throws Cancelled. Thread-safe.
Report check(const Schedule& schedule, const CheckOptions& options, const Progress& progress);

}  // namespace nuscope::schedule
