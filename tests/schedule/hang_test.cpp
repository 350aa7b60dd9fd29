// Hang dumps: the dump of every deadlocked case is explained by its cause, and four kinds of hang are told
// apart.
#include "core/schedule/hang.h"

#include <gtest/gtest.h>

#include "core/schedule/explain.h"
#include "tests/schedule/cases.h"

namespace nuscope::schedule {
namespace {

TEST(Hang, DumpsOfDeadlockedCasesNameTheirCause) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  int explained = 0;
  for (const auto& c : all) {
    const bool deadlocks = c.meta["witness"].contains("deadlock");
    const ReadResult read = readSchedule(c.text);
    if (!read.schedule || c.meta["expect"] == "malformed") continue;
    const auto dump = dumpOfDeadlock(*read.schedule);
    if (!deadlocks) {
      const bool impossible =
          std::ranges::find(c.meta["rules"], "unsatisfiable-wait") != c.meta["rules"].end();
      EXPECT_TRUE(!dump || impossible) << c.name;
    }
    if (!dump) continue;
    const auto again = parseHangDump(writeHangDump(*dump));
    ASSERT_TRUE(again) << again.refusal().message;
    const auto why = explainHang(*read.schedule, *again);
    ASSERT_TRUE(why) << c.name << ": " << why.refusal().message;
    ++explained;
    const bool cycle = deadlocks && c.meta["witness"]["deadlock"].contains("cycle");
    EXPECT_EQ(why->causes[0].cause, cycle ? HangCause::scheduleDeadlock : HangCause::unsatisfiableWait)
        << c.name << ": " << why->causes[0].text;
    if (!cycle) continue;
    // The cycle is one: each waits for the next.
    std::set<std::int64_t> stuck;
    for (const auto& id : c.meta["witness"]["deadlock"]["stuck"]) stuck.insert(id.get<std::int64_t>());
    for (const std::int32_t t : why->causes[0].cycle)
      EXPECT_TRUE(stuck.contains(read.schedule->tasks[static_cast<std::size_t>(t)].id)) << c.name;
    EXPECT_FALSE(why->causes[0].blocked.empty()) << c.name;
  }
  printf("%d dumps explained\n", explained);
  EXPECT_GE(explained, 21);
}

/// SM 0: a, then c; SM 1: b. c waits for both a's and b's counter.
Schedule small() {
  const char* text = R"({"format": "nuscope-schedule", "version": 1,
    "buffers": [{"id": 0, "name": "x", "kind": "ACTIVATION", "dtype": "F32", "shape": [1, 8]}],
    "counters": [{"id": 0}, {"id": 1}],
    "tasks": [{"id": 10, "op": "A", "label": "a", "sm": 0, "writes": [{"buffer": 0, "region": [[0, 1], [0, 4]]}], "signals": [0]},
              {"id": 11, "op": "B", "label": "b", "sm": 1, "writes": [{"buffer": 0, "region": [[0, 1], [4, 8]]}], "signals": [1]},
              {"id": 12, "op": "C", "label": "c", "sm": 0, "reads": [{"buffer": 0}],
               "waits": [{"counter": 0, "threshold": 1}, {"counter": 1, "threshold": 1}]}]})";
  ReadResult read = readSchedule(text);
  EXPECT_TRUE(read.faults.empty()) << read.faults[0].message;
  EXPECT_EQ(check(*read.schedule, {}, Progress()).verdict, Safety::safe);
  return std::move(*read.schedule);
}

HangExplanation explained(const char* dump) {
  const auto parsed = parseHangDump(dump);
  EXPECT_TRUE(parsed) << parsed.refusal().message;
  const auto why = explainHang(small(), *parsed);
  EXPECT_TRUE(why) << why.refusal().message;
  return *why;
}

#define DUMP(queues, counters) \
  R"({"format": "nuscope-hang-dump", "version": 1, "queues": )" queues R"(, "counters": )" counters "}"

TEST(Hang, TellsFourKindsApart) {
  const auto stuck = explained(DUMP(
      R"({"0": {"task": 12, "state": "waiting"}, "1": {"task": 11, "state": "running"}})", R"({"0": 1})"));
  EXPECT_EQ(stuck.causes[0].cause, HangCause::taskStuck);
  EXPECT_EQ(stuck.causes[0].task, 1);
  EXPECT_EQ(stuck.causes[0].blocked.size(), 2U);
  EXPECT_EQ(stuck.chain[0],
            "task 12 (c) waits for counter 1 to reach 1 (it is 0); not yet raised by task 11 (b)");

  const auto never = explained(DUMP(R"({"0": {"task": 12, "state": "waiting"}})", R"({"0": 1})"));
  EXPECT_EQ(never.causes[0].cause, HangCause::queueNeverStarted);
  EXPECT_EQ(never.causes[0].sm, 1);

  const auto lost =
      explained(DUMP(R"({"0": {"task": 12, "state": "waiting"}, "1": {"task": null, "state": "done"}})",
                     R"({"0": 1, "1": 0})"));
  EXPECT_EQ(lost.causes[0].cause, HangCause::signalLost);
  EXPECT_EQ(lost.causes[0].counter, 1);

  const auto none = explained(DUMP(R"({"0": {"task": null}, "1": {"task": null}})", R"({"0": 1, "1": 1})"));
  EXPECT_EQ(none.causes[0].cause, HangCause::none);

  const auto odd = explained(DUMP(R"({"0": {"task": null}, "1": {"task": null}})", R"({"0": 7, "1": 1})"));
  EXPECT_EQ(odd.causes[0].cause, HangCause::inconsistent);
}

TEST(Hang, RefusesDumpsOfOtherSchedules) {
  for (const char* dump : {DUMP(R"({"0": {"task": 11}})", "{}"), DUMP(R"({"5": {"task": 11}})", "{}"),
                           DUMP(R"({"0": {"task": 12}})", R"({"9": 1})")}) {
    const auto parsed = parseHangDump(dump);
    ASSERT_TRUE(parsed);
    EXPECT_FALSE(explainHang(small(), *parsed)) << dump;
  }
  for (const char* text :
       {"", "[]", "{}", R"({"format": "nuscope-hang-dump", "version": 2, "queues": {}})",
        R"({"format": "nuscope-hang-dump", "version": 1, "queues": []})",
        R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"a": {}}})",
        R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"1": {"task": 1.5}}})",
        R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"1": {"task": 1, "state": "x"}}})"}) {
    EXPECT_FALSE(parseHangDump(text)) << text;
  }
}

}  // namespace
}  // namespace nuscope::schedule
