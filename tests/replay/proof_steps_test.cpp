// Every step of the nu-graphs of the example programs has a record that the checker confirms.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/propagate/explore.h"
#include "core/record/record.h"

namespace nuscope::record {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int replayed = 0;
  std::map<std::string, int> open;
  int unexpected = 0;  ///< open, and not of the kinds that are known to be
  std::vector<double> search, replay;
  std::vector<std::size_t> sizes;
};

/// What the search for records does not reach in its time: maxima merged with sums under a condition.
/// Everything else has a record.
bool isKnownToBeOpen(const std::string& program, const std::string& what) {
  const bool merged = what.find(" in one pass over ") != std::string::npos;
  return merged && program == "causal_attention";
}

void stepsOf(const fs::path& file, int maxVariants, Tally& tally) {
  const auto parsed = language::parse(readWholeFile(file));
  ASSERT_TRUE(parsed.program.has_value()) << file;
  propagate::ExploreOptions options;
  options.maxVariants = maxVariants;
  const auto graph = propagate::explore(*parsed.program, options, {}, {});
  replay::Z3Program z3;
  for (const auto& step : graph->steps()) {
    const auto goal = goalOf(graph->program(step.from), graph->program(step.to), true);
    const Attempt attempt = recordProof(goal, &z3);
    std::string why = attempt.why;
    if (!attempt.record.empty()) {
      const auto outcome = replay::replayProof(attempt.record, &z3);
      if (outcome.status == replay::ProofOutcome::Status::confirmed) {
        ++tally.replayed;
        tally.search.push_back(attempt.seconds);
        tally.replay.push_back(outcome.seconds);
        tally.sizes.push_back(attempt.record.size());
        EXPECT_LE(outcome.seconds, 1);
        continue;
      }
      why = "refused: " + outcome.why;
    }
    if (!isKnownToBeOpen(file.stem().string(), step.what)) ++tally.unexpected;
    ++tally.open[file.stem().string() + ", " + step.what + ": " + why.substr(0, 160)];
  }
}

Tally programs(const std::vector<std::string>& names, int maxVariants) {
  Tally tally;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(NUSCOPE_SOURCE_DIR) / "resources" / "programs")) {
    const bool wanted =
        names.empty() || std::find(names.begin(), names.end(), entry.path().stem().string()) != names.end();
    if (entry.path().extension() != ".py" || !wanted) continue;
    ++count;
    stepsOf(entry.path(), maxVariants, tally);
  }
  int open = 0;
  for (const auto& [why, times] : tally.open) open += times;
  std::cout << count << " programs: " << tally.replayed << " steps replayed, " << open << " not replayable\n";
  for (const auto& [why, times] : tally.open) std::cout << "  " << times << " x " << why << "\n";
  EXPECT_FALSE(tally.sizes.empty());
  if (tally.sizes.empty()) return tally;
  for (auto* list : {&tally.search, &tally.replay}) std::sort(list->begin(), list->end());
  std::sort(tally.sizes.begin(), tally.sizes.end());
  const auto middle = tally.sizes.size() / 2;
  std::cout << "  replay: median " << tally.replay[middle] * 1000 << " ms, worst "
            << tally.replay.back() * 1000 << " ms; search: median " << tally.search[middle] * 1000
            << " ms, worst " << tally.search.back() * 1000 << " ms; size: median " << tally.sizes[middle]
            << " bytes, largest " << tally.sizes.back() << " (measured)\n";
  return tally;
}

TEST(ProofSteps, SomePrograms) {
  const Tally tally =
      programs({"rmsnorm_matmul", "softmax_matmul", "lora", "causal_attention", "layernorm"}, 16);
  EXPECT_EQ(tally.unexpected, 0);
}
TEST(ProofStepsLong, AllPrograms) {
  const Tally tally = programs({}, 64);
  int open = 0;
  for (const auto& [why, times] : tally.open) open += times;
  EXPECT_LE(open * 20, tally.replayed);  // each is printed above with its reason
}

}  // namespace
}  // namespace nuscope::record
