// Mirage's task_graph.json: events as counters, regions from offset, dims and strides; what holds under every
// dispatch, no more.
#include <gtest/gtest.h>

#include "core/schedule/check.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

constexpr const char* none = "9223372036854775806";

std::string tensor(const char* base, int offset, const char* dims, const char* strides, int type = 941) {
  return std::string(R"({"base_ptr": ")") + base + R"(", "offset": )" + std::to_string(offset) +
         R"(, "data_type": )" + std::to_string(type) + R"(, "dims": )" + dims + R"(, "strides": )" + strides +
         "}";
}
std::string task(int type, const std::string& inputs, const std::string& outputs, const std::string& trigger,
                 const std::string& dependent = none) {
  return R"({"task_type": )" + std::to_string(type) + R"(, "variant_id": 0, "inputs": )" + inputs +
         R"(, "outputs": )" + outputs + R"(, "trigger_event": )" + trigger + R"(, "dependent_event": )" +
         dependent +
         R"(, "request_id": -1, "expert_offset": -1, "kv_idx": -1, "merge_task_offset": -1, "task_offset": -1})";
}
std::string event(int type, int triggers, int first, int last) {
  return R"({"event_type": )" + std::to_string(type) + R"(, "num_triggers": )" + std::to_string(triggers) +
         R"(, "first_task_id": )" + std::to_string(first) + R"(, "last_task_id": )" + std::to_string(last) +
         "}";
}

/// Two tiles of y, then a reader of all of it: as print_task_graph writes it.
std::string graph(int triggers = 2, int secondOffset = 8, const std::string& more = "", int last = 5,
                  const char* dependent = none) {
  return R"({"all_tasks": [)" + task(0, "null", "null", none) + "," + task(10, "null", "null", "1") + "," +
         task(253, "[" + tensor("x", 0, "[2, 8]", "[8, 1]") + "]",
              "[" + tensor("y", 0, "[2, 4]", "[8, 1]") + "]", "2") +
         "," +
         task(253, "[" + tensor("x", 0, "[2, 8]", "[8, 1]") + "]",
              "[" + tensor("y", secondOffset, "[2, 4]", "[8, 1]") + "]", "2") +
         "," +
         task(118, "[" + tensor("y", 0, "[2, 8]", "[8, 1]") + "]",
              "[" + tensor("z", 0, "[2, 8]", "[8, 1]") + "]", "3", dependent) +
         more + R"(], "all_events": [)" + event(911, 0, 0, 0) + "," + event(903, 1, 2, 4) + "," +
         event(901, triggers, 4, last) + "," + event(910, 1, 0, 0) + R"(], "first_tasks": [1]})";
}

Report checked(const std::string& text) {
  const ReadResult read = readSchedule(text);
  EXPECT_TRUE(read.schedule && read.faults.empty()) << (read.faults.empty() ? "" : read.faults[0].message);
  if (!read.schedule) return {};
  EXPECT_EQ(read.schedule->format, Format::mirage);
  return check(*read.schedule, {}, Progress());
}
std::string fault(const std::string& text) {
  const ReadResult read = readSchedule(text);
  return read.faults.empty() ? "none" : read.faults[0].message;
}

TEST(Mirage, NoSafeBeyondWhatHoldsUnderEveryDispatch) {
  const Report report = checked(graph());
  EXPECT_EQ(report.verdict, Safety::undecided);
  ASSERT_FALSE(report.undecided.empty());
  EXPECT_NE(report.undecided[0].find("the file does not say"), std::string::npos);
  // A task that polls in its worker: what depends on the dispatch is named.
  const Report polling = checked(graph(2, 8, "", 5, "2"));
  EXPECT_EQ(polling.verdict, Safety::undecided);
  EXPECT_EQ(polling.undecided.size(), report.undecided.size() + 1);
}

TEST(Mirage, FaultsThatEveryDispatchHas) {
  // The event fires after the first tile: the reader races with the second.
  const Report early = checked(graph(1));
  EXPECT_EQ(early.verdict, Safety::unsafe);
  EXPECT_EQ(early.findings[0].rule, Rule::race);
  // Tiles that overlap by two columns.
  EXPECT_EQ(checked(graph(2, 4)).findings.at(0).rule, Rule::race);
  // An event that waits for more than there are.
  const Report never = checked(graph(3));
  EXPECT_EQ(never.findings[0].rule, Rule::unsatisfiableWait);
  // A task that no event launches.
  const Report lost = checked(graph(2, 8, "", 4));
  EXPECT_EQ(lost.findings[0].rule, Rule::unsatisfiableWait);
}

TEST(Mirage, WhatCannotBeMappedIsRefusedByName) {
  EXPECT_NE(fault(graph(2, 8, "," + task(253, "[" + tensor("w", 0, "[2]", "[1]", 999) + "]", "[]", none), 6))
                .find("tensor 'w' has data type 999"),
            std::string::npos);
  EXPECT_NE(
      fault(graph(2, 8, "," + task(253, "[]", "[]", "2161727821137838080"), 6)).find("another GPU (NVSHMEM)"),
      std::string::npos);
  EXPECT_NE(fault(graph(2, 8, "," + task(253, "[]", "[]", "77"), 6)).find("is event 77, and there are 4"),
            std::string::npos);
  EXPECT_NE(fault(graph(2, 8, "", 99)).find("launches tasks 4 .. 99, and there are 5"), std::string::npos);
  EXPECT_NE(
      fault(graph(2, 8,
                  "," + task(253, "[" + tensor("w", 0, "[64, 64, 3]", "[100000, 100, 7]") + "]", "[]", none),
                  6))
          .find("falls into more than 16 pieces"),
      std::string::npos);
  EXPECT_NE(
      fault(
          R"({"all_tasks": [], "all_events": [{"event_type": 5, "num_triggers": 1, "first_task_id": 0, "last_task_id": 0}], "first_tasks": []})")
          .find("event type 5, which is not known"),
      std::string::npos);
  EXPECT_NE(fault(R"({"all_tasks": [{"task_type": "x"}], "all_events": [], "first_tasks": []})")
                .find("'task_type' is a string"),
            std::string::npos);
}

}  // namespace
}  // namespace nuscope::schedule
