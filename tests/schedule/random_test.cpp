// The checker against brute force on small random well-formed programs. NUSCOPE_RANDOM_SCHEDULES: how many of
// each kind (20,000 and 3,000); NUSCOPE_SEED: other ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "core/replay/schedule_certificate.h"
#include "core/schedule/certificate.h"
#include "core/schedule/check.h"
#include "tests/schedule/exhaustive.h"
#include "tests/schedule/random_schedule.h"

namespace nuscope::schedule {
namespace {

std::int64_t environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// Compares `programs` programs; prints how many were live, safe, and had each code.
template <class Make>
void compare(Make make, std::int64_t programs, bool certificates) {
  std::mt19937_64 rng(static_cast<std::uint64_t>(environment("NUSCOPE_SEED", 20260101)));
  std::map<std::string, int> codes;
  int safe = 0;
  int disagreements = 0;
  int compared = 0;
  for (std::int64_t i = 0; i < programs && disagreements < 10; ++i) {
    const Schedule s = make(rng);
    const testing::Truth truth = testing::explore(s);
    const Report report = check(s, {.conflicts = {}, .keepClocks = true}, Progress());
    std::string wrong = testing::disagreement(report, truth);
    ++compared;
    safe += truth.rules.empty() ? 1 : 0;
    for (const std::string& rule : truth.rules) ++codes[rule];
    if (wrong.empty() && certificates) {
      const auto outcome = replay::replaySchedule(certificate(s, report));
      if (!outcome.confirmed) wrong = " has a certificate that is refused: " + outcome.why;
      // What was written and read again is the same schedule.
      const ReadResult read = readSchedule(writeSchedule(s));
      if (!read.schedule || !read.faults.empty() ||
          testing::codesOf(check(*read.schedule, {}, Progress())) != testing::codesOf(report))
        wrong += " is another schedule when written and read again";
    }
    disagreements += wrong.empty() ? 0 : 1;
    EXPECT_TRUE(wrong.empty()) << "program " << i << wrong << "\n" << (wrong.empty() ? "" : writeSchedule(s));
  }
  printf("%d programs: %d safe, %d disagreements;", compared, safe, disagreements);
  for (const auto& [code, count] : codes) printf(" %s %d", code.c_str(), count);
  printf("\n");
}

TEST(ScheduleRandom, NoDisagreementWithExhaustiveExploration) {
  compare(testing::randomSchedule, environment("NUSCOPE_RANDOM_SCHEDULES", 20000), false);
}

TEST(ScheduleRandom, NoDisagreementOnMemory) {
  compare(testing::randomMemorySchedule, environment("NUSCOPE_RANDOM_SCHEDULES", 3000), true);
}

}  // namespace
}  // namespace nuscope::schedule
