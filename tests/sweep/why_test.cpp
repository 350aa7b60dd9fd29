// The account of candidates: differences that add up, and refusals.
#include "core/sweep/why.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/base/diagnostics.h"
#include "core/language/parse.h"
#include "core/sweep/best_so_far.h"

namespace nuscope::sweep {
namespace {

constexpr const char* softmaxed =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, N]) -> f32[M, N]:\n"
    "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
    "    return e / np.sum(e, axis=-1, keepdims=True)\n";
constexpr const char* product =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n    return np.maximum(x, 0) @ w\n";
constexpr const char* onePass =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, N]) -> f32[M]:\n"
    "    M, N = x.shape\n"
    "    m = np.full((M,), -np.inf)\n"
    "    for i in range(N):\n"
    "        m = np.maximum(m, x[:, i])\n"
    "    return m\n";

nugraph::NuGraph graphOf(const char* text) {
  auto parsed = language::parse(text, std::make_shared<tensor::NodeStore>());
  if (!parsed.program)
    throw UserError(parsed.diagnostics.empty() ? "no program" : parsed.diagnostics[0].message);
  return nugraph::NuGraph(*parsed.program);
}

SweepRecord record(tensor::Extents extents) {
  SweepRecord sweep;
  sweep.extents = std::move(extents);
  sweep.target = "host-avx2";
  return sweep;
}

CandidateRecord candidate(int id, Parameters parameters) {
  CandidateRecord record;
  record.id = id;
  record.parameters = std::move(parameters);
  record.state = CandidateState::measured;
  return record;
}

Measurement measured(double median, double half) {
  Measurement m;
  m.median = median;
  m.low = median - half;
  m.high = median + half;
  m.samples = {median};
  m.gate.passed = true;
  return m;
}

class WhyTest : public testing::Test {
 protected:
  WhyTest() { setenv("XDG_CACHE_HOME", "/nonexistent", 1); }  // nominal figures, the same on every machine
  ~WhyTest() override { unsetenv("XDG_CACHE_HOME"); }
};

TEST_F(WhyTest, sharesAddUpAndTheRestIsUnexplained) {
  const auto graph = graphOf(product);
  const Explainer explainer(graph, record({{"M", 128}, {"K", 256}, {"N", 128}}));
  EXPECT_FALSE(explainer.calibrated());
  const auto quick = candidate(1, {{"tile_m", 6}, {"tile_n", 16}, {"pack_b", 1}});
  const auto slow = candidate(2, {{"tile_m", 3}, {"tile_n", 8}, {"pack_b", 1}});
  const Why why = explainer.why(quick, measured(1e-3, 1e-5), slow, measured(3e-3, 1e-5));
  double shares = 0;
  for (const Share& share : why.shares) shares += share.b - share.a;
  EXPECT_NEAR(shares, why.modelled, 1e-12);
  ASSERT_TRUE(why.measured && why.unexplained);
  EXPECT_NEAR(*why.measured, 2e-3, 1e-12);
  EXPECT_NEAR(*why.unexplained, *why.measured - why.modelled, 1e-15);
  EXPECT_FALSE(why.tie);
  ASSERT_EQ(why.parameters.size(), 2U);
  EXPECT_EQ(why.parameters[0].name, "tile_m");
  EXPECT_EQ(*why.parameters[0].a, 6);
  EXPECT_EQ(*why.parameters[1].b, 8);
  EXPECT_DOUBLE_EQ(why.a.model.flops, why.b.model.flops);
  EXPECT_GE(why.a.model.flops, 2.0 * 128 * 256 * 128);
  EXPECT_GT(why.modelled, 0) << "few sums in flight wait for each other";
  EXPECT_GT(why.a.model.packedBytes, 0);
  EXPECT_NE(why.a.code, why.b.code);
  EXPECT_FALSE(why.counters.empty());
  const auto w = std::ranges::find(why.a.model.tensors, "w", &machine::TensorUse::name);
  ASSERT_NE(w, why.a.model.tensors.end());
  EXPECT_TRUE(w->packed);
}

TEST_F(WhyTest, aTieIsSaidAndWhatWasNotMeasuredIsModelledOnly) {
  const auto graph = graphOf(softmaxed);
  const Explainer explainer(graph, record({{"M", 64}, {"N", 64}}));
  const auto a = candidate(1, {{"unroll", 4}});
  const auto b = candidate(2, {{"unroll", 1}});
  EXPECT_TRUE(explainer.why(a, measured(1e-3, 1e-4), b, measured(1.1e-3, 1e-4)).tie);
  const Why unknown = explainer.why(a, measured(1e-3, 1e-4), b, std::nullopt);
  EXPECT_FALSE(unknown.measured);
  EXPECT_FALSE(unknown.unexplained);
}

