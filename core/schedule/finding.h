#pragma once
// What a check reports: rule codes, severities, and certificates that others can confirm.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope::schedule {

// X(enumerator, code, malformed)
#define NUSCOPE_RULES(X)                                     \
  X(danglingReference, "dangling-reference", true)           \
  X(duplicateId, "duplicate-id", true)                       \
  X(unknownOp, "unknown-op", true)                           \
  X(arity, "arity", true)                                    \
  X(missingParameter, "missing-parameter", true)             \
  X(parameterType, "parameter-type", true)                   \
  X(capacity, "capacity", true)                              \
  X(rank, "rank", true)                                      \
  X(badThreshold, "bad-threshold", true)                     \
  X(counterInit, "counter-init", true)                       \
  X(unsatisfiableWait, "unsatisfiable-wait", false)          \
  X(deadlock, "deadlock", false)                             \
  X(race, "race", false)                                     \
  X(uninitialisedRead, "uninitialised-read", false)          \
  X(outOfBounds, "out-of-bounds", false)                     \
  X(readOnlyWrite, "read-only-write", false)                 \
  X(pageCapacity, "page-capacity", false)                    \
  X(pageClobber, "page-clobber", false)                      \
  X(onChipLocality, "on-chip-locality", false)               \
  X(outputIncomplete, "output-incomplete", false)            \
  X(badPlacement, "bad-placement", false)

#define X(name, code, malformed) name,
enum class Rule : std::uint8_t { NUSCOPE_RULES(X) };
#undef X

std::string_view code(Rule rule);
std::optional<Rule> parseRule(std::string_view code);
bool isMalformed(Rule rule);

}  // namespace nuscope::schedule
