#include "core/semantics/formula.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"

namespace nuscope::semantics {
namespace {

std::string written(const std::string& body, const std::string& signature, FormulaOptions options = {}) {
  const auto parsed = language::parse(
      "from __future__ import annotations\nimport numpy as np\n\n\ndef program(" + signature + "):\n" + body);
  if (!parsed.program) throw UserError(parsed.diagnostics.at(0).message);
  return text(formulas(*parsed.program, parsed.program->results[0], options));
}

TEST(Formula, SumsAndProducts) {
  EXPECT_EQ(written("    return x @ w\n", "x: f32[M, K], w: f32[K, N]"), "y_mn = Σ_{k<K} x_mk w_kn");
  EXPECT_EQ(written("    return x - 2 * x * x\n", "x: f32[M]"), "y_m = x_m - 2 x_m²");
  EXPECT_EQ(written("    return -(x + 1) * x\n", "x: f32[M]"), "y_m = -(x_m + 1) x_m");
  EXPECT_EQ(written("    return np.cumsum(x, axis=0)\n", "x: f32[M]"), "y_m = Σ_{i≤m} x_i");
}

TEST(Formula, VariablesThatFoldAreNamed) {
  EXPECT_EQ(
      written(
          "    ms = np.mean(x * x, axis=-1, keepdims=True)\n    return (x / np.sqrt(ms + 1e-5) * g) @ w\n",
          "x: f32[M, K], g: f32[K], w: f32[K, N]"),
      "ms_m = (Σ_{k<K} x_mk²) / K\ny_mn = Σ_{k<K} x_mk / √(ms_m + 1e-5) · g_k w_kn");
  FormulaOptions expanded;
  expanded.naming = 0;
  EXPECT_EQ(written("    ms = np.mean(x * x, axis=-1, keepdims=True)\n    return x / np.sqrt(ms + 1e-5)\n",
                    "x: f32[M, K]", expanded),
            "y_mk = x_mk / √((Σ_{i<K} x_mi²) / K + 1e-5)");
}

TEST(Formula, LongExpressionsAreCut) {
  FormulaOptions small;
  small.naming = 0;
  small.sizeLimit = 6;
  const std::string result =
      written("    return np.exp(x * x + x) / (1 + np.exp(x * x + x))\n", "x: f32[M]", small);
  EXPECT_NE(result.find("t1_m = "), std::string::npos) << result;
}

TEST(Formula, CasesAndLayout) {
  EXPECT_EQ(written("    return np.where(x > 0, x, 0)\n", "x: f32[M]"),
            "y_m = {x_m if x_m > 0; 0 otherwise}");
  EXPECT_EQ(written("    return np.concatenate([x, y], axis=0)\n", "x: f32[M], y: f32[N]"),
            "z_i = {x_i if i < M; y_{i - M} otherwise}");
  EXPECT_EQ(written("    M, K = x.shape\n    return x.reshape(M * K).reshape(M, K)\n", "x: f32[M, K]"),
            "y_mk = x_mk");
  EXPECT_EQ(written("    return np.take(x, i, axis=0)\n", "x: f32[N, K], i: i32[M]"), "y_mk = x_{i_m,k}");
}

TEST(Formula, LoopsAreSequences) {
  EXPECT_EQ(written("    M, N = x.shape\n    m = np.full((M, 1), -np.inf)\n    for k in range(N):\n"
                    "        m = np.maximum(m, x[:, k:k + 1])\n    return m\n",
                    "x: f32[M, N]"),
            "m_i0 = -∞\nm_{i,τ + 1} = max(m_iτ, x_iτ)\ny_i = m_iN");
}

TEST(Formula, MarksAndHtml) {
  const auto parsed = language::parse(
      "from __future__ import annotations\nimport numpy as np\n\n\ndef program(x: f32[M]):\n    return "
      "np.exp(x * x) < 2\n");
  FormulaOptions options;
  options.marked.insert(parsed.program->results[0]->operands[0]->operands[0]);
  const auto all = formulas(*parsed.program, parsed.program->results[0], options);
  EXPECT_EQ(html(*all.result.right),
            "exp(<span class=\"nu-mark\"><i>x</i><sub><i>m</i></sub><sup>2</sup></span>) &lt; 2");
}

}  // namespace
}  // namespace nuscope::semantics
