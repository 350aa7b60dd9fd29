#include "core/language/printer.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "tests/language/programs.h"

namespace nuscope::language {
namespace {

/// Prints the program and reads it back into the same store.
void expectRoundTrip(const std::string& text, const std::string& what) {
  const auto store = std::make_shared<tensor::NodeStore>();
  const Parsed first = parse(text, store);
  ASSERT_TRUE(first.program) << render(first.diagnostics, what, text);
  const Printed printed = print(*first.program, first.program->results);
  const Parsed second = parse(printed.text, store);
  ASSERT_TRUE(second.program) << what << " became\n"
                              << printed.text << render(second.diagnostics, "printed", printed.text);
  EXPECT_EQ(first.program->results, second.program->results) << text << "became\n" << printed.text;
  ASSERT_EQ(first.program->preconditions.size(), second.program->preconditions.size()) << printed.text;
  std::vector<tensor::NodeRef> before, after;
  for (const auto& assert : first.program->preconditions) {
    if (assert.condition) before.push_back(assert.condition);
  }
  for (const auto& assert : second.program->preconditions) {
    if (assert.condition) after.push_back(assert.condition);
  }
  EXPECT_EQ(before, after) << printed.text;
  const Printed again = print(*second.program, second.program->results);
  EXPECT_EQ(printed.text, again.text) << "printing is not stable for " << what;
}

TEST(Printer, AllTypesComeBack) {
  for (const std::string type : {"f64", "f32", "f16", "bf16"}) {
    expectRoundTrip(
        "from __future__ import annotations\nimport numpy as np\n\n\n"
        "def f(x: " +
            type + "[M, N], s: " + type +
            ", i: i8[N]):\n"
            "    M, N = x.shape\n"
            "    a = x / np.sqrt(N) + 1 / N - np.exp(2.5 * N) * s\n"
            "    b = np.where(x > 0, x, -np.inf)\n"
            "    t = np.zeros((M, 1))\n"
            "    m = np.full((M,), -np.inf)\n"
            "    u = 0\n"
            "    for k in range(N):\n"
            "        t = t + x[:, k:k + 1]\n"
            "        m = np.maximum(m, x[:, k])\n"
            "        u = u + x[:, k] * s\n"
            "    return a, np.max(b, axis=1), t, m, u, i * 2, np.sum(i), x * i, x + 1e-3, -x, 2 - s, "
            "np.mean(i)\n",
        type);
  }
}

TEST(Printer, LinesOfNodes) {
  const std::string text =
      "from __future__ import annotations\nimport numpy as np\n\n\n"
      "def f(x: f32[M, N], s: f32) -> f32[M, N]:\n"
      "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
      "    return s * e / np.sum(e, axis=-1, keepdims=True)\n";
  const Parsed parsed = parse(text);
  ASSERT_TRUE(parsed.program);
  const Printed printed = print(*parsed.program, parsed.program->results);
  EXPECT_EQ(printed.text, text);
  for (const tensor::NodeRef node : tensor::topological(parsed.program->results)) {
    ASSERT_TRUE(printed.lines.contains(node)) << tensor::describe(node);
    const bool exponent =
        node->op == tensor::Op::exp || node->op == tensor::Op::max || node->op == tensor::Op::subtract;
    EXPECT_EQ(printed.lines.at(node), node->op == tensor::Op::input ? 5
                                      : exponent                    ? 6
                                                                    : 7)
        << tensor::describe(node);
  }
  const tensor::NodeRef quotient = parsed.program->results[0];
  EXPECT_EQ(expressionText(*parsed.program, quotient), "s * e / np.sum(e, axis=-1, keepdims=True)");
  EXPECT_EQ(expressionText(*parsed.program, quotient, 1), "... / ...");
}

TEST(Printer, EveryNodeOfEveryProgramHasALine) {
  for (const auto& path : programFiles()) {
    const Parsed parsed = parse(readWholeFile(path));
    ASSERT_TRUE(parsed.program);
    const Printed printed = print(*parsed.program, parsed.program->results);
    for (const tensor::NodeRef node : tensor::topological(parsed.program->results)) {
      EXPECT_TRUE(printed.lines.contains(node)) << path << " " << tensor::describe(node);
    }
  }
}

TEST(Printer, AllProgramsComeBack) {
  for (const auto& path : programFiles()) expectRoundTrip(readWholeFile(path), path.string());
}

TEST(Printer, LanguageFeaturesComeBack) {
  const auto files = filesBelow(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/language");
  EXPECT_FALSE(files.empty());
  for (const auto& path : files) expectRoundTrip(readWholeFile(path), path.string());
}

TEST(Printer, TheCorpusComesBack) {
  const auto files = corpusFiles();
  if (files.empty()) GTEST_SKIP() << "the corpus is not here";
  for (const auto& path : files) expectRoundTrip(readWholeFile(path), path.string());
}

}  // namespace
}  // namespace nuscope::language
