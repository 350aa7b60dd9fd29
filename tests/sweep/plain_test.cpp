// Plain loops against the float64 evaluator, through a real worker and the numeric gate.
#include "core/sweep/plain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/sweep/plain_domain.h"
#include "tests/sweep/kernels.h"

namespace nuscope::sweep {
namespace {

struct Case {
  const char* name;
  const char* text;
  tensor::Extents extents;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"rmsnorm_matmul",
       "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n"
       "    ms = np.mean(x * x, axis=-1, keepdims=True)\n"
       "    return (x / np.sqrt(ms + 1e-5) * g) @ w\n",
       {{"M", 5}, {"K", 17}, {"N", 9}}},
      {"softmax",
       "def f(x: f32[M, N]) -> f32[M, N]:\n"
       "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
       "    return e / np.sum(e, axis=-1, keepdims=True)\n",
       {{"M", 4}, {"N", 33}}},
      {"attention",
       "def f(q: f32[S, D], k: f32[T, D], v: f32[T, D]) -> f32[S, D]:\n"
       "    s = q @ k.T * 0.125\n"
       "    e = np.exp(s - np.max(s, axis=1, keepdims=True))\n"
       "    return e / np.sum(e, axis=1, keepdims=True) @ v\n",
       {{"S", 6}, {"T", 11}, {"D", 8}}},
      {"batched",
       "def f(a: f32[B, M, K], b: f32[B, K, N]) -> f32[B, M, N]:\n"
       "    return np.maximum(a @ b, 0)\n",
       {{"B", 3}, {"M", 4}, {"K", 5}, {"N", 6}}},
      {"cumsum",
       "def f(x: f32[M, N]) -> f32[M, N]:\n    return np.cumsum(x, axis=0)\n",
       {{"M", 7}, {"N", 3}}},
      {"joined",
       "def f(a: f32[M, N], b: f32[M, N]) -> f32[M, 2 * N]:\n"
       "    return np.concatenate([np.where(a > 0, a, -b), a * b], axis=1)\n",
       {{"M", 3}, {"N", 5}}},
      {"two results and integers",
       "def f(x: i32[N], y: i32[N]) -> tuple[i32[N], i32]:\n"
       "    z = x // (y * y + 1)\n"
       "    return z % 3, np.sum(z)\n",
       {{"N", 20}}},
      {"transposed left",
       "def f(a: f32[K, M], b: f32[K, N]) -> f32[M, N]:\n    return a.T @ b\n",
       {{"M", 5}, {"K", 6}, {"N", 7}}},
      {"result is an input", "def f(a: f32[M, N]) -> f32[N, M]:\n    return a.T\n", {{"M", 5}, {"N", 7}}},
      {"vector", "def f(a: f32[M, K], b: f32[K]) -> f32[M]:\n    return a @ b\n", {{"M", 5}, {"K", 7}}},
      {"einsum",
       "def f(a: f32[M, K], b: f32[N, K]) -> f32[M, N]:\n    return np.einsum('mk,nk->mn', a, b)\n",
       {{"M", 5}, {"N", 4}, {"K", 7}}},
      {"double", "def f(a: f64[M], b: f64[M]) -> f64:\n    return np.sum(np.tanh(a) * b)\n", {{"M", 50}}},
  };
  return all;
}

const char* const imports = "from __future__ import annotations\nimport numpy as np\n\n";

