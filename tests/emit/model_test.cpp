// What the model says of parameters that change nothing but the blocks of a product: the sign of each effect
// that was measured.
#include "core/emit/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/language/parse.h"

namespace nuscope::emit {
namespace {

constexpr const char* text =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(a: f32[M, K], b: f32[K, N]) -> f32[M, N]:\n    return a @ b\n";

class ProductModel : public testing::Test {
 protected:
  ProductModel() {
    target.vector.chainCycles = 5;
    target.memory[1].lineCycles = 3;
    target.memory[2].lineCycles = 10;
  }
  [[nodiscard]] machine::Breakdown account(const tiling::Parameters& changed,
                                           const tensor::Extents& extents) const {
    tiling::Parameters parameters{{"tile_m", 6}, {"tile_n", 16}, {"strip_m", 96}, {"block_k", 512},
                                  {"pack_a", 1}, {"pack_b", 1},  {"fuse", 2}};
    for (const auto& [name, value] : changed) parameters[name] = value;
    const auto found = modelled(program, program.results, extents, target, parameters);
    EXPECT_TRUE(found);
    return found.value_or(machine::Breakdown());
  }
  /// Of a program of one line without products.
  [[nodiscard]] double ofElements(const std::string& result) const {
    const tensor::Program one = *language::parse(
                                     "from __future__ import annotations\nimport numpy as np\n\n"
                                     "def f(x: f32[N, N]) -> f32[N, N]:\n    return " +
                                     result + "\n")
                                     .program;
    return modelledSeconds(one, one.results, {{"N", 256}}, target, {});
  }
  [[nodiscard]] double seconds(const tiling::Parameters& changed) const {
    return account(changed, large).seconds;
  }

  tensor::Program program = *language::parse(text).program;
  tensor::Extents large{{"M", 512}, {"K", 1024}, {"N", 1024}};
  machine::Target target = machine::loadTarget("host-avx2");
};

TEST_F(ProductModel, packingIsAPartOfItsOwn) {
  const machine::Breakdown account = this->account({}, large);
  ASSERT_EQ(account.work.size(), 3U);
  EXPECT_EQ(account.work[0].nest, "panels of b");
  EXPECT_EQ(account.work[1].nest, "rows of a");
  EXPECT_EQ(account.work[2].nest, "matmul");
  EXPECT_EQ(this->account({{"pack_a", 0}, {"pack_b", 0}}, large).work.size(), 1U);
}

// Measured at this shape: 30 to 75 ms against 17 to 20.
TEST_F(ProductModel, rowsOfBThatLieAPageApartCostMoreThanPackingThem) {
  EXPECT_GT(seconds({{"pack_b", 0}}), 1.5 * seconds({}));
  EXPECT_GT(seconds({{"pack_b", 0}}), seconds({{"pack_b", 0}, {"block_k", 128}})) << "few rows stay in L2";
}

// Measured at 128x256x256 and 256x256x256: within 0.05 of each other. The processor fetches lines of one page
// ahead.
TEST_F(ProductModel, rowsOfBWithinAPageCostAboutAsMuchAsPackingThem) {
  const tensor::Extents small{{"M", 256}, {"K", 256}, {"N", 256}};
  const double packed = account({}, small).seconds;
  const double inPlace = account({{"pack_b", 0}}, small).seconds;
  EXPECT_LT(std::abs(std::log(inPlace / packed)), 0.15);
  EXPECT_GT(account({{"pack_b", 0}}, large).times.back().alone.at("lines apart"), 0);
}

// Measured: 12x8 takes 0.12 to 0.2 more than 3x32, in the logarithm, and 6x16 a few hundredths.
TEST_F(ProductModel, registerBlocksThatLoadMoreTakeLonger) {
  const double least = seconds({{"tile_m", 3}, {"tile_n", 32}});
  EXPECT_GT(seconds({{"tile_m", 12}, {"tile_n", 8}}), 1.1 * least);
  EXPECT_GT(seconds({}), least);
  EXPECT_LT(seconds({}), 1.06 * least);
}

// Measured in lora: a product whose left operand is a concatenation is about as fast as one without.
TEST_F(ProductModel, sumsStayInVectorsWhereAnOperandDoesNot) {
  const tensor::Program joined = *language::parse(
                                      "from __future__ import annotations\nimport numpy as np\n\n"
                                      "def f(a: f32[M, J], b: f32[M, J], c: f32[2 * J, N]) -> f32[M, N]:\n"
                                      "    return np.concatenate([a, b], axis=1) @ c\n")
                                      .program;
  const double time =
      modelledSeconds(joined, joined.results, {{"M", 512}, {"J", 512}, {"N", 1024}}, target, {});
  EXPECT_LT(time, 1.5 * seconds({}));
  EXPECT_GT(time, seconds({}));
}

// Measured in attention: what reads a stored transpose takes twice as long as what reads rows.
TEST_F(ProductModel, columnsAreReadLaneByLane) {
  EXPECT_GT(ofElements("np.exp(x.T)"), 1.5 * ofElements("np.exp(x)"));
  EXPECT_EQ(ofElements("np.exp(x.T.T)"), ofElements("np.exp(x)"));
}

// Measured: twelve rows a page apart do not fit the eight ways of L1.
TEST_F(ProductModel, manyRowsOfAInPlacePushEachOtherOut) {
  EXPECT_GT(seconds({{"pack_a", 0}, {"tile_m", 12}, {"tile_n", 8}}),
            1.5 * seconds({{"tile_m", 12}, {"tile_n", 8}}));
  EXPECT_LT(seconds({{"pack_a", 0}}), 1.05 * seconds({})) << "six do";
}

TEST_F(ProductModel, fewSumsWaitForEachOther) {
  EXPECT_GT(seconds({{"tile_m", 4}}), 1.15 * seconds({}));
}

TEST_F(ProductModel, everyBlockOfTheDepthCarriesTheSums) {
  EXPECT_GT(seconds({{"block_k", 128}}), seconds({{"block_k", 256}}));
  EXPECT_GT(seconds({{"block_k", 256}}), seconds({{"block_k", 512}}));
}

TEST_F(ProductModel, aStripThatLeavesL2IsReadFromFartherAway) {
  const auto fromL3 = [&](std::int64_t strip) {
    return account({{"strip_m", strip}}, large).work[2].bytes.at("L3");
  };
  EXPECT_GT(fromL3(384), 2 * fromL3(192));
}

}  // namespace
}  // namespace nuscope::emit
