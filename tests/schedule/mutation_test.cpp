// One small change to each safe random program: the checker against brute force on every mutant.
#include <gtest/gtest.h>

#include <map>

#include "core/schedule/check.h"
#include "tests/schedule/exhaustive.h"
#include "tests/schedule/random_schedule.h"

namespace nuscope::schedule {
namespace {

struct Mutant {
  std::string kind;
  Schedule schedule;
};

std::vector<Mutant> mutants(const Schedule& s) {
  std::vector<Mutant> result;
  const auto add = [&](const char* kind) -> Schedule& { return result.emplace_back(kind, s).schedule; };
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    for (std::size_t w = 0; w < s.tasks[t].waits.size(); ++w) {
      auto& dropped = add("drop a wait").tasks[t].waits;
      dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(w));
      ++add("raise a threshold").tasks[t].waits[w].threshold;
      if (s.tasks[t].waits[w].threshold > 1) --add("lower a threshold").tasks[t].waits[w].threshold;
      for (const Counter& c : s.counters) {
        if (c.id != s.tasks[t].waits[w].counter)
          add("wait for another counter").tasks[t].waits[w].counter = c.id;
      }
    }
    if (t + 1 < s.tasks.size()) {
      auto& tasks = add("swap two neighbours").tasks;
      std::swap(tasks[t], tasks[t + 1]);
    }
    add("leave the queue").tasks[t].sm.reset();
    for (const std::int64_t sm : {0, 1, 2}) {
      if (s.tasks[t].sm != sm) add("move to another queue").tasks[t].sm = sm;
    }
    for (const Counter& c : s.counters) {
      if (c.id != s.tasks[t].signals[0]) add("raise another counter").tasks[t].signals = {c.id};
      if (c.id != s.tasks[t].signals[0]) add("raise two counters").tasks[t].signals.push_back(c.id);
    }
    if (s.tasks[t].op == Opcode::gemvTile) {
      for (auto& [key, value] : add("widen a tile").tasks[t].params) {
        if (key == "N_tile") value = "4";
        if (key == "n_off") value = "0";
      }
    }
  }
  return result;
}

TEST(ScheduleMutation, EveryMutantAgreesWithBruteForce) {
  std::mt19937_64 rng(77);
  std::map<std::string, std::pair<int, int>> kinds;  // mutants, unsafe ones
  int programs = 0;
  int disagreements = 0;
  while (programs < 250) {
    const Schedule s = testing::randomSchedule(rng);
    if (!testing::explore(s).rules.empty() || s.tasks.size() < 4) continue;
    ++programs;
    for (const Mutant& mutant : mutants(s)) {
      const testing::Truth truth = testing::explore(mutant.schedule);
      const std::string wrong = testing::disagreement(check(mutant.schedule, {}, Progress()), truth);
      auto& [all, unsafe] = kinds[mutant.kind];
      ++all;
      unsafe += truth.rules.empty() ? 0 : 1;
      disagreements += wrong.empty() ? 0 : 1;
      EXPECT_TRUE(wrong.empty()) << mutant.kind << " of program " << programs << wrong;
    }
  }
  for (const auto& [kind, count] : kinds)
    printf("%-26s %6d mutants, %6d unsafe\n", kind.c_str(), count.first, count.second);
  printf("%d programs, %d disagreements\n", programs, disagreements);
}

}  // namespace
}  // namespace nuscope::schedule
