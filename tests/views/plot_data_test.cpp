// The preparation of plots, without a widget: order, axis, baselines at the edge, numbers for people.
#include <gtest/gtest.h>

#include "views/sweep/plot.h"

namespace nuscope::views {
namespace {

PlotCandidate measured(int id, double median) {
  PlotCandidate candidate;
  candidate.id = id;
  candidate.median = median;
  candidate.low = median * 0.99;
  candidate.high = median * 1.01;
  candidate.samples = {median * 0.99, median, median * 1.01};
  return candidate;
}

TEST(PlotData, QuantileInterpolates) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.25), 1.25);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(PlotData, KeepsTheBestDozenInOrderAndCountsTheRest) {
  std::vector<PlotCandidate> all;
  for (int i = 0; i < 20; ++i) all.push_back(measured(i, 30.0 - i));
  const LatencyData data = latencyData(all, {});
  ASSERT_EQ(data.best.size(), 12U);
  EXPECT_EQ(data.best.front().id, 19);
  EXPECT_EQ(data.best.back().id, 8);
  EXPECT_EQ(data.measuredMore, 8);
}

TEST(PlotData, AxisIsTightAndSlowBaselinesStandAtItsEdge) {
  const LatencyData data =
      latencyData({measured(1, 8), measured(2, 10)}, {{"loops", 41.2}, {"torch", 10.02}});
  ASSERT_EQ(data.inside.size(), 1U);
  EXPECT_EQ(data.inside[0].label, "torch");
  ASSERT_EQ(data.above.size(), 1U);
  EXPECT_EQ(data.above[0].label, "loops");
  EXPECT_GT(data.low, 7);
  EXPECT_LT(data.high, 11);
}

TEST(PlotData, RunsThatWereHeldUpDoNotStretchTheAxis) {
  PlotCandidate noisy = measured(1, 0.23);
  noisy.samples = {0.21, 0.22, 0.23, 0.23, 0.24, 0.25, 61, 58, 64};
  noisy.high = 58;
  const LatencyData data = latencyData({noisy, measured(2, 0.28)}, {{"loops", 0.27}});
  EXPECT_LT(data.high, 0.45);
  EXPECT_EQ(data.inside.size(), 1U);
  EXPECT_TRUE(runsBeyond(data.best[0], data.high));
  EXPECT_FALSE(runsBeyond(data.best[1], data.high));
}

TEST(PlotData, RejectedCandidatesAreShownAndCounted) {
  std::vector<PlotCandidate> all{measured(1, 8)};
  for (int i = 0; i < 6; ++i) {
    PlotCandidate wrong;
    wrong.id = 10 + i;
    wrong.state = PlotState::wrong;
    all.push_back(wrong);
  }
  const LatencyData data = latencyData(all, {});
  EXPECT_EQ(data.best.size(), 1U);
  EXPECT_EQ(data.rejected.size(), 4U);
  EXPECT_EQ(data.rejectedMore, 2);
}

TEST(PlotData, WithoutCandidatesTheBaselinesSpanTheAxis) {
  const LatencyData data = latencyData({}, {{"loops", 41.2}, {"torch", 10.02}});
  EXPECT_EQ(data.inside.size(), 2U);
  EXPECT_LT(data.low, 10.02);
  EXPECT_GT(data.high, 41.2);
}

TEST(PlotData, MillisecondsKeepThreeDigits) {
  EXPECT_EQ(millisecondsText(7.841), "7.84");
  EXPECT_EQ(millisecondsText(41.21), "41.2");
  EXPECT_EQ(millisecondsText(412.4), "412");
  EXPECT_EQ(millisecondsText(0.03121), "0.0312");
  EXPECT_EQ(millisecondsText(0), "0");
}

}  // namespace
}  // namespace nuscope::views
