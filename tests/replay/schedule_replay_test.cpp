// Every certificate of the corpus is confirmed by the independent replayer; a certificate that was tampered
// with is refused, or what it claims still holds.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/files.h"
#include "core/replay/schedule_certificate.h"
#include "core/schedule/certificate.h"

namespace nuscope::schedule {
namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, std::string>> certificates() {
  std::vector<std::pair<std::string, std::string>> result;
  const fs::path folder = fs::path(NUSCOPE_SHARED_DIR) / "cases/schedules";
  if (!fs::exists(folder)) return result;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const ReadResult read = readAmk(readWholeFile(entry.path() / "schedule.json"));
    if (!read.schedule || !read.faults.empty()) continue;
    CheckOptions options;
    options.keepClocks = true;
    const Report report = check(*read.schedule, options, Progress());
    if (report.verdict != Safety::malformed)
      result.emplace_back(entry.path().filename(), certificate(*read.schedule, report));
  }
  std::ranges::sort(result);
  return result;
}

TEST(ScheduleReplay, ConfirmsEveryCertificate) {
  const auto all = certificates();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  for (const auto& [name, text] : all) {
    const replay::Outcome outcome = replay::replaySchedule(text);
    EXPECT_TRUE(outcome.confirmed) << name << ": " << outcome.why;
  }
  printf("%zu certificates confirmed\n", all.size());
}

TEST(ScheduleReplay, RefusesWrongClaims) {
  const auto all = certificates();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  std::mt19937_64 rng(7);
  int refused = 0;
  int stillTrue = 0;
  for (const auto& [name, text] : all) {
    auto json = nlohmann::json::parse(text);
    // The opposite verdict must never be accepted.
    if (json["verdict"] == "safe") {
      for (auto& [id, row] : json["clocks"].items()) {
        if (row.empty()) continue;
        auto changed = json;
        auto& entry = changed["clocks"][id][rng() % row.size()];
        entry[1] = entry[1].get<int>() + 1;  // claims that more has happened before
        const auto outcome = replay::replaySchedule(changed.dump());
        // A larger clock is only ever accepted if it is justified, and then the schedule is safe all the
        // same.
        ++(outcome.confirmed ? stillTrue : refused);
        if (refused + stillTrue > 400) break;
      }
    } else {
      auto changed = json;
      changed["verdict"] = "safe";
      changed["order"] = nlohmann::json::array();
      for (const auto& t : json["schedule"]["tasks"]) changed["order"].push_back(t["id"]);
      changed["chains"] = nlohmann::json::array({changed["order"]});
      changed["clocks"] = nlohmann::json::object();
      EXPECT_FALSE(replay::replaySchedule(changed.dump()).confirmed) << name;
      for (auto& finding : json["findings"]) {
        if (!finding.contains("firing") || finding["firing"].empty()) continue;
        auto shorter = json;
        shorter["findings"] = nlohmann::json::array({finding});
        shorter["findings"][0]["firing"].erase(rng() % finding["firing"].size());
        ++(replay::replaySchedule(shorter.dump()).confirmed ? stillTrue : refused);
      }
    }
  }
  printf("%d changed certificates refused, %d accepted because what they claim holds\n", refused, stillTrue);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace nuscope::schedule
