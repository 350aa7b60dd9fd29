// Our own form: declared regions, several counters a task, positions as parameters; every fault with its
// place.
#include <gtest/gtest.h>

#include "core/schedule/check.h"
#include "core/schedule/positions.h"
#include "core/schedule/read.h"
#include "core/schedule/transform.h"

namespace nuscope::schedule {
namespace {

/// One cache row is appended at pos, and a window up to it is read.
std::string decode(const char* appended, const char* window, const char* positions, bool wait = true) {
  return std::string(R"({"format": "nuscope-schedule", "version": 1, "positions": )") + positions + R"(,
 "buffers": [{"id": 0, "name": "kv", "kind": "KV_CACHE", "dtype": "F16", "shape": [64, 4]},
             {"id": 1, "name": "out", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [1, 4]},
             {"id": 2, "name": "x", "kind": "IO_INPUT", "dtype": "F32", "shape": [1, 4]}],
 "counters": [{"id": 0}, {"id": 1}],
 "tasks": [
  {"id": 0, "op": "APPEND", "reads": [{"buffer": 2}], "writes": [{"buffer": 0, "region": [)" +
         appended + R"(, [0, 4]]}], "signals": [0, 1]},
  {"id": 1, "op": "ATTEND", "reads": [{"buffer": 0, "region": [)" +
         window + R"(, [0, 4]]}], "writes": [{"buffer": 1}],
   "waits": [)" +
         (wait ? R"({"counter": 1, "threshold": 1})" : "") + "]}]}";
}

Report checked(const std::string& text) {
  const ReadResult read = readSchedule(text);
  EXPECT_TRUE(read.schedule && read.faults.empty()) << (read.faults.empty() ? "" : read.faults[0].message);
  return check(*read.schedule, {}, Progress());
}

const char* range = R"({"from": 0, "to": 64})";

TEST(OwnForm, PositionsAreProvedForTheWholeRange) {
  EXPECT_EQ(checked(decode(R"(["pos", "pos + 1"])", R"([0, "pos + 1"])", range)).verdict, Safety::safe);
  // Without the wait it races at every position.
  const Report racy = checked(decode(R"(["pos", "pos + 1"])", R"([0, "pos + 1"])", range, false));
  EXPECT_EQ(racy.verdict, Safety::unsafe);
  EXPECT_EQ(racy.position, 0);
}

TEST(OwnForm, TheSmallestBadPositionIsNamed) {
  // Brute force over every position agrees about each of these.
  struct Try {
    const char* appended;
    const char* window;
    std::int64_t bad;  // -1: none
  };
  for (const Try& t : {Try{R"(["pos", "pos + 1"])", R"([0, "pos + 2"])", 0},
                       Try{R"(["pos", "pos + 1"])", R"x([0, "min(pos + 1, 32)"])x", -1},
                       Try{R"(["pos", "pos + 1"])", R"x(["max(0, pos - 7)", "pos + 1"])x", -1},
                       Try{R"(["pos", "pos + 1"])", R"(["pos - 7", "pos + 1"])", 0},
                       Try{R"(["pos", "pos + 2"])", R"([0, "pos + 1"])", 63},
                       Try{R"(["2*pos", "2*pos + 1"])", R"([0, "pos + 1"])", 32},
                       Try{R"(["pos", "pos + 1"])", R"x([0, "max(pos + 1, 10)"])x", 0}}) {
    const std::string text = decode(t.appended, t.window, range);
    const Report report = checked(text);
    const ReadResult read = readSchedule(text);
    std::int64_t first = -1;
    for (std::int64_t p = 0; p < 64 && first < 0; ++p) {
      if (check(*atPosition(*read.schedule, p), {}, Progress()).verdict != Safety::safe) first = p;
    }
    EXPECT_EQ(first, t.bad) << t.window;
    EXPECT_EQ(report.position.value_or(-1), first) << t.appended << " " << t.window;
    EXPECT_EQ(report.verdict == Safety::safe, first < 0);
  }
}

TEST(OwnForm, WrittenAndReadBack) {
  const std::string text = decode(R"(["pos", "pos + 1"])", R"x([0, "min(pos + 1, 32)"])x", range);
  const std::string once = writeSchedule(*readSchedule(text).schedule);
  EXPECT_EQ(writeSchedule(*readSchedule(once).schedule), once);
  EXPECT_NE(once.find("\"min(pos + 1, 32)\""), std::string::npos) << once;
  EXPECT_NE(once.find("\"signals\": [0, 1]"), std::string::npos);
}

TEST(OwnForm, EveryFaultHasItsPlace) {
  const auto fault = [](const std::string& text) {
    const ReadResult read = readSchedule(text);
    if (!read.faults.empty()) return read.faults[0].message + " @" + read.faults[0].where;
    const Report report = check(*read.schedule, {}, Progress());
    return report.faults.empty() ? std::string("none") : report.faults[0].message;
  };
  EXPECT_NE(fault(decode(R"(["pos", "pos ^ 1"])", "[0, 1]", range)).find("is no range of an axis"),
            std::string::npos);
  EXPECT_NE(fault(decode(R"(["pos"])", "[0, 1]", range)).find("is no range of an axis"), std::string::npos);
  EXPECT_NE(fault(decode("[0, 1]", "[0, 1]", R"({"from": 9, "to": 3})")).find("0 <= from < to"),
            std::string::npos);
  EXPECT_NE(fault(decode(R"(["9999999999999999*pos", 1])", "[0, 1]", range)).find("is no range"),
            std::string::npos);
  EXPECT_NE(
      fault(R"({"format": "nuscope-schedule", "version": 2, "buffers": [], "counters": [], "tasks": []})")
          .find("only 1 is known"),
      std::string::npos);
  EXPECT_NE(fault(R"({"format": "nuscope-schedule", "version": 1, "buffers": [], "counters": [],
 "tasks": [{"id": 0, "op": "MINE"}]})")
                .find("declare what it 'reads' and 'writes' @line 2"),
            std::string::npos);
  EXPECT_NE(fault(R"({"format": "nuscope-schedule", "version": 1, "counters": [{"id": 4}],
 "buffers": [{"id": 0, "name": "x", "kind": "ACTIVATION", "dtype": "F32", "shape": [2, 2]}],
 "tasks": [{"id": 0, "op": "MINE", "writes": [{"buffer": 0, "region": [[0, 1]]}], "signals": [4]}]})")
                .find("names a region of 1 axes in buffer 0, which has 2"),
            std::string::npos);
  EXPECT_NE(fault(R"({"format": "nuscope-schedule", "version": 1, "counters": [{"id": 4}],
 "buffers": [{"id": 0, "name": "x", "kind": "ACTIVATION", "dtype": "F32", "shape": [9000, 9000, 9, 9]}],
 "tasks": [{"id": 0, "op": "MINE", "writes": [{"buffer": 0, "region": [[0, 9000], [0, 8000], [0, 8], [0, 8]]}], "signals": [4]}]})")
                .find("falls into more than 4096 pieces"),
            std::string::npos);
  EXPECT_NE(fault(R"({"format": "nuscope-schedule", "version": 1, "counters": [{"id": 4}], "buffers": [],
 "tasks": [{"id": 0, "op": "MINE", "writes": [], "signals": [4, 4]}]})")
                .find("names one counter twice"),
            std::string::npos);
}

TEST(OwnForm, PassesWithCountersKeptNeedSteps) {
  // The writer of pass k waits until the reader of pass k - 1 is done: a counter that starts raised by
  // `start`.
  const auto program = [](const char* step) {
    return std::string(R"({"format": "nuscope-schedule", "version": 1, "passes": {"counters": "kept"},
 "buffers": [{"id": 0, "name": "x", "kind": "ACTIVATION", "dtype": "F32", "shape": [1, 4]}],
 "counters": [{"id": 0}, {"id": 1}],
 "tasks": [{"id": 2, "op": "START", "sm": 1, "reads": [], "signals": [1]},
           {"id": 0, "op": "W", "sm": 0, "writes": [{"buffer": 0}], "signals": [0],
            "waits": [{"counter": 1, "threshold": 1, "per_pass": )") +
           step + R"(}]},
           {"id": 1, "op": "R", "sm": 1, "reads": [{"buffer": 0}], "signals": [1],
            "waits": [{"counter": 0, "threshold": 1, "per_pass": )" +
           (*step == '0' ? "0" : "1") + "}]}]}";
  };
  const auto verdict = [](const std::string& text, int passes) {
    const ReadResult read = readSchedule(text);
    EXPECT_TRUE(read.schedule && read.faults.empty());
    const auto made = unroll(*read.schedule, passes, counterReset(*read.schedule));
    EXPECT_TRUE(made) << made.refusal().message;
    return check(*made, {}, Progress()).verdict;
  };
  EXPECT_EQ(verdict(program("0"), 1), Safety::safe);
  EXPECT_EQ(verdict(program("0"), 2), Safety::unsafe);  // the second pass finds the counters raised already
  EXPECT_EQ(verdict(program("2"), 5), Safety::safe);    // each pass waits for what the one before has raised
}

}  // namespace
}  // namespace nuscope::schedule
