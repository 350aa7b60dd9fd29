// Names that a program may use are never those that the prover or the checker makes up.
#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "core/proof/prove.h"
#include "core/record/record.h"

namespace nuscope::record {
namespace {

/// Both sides under one signature and one set of asserts.
void isNoProof(const std::string& head, const std::string& left, const std::string& right) {
  const std::string start = "from __future__ import annotations\nimport numpy as np\n\n\n" + head;
  const replay::ProofGoal goal{false, start + "    return " + left + "\n",
                               start + "    return " + right + "\n"};
  const auto store = std::make_shared<tensor::NodeStore>();
  const auto a = language::parse(goal.left, store);
  const auto b = language::parse(goal.right, store);
  ASSERT_TRUE(a.program && b.program) << (a.diagnostics.empty() ? b.diagnostics : a.diagnostics)[0].message;
  proof::Options options;
  options.draws = false;
  EXPECT_NE(proof::prove(*a.program, *b.program, options, {}).verdict, proof::Verdict::proved)
      << head << left;
  EXPECT_TRUE(recordProof(goal, nullptr).record.empty()) << head << left;
}

TEST(ProofNames, AQuotientOfADimension) {
  isNoProof(
      "def f(x: f32[K], y: f32[K_q]) -> f32[K]:\n"
      "    K = x.shape[0]\n    L = y.shape[0]\n    assert K % 4 == 0\n",
      "x * K", "x * (4 * L)");
}

TEST(ProofNames, ABoundedDimension) {
  isNoProof(
      "def f(x: f32[K], y: f32[K_m]) -> f32[K]:\n"
      "    K = x.shape[0]\n    L = y.shape[0]\n    assert K >= 3\n",
      "x * K", "x * (L + 2)");
}

TEST(ProofNames, AQuotientOfAScalar) {
  isNoProof(
      "def f(x: f32[K], m: i32, n: i32, m_q: i32) -> f32[K]:\n"
      "    assert n >= 1\n    assert m % n == 0\n",
      "x * m", "x * (n * m_q)");
}

}  // namespace
}  // namespace nuscope::record
