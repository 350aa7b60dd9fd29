// Further pairs of the corpus' families, written after the rules: does the prover reach beyond the corpus?
#include <gtest/gtest.h>

#include <iostream>

#include "core/language/parse.h"
#include "core/proof/prove.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

struct Pair {
  const char* name;
  bool equal;
  const char* signature;
  const char* left;  ///< statements; the last line is returned
  const char* right;
};

const Pair pairs[] = {
    {"softmax by log-sum-exp", true, "x: f32[M, N]", "e = np.exp(x)\ne / np.sum(e, axis=1, keepdims=True)",
     "m = np.max(x, axis=1, keepdims=True)\nl = m + np.log(np.sum(np.exp(x - m), axis=1, "
     "keepdims=True))\nnp.exp(x - l)"},
    {"rms norm of a scaled row", true, "x: f32[M, N]",
     "y = 2 * x\ny / np.sqrt(np.mean(y * y, axis=1, keepdims=True) + 4)",
     "x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1)"},
    {"eps is not scaled", false, "x: f32[M, N]",
     "y = 2 * x\ny / np.sqrt(np.mean(y * y, axis=1, keepdims=True) + 1)",
     "x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1)"},
    {"attention without the last key", false, "q: f32[M, D], k: f32[S, D], v: f32[S, E]",
     "s = q @ k.T\ne = np.exp(s)\n(e / np.sum(e, axis=1, keepdims=True)) @ v",
     "s = q @ k.T\ne = np.exp(s)\n(e / (np.sum(e, axis=1, keepdims=True) - e[:, 0:1])) @ v"},
    {"late division in attention", true, "q: f32[M, D], k: f32[S, D], v: f32[S, E]",
     "s = q @ k.T\ne = np.exp(s - np.max(s, axis=1, keepdims=True))\n(e / np.sum(e, axis=1, keepdims=True)) "
     "@ v",
     "s = q @ k.T\ne = np.exp(s)\n(e @ v) / np.sum(e, axis=1, keepdims=True)"},
    {"three matrices", true, "a: f32[M, K], b: f32[K, L], c: f32[L, N]", "(a @ b) @ c", "a @ (b @ c)"},
    {"transpose of three", true, "a: f32[M, K], b: f32[K, L], c: f32[L, N]", "((a @ b) @ c).T",
     "c.T @ (b.T @ a.T)"},
    {"trace of a product", true, "a: f32[M, K], b: f32[K, M]", "np.einsum('ik,ki->', a, b)",
     "np.sum(a * b.T)"},
    {"frobenius as trace", true, "a: f32[M, K]", "np.sum(a * a)", "np.einsum('ij,ij->', a, a)"},
    {"column sums by ones", true, "a: f32[M, K]", "np.sum(a, axis=0)", "np.ones(a.shape[0]) @ a"},
    {"cumsum of ones", true, "x: f32[N]", "np.cumsum(np.ones(x.shape[0])) * x",
     "(np.arange(x.shape[0]) + 1) * x"},
    {"cumsum backwards", true, "x: f32[N]", "np.sum(x) - np.cumsum(x) + x",
     "i = np.arange(x.shape[0])\nnp.where(np.expand_dims(i, 1) <= np.expand_dims(i, 0), 1, 0) @ x"},
    {"second difference", false, "x: f32[N]", "np.cumsum(np.cumsum(x))",
     "np.cumsum(x * np.arange(x.shape[0]))"},
    {"sum of squares closed form", true, "x: f32[N]",
     "np.sum(np.arange(x.shape[0]) * np.arange(x.shape[0])) * x",
     "n = x.shape[0]\nn * (n - 1) * (2 * n - 1) / 6 * x"},
    {"variance by pairs", true, "x: f32[N]", "d = x - np.mean(x)\nnp.sum(d * d) * x.shape[0] * 2",
     "d = np.expand_dims(x, 1) - np.expand_dims(x, 0)\nnp.sum(d * d)"},
    {"layer norm in two moments", true, "x: f32[M, N]",
     "m = np.mean(x, axis=1, keepdims=True)\n(x - m) / np.sqrt(np.mean((x - m) * (x - m), axis=1, "
     "keepdims=True) + 0.5)",
     "m = np.mean(x, axis=1, keepdims=True)\n(x - m) / np.sqrt(np.mean(x * x, axis=1, keepdims=True) - m * m "
     "+ 0.5)"},
    {"clip as relu pair", true, "x: f32[N]", "np.clip(x, 0, 6)", "np.maximum(x, 0) - np.maximum(x - 6, 0)"},
    {"max by relu", true, "x: f32[N], y: f32[N]", "np.maximum(x, y)", "y + np.maximum(x - y, 0)"},
    {"min of max", true, "x: f32[N], y: f32[N]", "np.maximum(x, y) + np.minimum(x, y)", "x + y"},
    {"abs difference", true, "x: f32[N], y: f32[N]", "np.abs(x - y)", "np.maximum(x, y) - np.minimum(x, y)"},
    {"relu of a product", false, "x: f32[N], y: f32[N]", "np.maximum(x * y, 0)",
     "np.maximum(x, 0) * np.maximum(y, 0)"},
    {"max is not linear", false, "x: f32[N], y: f32[N]", "np.max(x + y)", "np.max(x) + np.max(y)"},
    {"max reaches its elements", true, "x: f32[N]", "np.maximum(np.max(x) - x, 0)", "np.max(x) - x"},
    {"max of a column block", true, "x: f32[M, N], y: f32[M, K]",
     "np.max(np.concatenate([x, y], axis=1), axis=1)", "np.maximum(np.max(x, axis=1), np.max(y, axis=1))"},
    {"sum of a stack", true, "x: f32[N], y: f32[N]", "np.sum(np.stack([x, y]), axis=0)", "x + y"},
    {"blocks by reshape", true, "x: f32[T, P, K], w: f32[P, K, N]",
     "T, P, K = x.shape\nx.reshape(T, P * K) @ w.reshape(P * K, w.shape[2])",
     "np.einsum('tpk,pkn->tn', x, w)"},
    {"head split", true, "x: f32[S, H, D], y: f32[S, H, D]",
     "S, H, D = x.shape\na = x.reshape(S, H * D).reshape(S, H, D).transpose(1, 0, 2)\nb = y.transpose(1, 2, "
     "0)\na @ b",
     "np.einsum('shd,thd->hst', x, y)"},
    {"sigmoid complement", true, "x: f32[N]", "1 - 1 / (1 + np.exp(-x))", "1 / (1 + np.exp(x))"},
    {"softplus", true, "x: f32[N]", "np.log(1 + np.exp(x))",
     "np.maximum(x, 0) + np.log(1 + np.exp(-np.abs(x)))"},
    {"log of a quotient", false, "x: f32[N], y: f32[N]", "np.log(x / y)", "np.log(x) - np.log(y)"},
    {"tanh double angle", true, "x: f32[N]", "np.tanh(2 * x)", "t = np.tanh(x)\n2 * t / (1 + t * t)"},
    {"silu as product", true, "x: f32[N]", "x / (1 + np.exp(-x))", "x * np.exp(x) / (np.exp(x) + 1)"},
    {"angle difference", true, "a: f32[N], b: f32[N]", "np.cos(a - b)",
     "np.cos(a) * np.cos(b) + np.sin(a) * np.sin(b)"},
    {"half of twice", true, "k: i32[N]", "(4 * k + 3) // 4", "k"},
    {"even and odd", true, "k: i32[N]", "k % 2 + 2 * (k // 2)", "k"},
    {"truncation of negatives", false, "k: i32[N]", "-(k // 2)", "(-k) // 2"},
    {"shifted modulo", true, "k: i32[N]", "(k + 12) % 4", "k % 4"},
    {"nested floor", true, "x: f32[N]", "np.floor(np.floor(x) / 2)", "np.floor(x / 2)"},
    {"floor of max", true, "x: f32[N], y: f32[N]", "np.floor(np.maximum(x, y))",
     "np.maximum(np.floor(x), np.floor(y))"},
    {"gather rows then scale", true, "x: f32[N, K], s: f32[K]",
     "i = np.arange(x.shape[0])\nnp.take(x, i, axis=0) * s", "x * s"},
    {"masked mean", true, "x: f32[M, N], m: f32[N]", "np.sum(x * m, axis=1) / np.sum(m)",
     "x @ (m / np.sum(m))"},
    {"dropped bias", false, "x: f32[M, K], w: f32[K, N], b: f32[N]", "np.maximum(x @ w + b, 0)",
     "np.maximum(x @ w, 0) + b"},
    {"bias into product", true, "x: f32[M, K], w: f32[K, N], b: f32[N]", "x @ w + b",
     "np.concatenate([x, np.ones((x.shape[0], 1))], axis=1) @ np.concatenate([w, np.expand_dims(b, 0)], "
     "axis=0)"},
    {"mean of means of unequal parts", false, "x: f32[N], y: f32[M]", "np.mean(np.concatenate([x, y]))",
     "(np.mean(x) + np.mean(y)) / 2"},
    {"norm by product", true, "x: f32[M, N]", "np.sqrt(np.sum(x * x, axis=1))",
     "np.sqrt(np.einsum('ij,ij->i', x, x))"},
    {"two norms", true, "x: f32[N], y: f32[N]", "np.sum((x + y) * (x + y)) - np.sum((x - y) * (x - y))",
     "4 * (x @ y)"},
    {"linear attention order", true, "q: f32[M, D], k: f32[S, D], v: f32[S, E]", "(q @ k.T) @ v",
     "q @ (k.T @ v)"},
    {"softmax attention order", false, "q: f32[M, D], k: f32[S, D], v: f32[S, E]", "np.exp(q @ k.T) @ v",
     "np.exp(q) @ (np.exp(k.T) @ v)"},
    {"causal by where or by product", true, "s: f32[N, N], v: f32[N, E]",
     "i = np.arange(s.shape[0])\nmask = np.expand_dims(i, 1) >= np.expand_dims(i, 0)\nnp.where(mask, s, 0) @ "
     "v",
     "i = np.arange(s.shape[0])\nmask = np.expand_dims(i, 0) > np.expand_dims(i, 1)\n(s - np.where(mask, s, "
     "0)) @ v"},
    {"causal attention late division", true, "s: f32[N, N], v: f32[N, E]",
     "i = np.arange(s.shape[0])\nmask = np.expand_dims(i, 1) >= np.expand_dims(i, 0)\nt = np.where(mask, s, "
     "-np.inf)\n"
     "e = np.exp(t - np.max(t, axis=1, keepdims=True))\n(e / np.sum(e, axis=1, keepdims=True)) @ v",
     "i = np.arange(s.shape[0])\nmask = np.expand_dims(i, 1) >= np.expand_dims(i, 0)\ne = np.where(mask, "
     "np.exp(s), 0)\n"
     "(e @ v) / np.sum(e, axis=1, keepdims=True)"},
    {"grouped heads", true, "q: f32[G, R, S, D], k: f32[G, T, D]",
     "G, R, S, D = q.shape\nkk = np.repeat(k, R, axis=0)\nq.reshape(G * R, S, D) @ kk.transpose(0, 2, 1)",
     "G, R, S, D = q.shape\n(q @ np.expand_dims(k.transpose(0, 2, 1), 1)).reshape(G * R, S, k.shape[1])"},
    {"prefix sums by triangle", true, "x: f32[N, K]", "np.cumsum(x, axis=0)",
     "i = np.arange(x.shape[0])\nnp.where(np.expand_dims(i, 1) >= np.expand_dims(i, 0), 1, 0) @ x"},
    {"adam bias", true, "m: f32[N], g: f32[N]", "(0.9 * m + 0.1 * g) / 0.1", "9 * m + g"},
    {"square of sum", true, "x: f32[N]", "np.sum(x) * np.sum(x)",
     "np.sum(np.expand_dims(x, 0) * np.expand_dims(x, 1))"},
    {"product of exponentials", true, "x: f32[N, M]", "np.prod(np.exp(x), axis=1)",
     "np.exp(np.sum(x, axis=1))"},
    {"max of negated", true, "x: f32[N, M]", "-np.max(-x, axis=1)", "np.min(x, axis=1)"},
};

