// The checker against brute force on small random well-formed programs: shared counters, partial thresholds,
// tiles, queues in half of them.
#include <gtest/gtest.h>

#include <random>

#include "core/schedule/check.h"
#include "tests/schedule/exhaustive.h"
#include "tests/schedule/random_schedule.h"

namespace nuscope::schedule {
namespace {

std::set<std::string> codes(const Report& report) {
  std::set<std::string> result;
  for (const Finding& f : report.findings) {
    if (f.rule != Rule::outputIncomplete) result.insert(std::string(code(f.rule)));
  }
  return result;
}

TEST(ScheduleRandom, NoDisagreementWithExhaustiveExploration) {
  std::mt19937_64 rng(20260101);
  constexpr int programs = 20000;
  int live = 0;
  int safe = 0;
  int racy = 0;
  for (int i = 0; i < programs; ++i) {
    const Schedule s = testing::randomSchedule(rng);
    const std::set<std::string> truth = testing::explore(s);
    const Report report = check(s, {}, Progress());
    std::set<std::string> ours = codes(report);
    if (truth.contains("deadlock")) {  // what a deadlocked run may also do is a consequence and not reported
      ASSERT_TRUE(ours.contains("deadlock")) << "program " << i;
      ASSERT_EQ(ours.contains("unsatisfiable-wait"), truth.contains("unsatisfiable-wait")) << "program " << i;
      continue;
    }
    ++live;
    safe += truth.empty() ? 1 : 0;
    racy += truth.contains("race") ? 1 : 0;
    ASSERT_EQ(ours, truth) << "program " << i;
    ASSERT_EQ(report.verdict == Safety::safe, truth.empty()) << "program " << i;
  }
  printf("%d programs: %d live, %d safe, %d racy, no disagreement\n", programs, live, safe, racy);
}

}  // namespace
}  // namespace nuscope::schedule
