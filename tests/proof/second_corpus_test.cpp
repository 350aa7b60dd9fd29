// A second corpus of the same families (tests/data/rewrites2), written after the rules: does the prover reach
// beyond the first? NumPy confirms every pair: tests/data/check_pairs.py.
#include <gtest/gtest.h>

#include "tests/proof/pairs.h"

namespace nuscope::proof {
namespace {

TEST(SecondCorpus, Rewrites) {
  const Outcome o = runPairs("rewrites2, draws on", secondCorpus(".pairs"), true);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.93);
  EXPECT_GE(o.refutedShare(), 0.96);
}

TEST(SecondCorpus, RewritesWithoutDraws) {
  const Outcome o = runPairs("rewrites2, draws off", secondCorpus(".pairs"), false);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.93);
}

TEST(SecondCorpus, FloatTraps) {
  const Outcome o = runPairs("float traps 2, draws on", secondCorpus(".floats"), true);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.8);
}

TEST(SecondCorpus, Streams) {
  const Outcome o = runPairs("streams 2, draws on", secondCorpus(".loops"), true);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(o.provedShare(), 0.9);
  EXPECT_EQ(o.refutable.refuted, o.refutable.all());
}

}  // namespace
}  // namespace nuscope::proof
