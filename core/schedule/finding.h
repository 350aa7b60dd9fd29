#pragma once
// What a check reports: rule codes, severities, and certificates that others can confirm.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope::schedule {

// X(enumerator, code, malformed)
#define NUSCOPE_RULES(X)                            \
  X(danglingReference, "dangling-reference", true)  \
  X(duplicateId, "duplicate-id", true)              \
  X(unknownOp, "unknown-op", true)                  \
  X(arity, "arity", true)                           \
  X(missingParameter, "missing-parameter", true)    \
  X(parameterType, "parameter-type", true)          \
  X(capacity, "capacity", true)                     \
  X(rank, "rank", true)                             \
  X(badThreshold, "bad-threshold", true)            \
  X(counterInit, "counter-init", true)              \
  X(unsatisfiableWait, "unsatisfiable-wait", false) \
  X(deadlock, "deadlock", false)                    \
  X(race, "race", false)                            \
  X(uninitialisedRead, "uninitialised-read", false) \
  X(outOfBounds, "out-of-bounds", false)            \
  X(readOnlyWrite, "read-only-write", false)        \
  X(pageCapacity, "page-capacity", false)           \
  X(pageClobber, "page-clobber", false)             \
  X(onChipLocality, "on-chip-locality", false)      \
  X(outputIncomplete, "output-incomplete", false)   \
  X(badPlacement, "bad-placement", false)

#define X(name, code, malformed) name,
enum class Rule : std::uint8_t { NUSCOPE_RULES(X) };
#undef X

std::string_view code(Rule rule);
std::optional<Rule> parseRule(std::string_view code);
bool isMalformed(Rule rule);

enum class Level : std::uint8_t { error, note };  ///< an error decides the verdict; a note is no finding

/// One fault of a well-formed schedule, by positions in the lists of the schedule. What a field means is said
/// per rule in cases/schedules/README.md; -1 where it does not apply.
struct Finding {
  Rule rule = Rule::deadlock;
  Level level = Level::error;
  std::int32_t task = -1;         ///< the reader, the writer, the stuck task, the first of a pair
  std::int32_t other = -1;        ///< the second task of a pair
  std::int32_t buffer = -1;       ///< of `task`
  std::int32_t otherBuffer = -1;  ///< of `other`, where it differs
  std::int64_t element = -1;      ///< row-major position in `buffer` of the first element concerned
  bool unordered = false;         ///< `task` and `other` can run at once (race; page-clobber by a race)
  std::vector<std::int32_t>
      cycle;  ///< deadlock: each waits for the next, the last for the first; empty: see `task`
  std::vector<std::int32_t> stuck;  ///< deadlock: tasks that never complete
  /// Certificate of a race, an early read or a clobber: complete these in this order, then `task` (and
  /// `other`) can start.
  std::vector<std::int32_t> firing;
  std::string message;  ///< one sentence with names
};

}  // namespace nuscope::schedule
