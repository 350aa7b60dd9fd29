#include <gtest/gtest.h>

#include "core/tensor/dim_facts.h"

namespace nuscope::tensor {
namespace {

const Dim K = Dim::symbol("K");
const Dim N = Dim::symbol("N");
const Dim P = Dim::symbol("P");

TEST(Dim, CanonicalPolynomials) {
  EXPECT_EQ((K + 1) * (K - 1), K * K - 1);
  EXPECT_EQ((K * N - N * K).text(), "0");
  EXPECT_EQ((4 * K + 3 - N).text(), "4*K - N + 3");
  EXPECT_EQ((3 - K).text(), "3 - K");
}

TEST(Dim, QuotientsLoseMultiplesOfTheDivisor) {
  EXPECT_EQ(floorDiv(4 * K + 3, 4), K);
  EXPECT_EQ(floorDiv(K * P + N, P), K + floorDiv(N, P));
  EXPECT_EQ(floorDiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(modulo(Dim(-7), 2), Dim(1));
  EXPECT_EQ(floorDiv(N, 4).text(), "(N // 4)");
  EXPECT_EQ(floorDiv(N, 4).evaluate({{"N", 11}}), 2);
}

TEST(DimFacts, DivisibilityBecomesSubstitution) {
  DimFacts facts;
  EXPECT_FALSE(facts.equal(4 * floorDiv(N, 4), N));
  facts.assume({modulo(N, 4), Relation::equal, 0});
  EXPECT_TRUE(facts.equal(4 * floorDiv(N, 4), N));
  EXPECT_TRUE(facts.positive(floorDiv(N, 4)));
  EXPECT_TRUE(facts.nonNegative(N - 4));
  EXPECT_FALSE(facts.nonNegative(N - 5));
}

TEST(DimFacts, Bounds) {
  DimFacts facts;
  EXPECT_TRUE(facts.nonNegative(N - 1));
  EXPECT_FALSE(facts.nonNegative(N - 2));
  facts.assume({2, Relation::lessEqual, N});
  EXPECT_TRUE(facts.nonNegative(N - 2));
  EXPECT_TRUE(facts.nonNegative(N - 2 * floorDiv(N, 2)));
  EXPECT_TRUE(facts.positive(floorDiv(N, 2)));
  EXPECT_FALSE(facts.positive(floorDiv(N, 3)));
  facts.declareCounter("@1", K);
  const Dim k = Dim::symbol("@1");
  EXPECT_TRUE(facts.nonNegative(K - k - 1));
  EXPECT_FALSE(facts.nonNegative(K - k - 2));
  EXPECT_TRUE(facts.nonNegative(K * P - (k + 1) * P));
}

TEST(DimFacts, FixedExtent) {
  DimFacts facts;
  facts.assume({N, Relation::equal, 1});
  EXPECT_TRUE(facts.equal(N, 1));
  facts.assume({K, Relation::equal, 2 * P});
  EXPECT_TRUE(facts.equal(floorDiv(K, 2), P));
}

TEST(Dim, OverflowIsAnErrorNotAWrap) {
  const Dim big(INT64_MAX);
  EXPECT_ANY_THROW(big + 1);
  EXPECT_ANY_THROW(static_cast<void>((K * K).evaluate({{"K", INT64_MAX}})));
}

}  // namespace
}  // namespace nuscope::tensor
