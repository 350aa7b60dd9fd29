// Soundness with draws off, for draws would hide a wrong normal form: thousands of mutants of the corpora and
// random pairs; NumPy is the oracle. NUSCOPE_MUTANTS and NUSCOPE_RANDOM_PAIRS set how many, NUSCOPE_SEED
// where to start; the long test (label `long`) runs 10,000 and 2,000.
#include "tests/proof/soundness.h"

#include <gtest/gtest.h>

#include <iostream>

namespace nuscope::proof {
namespace {

TEST(Soundness, NoMutantIsProvedAndDiffers) {
  if (pythonWithNumpy().empty()) GTEST_SKIP() << "no python3 with NumPy was found";
  const std::uint64_t seed = setting("NUSCOPE_SEED", 7);
  const Judgement j = judge(mutants(seed, static_cast<int>(setting("NUSCOPE_MUTANTS", 150))), seed);
  print("mutants, seed " + std::to_string(seed), j);
  EXPECT_TRUE(j.wrong.empty());
  EXPECT_EQ(j.hung, 0);
  EXPECT_GT(j.proved + j.differing, j.pairs / 4);
}

TEST(Soundness, NoRandomPairIsProvedAndDiffers) {
  if (pythonWithNumpy().empty()) GTEST_SKIP() << "no python3 with NumPy was found";
  const std::uint64_t seed = setting("NUSCOPE_SEED", 7);
  const Judgement j = judge(randomPairs(seed, static_cast<int>(setting("NUSCOPE_RANDOM_PAIRS", 60))), seed);
  print("random pairs, seed " + std::to_string(seed), j);
  EXPECT_TRUE(j.wrong.empty());
  EXPECT_EQ(j.hung, 0);
  EXPECT_GT(j.proved, j.pairs / 8);
  EXPECT_GT(j.differing, j.pairs / 8);
}

}  // namespace
}  // namespace nuscope::proof
