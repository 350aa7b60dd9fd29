// Plain loops against the float64 evaluator, through a real worker and the numeric gate.
#include "core/sweep/plain.h"

#include <gtest/gtest.h>

#include "core/base/diagnostics.h"
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
    const auto kernel = emitPlain(program, extents, options);
    ASSERT_TRUE(kernel) << kernel.refusal().message;
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

TEST_F(PlainTest, withThreads) {
  check(test::program(std::string(imports) + cases()[0].text), cases()[0].extents, {false, 2}, "threads");
}

}  // namespace
}  // namespace nuscope::sweep
