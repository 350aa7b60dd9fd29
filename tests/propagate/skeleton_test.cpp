// What skeletons tell apart, and what they do not.
#include "core/propagate/skeleton.h"

#include "tests/propagate/parsed.h"

namespace nuscope::propagate {
namespace {

/// Bodies of programs over the same inputs, in one store.
class SkeletonsOf : public testing::Test {
 protected:
  std::vector<tensor::NodeRef> results(const std::string& body) {
    const auto program =
        test::parsed("def f(x: f32[M, K], g: f32[K], s: f32[M, 1], w: f32[K, N]):\n" + body, store_);
    return program.results;
  }
  std::shared_ptr<tensor::NodeStore> store_ = std::make_shared<tensor::NodeStore>();
  tensor::DimFacts facts_;
  Skeletons skeletons_{facts_};
};

TEST_F(SkeletonsOf, OrderInsideOfALoop) {
  const auto a = results("    return np.exp(x * x * g * s) @ w\n");
  const auto b = results("    return np.exp(x * (g * x) * s) @ w\n");
  EXPECT_EQ(skeletons_.loops(a), skeletons_.loops(b));
  EXPECT_EQ(skeletons_.borders(a), skeletons_.borders(b));
}

TEST_F(SkeletonsOf, WhatIsDoneLastIsABorder) {
  const auto a = results("    return (x * g * s) @ w\n");
  const auto b = results("    return (x * s * g) @ w\n");
  EXPECT_EQ(skeletons_.loops(a), skeletons_.loops(b));
  EXPECT_NE(skeletons_.borders(a), skeletons_.borders(b));
}

TEST_F(SkeletonsOf, WhatIsDoneFirstWithAMadeValueIsABorder) {
  const auto a = results("    return np.exp((x @ w) * s + 1)\n");
  const auto b = results("    return np.exp(((x @ w) + 1) * s)\n");
  const auto c = results("    return np.exp((x @ w) * s * 2 + 1)\n");
  EXPECT_NE(skeletons_.borders(a), skeletons_.borders(b));
  EXPECT_NE(skeletons_.loops(a), skeletons_.loops(c));
}

TEST_F(SkeletonsOf, AnotherShapeIsAnotherLoop) {
  const auto a = results("    return x * s * (s + 1)\n");
  const auto b = results("    return x * (s * (s + 1))\n");
  EXPECT_NE(skeletons_.loops(a), skeletons_.loops(b));
  EXPECT_EQ(skeletons_.reads(a), skeletons_.reads(b));
}

TEST_F(SkeletonsOf, MoreOperatorsReadTheSame) {
  const auto a = results("    return (x + g) * s\n");
  const auto b = results("    return x * s + g * s\n");
  const auto c = results("    return (x + s) * s\n");
  EXPECT_EQ(skeletons_.reads(a), skeletons_.reads(b));
  EXPECT_NE(skeletons_.loops(a), skeletons_.loops(b));
  EXPECT_NE(skeletons_.reads(a), skeletons_.reads(c));
}

TEST_F(SkeletonsOf, OtherOperatorsThatFoldAreNotTheSame) {
  EXPECT_NE(skeletons_.loops(results("    return np.sum(x, axis=1)\n")),
            skeletons_.loops(results("    return np.max(x, axis=1)\n")));
  EXPECT_NE(skeletons_.loops(results("    return np.sum(x, axis=1)\n")),
            skeletons_.loops(results("    return np.sum(x, axis=1, keepdims=True)\n")));
}

std::string loop(const std::string& starts, const std::string& round, const std::string& result) {
  return "    M, K = x.shape\n" + starts + "    for k in range(K):\n" + round + "    return " + result + "\n";
}

TEST_F(SkeletonsOf, StatesOfALoopHaveNoOrder) {
  const std::string zero = " = np.zeros((M, 1))\n";
  const std::string infinity = " = np.full((M, 1), -np.inf)\n";
  const std::string max = "        n = np.maximum(m, x[:, k:k + 1])\n";
  const std::string sum = "        d = d * np.exp(m - n) + np.exp(x[:, k:k + 1] - n)\n";
  const auto a = results(loop("    m" + infinity + "    d" + zero, max + sum + "        m = n\n", "d"));
  const std::string otherOrder =
      "        p = m\n"
      "        m = n\n"
      "        d = d * np.exp(p - n) + np.exp(x[:, k:k + 1] - n)\n";
  const auto b = results(loop("    d" + zero + "    m" + infinity, max + otherOrder, "d"));
  EXPECT_NE(a, b);
  const auto other = results(loop("    d" + zero + "    m" + infinity, max + sum + "        m = n\n", "m"));
  const auto wrong = results(loop("    d" + zero + "    m" + infinity,
                                  max + "        d = d + np.exp(x[:, k:k + 1] - n)\n        m = n\n", "d"));
  EXPECT_EQ(skeletons_.loops(a), skeletons_.loops(b));
  EXPECT_NE(skeletons_.loops(a), skeletons_.loops(other));
  EXPECT_NE(skeletons_.loops(a), skeletons_.loops(wrong));
}

}  // namespace
}  // namespace nuscope::propagate
