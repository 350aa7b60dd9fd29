// Values of both sides of a rewrite, and where they part.
#include "core/semantics/parting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/language/parse.h"

namespace nuscope::semantics {
namespace {

using Relation = Pair::Relation;

tensor::Program parsed(const std::string& body, const std::string& signature) {
  const std::string text =
      "from __future__ import annotations\nimport numpy as np\n\n\ndef f" + signature + ":\n" + body;
  language::Parsed result = language::parse(text, std::make_shared<tensor::NodeStore>());
  EXPECT_TRUE(result.program.has_value())
      << (result.diagnostics.empty() ? "" : result.diagnostics[0].message);
  return std::move(*result.program);
}

TensorValue tensorOf(std::vector<std::int64_t> shape, std::vector<double> values) {
  return {tensor::DType::f32, std::move(shape), std::move(values)};
}

const Pair* named(const Partings& all, const std::string& name) {
  const auto found =
      std::find_if(all.pairs.begin(), all.pairs.end(), [&](const Pair& p) { return p.name == name; });
  return found == all.pairs.end() ? nullptr : &*found;
}

constexpr const char* rowSignature = "(x: f32[M, K], w: f32[K, N]) -> f32[M, N]";

TEST(Partings, TheFirstDifferenceIsToldFromThoseThatFollow) {
  const auto left = parsed(
      "    ms = np.mean(x * x, axis=-1, keepdims=True)\n    r = np.sqrt(ms + 1.0)\n    y = x / r\n    return "
      "y @ "
      "w\n",
      rowSignature);
  const auto right = parsed(
      "    ms = np.mean(x * x, axis=-1, keepdims=True)\n    r = np.sqrt(ms) + 1.0\n    y = x / r\n    return "
      "y @ "
      "w\n",
      rowSignature);
  const Inputs inputs{{"x", tensorOf({1, 2}, {3, 4})}, {"w", tensorOf({2, 1}, {1, 1})}};
  const Partings all = partings(left, right, {{"M", 1}, {"K", 2}, {"N", 1}}, inputs);
  ASSERT_NE(named(all, "ms"), nullptr);
  EXPECT_EQ(named(all, "ms")->relation, Relation::agree);
  EXPECT_TRUE(named(all, "ms")->shared);
  ASSERT_NE(named(all, "r"), nullptr);
  EXPECT_EQ(named(all, "r")->relation, Relation::parts);
  ASSERT_NE(named(all, "y"), nullptr);
  EXPECT_EQ(named(all, "y")->relation, Relation::differ);
  EXPECT_EQ(named(all, "y")->at, (std::vector<std::int64_t>{0, 0}));
  const Pair& result = all.pairs.back();
  EXPECT_EQ(result.relation, Relation::differ);
  EXPECT_EQ(result.leftValue.value.shape, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(std::count_if(all.pairs.begin(), all.pairs.end(),
                          [](const Pair& p) { return p.relation == Relation::parts; }),
            1);
}

TEST(Partings, RoundingIsNoDifference) {
  const auto left = parsed("    return (x + 0.1) + 0.2\n", "(x: f32[M]) -> f32[M]");
  const auto right = parsed("    return x + (0.1 + 0.2)\n", "(x: f32[M]) -> f32[M]");
  const Partings all = partings(left, right, {{"M", 1}}, {{"x", tensorOf({1}, {0.3})}});
  ASSERT_FALSE(all.pairs.empty());
  EXPECT_EQ(all.pairs.back().relation, Relation::agree);
}

TEST(Partings, AnUndefinedElementPartsFromADefinedOne) {
  const auto left = parsed("    return x * x\n", "(x: f32[M]) -> f32[M]");
  const auto right = parsed("    return x * x * x / x\n", "(x: f32[M]) -> f32[M]");
  const Partings all = partings(left, right, {{"M", 2}}, {{"x", tensorOf({2}, {1, 0})}});
  const Pair& result = all.pairs.back();
  EXPECT_EQ(result.relation, Relation::parts);
  EXPECT_EQ(result.at, std::vector<std::int64_t>{1});
  EXPECT_EQ(static_cast<State>(result.rightValue.state[1]), State::undefined);
}

TEST(Partings, WhatOneSideComputesAloneIsListedAsSuch) {
  const auto left = parsed("    return (x * 2.0) @ w\n", rowSignature);
  const auto right = parsed("    return x @ w\n", rowSignature);
  const Inputs inputs{{"x", tensorOf({1, 1}, {1})}, {"w", tensorOf({1, 1}, {1})}};
  const Partings all = partings(left, right, {{"M", 1}, {"K", 1}, {"N", 1}}, inputs);
  ASSERT_EQ(all.pairs.size(), 2U);
  EXPECT_EQ(all.pairs[0].relation, Relation::only);
  EXPECT_EQ(all.pairs[0].name, "x * 2");
  EXPECT_EQ(all.pairs[0].right, nullptr);
  EXPECT_EQ(all.pairs[1].relation, Relation::parts);
}

TEST(Partings, OperandsOfOneOperatorPlayTheSamePart) {
  const auto left = parsed("    return (x * 2.0) @ w\n", rowSignature);
  const auto right = parsed("    return (x + 2.0) @ w\n", rowSignature);
  const Inputs inputs{{"x", tensorOf({1, 1}, {1})}, {"w", tensorOf({1, 1}, {1})}};
  const Partings all = partings(left, right, {{"M", 1}, {"K", 1}, {"N", 1}}, inputs);
  ASSERT_EQ(all.pairs.size(), 2U);
  EXPECT_EQ(all.pairs[0].relation, Relation::parts);
  EXPECT_EQ(all.pairs[0].name, "x * 2 | x + 2");
  EXPECT_EQ(all.pairs[1].relation, Relation::differ);
}

TEST(Partings, LoopsAndTheLimit) {
  const std::string loop =
      "    M, K = x.shape\n    s = np.zeros(M)\n    for k in range(K):\n        s = s + x[:, k]\n    return "
      "s\n";
  const auto left = parsed(loop, "(x: f32[M, K]) -> f32[M]");
  const auto right = parsed("    return np.sum(x, axis=1) + 1.0\n", "(x: f32[M, K]) -> f32[M]");
  const Inputs inputs{{"x", tensorOf({2, 2}, {1, 2, 3, 4})}};
  const Partings all = partings(left, right, {{"M", 2}, {"K", 2}}, inputs);
  EXPECT_EQ(all.pairs.back().relation, Relation::parts);
  EXPECT_EQ(all.pairs.back().leftValue.value.values, (std::vector<double>{3, 7}));
  const Partings cut = partings(left, right, {{"M", 2}, {"K", 2}}, inputs, 1);
  EXPECT_EQ(cut.pairs.size(), 1U);
  EXPECT_EQ(cut.hidden, all.pairs.size() - 1);
}

TEST(Partings, OtherInputsAreRefused) {
  const auto f = parsed("    return x\n", "(x: f32[M]) -> f32[M]");
  EXPECT_THROW(partings(f, f, {{"M", 2}}, {}), UserError);
}

}  // namespace
}  // namespace nuscope::semantics
