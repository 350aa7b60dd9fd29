// Variants by hand: looked up, proved, added, kept; refused with the reason.
#include "core/propagate/by_hand.h"

#include "core/nugraph/json.h"
#include "core/propagate/explore.h"
#include "tests/propagate/parsed.h"

namespace nuscope::propagate {
namespace {

using test::parsed;

constexpr const char* signature = "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n";

tensor::Program program(const std::string& body) {
  return parsed(signature + body);
}

/// (x * g) @ w, and no other variant.
std::shared_ptr<const nugraph::NuGraph> rootOnly() {
  ExploreOptions options;
  options.maxVariants = 1;
  return explore(program("    return (x * g) @ w\n"), options, {}, {});
}

ByHand ask(const nugraph::NuGraph& graph, const tensor::Program& other) {
  return standingOf(graph, other, {}, {});
}

TEST(ByHand, TheGraphOfAVariantIsFoundByHash) {
  const auto graph = explore(program("    return (x * g) @ w\n"), {}, {}, {});
  const ByHand root = ask(*graph, program("    y = x * g\n    return y @ w\n"));
  EXPECT_EQ(root.standing, Standing::same);
  EXPECT_EQ(root.variant, 0);
  EXPECT_EQ(root.proof, nullptr);
  const ByHand other = ask(*graph, program("    return x @ (w * g[:, None])\n"));
  ASSERT_EQ(other.standing, Standing::same) << other.why;
  EXPECT_GT(*other.variant, 0);
  EXPECT_EQ(graph->variants()[static_cast<std::size_t>(*other.variant)].results, other.results);
}

TEST(ByHand, AnotherOrderOfElementwiseOperatorsIsFoundByProof) {
  const ByHand swapped = ask(*rootOnly(), program("    return (g * x) @ w\n"));
  EXPECT_EQ(swapped.standing, Standing::alike) << swapped.why;
  EXPECT_EQ(swapped.variant, 0);
  ASSERT_NE(swapped.proof, nullptr);
  EXPECT_EQ(swapped.proof->mode, proof::Mode::equal);
}

TEST(ByHand, WhatIsProvedIsAddedAndThenFoundByHash) {
  const auto graph = rootOnly();
  const auto other = program("    return x @ (w * g[:, None])\n");
  const ByHand answer = ask(*graph, other);
  ASSERT_EQ(answer.standing, Standing::equal) << answer.why;
  EXPECT_EQ(answer.variant, 0) << "the nearest";
  EXPECT_EQ(graph->variants().size(), 1U) << "asking changes nothing";
  const auto more = withByHand(*graph, answer, "B.py");
  ASSERT_EQ(more->variants().size(), 2U);
  EXPECT_EQ(more->variants()[1].title, "by hand: B.py");
  ASSERT_EQ(more->steps().size(), 1U);
  EXPECT_TRUE(more->steps()[0].byHand);
  EXPECT_TRUE(more->steps()[0].moved.empty());
  EXPECT_EQ(more->steps()[0].proof->verdict, proof::Verdict::proved);
  EXPECT_EQ(more->derivation(1), std::vector{0});
  EXPECT_EQ(ask(*more, other).standing, Standing::same);
}

TEST(ByHand, AStudyKeepsTheStep) {
  const auto graph = rootOnly();
  const auto more = withByHand(*graph, ask(*graph, program("    return x @ (w * g[:, None])\n")), "B.py");
  const std::string json = nugraph::toJson(*more);
  const auto read = nugraph::fromJson(json);
  ASSERT_TRUE(read.ok()) << read.refusal().message;
  EXPECT_EQ(nugraph::toJson(*read), json);
  ASSERT_EQ(read->steps().size(), 1U);
  EXPECT_TRUE(read->steps()[0].byHand);
  EXPECT_TRUE(read->steps()[0].recorded);
  EXPECT_EQ(read->variants()[1].title, "by hand: B.py");
  // Explored anew, the step is proved again and kept.
  std::vector<std::string> lost;
  const auto again = withByHandOf(rootOnly(), *read, {}, {}, lost);
  ASSERT_EQ(again->steps().size(), 1U);
  EXPECT_EQ(again->steps()[0].what, "by hand: B.py");
  EXPECT_FALSE(again->steps()[0].recorded);
  EXPECT_TRUE(lost.empty());
}

TEST(ByHand, AStepThatDoesNotHoldIsNotKept) {
  const auto graph = rootOnly();
  const auto more = withByHand(*graph, ask(*graph, program("    return x @ (w * g[:, None])\n")), "B.py");
  const auto changed = parsed(std::string(signature) + "    return (x + g) @ w\n");
  ExploreOptions options;
  options.maxVariants = 1;
  std::vector<std::string> lost;
  const auto kept = withByHandOf(explore(changed, options, {}, {}), *more, {}, {}, lost);
  EXPECT_TRUE(kept->steps().empty());
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_NE(lost[0].find("by hand: B.py is not added again: "), std::string::npos) << lost[0];
}

TEST(ByHand, WhatDiffersIsRefusedWithACounterexample) {
  const auto graph = rootOnly();
  const ByHand answer = ask(*graph, program("    return (x + g) @ w\n"));
  EXPECT_EQ(answer.standing, Standing::different);
  ASSERT_NE(answer.proof, nullptr);
  EXPECT_TRUE(answer.proof->counterexample.has_value());
  EXPECT_NE(answer.why.find("element ["), std::string::npos) << answer.why;
  EXPECT_THROW(withByHand(*graph, answer, "B.py"), InternalError);
}

TEST(ByHand, AssertsThatTheProgramDoesNotMakeAreNotAssumed) {
  const ByHand answer = ask(*rootOnly(), program("    assert np.all(x >= 0)\n"
                                                 "    return (np.maximum(x, 0) * g) @ w\n"));
  EXPECT_EQ(answer.standing, Standing::different) << answer.why;
}

/// Softmax and product in one pass, written by hand with its states in another order.
constexpr const char* online =
    "def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
    "    M, K = x.shape\n"
    "    m = np.full((M, 1), -np.inf)\n"
    "    d = np.zeros((M, 1))\n"
    "    o = np.zeros((M, w.shape[1]))\n"
    "    for k in range(K):\n"
    "        s = x[:, k:k + 1]\n"
    "        n = np.maximum(m, s)\n"
    "        c = np.exp(m - n)\n"
    "        p = np.exp(s - n)\n"
    "        d = d * c + p\n"
    "        o = o * c + p @ w[k:k + 1]\n"
    "        m = n\n"
    "    return o / d\n";

TEST(ByHand, TheOrderOfALoopsStatesDoesNotMatter) {
  const auto graph = explore(parsed("def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
                                    "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
                                    "    return (e / np.sum(e, axis=-1, keepdims=True)) @ w\n"),
                             {}, {}, {});
  const ByHand answer = ask(*graph, parsed(online));
  EXPECT_TRUE(answer.standing == Standing::same || answer.standing == Standing::alike) << answer.why;
  ASSERT_TRUE(answer.variant.has_value());
  EXPECT_GT(*answer.variant, 0);
}

TEST(ByHand, AWrongLoopIsRefused) {
  std::string wrong = online;
  const std::string right = "o * c + p";
  wrong.replace(wrong.find(right), right.size(), "o + p");
  const auto graph = explore(parsed("def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
                                    "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
                                    "    return (e / np.sum(e, axis=-1, keepdims=True)) @ w\n"),
                             {}, {}, {});
  EXPECT_EQ(ask(*graph, parsed(wrong)).standing, Standing::different);
}

TEST(ByHand, WhatDoesNotFitSaysWhy) {
  const auto graph = rootOnly();
  const auto why = [&](const std::string& function) {
    const ByHand answer = ask(*graph, parsed(function));
    EXPECT_EQ(answer.standing, Standing::unfit) << answer.why;
    EXPECT_TRUE(answer.results.empty());
    return answer.why;
  };
  EXPECT_NE(why("def f(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n    return x @ w\n")
                .find("the parameter g: f32[K] is missing"),
            std::string::npos);
  EXPECT_NE(why("def f(x: f32[M, K], g: f32[N], w: f32[K, N]) -> f32[M, N]:\n    return x @ w * g\n")
                .find("g: f32[N] is g: f32[K] in the program"),
            std::string::npos);
  const std::string open = "def f(x: f32[M, K], g: f32[K], w: f32[K, N]):\n";
  EXPECT_NE(why(open + "    return np.sum((x * g) @ w, axis=1)\n").find("result 1 is f32[M], in the program"),
            std::string::npos);
  EXPECT_NE(why(open + "    y = (x * g) @ w\n    return y, y\n").find("returns 2 results and the program 1"),
            std::string::npos);
  EXPECT_NE(why(std::string(signature) + "    assert x.shape[1] >= 2\n"
                                         "    h = x.shape[1] // 2\n"
                                         "    y = x * g\n"
                                         "    return y[:, :h] @ w[:h] + y[:, h:] @ w[h:]\n")
                .find("under the program's asserts"),
            std::string::npos);
}

}  // namespace
}  // namespace nuscope::propagate