tensor::Program program(const Pair& pair, const std::string& body) {
  std::string text = std::string("from __future__ import annotations\nimport numpy as np\n\n\ndef program(") +
                     pair.signature + "):\n";
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = body.find('\n', begin);
    text += end == std::string::npos ? "    return " + body.substr(begin) + "\n"
                                     : "    " + body.substr(begin, end - begin) + "\n";
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  auto parsed = language::parse(text);
  if (!parsed.program) throw UserError(render(parsed.diagnostics, pair.name, text));
  return *parsed.program;
}

TEST(Families, BeyondTheCorpus) {
  SolverPool pool(NUSCOPE_SOLVER, 1);
  int equal = 0;
  int proved = 0;
  int different = 0;
  int refuted = 0;
  for (const Pair& pair : pairs) {
    try {
      Options options;
      options.solvers = &pool;
      options.draws = false;
      const auto left = program(pair, pair.left);
      const auto right = program(pair, pair.right);
      Proof proof = prove(left, right, options, {});
      EXPECT_FALSE(!pair.equal && proof.verdict == Verdict::proved) << pair.name;
      if (proof.verdict != Verdict::proved) {
        const Proof first = proof;
        options.draws = true;
        options.proofs = false;
        proof = prove(left, right, options, {});
        EXPECT_FALSE(pair.equal && proof.verdict == Verdict::refuted) << pair.name;
        if (pair.equal || proof.verdict == Verdict::unknown)
          std::cout << "  unknown: " << pair.name << ": " << first.reason << "\n";
      }
      (pair.equal ? equal : different) += 1;
      (pair.equal ? proved : refuted) +=
          proof.verdict == (pair.equal ? Verdict::proved : Verdict::refuted) ? 1 : 0;
    } catch (const UserError& error) {
      ADD_FAILURE() << pair.name << ": " << error.what();
    }
  }
  std::cout << "  " << proved << " of " << equal << " proved, " << refuted << " of " << different
            << " refuted\n";
  EXPECT_GE(proved * 100, equal * 93);
  EXPECT_GE(refuted * 100, different * 96);
}

}  // namespace
}  // namespace nuscope::proof
