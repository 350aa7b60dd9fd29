// What the gate must let pass and what it must not.
#include "core/sweep/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/sweep/kernels.h"

namespace nuscope::sweep {
namespace {

const std::string imports = "from __future__ import annotations\nimport numpy as np\n\n";

std::vector<float> floats(const semantics::TensorValue& value) {
  return {value.values.begin(), value.values.end()};
}

/// One gate over all draws of a result computed here.
template <class Compute>
GateRecord judge(const tensor::Program& program, const tensor::Extents& extents, Compute compute) {
  std::vector<std::string> notes;
  GateRecord record;
  record.factor = GateOptions().factor;
  for (const Reference& reference : makeReferences(program, extents, {}, {}, notes)) {
    addDraw(record, compareDraw(reference, {compute(reference)}));
  }
  return record;
}

TEST(Gate, aTiledMatmulOfDepth11008Passes) {
  const auto program =
      test::program(imports + "def f(a: f32[M, K], b: f32[K, N]) -> f32[M, N]:\n    return a @ b\n");
  constexpr std::size_t m = 4;
  constexpr std::size_t k = 11008;
  constexpr std::size_t n = 8;
  for (const std::size_t tile : {std::size_t{1}, std::size_t{64}, std::size_t{1376}, k}) {
    const GateRecord record = judge(program, {{"M", m}, {"K", k}, {"N", n}}, [&](const Reference& reference) {
      const auto a = floats(reference.inputs.at("a"));
      const auto b = floats(reference.inputs.at("b"));
      std::vector<double> c(m * n);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          float total = 0;
          for (std::size_t from = 0; from < k; from += tile) {
            float part = 0;
            for (std::size_t x = from; x < from + tile; ++x) part += a[i * k + x] * b[x * n + j];
            total += part;
          }
          c[i * n + j] = static_cast<double>(total);
        }
      }
      return c;
    });
    EXPECT_TRUE(record.passed) << record.text;
    EXPECT_EQ(record.draws.size(), 6U);
  }
}

TEST(Gate, aMatmulThatForgetsOneProductFails) {
  const auto program =
      test::program(imports + "def f(a: f32[M, K], b: f32[K, N]) -> f32[M, N]:\n    return a @ b\n");
  const GateRecord record = judge(program, {{"M", 2}, {"K", 1000}, {"N", 3}}, [](const Reference& reference) {
    const auto a = floats(reference.inputs.at("a"));
    const auto b = floats(reference.inputs.at("b"));
    std::vector<double> c(6);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        float total = 0;
        for (std::size_t x = 0; x + 1 < 1000; ++x) total += a[i * 1000 + x] * b[x * 3 + j];
        c[i * 3 + j] = static_cast<double>(total);
      }
    }
    return c;
  });
  EXPECT_FALSE(record.passed) << record.text;
}

/// Root mean square norm with the epsilon in two places.
GateRecord judgeNorm(bool before) {
  const auto program =
      test::program(imports +
                    "def f(x: f32[M, K]) -> f32[M, K]:\n"
                    "    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-5)\n");
  constexpr std::size_t m = 3;
  constexpr std::size_t k = 64;
  return judge(program, {{"M", m}, {"K", k}}, [&](const Reference& reference) {
    const auto x = floats(reference.inputs.at("x"));
    std::vector<double> y(m * k);
    for (std::size_t i = 0; i < m; ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += x[i * k + j] * x[i * k + j];
      const float mean = sum / k;
      const float root = before ? std::sqrt(mean + 1e-5f) : std::sqrt(mean) + 1e-5f;
      for (std::size_t j = 0; j < k; ++j) y[i * k + j] = static_cast<double>(x[i * k + j] / root);
    }
    return y;
  });
}

TEST(Gate, anEpsilonAfterTheRootFails) {
  const GateRecord right = judgeNorm(true);
  EXPECT_TRUE(right.passed) << right.text;
  const GateRecord wrong = judgeNorm(false);
  EXPECT_FALSE(wrong.passed) << wrong.text;
  EXPECT_GT(wrong.draws[static_cast<std::size_t>(wrong.worst)].ratio, 100);
}

TEST(Gate, whatIsNotWrittenOrInfiniteFails) {
  const auto program = test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return x + 1\n");
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const GateRecord record = judge(program, {{"N", 8}}, [&](const Reference& reference) {
      std::vector<double> y;
      for (const float x : floats(reference.inputs.at("x"))) y.push_back(static_cast<double>(x + 1));
      y[5] = bad;
      return y;
    });
    EXPECT_FALSE(record.passed) << bad;
    EXPECT_EQ(record.draws[0].index, (std::vector<std::int64_t>{5}));
  }
}

