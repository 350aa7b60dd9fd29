#include "core/fusion/plan.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"

namespace nuscope::fusion {
namespace {

std::string planText(const std::string& name, const tensor::Extents& extents, int fuse = 2) {
  const auto program = language::parseFile(NUSCOPE_SOURCE_DIR "/resources/programs/" + name + ".py");
  const Concrete concrete(program, program.results, extents);
  return describe(planOf(concrete, program.results, {fuse}));
}

TEST(Plan, SoftmaxIsOneNest) {
  EXPECT_EQ(planText("softmax", {{"M", 8}, {"N", 16}}), "row[8 x 16]: max, sum, divide -> result\n");
}

TEST(Plan, LayernormIsOneNest) {
  const std::string text = planText("layernorm", {{"M", 8}, {"N", 16}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(Plan, ElementwiseNestsAreFlatWhereOrderAllows) {
  EXPECT_EQ(planText("silu", {{"M", 8}, {"N", 16}}), "row[1 x 128, flat]: divide -> result\n");
  EXPECT_EQ(planText("row_bias_add", {{"M", 8}, {"N", 16}}), "row[8 x 16]: add -> result\n");
}

TEST(Plan, NormalisationRunsWhilePacking) {
  EXPECT_EQ(planText("rmsnorm_matmul", {{"M", 8}, {"K", 16}, {"N", 24}}),
            "| row[8 x 16]: mean -> strip\n| contract[8 x 24]: matmul -> result\n");
}

TEST(Plan, AttentionKeepsScoresInCache) {
  const std::string text = planText("attention", {{"M", 8}, {"N", 16}, {"D", 4}, {"E", 8}});
  EXPECT_EQ(text.find("-> memory"), std::string::npos) << text;
  EXPECT_NE(text.find("| contract[8 x 16]"), std::string::npos) << text;
  EXPECT_NE(planText("attention", {{"M", 8}, {"N", 16}, {"D", 4}, {"E", 8}}, 1).find("-> memory"),
            std::string::npos);
}

TEST(Plan, EveryOperatorAloneWithoutFusion) {
  const std::string fused = planText("softmax", {{"M", 8}, {"N", 16}}, 2);
  const std::string alone = planText("softmax", {{"M", 8}, {"N", 16}}, 0);
  EXPECT_GT(std::count(alone.begin(), alone.end(), '\n'), std::count(fused.begin(), fused.end(), '\n'));
}

}  // namespace
}  // namespace nuscope::fusion
