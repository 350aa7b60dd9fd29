// Every step of the nu-graphs of the example programs has a record that the checker confirms.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "tests/replay/proof_cases.h"
#include "tests/replay/z3.h"

namespace nuscope::record {
namespace {

TEST(ProofSteps, AllPrograms) {
  if (!haveZ3()) GTEST_SKIP() << "no z3 program";
  replay::Z3Program z3;
  std::map<std::string, int> open;
  std::vector<double> search;
  std::vector<double> replay;
  std::vector<std::size_t> sizes;
  const auto cases = stepsOfPrograms();
  for (const Case& c : cases) {
    const Attempt attempt = recordProof(c.goal, &z3);
    if (attempt.record.empty()) {
      ++open[c.name + ": " + attempt.why.substr(0, 160)];
      continue;
    }
    const auto outcome = replay::replayProof(attempt.record, &z3);
    if (outcome.status != replay::ProofOutcome::Status::confirmed) {
      ++open[c.name + ": refused: " + outcome.why.substr(0, 160)];
      continue;
    }
    search.push_back(attempt.seconds * 1000);
    replay.push_back(outcome.seconds * 1000);
    sizes.push_back(attempt.record.size());
  }
  std::cout << replay.size() << " of " << cases.size() << " steps replayed\n";
  for (const auto& [why, times] : open) std::cout << "  not replayable: " << times << " x " << why << "\n";
  EXPECT_GT(cases.size(), 400U);
  ASSERT_TRUE(open.empty());
  for (auto* list : {&search, &replay}) std::sort(list->begin(), list->end());
  std::sort(sizes.begin(), sizes.end());
  const auto middle = sizes.size() / 2;
  std::cout << "  replay: median " << replay[middle] << " ms, worst " << replay.back()
            << " ms; search: median " << search[middle] << " ms, worst " << search.back()
            << " ms; size: median " << sizes[middle] << " bytes, largest " << sizes.back() << " (measured)\n";
  EXPECT_LE(replay.back(), 1000);
}

}  // namespace
}  // namespace nuscope::record
