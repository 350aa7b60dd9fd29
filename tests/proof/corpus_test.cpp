// The corpus beside the project: every pair with its expected verdict, draws on and off. Prints counts and
// times.
#include <gtest/gtest.h>

#include "tests/proof/pairs.h"

namespace nuscope::proof {
namespace {

TEST(Corpus, CasesOfTheProject) {
  const auto pairs = corpusPairs(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/rewrites");
  for (const bool draws : {true, false}) {
    const Outcome o =
        runPairs(draws ? "tests/data/rewrites, draws on" : "tests/data/rewrites, draws off", pairs, draws);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_EQ(o.provable.unknown, 0);
    if (draws) {
      EXPECT_EQ(o.refutable.unknown, 0);
    }
  }
}

TEST(Corpus, RewritesWithDraws) {
  const auto pairs = sharedCorpus("rewrites");
  if (pairs.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  const Outcome o = runPairs("rewrites, draws on", pairs, true);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.98);
  EXPECT_GE(o.refutedShare(), 0.98);
  EXPECT_LT(o.seconds.back(), 10.5);
}

TEST(Corpus, RewritesWithoutDraws) {
  const auto pairs = sharedCorpus("rewrites");
  if (pairs.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  const Outcome o = runPairs("rewrites, draws off", pairs, false);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.98);
}

TEST(Corpus, FloatTraps) {
  const auto pairs = sharedCorpus("float_traps");
  if (pairs.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  for (const bool draws : {true, false}) {
    const Outcome o = runPairs(draws ? "float traps, draws on" : "float traps, draws off", pairs, draws);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_GE(o.provedShare(), 0.8);
  }
}

TEST(Corpus, Streams) {
  const auto pairs = sharedCorpus("streams");
  if (pairs.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  for (const bool draws : {true, false}) {
    const Outcome o = runPairs(draws ? "streams, draws on" : "streams, draws off", pairs, draws);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_GE(o.provedShare(), 0.9);
    if (draws) {
      EXPECT_GE(o.refutedShare(), 0.98);
    }
  }
}

}  // namespace
}  // namespace nuscope::proof
