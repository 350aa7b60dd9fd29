// Fold merging: one pass, by single elements and by blocks, found and proved without naming an operator; what
// cannot run in one pass is refused with a counterexample.
#include <gtest/gtest.h>

#include "core/propagate/explore.h"
#include "tests/propagate/parsed.h"

namespace nuscope::propagate {
namespace {

using nugraph::NuGraph;
using nugraph::Variant;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

/// A part of an input, computed on: the first block may be folded for a start.
bool isPart(NodeRef node) {
  while (node->op != Op::slice && node->operands.size() == 1) node = node->operands[0];
  return node->op == Op::slice;
}

/// One loop, and outside of it nothing that folds a whole input: each is read once.
const Variant* onePassOf(const NuGraph& graph, const std::string& rounds) {
  for (const Variant& variant : graph.variants()) {
    int loops = 0;
    bool folds = false;
    for (const NodeRef node : tensor::topologicalOutsideLoops(variant.results)) {
      const auto kind = tensor::kind(node->op);
      const bool fold = kind == OpKind::reduce || kind == OpKind::contract || kind == OpKind::scan;
      folds = folds || (fold && !isPart(node->operands[0]));
      if (node->op == Op::loop && node->attributes.shape[0].text() == rounds) ++loops;
    }
    if (loops == 1 && !folds) return &variant;
  }
  return nullptr;
}

std::string titles(const NuGraph& graph) {
  std::string all;
  for (const auto& variant : graph.variants()) all += "  " + variant.title + "\n";
  for (const auto& refused : graph.refused())
    all += "  refused: " + refused.what + ": " + refused.proof->reason + "\n";
  return all;
}

void expectOnePass(const NuGraph& graph, const std::string& rounds) {
  const Variant* variant = onePassOf(graph, rounds);
  ASSERT_NE(variant, nullptr) << "no single pass of " << rounds << " rounds among\n" << titles(graph);
  for (const int id : graph.derivation(variant->id)) {
    const auto& step = graph.steps()[static_cast<std::size_t>(id)];
    EXPECT_EQ(step.proof->verdict, proof::Verdict::proved) << step.what;
    EXPECT_FALSE(step.recorded);
  }
}

struct Case {
  const char* name;
  const char* signature;  ///< of the parameters besides x, whose last axis is folded
  const char* body;
};

/// x: f32[M, L] where the test says what L is.
class OnePass : public testing::TestWithParam<Case> {
 protected:
  static std::shared_ptr<const NuGraph> explored(const std::string& extent, const std::string& more,
                                                 const std::string& asserts) {
    std::string signature = GetParam().signature;
    for (std::size_t at; (at = signature.find("L")) != std::string::npos;) signature.replace(at, 1, extent);
    const auto program = test::parsed("def f(x: f32[M, " + extent + "]" + signature + more + "):\n" +
                                      asserts + GetParam().body);
    ExploreOptions options;
    options.maxVariants = 12;  // the pass is among the first; all that blocks lead to takes half a minute
    return explore(program, options, {}, {});
  }
};

TEST_P(OnePass, ByElements) {
  expectOnePass(*explored("K", "", ""), "K");
}

TEST_P(OnePass, ByBlocksOfAnySize) {
  expectOnePass(*explored("T*B", ", shape: f32[T, B]", ""), "T");
}

TEST_P(OnePass, ByBlocksThatAnAssertAllows) {
  expectOnePass(*explored("K", "", "    assert x.shape[1] % 16 == 0\n"), "(K // 16)");
}

const Case cases[] = {
    {"log_sum_exp", "",
     "    m = np.max(x, axis=1, keepdims=True)\n"
     "    return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))\n"},
    {"softmax_matmul", ", w: f32[L, N]",
     "    e = np.exp(x - np.max(x, axis=1, keepdims=True))\n"
     "    return (e @ w) / np.sum(e, axis=1, keepdims=True)\n"},
    {"masked_softmax", ", w: f32[L, N], mask: f32[M, L]",
     "    m = np.max(x, axis=1, keepdims=True)\n"
     "    e = np.where(mask > 0, np.exp(x - m), 0)\n"
     "    return (e @ w) / (1 + np.sum(e, axis=1, keepdims=True))\n"},
    {"scaled_sum_of_squares", "",
     "    m = np.max(x, axis=1, keepdims=True)\n"
     "    return np.sum(x * x * np.exp(-m), axis=1, keepdims=True)\n"},
    {"sum_of_squares_over_a_maximum", "",
     "    m = np.max(np.abs(x), axis=1, keepdims=True)\n"
     "    return np.sum(x * x / (1 + m), axis=1, keepdims=True)\n"},
    {"minimum", "",
     "    m = np.min(x, axis=1, keepdims=True)\n"
     "    return np.sum(np.exp(m - x), axis=1, keepdims=True)\n"},
    {"weights_over_their_sum", ", w: f32[L, N]",
     "    e = np.exp(x)\n"
     "    return (e / np.sum(e, axis=1, keepdims=True)) @ w\n"},
};

INSTANTIATE_TEST_SUITE_P(Cases, OnePass, testing::ValuesIn(cases),
                         [](const auto& test) { return test.param.name; });

TEST(FoldMerges, AttentionHasAnOnlineVariant) {
  expectOnePass(*explore(*language::parse(test::libraryText("attention")).program, {}, {}, {}), "N");
}

TEST(FoldMerges, CausalAttentionHasAnOnlineVariant) {
  expectOnePass(*explore(*language::parse(test::libraryText("causal_attention")).program, {}, {}, {}), "S");
}

TEST(FoldMerges, AttentionInBlocksIsFlashAttention) {
  const auto program = test::parsed(
      "def f(q: f32[M, D], k: f32[T * B, D], v: f32[T * B, E], shape: f32[T, B]):\n"
      "    s = q @ k.T\n"
      "    e = np.exp(s - np.max(s, axis=-1, keepdims=True))\n"
      "    return (e / np.sum(e, axis=-1, keepdims=True)) @ v\n");
  const auto graph = explore(program, {}, {}, {});
  expectOnePass(*graph, "T");
  expectOnePass(*graph, "B");
}

/// What the first fold may not be for a prefix: refused, with the inputs at which it differs.
void expectRefused(const std::string& body, const std::string& words) {
  const auto graph = explore(test::parsed("def f(x: f32[M, K]):\n" + body), {}, {}, {});
  EXPECT_EQ(onePassOf(*graph, "K"), nullptr);
  const auto refused = std::ranges::find_if(graph->refused(), [&](const nugraph::Refused& move) {
    return move.what.find(words) != std::string::npos;
  });
  ASSERT_NE(refused, graph->refused().end()) << titles(*graph);
  EXPECT_EQ(refused->proof->verdict, proof::Verdict::refuted) << refused->proof->reason;
  EXPECT_TRUE(refused->proof->counterexample.has_value());
}

TEST(FoldMerges, ARatioThatIsNotFreeOfTheElementIsRefused) {
  expectRefused(
      "    m = np.max(x, axis=1, keepdims=True)\n"
      "    return np.sum(np.tanh(x - m), axis=1, keepdims=True)\n",
      "in one pass over K");
}

TEST(FoldMerges, APrefixForWhichTermsAreUndefinedIsRefused) {
  expectRefused(
      "    m = np.max(np.abs(x), axis=1, keepdims=True)\n"
      "    return np.sum(np.abs(x) / m, axis=1, keepdims=True)\n",
      "in one pass over K");
}

}  // namespace
}  // namespace nuscope::propagate
