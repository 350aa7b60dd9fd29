// The search on made-up spaces whose times are known: deterministic, hands out each point once, and finds a
// fast one early even where the model's order is wrong.
#include "core/sweep/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace nuscope::sweep {
namespace {

/// 4 variants, 4 x 4 x 2 x 3 values: 384 points. Times depend on variant, tile, packing and their interplay,
/// and on something that no parameter tells. The model knows a part of it, or (`misled`) the opposite.
struct Space {
  std::vector<SearchPoint> points;
  std::vector<double> seconds;
};

Space space(std::uint64_t seed, bool misled) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Space made;
  const double variantCost[] = {0.3, 0.05, 0.2, 0.0};
  const double tileCost[] = {0.4, 0.1, 0.0, 0.25};
  for (int variant = 0; variant < 4; ++variant) {
    for (int tile = 0; tile < 4; ++tile) {
      for (int block = 0; block < 4; ++block) {
        for (int pack = 0; pack < 2; ++pack) {
          for (int strip = 0; strip < 3; ++strip) {
            const double cost = variantCost[variant] + tileCost[tile] + 0.06 * std::abs(block - 2) +
                                (pack == 1 ? 0.0 : 0.1 + 0.05 * block) + 0.03 * strip +
                                0.015 * normal(random);
            const double known = 0.5 * tileCost[tile] + 0.1 * normal(random);
            made.points.push_back(
                {variant,
                 {{"tile", tile * 4 + 4}, {"block", 64 << block}, {"pack", pack}, {"strip", strip}},
                 1e-3 * std::exp(misled ? -known : known)});
            made.seconds.push_back(1e-3 * std::exp(cost));
          }
        }
      }
    }
  }
  return made;
}

TEST(SearchTest, handsOutEveryPointOnce) {
  const Space made = space(1, false);
  Search search(made.points, 0.2, 7);
  std::set<int> seen;
  while (!search.empty()) {
    for (const int index : search.next(37)) {
      EXPECT_TRUE(seen.insert(index).second);
      search.tell(index, made.seconds[static_cast<std::size_t>(index)]);
    }
  }
  EXPECT_EQ(seen.size(), made.points.size());
  EXPECT_TRUE(search.next(3).empty());
}

TEST(SearchTest, theSameSeedAndTimesGiveTheSameOrder) {
  const Space made = space(2, false);
  std::vector<std::vector<int>> orders;
  for (int round = 0; round < 2; ++round) {
    Search search(made.points, 0.2, 3);
    std::vector<int> order;
    for (int batch = 0; batch < 5; ++batch) {
      for (const int index : search.next(8)) {
        order.push_back(index);
        search.tell(index, made.seconds[static_cast<std::size_t>(index)]);
      }
    }
    orders.push_back(order);
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(SearchTest, inOrderFollowsTheModel) {
  const Space made = space(3, false);
  Search search(made.points, 0.2, 3);
  const auto all = search.next(made.points.size(), true);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LE(made.points[static_cast<std::size_t>(all[i - 1])].modelledSeconds,
              made.points[static_cast<std::size_t>(all[i])].modelledSeconds);
  }
}

TEST(SearchTest, failedOnesAndUnmodelledOnesDoNoHarm) {
  Space made = space(4, false);
  for (std::size_t i = 0; i < made.points.size(); i += 3) made.points[i].modelledSeconds = 0;
  for (std::size_t i = 0; i < made.seconds.size(); i += 2) made.seconds[i] = 0;  // these fail
  const Rehearsal rehearsal = rehearse(made.points, made.seconds, 0.2, 8, 0.2, 1);
  EXPECT_GT(rehearsal.reached, 0.9);
  EXPECT_EQ(rehearse({}, {}, 0.1, 8, 0.2, 1).measured, 0U);
}

TEST(SearchTest, aTenthOfTheSpaceReaches97PercentOfTheBest) {
  for (const bool misled : {false, true}) {
    std::vector<double> reached;
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
      const Space made = space(seed, misled);
      const Rehearsal rehearsal = rehearse(made.points, made.seconds, 0.1, 8, 0.2, seed);
      EXPECT_EQ(rehearsal.measured, 39U);
      reached.push_back(rehearsal.reached);
    }
    std::sort(reached.begin(), reached.end());
    std::printf("%s model: median %.3f, worst %.3f of the best after a tenth\n", misled ? "misled" : "fair",
                reached[4], reached[0]);
    EXPECT_GE(reached[4], 0.97);
  }
}

}  // namespace
}  // namespace nuscope::sweep
