// The driver: limits, determinism, cancelling, what is kept of refused moves.
#include "core/propagate/explore.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "core/language/parse.h"
#include "core/nugraph/json.h"
#include "core/propagate/exploration.h"
#include "tests/propagate/fake_provers.h"

namespace nuscope::propagate {
namespace {

constexpr const char* header = "from __future__ import annotations\nimport numpy as np\n\n";

tensor::Program parsed(const std::string& function) {
  const std::string text = header + function;
  auto result = language::parse(text);
  EXPECT_TRUE(result.program.has_value()) << render(result.diagnostics, "test.py", text);
  return *result.program;
}

tensor::Program scaledProduct() {
  return parsed(
      "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n"
      "    return (x / (1 + np.sum(x * x, axis=-1, keepdims=True)) * g) @ w\n");
}

/// Without what a clock measured.
std::string timeless(const nugraph::NuGraph& graph) {
  std::string text;
  for (const auto& variant : graph.variants())
    text += fmt::format("{} {} {}\n", variant.id, variant.parent, variant.title);
  for (const auto& step : graph.steps()) text += fmt::format("{} {} {}\n", step.from, step.to, step.what);
  for (const auto& move : graph.refused()) {
    text += fmt::format("{} {} {} {}\n", move.from, move.what, static_cast<int>(move.proof->verdict),
                        move.proof->reason);
    if (move.proof->counterexample)
      text += move.proof->counterexample->leftText + move.proof->counterexample->rightText + "\n";
  }
  return text;
}

TEST(Explore, BiasMayNotMovePastMatmulAndANormMay) {
  const auto bias =
      parsed("def f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N]:\n    return x @ w + b\n");
  const auto graph = explore(bias, {}, {}, {});
  EXPECT_EQ(graph->variants().size(), 1U);
  ASSERT_FALSE(graph->refused().empty());
  for (const auto& move : graph->refused()) {
    EXPECT_EQ(move.proof->verdict, proof::Verdict::refuted) << move.what;
    ASSERT_TRUE(move.proof->counterexample.has_value());
    EXPECT_FALSE(move.results.empty());
  }
}

TEST(Explore, AnUndefinedVariantIsRefused) {
  // x / s with s = 0 is undefined; so is the product's scale, but a late division by a sum that may vanish is
  // not made worse. A division by w would be.
  const auto program = parsed("def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n    return (x / 2) @ w\n");
  const auto graph = explore(program, {}, {}, {});
  EXPECT_GT(graph->variants().size(), 1U);
  for (const auto& step : graph->steps()) EXPECT_EQ(step.proof->mode, proof::Mode::refines);
}

TEST(Explore, SameGraphForAnyNumberOfThreads) {
  ExploreOptions one;
  one.maxVariants = 24;
  ExploreOptions three = one;
  three.threads = 3;
  const std::string first = timeless(*explore(scaledProduct(), one, {}, {}));
  EXPECT_EQ(first, timeless(*explore(scaledProduct(), three, {}, {})));
  EXPECT_EQ(first, timeless(*explore(scaledProduct(), one, {}, {})));
}

TEST(Explore, LimitsSayWhatTheyCut) {
  ExploreOptions options;
  options.maxVariants = 4;
  const auto graph = exploreWith(test::fakeProvers(), scaledProduct(), options, {}, {});
  EXPECT_EQ(graph->variants().size(), 4U);
  ASSERT_FALSE(graph->cuts().empty());
  EXPECT_EQ(graph->cuts()[0], "stopped at 4 variants");
}

bool saysCut(const nugraph::NuGraph& graph, const std::string& words) {
  return std::ranges::any_of(graph.cuts(),
                             [&](const std::string& cut) { return cut.find(words) != std::string::npos; });
}

TEST(Explore, OrdersInsideOfALoopAreOneVariant) {
  // Of the ways to multiply five matrices element by element only those with another last product are kept.
  const auto program = parsed(
      "def f(x: f32[M, K], a: f32[M, K], b: f32[M, K], c: f32[M, K], d: f32[M, K]):\n"
      "    return x * a * b * c * d\n");
  const auto graph = explore(program, {}, {}, {});
  EXPECT_GT(graph->variants().size(), 1U);
  EXPECT_LE(graph->variants().size(), 15U);
  EXPECT_TRUE(saysCut(*graph, "the order of elementwise operators inside of a loop"));
}

TEST(Explore, MoreOperatorsInTheSameLoopAreNoVariant) {
  const auto program = parsed("def f(x: f32[M, K], a: f32[M, K], b: f32[M, K]):\n    return (x + a) * b\n");
  const auto graph = explore(program, {}, {}, {});
  EXPECT_EQ(graph->variants().size(), 1U);
  EXPECT_TRUE(saysCut(*graph, "would only have added elementwise operators to a loop"));
}

TEST(Explore, TimeLimitIsSaid) {
  ExploreOptions options;
  options.secondsLimit = 1e-9;
  const auto graph = exploreWith(test::fakeProvers(), scaledProduct(), options, {}, {});
  EXPECT_EQ(graph->variants().size(), 1U);
  ASSERT_FALSE(graph->cuts().empty());
  EXPECT_NE(graph->cuts()[0].find("cut by time"), std::string::npos);
}

TEST(Explore, SnapshotsGrow) {
  std::vector<int> versions;
  const auto graph = exploreWith(test::fakeProvers(), scaledProduct(), {}, {},
                                 [&](const auto& snapshot) { versions.push_back(snapshot->version()); });
  ASSERT_GE(versions.size(), 2U);
  EXPECT_EQ(versions.front(), 0);
  EXPECT_EQ(versions.back(), graph->version());
  EXPECT_TRUE(std::ranges::is_sorted(versions));
}

TEST(Explore, CancelsFromAnotherThread) {
  std::stop_source stop;
  const Progress progress(stop.get_token());
  std::jthread cancel([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  ExploreOptions options;
  options.maxVariants = 100000;
  options.maxGrowth = 100;
  options.secondsLimit = 1000;
  EXPECT_THROW(exploreWith(test::fakeProvers(), scaledProduct(), options, progress, {}), Cancelled);
}

TEST(Explore, ARefusedSentenceIsKeptOnce) {
  const auto graph = exploreWith(test::fakeProvers(), scaledProduct(), {}, {}, {});
  std::set<std::pair<std::string, int>> seen;
  for (const auto& move : graph->refused()) {
    EXPECT_TRUE(seen.emplace(move.what, static_cast<int>(move.proof->verdict)).second) << move.what;
  }
}

TEST(Explore, JsonKeepsEverything) {
  const auto graph = explore(scaledProduct(), {}, {}, {});
  const auto read = nugraph::fromJson(nugraph::toJson(*graph));
  ASSERT_TRUE(read.ok()) << read.refusal().message;
  EXPECT_EQ(timeless(*read), timeless(*graph));
  for (std::size_t i = 0; i < graph->steps().size(); ++i) {
    EXPECT_EQ(read->steps()[i].removed.size(), graph->steps()[i].removed.size());
    EXPECT_EQ(read->steps()[i].added.size(), graph->steps()[i].added.size());
  }
}

TEST(Explore, LoopsAreKeptAsTheyAre) {
  const auto program = parsed(
      "def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
      "    K = x.shape[1]\n"
      "    y = np.zeros((x.shape[0], w.shape[1]))\n"
      "    for k in range(K):\n"
      "        y = y + x[:, k:k + 1] * w[k:k + 1, :]\n"
      "    return y * 2\n");
  ExploreOptions options;
  options.secondsPerProof = 0.5;
  const auto graph = explore(program, options, {}, {});
  const auto read = nugraph::fromJson(nugraph::toJson(*graph));
  ASSERT_TRUE(read.ok()) << read.refusal().message;
  EXPECT_EQ(nugraph::toJson(*read), nugraph::toJson(*graph));
}

}  // namespace
}  // namespace nuscope::propagate
