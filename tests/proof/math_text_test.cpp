// What people read of the prover's terms: indices called after their extents, no names of its own.
#include "core/proof/math_text.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "core/proof/functions.h"
#include "core/proof/int_term.h"
#include "core/proof/prove.h"
#include "core/proof/real_term.h"

namespace nuscope::proof {
namespace {

tensor::Program program(const std::string& signature, const std::string& result) {
  auto parsed = language::parse("from __future__ import annotations\nimport numpy as np\n\n\ndef f(" +
                                signature + "):\n    return " + result + "\n");
  if (!parsed.program) throw UserError(parsed.diagnostics.at(0).message);
  return std::move(*parsed.program);
}

std::string remaining(const std::string& signature, const std::string& left, const std::string& right) {
  Options options;
  options.draws = false;
  return prove(program(signature, left), program(signature, right), options, {}).remaining;
}

TEST(MathText, IndicesAreCalledAfterTheirExtents) {
  EXPECT_EQ(remaining("x: f32[M, K], b: f32[M, 1], w: f32[K, N]", "(x + b) @ w", "x @ w + b"),
            "b[m, 0]*(sum_{k<K} w[k, n]) - b[m, 0]");
}

TEST(MathText, TwoIndicesOfOneExtentDiffer) {
  const std::string text = remaining("x: f32[T, T]", "x.T", "x");
  EXPECT_TRUE(text == "x[i, t] - x[t, i]" || text == "x[t, i] - x[i, t]") << text;
}

TEST(MathText, AnIndexAvoidsTheNamesOfInputs) {
  EXPECT_EQ(remaining("k: f32[K], i: f32[K]", "np.sum(k)", "np.sum(i)"), "sum_{j<K} k[j] - sum_{j<K} i[j]");
}

TEST(MathText, ConditionsReadAsConditions) {
  Calculus c;
  const IntRef extent = dimension(c, "M");
  const int x = c.arena.source({"x", nullptr, false, {}});
  const IntAtomRef index = freshIndex(c, extent);
  const PolyRef element = proof::element(c, x, {intOf(c, index)});
  EXPECT_EQ(conditionText(c, whenPositive(c, element)), "x[m] > 0");
  EXPECT_EQ(conditionText(c, negation(c, whenZero(c, element))), "x[m] != 0");
  EXPECT_EQ(conditionText(c, negation(c, whenPositive(c, element))), "x[m] <= 0");
}

TEST(MathText, ACutNodeIsDefinedWithoutAPrefix) {
  Calculus c;
  const int key = 0;
  const int mark = c.arena.source({"defined sqrt", &key, false, {dimension(c, "M"), c.arena.oneInt}});
  const IntAtomRef index = freshIndex(c, dimension(c, "M"));
  const PolyRef element = proof::element(c, mark, {intOf(c, index), c.arena.zeroInt});
  EXPECT_EQ(conditionText(c, whenPositive(c, element)), "sqrt[m] is defined");
}

}  // namespace
}  // namespace nuscope::proof