TEST_F(WhyTest, refusals) {
  const auto graph = graphOf(softmaxed);
  const Explainer explainer(graph, record({{"M", 64}, {"N", 64}}));
  auto baseline = candidate(1, {});
  baseline.kind = CandidateKind::baseline;
  EXPECT_THROW(static_cast<void>(explainer.account(baseline, std::nullopt)), UserError);
  auto foreign = candidate(1, {});
  foreign.kind = CandidateKind::foreign;
  EXPECT_THROW(static_cast<void>(explainer.account(foreign, std::nullopt)), UserError);
  auto unknown = candidate(1, {});
  unknown.variant = 7;
  EXPECT_THROW(static_cast<void>(explainer.account(unknown, std::nullopt)), UserError);
  EXPECT_THROW(static_cast<void>(explainer.account(candidate(1, {{"unroll", 3}}), std::nullopt)), UserError);
  SweepRecord elsewhere = record({});
  elsewhere.target = "host-unheard-of";
  EXPECT_THROW(Explainer(graph, elsewhere), UserError);
}

TEST_F(WhyTest, exponentialsThatAreKeptAreCountedOnce) {
  const auto graph = graphOf(softmaxed);
  const Explainer explainer(graph, record({{"M", 64}, {"N", 1024}}));
  const auto work = explainer.work(candidate(1, {}));
  // A maximum, a difference, an exponential, a sum and a division an element, and little a row.
  EXPECT_NEAR(work.flops, 5.0 * 64 * 1024, 0.15 * 5 * 64 * 1024);
}

TEST_F(WhyTest, aLoopOverColumnsReadsEachOnce) {
  const auto graph = graphOf(onePass);
  const Explainer explainer(graph, record({{"M", 512}, {"N", 512}}));
  const Account account = explainer.account(candidate(1, {}), std::nullopt);
  const auto x = std::ranges::find(account.model.tensors, "x", &machine::TensorUse::name);
  ASSERT_NE(x, account.model.tensors.end());
  EXPECT_NEAR(x->reads, 1, 0.01);
  EXPECT_LT(account.model.bytes.at("L2"), 40e6) << "512 times the whole of x would be 537 MB";
}

TEST_F(WhyTest, theRooflineTakesTheFurthestLevel) {
  const auto graph = graphOf(softmaxed);
  const Explainer explainer(graph, record({{"M", 4096}, {"N", 4096}}));
  const auto one = candidate(5, {});
  const RooflinePoint point = rooflinePoint(one, 0.1, explainer.work(one), explainer.target());
  EXPECT_EQ(point.level, "memory");
  EXPECT_GT(point.intensity(), 0.1);
  EXPECT_LT(point.intensity(), 10);
  EXPECT_NEAR(point.gigaflops(), point.flops * 1e-8, 1e-9);
}

TEST(ParameterEffects, thoseThatMatterComeFirst) {
  std::vector<TimedPoint> points;
  for (const int tile : {4, 6, 8}) {
    for (const int unroll : {1, 2})
      points.push_back({{{"tile", tile}, {"unroll", unroll}, {"same", 1}}, 1.0 / tile + 0.001 * unroll});
  }
  const auto effects = parameterEffects(points);
  ASSERT_EQ(effects.size(), 2U) << "one value is no parameter";
  EXPECT_EQ(effects[0].name, "tile");
  EXPECT_GT(effects[0].spread(), 1.9);
  EXPECT_LT(effects[1].spread(), 1.1);
  EXPECT_EQ(effects[0].values[2].value, 8);
  EXPECT_EQ(effects[0].values[2].count, 2);
}

TEST(LineDiff, shortestAndInOrder) {
  const auto lines = lineDiff("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
  std::string text;
  for (const DiffLine& line : lines) text += static_cast<char>(line.kind) + line.text + "\n";
  EXPECT_EQ(text, " a\n-b\n+x\n c\n d\n+e\n");
  EXPECT_TRUE(lineDiff("", "").empty());
  EXPECT_EQ(lineDiff("", "a").size(), 1U);
  EXPECT_EQ(nearDifferences(lineDiff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nd\nE\nf\ng\nh"), 1).size(), 6U);
}

TEST(BestSoFarText, isReadBackOrNothing) {
  const BestSoFar best{{2.125, 0.011}, {9.5, 0.0086}};
  SweepRecord record;
  record.environment[bestSoFarKey] = text(best);
  EXPECT_EQ(record.environment[bestSoFarKey], "11 ms after 2.125 s; 8.6 ms after 9.5 s");
  const BestSoFar back = bestSoFar(record);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_NEAR(back[1].second, 0.0086, 1e-9);
  for (const char* damaged :
       {"", "nonsense", "1 ms after -3 s", "nan ms after 1 s", "1 ms after 2 s; and so on"}) {
    record.environment[bestSoFarKey] = damaged;
    EXPECT_TRUE(bestSoFar(record).empty()) << damaged;
  }
}

}  // namespace
}  // namespace nuscope::sweep
