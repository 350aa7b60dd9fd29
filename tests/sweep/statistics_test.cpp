#include "core/sweep/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace nuscope::sweep {
namespace {

TEST(RatioInterval, WhatDriftsInTurnsCancels) {
  std::vector<double> own, beside;
  for (int i = 0; i < 12; ++i) {
    const double drift = 1 + 0.1 * i;
    own.push_back(2 * drift);
    beside.push_back(1 * drift);
  }
  const MedianInterval ratio = ratioInterval(own, beside);
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_NEAR(ratio.relativeWidth(), 0, 1e-12);
  EXPECT_EQ(ratioInterval({}, beside).median, 0);
  EXPECT_EQ(ratioInterval(own, std::vector<double>(12, 0.0)).median, 0);
}

TEST(MedianInterval, smallSamples) {
  EXPECT_EQ(medianInterval({}).median, 0);
  const std::vector<double> one{3};
  EXPECT_EQ(medianInterval(one).confidence, 0);
  EXPECT_EQ(medianInterval(one).median, 3);
  const std::vector<double> six{6, 1, 5, 2, 4, 3};
  const MedianInterval interval = medianInterval(six);
  EXPECT_EQ(interval.median, 3.5);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 6);
  EXPECT_NEAR(interval.confidence, 1 - 2.0 / 64, 1e-12);
  const std::vector<double> three{1, 2, 3};
  EXPECT_NEAR(medianInterval(three).confidence, 0.75, 1e-12);
}

TEST(MedianInterval, coversTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> draw(1);
  int covered = 0;
  const int trials = 2000;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> samples(25);
    for (double& x : samples) x = draw(random);
    const MedianInterval interval = medianInterval(samples);
    EXPECT_GE(interval.confidence, 0.95);
    if (interval.low <= std::log(2.0) && std::log(2.0) <= interval.high) ++covered;
  }
  EXPECT_GT(covered, trials * 94 / 100);
}

TEST(MedianInterval, narrowsWithSamples) {
  std::vector<double> samples;
  for (int i = 0; i < 101; ++i) samples.push_back(i);
  const MedianInterval interval = medianInterval(samples);
  EXPECT_EQ(interval.median, 50);
  EXPECT_EQ(interval.low, 40);
  EXPECT_EQ(interval.high, 60);
}

TEST(Ties, overlap) {
  EXPECT_TRUE(tied({2, 1, 3, 0.95}, {3.5, 3, 4, 0.95}));
  EXPECT_FALSE(tied({2, 1, 2.9, 0.95}, {3.5, 3, 4, 0.95}));
}

TEST(RankCorrelation, spearman) {
  const std::vector<double> a{1, 2, 3, 4};
  const std::vector<double> up{10, 20, 30, 1000};
  const std::vector<double> down{4, 3, 2, 1};
  const std::vector<double> flat{5, 5, 5, 5};
  EXPECT_DOUBLE_EQ(rankCorrelation(a, up), 1);
  EXPECT_DOUBLE_EQ(rankCorrelation(a, down), -1);
  EXPECT_TRUE(std::isnan(rankCorrelation(a, flat)));
  const std::vector<double> withTies{1, 1, 2, 2};
  EXPECT_NEAR(rankCorrelation(a, withTies), 0.894427191, 1e-9);
}

}  // namespace
}  // namespace nuscope::sweep
