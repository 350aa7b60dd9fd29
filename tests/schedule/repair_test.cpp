// Repairs of the unsafe cases of the corpus: what is offered does what it says, and most deadlocks and races
// have one.
#include "core/schedule/repair.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"

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

}  // namespace
}  // namespace nuscope::schedule