class PlainTest : public testing::Test {
 protected:
  void check(const tensor::Program& program, const tensor::Extents& extents, const PlainOptions& options,
             const std::string& name) {
    auto kernel = emitPlain(program, extents, options);
    ASSERT_TRUE(kernel) << kernel.refusal().message;
    check(program, extents, options, name, *kernel);
  }
  void check(const tensor::Program& program, const tensor::Extents& extents, const PlainOptions& options,
             const std::string& name, const PlainKernel& loops) {
    const PlainKernel* kernel = &loops;
    const std::string library = "k" + std::to_string(++number);
    const auto compiled = worker.compile({{library, kernel->text, kernel->command}}, 60, 1, {});
    ASSERT_EQ(compiled[0].outcome, Outcome::ok) << name << compiled[0].message << kernel->text;
    std::vector<std::string> notes;
    GateOptions gate;
    gate.accumulation = accumulationOf(program);
    GateRecord record;
    record.factor = gate.factor;
    for (const Reference& reference : makeReferences(program, extents, gate, {}, notes)) {
      addDraw(record, compareDraw(reference, test::runOn(worker, program, library, kernel->function,
                                                         reference, options.threads)));
    }
    EXPECT_TRUE(record.passed) << name << ": " << record.text << "\n" << kernel->text;
  }
  int number = 0;
  Worker worker{{test::executable, "worker"}, {}};
};

TEST_F(PlainTest, agreesWithTheEvaluator) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    check(test::program(std::string(imports) + c.text), c.extents, {}, c.name);
  }
}

TEST_F(PlainTest, withOpenBlas) {
  if (!worker.hello().libraries.at("openblas").available)
    GTEST_SKIP() << worker.hello().libraries.at("openblas").text;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    check(test::program(std::string(imports) + c.text), c.extents, {true, 1}, c.name);
  }
}

/// Calls the loops for any extents at these.
PlainKernel atExtents(const tensor::Program& program, const tensor::Extents& extents, PlainKernel kernel) {
  std::string parameters;
  std::string arguments;
  const auto add = [&](const tensor::NodeRef node, const std::string& name, const char* access) {
    parameters += fmt::format("{}{}* {}, ", access, plainType(node->dtype), name);
    arguments += name + ", ";
  };
  for (const auto& one : program.parameters) add(one.node, "p_" + one.name, "const ");
  for (std::size_t r = 0; r < program.results.size(); ++r) add(program.results[r], fmt::format("r{}", r), "");
  std::string numbers;
  for (const std::string& dimension : program.dimensions)
    numbers += fmt::format("{}, ", extents.at(dimension));
  kernel.text += fmt::format(
      "extern \"C\" void fixed({0}int threads) {{ const int64_t n[] = {{{1}}}; {2}(n, {3}threads); }}\n",
      parameters, numbers, kernel.function, arguments);
  kernel.function = "fixed";
  return kernel;
}

TEST_F(PlainTest, forAnyExtents) {
  PlainOptions options;
  options.anyExtents = true;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const tensor::Program program = test::program(std::string(imports) + c.text);
    const auto kernel = emitPlain(program, c.extents, options);
    ASSERT_TRUE(kernel) << kernel.refusal().message;
    tensor::Extents other = c.extents;  // the text is the same wherever it is called
    int step = 0;
    for (auto& [name, extent] : other) extent = 1 + (extent + 2 * ++step) % 7;
    for (const tensor::Extents& extents : {c.extents, other})
      check(program, extents, {}, c.name, atExtents(program, extents, *kernel));
  }
}

TEST_F(PlainTest, examplesForAnyExtents) {
  PlainOptions options;
  options.anyExtents = true;
  int checked = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs")) {
    SCOPED_TRACE(file.path().string());
    const tensor::Program program = test::program(readWholeFile(file.path()));
    tensor::Extents extents;
    for (const std::string& dimension : program.dimensions) extents[dimension] = 3 + std::ssize(extents);
    if (!std::ranges::all_of(program.facts.relations(),
                             [&](const auto& fact) { return fact.holds(extents); }))
      continue;
    const auto kernel = emitPlain(program, extents, options);
    ASSERT_TRUE(kernel) << kernel.refusal().message;
    ++checked;
    for (auto& [name, extent] : extents) extent = extent % 4 + 2;
    check(program, extents, {}, program.name, atExtents(program, extents, *kernel));
  }
  EXPECT_GE(checked, 25);
}

TEST_F(PlainTest, withThreads) {
  check(test::program(std::string(imports) + cases()[0].text), cases()[0].extents, {false, 2}, "threads");
}

}  // namespace
}  // namespace nuscope::sweep
