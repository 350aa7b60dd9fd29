// The refuter over the corpus beside the project: nothing that is true is refuted, nearly everything false
// is.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/language/parse.h"
#include "core/proof/refute.h"

namespace nuscope::proof {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int wrong = 0;
  int found = 0;
  int missed = 0;
  std::vector<double> foundMilliseconds;
  std::vector<double> survivedMilliseconds;
  std::vector<std::string> misses;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

Tally runFolder(const fs::path& folder, std::uint64_t seed, int draws) {
  Tally tally;
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) cases.push_back(entry.path());
  }
  std::ranges::sort(cases);
  for (const fs::path& path : cases) {
    std::ifstream file(path / "case.json");
    const std::string expect = nlohmann::json::parse(file).at("expect");
    const auto left = language::parseFile((path / "left.py").string());
    const auto right = language::parseFile((path / "right.py").string());
    RefuteOptions options;
    options.seed = seed;
    options.lastDraw = draws;
    const std::clock_t start = std::clock();
    const auto outcome = refute(left, right, options);
    const double ms =
        1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;  // the machine may be busy
    const std::string name = path.filename().string();
    if (std::getenv("NUSCOPE_VERBOSE")) {
      std::printf("%-60s %-8s draws %3d voided %3d %7.1f ms %s\n", name.c_str(), expect.c_str(),
                  outcome.draws, outcome.voided, ms, outcome.note.c_str());
      if (outcome.counterexample) {
        std::printf("    %s | %s\n", outcome.counterexample->leftText.c_str(),
                    outcome.counterexample->rightText.c_str());
      }
    }
    (outcome.counterexample ? tally.foundMilliseconds : tally.survivedMilliseconds).push_back(ms);
    if (expect == "proved") {
      EXPECT_FALSE(outcome.counterexample) << name << " is true, but draw " << outcome.draws
                                           << " refutes it: " << outcome.counterexample->leftText
                                           << " against " << outcome.counterexample->rightText;
      tally.wrong += outcome.counterexample ? 1 : 0;
    } else if (outcome.counterexample) {
      ++tally.found;
    } else {
      ++tally.missed;
      tally.misses.push_back(name + (outcome.note.empty() ? "" : ": " + outcome.note));
    }
  }
  std::printf(
      "%s, seed %d: %d refuted, %d missed, %d wrongly refuted; refuted in %.2f ms of processor time "
      "(median), %.0f ms at most; "
      "true ones "
      "survive %d draws in %.1f ms (median), %.0f ms at most\n",
      folder.filename().c_str(), static_cast<int>(seed), tally.found, tally.missed, tally.wrong,
      median(tally.foundMilliseconds), largest(tally.foundMilliseconds), draws,
      median(tally.survivedMilliseconds), largest(tally.survivedMilliseconds));
  for (const auto& miss : tally.misses) std::printf("  missed: %s\n", miss.c_str());
  return tally;
}

fs::path corpus(const char* name) {
  return fs::path(NUSCOPE_SHARED_DIR) / "cases" / name;
}

#define NEEDS(path) \
  if (!fs::exists(path)) GTEST_SKIP() << "the corpus " << (path) << " is not here"

TEST(RefuteCorpus, CasesOfTheProject) {
  const auto tally = runFolder(fs::path(NUSCOPE_SOURCE_DIR) / "tests/data/rewrites", 1, 300);
  EXPECT_EQ(tally.found, 6);
  EXPECT_EQ(tally.missed, 0);
}

TEST(RefuteCorpus, Rewrites) {
  NEEDS(corpus("rewrites"));
  const auto tally = runFolder(corpus("rewrites"), 1, 300);
  EXPECT_GE(tally.found, 157);
}

TEST(RefuteCorpus, RewritesWithOtherSeeds) {
  NEEDS(corpus("rewrites"));
  for (const int seed : {2, 3})
    EXPECT_GE(runFolder(corpus("rewrites"), static_cast<std::uint64_t>(seed), 60).found, 150);
}

TEST(RefuteCorpus, Streams) {
  NEEDS(corpus("streams"));
  EXPECT_EQ(runFolder(corpus("streams"), 1, 300).found, 14);
}

TEST(RefuteCorpus, FloatTraps) {
  NEEDS(corpus("float_traps"));
  for (const int seed : {1, 2, 3, 4}) runFolder(corpus("float_traps"), static_cast<std::uint64_t>(seed), 300);
}

}  // namespace
}  // namespace nuscope::proof
