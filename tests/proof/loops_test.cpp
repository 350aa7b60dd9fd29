// Loops as folds: rounds under a condition, factors that are quotients, blocks; and what looks like them and
// is wrong. Without draws and without a solver: the closed forms alone decide.
#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "core/proof/prove.h"

namespace nuscope::proof {
namespace {

constexpr const char* head = "from __future__ import annotations\nimport numpy as np\n\n\n";

Proof decided(const std::string& signature, const std::string& left, const std::string& right) {
  const auto program = [&](const std::string& body) {
    const std::string text = head + ("def f(" + signature + "):\n" + body);
    const auto parsed = language::parse(text);
    EXPECT_TRUE(parsed.program.has_value()) << render(parsed.diagnostics, "f.py", text);
    return *parsed.program;
  };
  Options options;
  options.mode = Mode::refines;
  options.draws = false;
  return prove(program(left), program(right), options, {});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expectProved(const std::string& signature, const std::string& left, const std::string& right) {
  const Proof proof = decided(signature, left, right);
  EXPECT_EQ(proof.verdict, Verdict::proved) << proof.reason << "\n" << proof.remaining;
}

void expectOpen(const std::string& signature, const std::string& left, const std::string& right) {
  EXPECT_EQ(decided(signature, left, right).verdict, Verdict::unknown);
}

// Causal softmax: row i sees the columns up to i.
constexpr const char* square = "x: f32[S, S], w: f32[S, N]";
const std::string causal =
    "    S = x.shape[0]\n"
    "    seen = np.arange(S)[:, None] >= np.arange(S)\n"
    "    s = np.where(seen, x, -np.inf)\n"
    "    e = np.exp(s - np.max(s, axis=1, keepdims=True))\n"
    "    return (e @ w) / np.sum(e, axis=1, keepdims=True)\n";
const std::string causalOnline =
    "    S = x.shape[0]\n"
    "    m = np.full((S, 1), -np.inf)\n"
    "    d = np.zeros((S, 1))\n"
    "    o = np.zeros((S, w.shape[1]))\n"
    "    for k in range(S):\n"
    "        s = np.where(np.arange(S)[:, None] >= k, x[:, k:k + 1], -np.inf)\n"
    "        n = np.maximum(m, s)\n"
    "        d = d * np.exp(m - n) + np.exp(s - n)\n"
    "        o = o * np.exp(m - n) + np.exp(s - n) * w[k:k + 1]\n"
    "        m = n\n"
    "    return o / d\n";

TEST(Loops, RoundsUnderACondition) {
  expectProved(square, causal, causalOnline);
}

TEST(Loops, RoundsUnderAConditionDoneWrong) {
  expectOpen(square, causal, replaced(causalOnline, ">= k", "> k"));  // the first row sees nothing
  expectOpen(square, causal, replaced(causalOnline, ">= k", "<= k"));
  expectOpen(square, causal, replaced(causalOnline, "o * np.exp(m - n)", "o"));
  expectOpen(square, causal, replaced(causalOnline, "d * np.exp(m - n)", "d * np.exp(n - m)"));
  expectOpen(square, causal, replaced(causalOnline, "np.exp(s - n) * w", "np.exp(x[:, k:k + 1] - n) * w"));
  expectOpen(square, causal, replaced(causalOnline, "np.maximum(m, s)", "np.minimum(m, s)"));
}

// A maximum of those elements that a mask lets through has no value where it lets none through.
TEST(Loops, AConditionThatMayFailInTheFirstRoundIsNotClosed) {
  const std::string masked =
      "    M, K = x.shape\n"
      "    m = np.full((M, 1), -np.inf)\n"
      "    for k in range(K):\n"
      "        m = np.maximum(m, np.where(c[:, k:k + 1] > 0, x[:, k:k + 1], -np.inf))\n"
      "    return np.maximum(m, 0)\n";
  expectOpen("x: f32[M, K], c: f32[M, K]", masked,
             "    return np.maximum(np.max(x, axis=1, keepdims=True), 0)\n");
}

// Weights over their running sum.
const std::string weighted =
    "    e = np.exp(x)\n"
    "    return (e / np.sum(e, axis=1, keepdims=True)) @ w\n";
const std::string weightedOnline =
    "    M, K = x.shape\n"
    "    r = np.zeros((M, 1))\n"
    "    o = np.zeros((M, w.shape[1]))\n"
    "    for k in range(K):\n"
    "        e = np.exp(x[:, k:k + 1])\n"
    "        n = r + e\n"
    "        o = o * (r / n) + e / n * w[k:k + 1]\n"
    "        r = n\n"
    "    return o\n";

TEST(Loops, AFactorThatIsAQuotient) {
  expectProved("x: f32[M, K], w: f32[K, N]", weighted, weightedOnline);
}

TEST(Loops, AFactorThatIsAQuotientDoneWrong) {
  const char* signature = "x: f32[M, K], w: f32[K, N]";
  expectOpen(signature, weighted, replaced(weightedOnline, "o * (r / n)", "o * (n / r)"));
  expectOpen(signature, weighted, replaced(weightedOnline, "o * (r / n)", "o"));
  expectOpen(signature, weighted, replaced(weightedOnline, "e / n * w", "e / r * w"));
}

// Without exp the running sum may be 0 on the way, and the loop undefined where the program is not.
TEST(Loops, ARoundThatMayBeUndefinedIsNotClosed) {
  expectOpen("x: f32[M, K], w: f32[K, N]", replaced(weighted, "np.exp(x)", "x * 1"),
             replaced(weightedOnline, "np.exp(x[:, k:k + 1])", "x[:, k:k + 1]"));
}

const std::string scaled =
    "    m = np.max(np.abs(x), axis=1, keepdims=True)\n"
    "    return np.sum(x * x / (1 + m), axis=1, keepdims=True)\n";
const std::string scaledOnline =
    "    M, K = x.shape\n"
    "    m = np.abs(x[:, :1])\n"
    "    s = np.zeros((M, 1))\n"
    "    for k in range(K):\n"
    "        y = x[:, k:k + 1]\n"
    "        n = np.maximum(m, np.abs(y))\n"
    "        s = s * ((1 + m) / (1 + n)) + y * y / (1 + n)\n"
    "        m = n\n"
    "    return s\n";

TEST(Loops, AFactorThatIsASum) {
  expectProved("x: f32[M, K]", scaled, scaledOnline);
  expectOpen("x: f32[M, K]", scaled, replaced(scaledOnline, "(1 + m) / (1 + n)", "(1 + n) / (1 + m)"));
  expectOpen("x: f32[M, K]", scaled, replaced(scaledOnline, "(1 + m) / (1 + n)", "(2 + m) / (1 + n)"));
  expectOpen("x: f32[M, K]", scaled,
             replaced(scaledOnline, "m = np.abs(x[:, :1])", "m = 1 + np.abs(x[:, :1])"));
}

TEST(Loops, BlocksOfOneAxis) {
  const char* signature = "x: f32[M, T * B], shape: f32[T, B]";
  const std::string whole =
      "    m = np.max(x, axis=1, keepdims=True)\n"
      "    return m + np.log(np.sum(np.exp(x - m), axis=1, keepdims=True))\n";
  const std::string blocks =
      "    T, B = shape.shape\n"
      "    M = x.shape[0]\n"
      "    m = np.full((M, 1), -np.inf)\n"
      "    d = np.zeros((M, 1))\n"
      "    for t in range(T):\n"
      "        y = x[:, t * B:t * B + B]\n"
      "        n = np.maximum(m, np.max(y, axis=1, keepdims=True))\n"
      "        d = d * np.exp(m - n) + np.sum(np.exp(y - n), axis=1, keepdims=True)\n"
      "        m = n\n"
      "    return m + np.log(d)\n";
  expectProved(signature, whole, blocks);
  expectOpen(signature, whole, replaced(blocks, "x[:, t * B:t * B + B]", "x[:, t * B:t * B + 1]"));
  expectOpen(signature, whole, replaced(blocks, "x[:, t * B:t * B + B]", "x[:, :B]"));
}

}  // namespace
}  // namespace nuscope::proof
