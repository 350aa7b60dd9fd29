// The corpus of schedules with known verdicts (cases/schedules): every verdict and every rule code must be
// right.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/schedule/check.h"

namespace nuscope::schedule {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::string verdict;
  std::set<std::string> codes;
  std::string text;
};

Outcome judge(const std::string& text) {
  const ReadResult read = readAmk(text);
  Outcome outcome{"malformed", {}, ""};
  for (const Fault& fault : read.faults) {
    if (fault.code != "load") outcome.codes.insert(fault.code);
    outcome.text += fault.code + ": " + fault.message + "\n";
  }
  if (!read.schedule) return outcome;
  const Report report = check(*read.schedule, {}, Progress());
  for (const Fault& fault : report.faults) {
    outcome.codes.insert(fault.code);
    outcome.text += fault.code + ": " + fault.message + "\n";
  }
  for (const Finding& finding : report.findings) {
    outcome.codes.insert(std::string(code(finding.rule)));
    outcome.text += std::string(code(finding.rule)) + ": " + finding.message + "\n";
  }
  if (read.faults.empty())
    outcome.verdict = text.empty() ? "malformed" : std::string(nuscope::schedule::text(report.verdict));
  return outcome;
}

TEST(ScheduleCases, EveryVerdictAndRuleIsRight) {
  const fs::path folder = fs::path(NUSCOPE_SHARED_DIR) / "cases/schedules";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  int right = 0;
  int all = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    ++all;
    const auto meta = nlohmann::json::parse(readWholeFile(entry.path() / "case.json"));
    const Outcome outcome = judge(readWholeFile(entry.path() / "schedule.json"));
    const std::string name = entry.path().filename().string();
    bool ok = outcome.verdict == meta["expect"];
    EXPECT_EQ(outcome.verdict, meta["expect"]) << name << "\n" << outcome.text;
    std::set<std::string> allowed;
    for (const std::string rule : meta["rules"]) {
      allowed.insert(rule);
      ok = ok && outcome.codes.contains(rule);
      EXPECT_TRUE(outcome.codes.contains(rule)) << name << " lacks " << rule << "\n" << outcome.text;
    }
    if (meta["expect"] == "unsafe") {
      for (const std::string rule : meta.value("also", nlohmann::json::array())) allowed.insert(rule);
      for (const std::string& rule : outcome.codes) {
        ok = ok && allowed.contains(rule);
        EXPECT_TRUE(allowed.contains(rule)) << name << " has a false alarm: " << rule << "\n" << outcome.text;
      }
    }
    right += ok ? 1 : 0;
  }
  printf("%d of %d cases right\n", right, all);
}

}  // namespace
}  // namespace nuscope::schedule
