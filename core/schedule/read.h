#pragma once
// Reading and writing schedule files. Files are untrusted: every fault is reported with its place, memory
// stays within a small multiple of the file, nesting is bounded.
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// A fault of a file. `code` is a rule code of a malformed schedule ("bad-threshold"), or "load" when the
/// text is no JSON or a record has the wrong shape.
struct Fault {
  std::string code;
  std::string message;  ///< one sentence: which record, what is wrong
  Place place;          ///< in the file; 0, 0 if unknown
  std::string where;    ///< "line 12, column 7"; empty if unknown
};

struct ReadResult {
  std::optional<Schedule> schedule;  ///< present iff no "load" fault
  std::vector<Fault> faults;         ///< at most 100, then one that counts the rest
};

/// AutoMegaKernel JSON 0.x.
ReadResult readAmk(std::string_view text);
/// Writes what `readAmk` read, equal as a JSON value: unknown keys and the texts of numbers are kept.
std::string writeAmk(const Schedule& schedule);

}  // namespace nuscope::schedule