TEST(Gate, undefinedElementsAreLeftOut) {
  const auto program = test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return np.log(x)\n");
  const GateRecord record = judge(program, {{"N", 200}}, [](const Reference& reference) {
    std::vector<double> y;
    for (const float x : floats(reference.inputs.at("x"))) y.push_back(static_cast<double>(std::log(x)));
    return y;
  });
  EXPECT_TRUE(record.passed) << record.text;
  EXPECT_GT(record.draws[0].undefined, 50);
  EXPECT_GT(record.draws[0].checked, 50);
}

TEST(Gate, integersAreExact) {
  const auto program = test::program(imports + "def f(x: i32[N]) -> i32[N]:\n    return x * 3\n");
  for (const double error : {0.0, 1.0}) {
    const GateRecord record = judge(program, {{"N", 20}}, [&](const Reference& reference) {
      auto y = reference.inputs.at("x").values;
      for (double& value : y) value *= 3;
      y[7] += error;
      return y;
    });
    EXPECT_EQ(record.passed, error == 0) << record.text;
  }
}

TEST(Gate, tracesRangeRoundingAndFault) {
  const tensor::Extents extents{{"N", 16}};
  const auto program = test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return x * 2\n");
  // The same over the reals; it leaves f32 for |x| > 6e4.
  const auto squares =
      test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return (x * 1e30) * 2 * 1e-30\n");
  const auto cancels =
      test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return (x + 1e6) * 2 - 2e6\n");
  std::vector<std::string> notes;
  const auto references = makeReferences(program, extents, {}, {}, notes);
  Reference failing = references[0];
  GateRecord record;
  record.factor = 4;
  traceWrong(record, program, program.results, extents, failing, tensor::DType::f32, {});
  EXPECT_EQ(record.verdict, "fault") << record.text;
  traceWrong(record, cancels, cancels.results, extents, failing, tensor::DType::f32, {});
  EXPECT_EQ(record.verdict, "rounding") << record.text;
  for (double& x : failing.inputs.at("x").values) x *= 1e10;
  for (auto& result : failing.results) {
    for (double& x : result.expected) x *= 1e10;
    for (double& x : result.bound) x *= 1e10;
  }
  traceWrong(record, squares, squares.results, extents, failing, tensor::DType::f32, {});
  EXPECT_EQ(record.verdict, "range") << record.text;
}

TEST(Gate, savesACase) {
  const auto program = test::program(imports + "def f(x: f32[N]) -> f32[N]:\n    return x + 1\n");
  std::vector<std::string> notes;
  const auto references = makeReferences(program, {{"N", 8}}, {}, {}, notes);
  const auto folder = std::filesystem::temp_directory_path() / "nuscope-saved-case-test";
  std::filesystem::remove_all(folder);
  const std::string saved = saveCase(folder, "program text", "kernel text", {{"N", 8}}, references[0], {});
  EXPECT_EQ(std::filesystem::file_size(saved + "/x.f32"), 32U);
  EXPECT_TRUE(std::filesystem::exists(saved + "/case.json"));
  EXPECT_TRUE(std::filesystem::exists(saved + "/kernel.cpp"));
  std::filesystem::remove_all(folder);
}

TEST(Arrays, roundTrips) {
  const std::vector<double> values{0, 1, -2, 0.5, 65504, 6e-8, -6.1e-5, 1.0 / 3};
  for (const auto dtype : {tensor::DType::f64, tensor::DType::f32, tensor::DType::f16, tensor::DType::bf16}) {
    const auto once = decodeArray(encodeArray(values, dtype), dtype);
    ASSERT_EQ(once.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(once[i], values[i], 1.01 * tensor::unitRoundoff(dtype) * std::fabs(values[i]) + 0x1p-25)
          << i;
    }
    EXPECT_EQ(decodeArray(encodeArray(once, dtype), dtype), once);
  }
  const std::vector<double> integers{0, 1, -128, 127};
  EXPECT_EQ(decodeArray(encodeArray(integers, tensor::DType::i8), tensor::DType::i8), integers);
  EXPECT_EQ(decodeArray(encodeArray(integers, tensor::DType::i32), tensor::DType::i32), integers);
}

}  // namespace
}  // namespace nuscope::sweep
