// Repairs of the unsafe cases of the corpus: what is offered does what it says, and most deadlocks and races
// have one.
#include "core/schedule/repair.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/schedule/explain.h"
#include "core/schedule/lower.h"
#include "tests/schedule/models.h"

namespace nuscope::schedule {
namespace {

namespace fs = std::filesystem;

TEST(Repair, MostDeadlocksAndRacesHaveASingleRepair) {
  const fs::path folder = fs::path(NUSCOPE_SHARED_DIR) / "cases/schedules";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  int wanted = 0;
  int repaired = 0;
  int offered = 0;
  std::string without;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const std::string text = readWholeFile(entry.path() / "schedule.json");
    const ReadResult read = readAmk(text);
    if (!read.schedule || !read.faults.empty()) continue;
    const Report report = check(*read.schedule, {}, Progress());
    if (report.verdict != Safety::unsafe) continue;
    bool matters = false;
    bool safe = false;
    for (const FindingGroup& group : groups(*read.schedule, report)) {
      matters = matters || group.rule == Rule::deadlock || group.rule == Rule::race;
      for (const Repair& repair : repairs(*read.schedule, report, group, {}, Progress())) {
        ++offered;
        const Report after = check(applyEdits(*read.schedule, repair.edits), {}, Progress());
        ASSERT_EQ(after.verdict == Safety::safe, repair.makesSafe) << entry.path() << repair.text;
        ASSERT_EQ(after.findings.size(), repair.remaining.size());
        for (const Finding& f : after.findings)  // what remains is named
          EXPECT_NE(outcome(repair).find(code(f.rule)), std::string::npos) << outcome(repair);
        safe = safe || repair.makesSafe;
        // The patch says the same as the edits.
        const auto patched =
            nlohmann::json::parse(text).patch(nlohmann::json::parse(jsonPatch(*read.schedule, repair.edits)));
        EXPECT_EQ(patched, nlohmann::json::parse(writeAmk(applyEdits(*read.schedule, repair.edits))))
            << entry.path() << repair.text;
      }
    }
    if (!matters) continue;
    if (const auto all = repairAll(*read.schedule, report, {}, Progress()); all && !safe) {
      const Report after = check(applyEdits(*read.schedule, all->edits), {}, Progress());
      ASSERT_EQ(after.verdict == Safety::safe, all->makesSafe) << entry.path() << all->text;
      safe = all->makesSafe;
    }
    ++wanted;
    repaired += safe ? 1 : 0;
    if (!safe) without += " " + entry.path().filename().string();
  }
  printf(
      "%d repairs offered; %d of %d cases with a deadlock or race have one that makes them safe; "
      "without:%s\n",
      offered, repaired, wanted, without.c_str());
  EXPECT_GE(repaired * 100, wanted * 80);
}

TEST(Repair, OneWaitDroppedInEveryLayerIsThreeRowsAndOneRepair) {
  LowerOptions options;
  options.position = 1000;
  options.partitions = 4;
  const Schedule whole = *lower(testing::thirteenB(), options);
  // The waits of these tasks, one at a time: which counter is not waited for any more in every layer.
  // Of a tiled operator: one tile in every layer, or every tile.
  struct Drop {
    const char* task;
    std::size_t wait;
    bool everyTile = false;
  };
  for (const Drop& drop :
       {Drop{"L#.attention.s#", 2}, Drop{"L#.attention.s#", 1}, Drop{"L#.down_proj[t#]", 0},
        Drop{"L#.down_proj[t#]", 0, true}, Drop{"L#.swiglu", 1}, Drop{"L#.mlp_residual", 1},
        Drop{"L#.q_proj[t#]", 0}, Drop{"L#.q_proj[t#]", 0, true}, Drop{"L#.attention.combine", 0}}) {
    Schedule s = whole;
    int dropped = 0;
    int met = 0;
    const bool tiled = std::string_view(drop.task).ends_with("[t#]") && !drop.everyTile;
    int tiles = 0;
    for (std::size_t t = 0; t < s.tasks.size() && tiled; ++t)
      tiles += kindName(s, static_cast<std::int32_t>(t)) == drop.task ? 1 : 0;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (kindName(s, static_cast<std::int32_t>(t)) != drop.task || s.tasks[t].waits.size() <= drop.wait)
        continue;
      if (tiled && met++ % (tiles / 40) != 0) continue;
      s.tasks[t].waits.erase(s.tasks[t].waits.begin() + static_cast<std::ptrdiff_t>(drop.wait));
      ++dropped;
    }
    ASSERT_GE(dropped, 40) << drop.task;
    const Report report = check(s, {}, Progress());
    ASSERT_EQ(report.verdict, Safety::unsafe) << drop.task;
    const auto rows = groups(s, report);
    EXPECT_LE(rows.size(), 3U) << drop.task;
    bool repaired = false;
    double seconds = 0;
    for (const FindingGroup& row : rows) {
      const auto start = std::chrono::steady_clock::now();
      for (const Repair& repair : repairs(s, report, row, {}, Progress())) {
        repaired = repaired || (repair.makesSafe &&
                                check(applyEdits(s, repair.edits), {}, Progress()).verdict == Safety::safe);
      }
      seconds =
          std::max(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    EXPECT_TRUE(repaired) << drop.task << " wait " << drop.wait;
    printf("%-22s wait %zu: %5d dropped, %zu findings in %zu rows, %s, slowest row %.2f s\n", drop.task,
           drop.wait, dropped, report.findings.size(), rows.size(),
           repaired ? "one repair for all" : "no repair", seconds);
  }
}

TEST(Repair, OneOfAGroupOnly) {
  LowerOptions options;
  options.sms = 8;
  model::LlamaConfig c = testing::thirteenB();
  c.hidden = 64;
  c.layers = 3;
  c.heads = c.kvHeads = 4;
  c.headDim = 16;
  c.intermediate = 128;
  c.vocabulary = 256;
  Schedule s = *lower(c, options);
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    if (kindName(s, static_cast<std::int32_t>(t)) == "L#.swiglu") s.tasks[t].waits.pop_back();
  }
  const Report report = check(s, {}, Progress());
  const auto rows = groups(s, report);
  ASSERT_FALSE(rows.empty());
  RepairOptions one;
  one.only = rows[0].findings[0];
  const auto single = repairs(s, report, rows[0], one, Progress());
  ASSERT_FALSE(single.empty());
  EXPECT_FALSE(single[0].makesSafe);
  EXPECT_FALSE(single[0].remaining.empty());
  EXPECT_EQ(outcome(single[0]).find(std::to_string(single[0].remaining.size()) + " findings remain: "), 0U)
      << outcome(single[0]);
  const auto all = repairs(s, report, rows[0], {}, Progress());
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0].makesSafe);
  EXPECT_EQ(all[0].edits.size(), 3U);
}

}  // namespace
}  // namespace nuscope::schedule
