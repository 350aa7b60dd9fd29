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
  std::string message;      ///< one sentence: which record, what is wrong
  Place place;              ///< in the file; 0, 0 if unknown
  std::string where;        ///< "line 12, column 7"; empty if unknown
  bool amkAccepts = false;  ///< AutoMegaKernel's reader and validator let this pass (amk_verdict.h)
};

struct ReadResult {
  std::optional<Schedule> schedule;  ///< present iff no "load" fault
  std::vector<Fault> faults;         ///< at most 100, then one that says that there are more
  /// What AutoMegaKernel sees where its reader is less strict: extents that are no extents count as 1.
  /// Present where `schedule` is not and all "load" faults are of that kind.
  std::optional<Schedule> lenient;
};

/// Any format, told by the root keys: "all_tasks" is Mirage's task_graph.json, "format": "nuscope-schedule"
/// our own form, else AutoMegaKernel's.
ReadResult readSchedule(std::string_view text);
/// Our own form, version 1 (resources/schedules/README.md and schedule.schema.json).
ReadResult readNuscope(std::string_view text);
/// Any schedule in our own form; positions stay parameters.
std::string writeNuscope(const Schedule& schedule);
/// Mirage's task_graph.json (mirage_read.cpp says what maps to what). What cannot be mapped is a "load"
/// fault.
ReadResult readMirage(std::string_view text);
/// In the format it was read from; Mirage's is written in our own form.
std::string writeSchedule(const Schedule& schedule);
/// AutoMegaKernel JSON 0.x.
ReadResult readAmk(std::string_view text);
/// Writes what `readAmk` read, equal as a JSON value: unknown keys and the texts of numbers are kept.
std::string writeAmk(const Schedule& schedule);

}  // namespace nuscope::schedule
