#pragma once
// Repairs of an unsafe schedule: small edits, each applied and re-checked as a whole before it is offered,
// smallest first.
#include "core/schedule/check.h"

namespace nuscope::schedule {

/// One change of one record, by positions in the lists of the schedule.
struct Edit {
  enum class Kind : std::uint8_t {
    addWait,       ///< task waits for `counter` >= value
    setThreshold,  ///< of the wait at `index` of task, to value
    dropWait,      ///< the wait at `index` of task
    moveBefore,    ///< task moves in the task list to just before `other` (list order is queue order)
    setSm,         ///< of task, to value
    setParam,      ///< integer parameter `key` of task, to value
    ownPage,       ///< buffer gets a page of its own
    dropTask       ///< task is removed
  };
  Kind kind = Kind::addWait;
  std::int32_t task = -1;
  std::int32_t other = -1;
  std::int32_t counter = -1;
  std::int32_t buffer = -1;
  std::size_t index = 0;
  std::int64_t value = 0;
  std::string key = {};
  auto operator<=>(const Edit&) const = default;
};

struct Repair {
  std::vector<Edit> edits;
  std::string text;       ///< for the file: "task 9 (L0.attention) waits for counter 4 to reach 2"
  std::string generator;  ///< for whoever generates the file: "let attention wait for v_append"
  bool makesSafe = false;
  std::size_t repaired = 0;        ///< findings that are gone
  std::vector<Finding> remaining;  ///< findings of the repaired schedule
};

/// What the check says of it: "safe", or "3 findings remain: race (2), uninitialised-read".
std::string outcome(const Repair& repair);

/// Findings that differ only in layer, tile or queue: one row in a table.
struct FindingGroup {
  Rule rule = Rule::deadlock;
  std::string pattern;                ///< "L#.attention reads L#.k_cache early"
  std::vector<std::size_t> findings;  ///< positions in Report::findings
};
std::vector<FindingGroup> groups(const Schedule& schedule, const Report& report);

struct RepairOptions {
  std::optional<std::size_t> only;  ///< a position in Report::findings: repair this one, not the whole group
  std::size_t most = 8;             ///< repairs returned per group
  double secondsLimit = 1.0;        ///< for a group; candidates not tried by then are left out
};

/// Repairs for the findings of one group, applied to all of them. Those that make the schedule safe first,
/// then those that leave least, then the smallest. May be empty. Throws Cancelled.
std::vector<Repair> repairs(const Schedule& schedule, const Report& report, const FindingGroup& group,
                            const RepairOptions& options, const Progress& progress);

/// One repair for all findings: the best repair of each group in turn, re-checked after each, until the
/// schedule is safe or nothing helps. Empty if not even the first step does.
std::optional<Repair> repairAll(const Schedule& schedule, const Report& report, const RepairOptions& options,
                                const Progress& progress);

/// The edits in words: for the file, by task and counter, or for whoever generates it, by kind of task.
std::string editsText(const Schedule& schedule, const std::vector<Edit>& edits, bool generator);
/// The schedule with the edits applied. Precondition: the edits are of this schedule.
Schedule applyEdits(const Schedule& schedule, const std::vector<Edit>& edits);

/// The edits as an RFC 6902 JSON patch of the AutoMegaKernel file.
std::string jsonPatch(const Schedule& schedule, const std::vector<Edit>& edits);

}  // namespace nuscope::schedule
