// The evaluators on whole programs: against NumPy, against each other, and the draws that feed them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/semantics/draw.h"
#include "core/semantics/evaluate.h"
#include "core/semantics/exact.h"

namespace nuscope::semantics {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tensor::Program;

/// Programs that come with the project, and those of the corpus where it is there.
std::vector<fs::path> programFiles() {
  std::vector<fs::path> files;
  const std::array<fs::path, 5> roots{
      fs::path(NUSCOPE_SOURCE_DIR) / "resources/programs",
      fs::path(NUSCOPE_SOURCE_DIR) / "tests/data/rewrites", fs::path(NUSCOPE_SHARED_DIR) / "cases/rewrites",
      fs::path(NUSCOPE_SHARED_DIR) / "cases/streams", fs::path(NUSCOPE_SHARED_DIR) / "cases/float_traps"};
  for (const fs::path& root : roots) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".py") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

struct Drawn {
  fs::path path;
  Program program;
  tensor::Extents extents;
  Inputs inputs;
};

/// Draws at two small shapes for each program, or for one program in `every`.
std::vector<Drawn> drawAll(Distribution distribution, std::size_t every = 1) {
  std::vector<Drawn> all;
  std::size_t seen = 0;
  for (const fs::path& path : programFiles()) {
    if (seen++ % every != 0) continue;
    const Program program = language::parseFile(path.string());
    std::mt19937_64 random(1);
    for (const int number : {0, 1}) {
      auto extents = drawExtents(program.dimensions, program.facts, number, random);
      EXPECT_TRUE(extents) << path;
      if (!extents) continue;
      auto inputs = tryDrawInputs(program, *extents, distribution, static_cast<std::uint64_t>(number + 1));
      EXPECT_TRUE(inputs) << path << ": no inputs for " << text(distribution);
      if (inputs) all.push_back({path, program, *std::move(extents), *std::move(inputs)});
    }
  }
  return all;
}

std::string pythonWithNumpy() {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    try {
      ProcessOptions options;
      options.arguments = {python, "-c", "import numpy"};
      if (runProcess(options, "", std::chrono::seconds(30)).end.success()) return python;
    } catch (const EnvironmentError&) {
      continue;
    }
  }
  return {};
}

json toJson(const Drawn& drawn) {
  json inputs = json::object();
  for (const auto& [name, value] : drawn.inputs) {
    inputs[name] = {
        {"shape", value.shape}, {"dtype", std::string(tensor::text(value.dtype))}, {"values", value.values}};
  }
  return {{"path", drawn.path.string()}, {"inputs", inputs}};
}

TEST(Programs, AgreeWithNumpy) {
  const std::string python = pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy";
  std::vector<Drawn> all = drawAll(Distribution::normal);
  auto more = drawAll(Distribution::ties, 3);
  std::ranges::move(more, std::back_inserter(all));
  json request = {{"cases", json::array()}};
  for (const Drawn& drawn : all) request["cases"].push_back(toJson(drawn));
  ProcessOptions options;
  options.arguments = {python, std::string(NUSCOPE_SOURCE_DIR) + "/tests/semantics/numpy_oracle.py"};
  const Finished finished = runProcess(options, request.dump(), std::chrono::seconds(120));
  ASSERT_TRUE(finished.end.success()) << finished.errors;
  const json answers = json::parse(finished.output);
  std::size_t compared = 0;
  std::size_t left = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const Drawn& drawn = all[c];
    if (answers[c].is_object()) {
      // NumPy refuses what is out of range in take; there our elements are undefined.
      EXPECT_NE(answers[c]["error"].get<std::string>().find("IndexError"), std::string::npos)
          << drawn.path << answers[c];
      continue;
    }
    const auto ours = evaluate(drawn.program, drawn.program.results, drawn.extents, drawn.inputs);
    ASSERT_EQ(ours.size(), answers[c].size()) << drawn.path;
    for (std::size_t r = 0; r < ours.size(); ++r) {
      ASSERT_EQ(ours[r].state.size(), answers[c][r].size()) << drawn.path;
      for (std::size_t i = 0; i < ours[r].state.size(); ++i) {
        const bool finite = !answers[c][r][i].is_null();
        if (static_cast<State>(ours[r].state[i]) != State::defined || !finite) {
          // Strict definedness: what passes through infinity and returns is finite in NumPy only. The
          // reverse, a defined element that NumPy has no number for, is overflow.
          EXPECT_FALSE(static_cast<State>(ours[r].state[i]) == State::defined && !finite)
              << drawn.path << " at " << i;
          ++left;
          continue;
        }
        const double theirs = answers[c][r][i];
        const double value = ours[r].value.values[i];
        EXPECT_NEAR(value, theirs, 1e-9 * std::max(1.0, std::fabs(theirs)) + ours[r].bound[i])
            << drawn.path << " at " << i;
        ++compared;
      }
    }
  }
  std::printf("%zu draws, %zu elements agree with NumPy, %zu undefined or undecided\n", all.size(), compared,
              left);
  EXPECT_GT(compared, 10 * left);
}

/// Float64 with its bound encloses the exact value, and decides definedness as exact evaluation does.
TEST(Programs, BoundsEncloseExactValues) {
  std::size_t compared = 0;
  std::size_t undecided = 0;
  for (const Distribution distribution : {Distribution::normal, Distribution::mixed}) {
    for (const Drawn& drawn : drawAll(distribution)) {
      const auto ours = evaluate(drawn.program, drawn.program.results, drawn.extents, drawn.inputs);
      ExactEvaluator exact(drawn.program, drawn.extents, drawn.inputs, 192);
      for (std::size_t r = 0; r < ours.size(); ++r) {
        std::vector<std::int64_t> index(ours[r].value.shape.size(), 0);
        for (std::size_t i = 0; i < std::min<std::size_t>(ours[r].state.size(), 12); ++i) {
          const ExactElement element = exact.element(drawn.program.results[r], index);
          const auto state = static_cast<State>(ours[r].state[i]);
          if (state == State::undecided || element.kind == ExactElement::Kind::undecided) {
            ++undecided;
          } else {
            ASSERT_EQ(state == State::undefined, element.kind == ExactElement::Kind::undefined)
                << drawn.path << " at " << i << ": " << text(element);
          }
          if (state == State::defined && element.defined()) {
            const Rational value(ours[r].value.values[i]);
            const Rational bound(ours[r].bound[i]);
            ASSERT_LE(value - bound, element.upper) << drawn.path << " at " << i;
            ASSERT_GE(value + bound, element.lower) << drawn.path << " at " << i;
            ++compared;
          }
          for (std::size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < ours[r].value.shape[axis]) break;
            index[axis] = 0;
          }
        }
      }
    }
  }
  std::printf("%zu elements enclosed, %zu undecided\n", compared, undecided);
  EXPECT_GT(compared, 10 * undecided);
}

TEST(Programs, FastPathsEqualGranularForms) {
  for (const Drawn& drawn : drawAll(Distribution::mixed)) {
    EvaluateOptions options;
    const auto fast = evaluate(drawn.program, drawn.program.results, drawn.extents, drawn.inputs, options);
    options.generic = true;
    const auto slow = evaluate(drawn.program, drawn.program.results, drawn.extents, drawn.inputs, options);
    for (std::size_t r = 0; r < fast.size(); ++r) {
      ASSERT_EQ(fast[r].state, slow[r].state) << drawn.path;
      ASSERT_EQ(fast[r].bound, slow[r].bound) << drawn.path;
      for (std::size_t i = 0; i < fast[r].state.size(); ++i) {
        if (fast[r].state[i] != 0) continue;
        ASSERT_EQ(fast[r].value.values[i], slow[r].value.values[i]) << drawn.path;
      }
    }
  }
}

TEST(Programs, EveryDistributionSatisfiesTheAsserts) {
#define X(name, words)                                                                                      \
  for (const Drawn& drawn : drawAll(Distribution::name, 5)) {                                               \
    ASSERT_TRUE(satisfiesPreconditions(drawn.program, drawn.extents, drawn.inputs)) << drawn.path << words; \
  }
  NUSCOPE_DISTRIBUTIONS(X)
#undef X
}

Program parsed(const std::string& text) {
  auto result = language::parse("from __future__ import annotations\nimport numpy as np\n\n\n" + text);
  if (!result.program) throw UserError(result.diagnostics.at(0).message);
  return *result.program;
}

TEST(Draw, AssertsThatCannotHoldAreNamed) {
  const Program program = parsed("def program(x: f32[N]):\n    assert np.all(x * x < -1)\n    return x\n");
  EXPECT_FALSE(tryDrawInputs(program, {{"N", 2}}, Distribution::normal, 1));
  try {
    drawInputs(program, {{"N", 2}}, Distribution::normal, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("np.all(x * x < -1)"), std::string::npos) << error.what();
  }
}

/// Bounds that no value meets at these extents, or that lie beyond the dtype, refuse the draw; they once made
/// inputs that are not numbers.
TEST(Draw, BoundsWithoutAValueRefuse) {
  for (const char* text :
       {"def program(x: f32[N], i: i32[M]):\n    assert np.all(i >= 4)\n    assert np.all(i < x.shape[0])\n"
        "    return np.take(x, i, axis=0)\n",
        "def program(x: f32[N], i: i32[M]):\n    assert np.all(x > 3)\n    assert np.all(x < 2)\n    return "
        "x\n",
        "def program(x: f16[N], i: i32[M]):\n    assert np.all(x > 100000)\n    return x\n"}) {
    const Program program = parsed(text);
    for (const Distribution distribution : {Distribution::normal, Distribution::large, Distribution::oneLarge,
                                            Distribution::sweep, Distribution::mixed})
      EXPECT_FALSE(tryDrawInputs(program, {{"N", 3}, {"M", 2}}, distribution, 1)) << text;
  }
}

TEST(Draw, ValuesAreRepresentable) {
  const Program program = parsed("def program(x: f16[N], y: bf16[N], z: f32[N]):\n    return x\n");
  for (const Distribution distribution :
       {Distribution::normal, Distribution::small, Distribution::oneLarge}) {
    const Inputs inputs = drawInputs(program, {{"N", 50}}, distribution, 3);
    for (const auto& [name, value] : inputs) {
      for (const double v : value.values) {
        ASSERT_EQ(v, roundTo(v, value.dtype));
        ASSERT_TRUE(std::isfinite(v));
      }
    }
  }
}

TEST(Draw, IsReproducibleAndSeedsDiffer) {
  const Program program = parsed("def program(x: f32[N]):\n    return x\n");
  const auto draw = [&](std::uint64_t seed) {
    return drawInputs(program, {{"N", 8}}, Distribution::normal, seed);
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Draw, ExtentsObeyTheFacts) {
  const Program program = parsed(
      "def program(x: f32[M, K], y: f32[K, N]):\n    M, K = x.shape\n    N = y.shape[1]\n    assert K % 4 == "
      "0\n"
      "    assert N >= 3\n    assert M == 2 * N\n    return x @ y\n");
  std::mt19937_64 random(1);
  std::set<tensor::Extents> seen;
  for (int number = 0; number < 8; ++number) {
    const auto extents = drawExtents(program.dimensions, program.facts, number, random);
    ASSERT_TRUE(extents);
    EXPECT_EQ(extents->at("K") % 4, 0);
    EXPECT_GE(extents->at("N"), 3);
    EXPECT_EQ(extents->at("M"), 2 * extents->at("N"));
    seen.insert(*extents);
  }
  EXPECT_GE(seen.size(), 4U);
}

TEST(Exact, LoopsMayRunZeroTimes) {
  const Program program = parsed(
      "def program(x: f32[N]):\n    N = x.shape[0]\n    s = np.zeros((1,))\n    for k in range(1, N):\n"
      "        s = s + x[k:k + 1]\n    return s\n");
  for (const std::int64_t n : {1, 3}) {
    const Inputs inputs{
        {"x", {tensor::DType::f32, {n}, std::vector<double>(static_cast<std::size_t>(n), 2)}}};
    const tensor::Extents extents{{"N", n}};
    const double expected = 2 * static_cast<double>(n - 1);
    EXPECT_EQ(ExactEvaluator(program, extents, inputs).element(program.results[0], {0}).rational, expected);
    EXPECT_EQ(evaluate(program, program.results, extents, inputs)[0].value.values[0], expected);
  }
}

ExactElement exactOf(const std::string& expression, double x, int precision = 128) {
  const Program program = parsed("def program(x: f32):\n    return " + expression + "\n");
  const Inputs inputs{{"x", {tensor::DType::f32, {}, {x}}}};
  return ExactEvaluator(program, {}, inputs, precision).element(program.results[0], {});
}

TEST(Exact, RationalsStayRational) {
  EXPECT_EQ(exactOf("x / 49 * 49 - x", 3).rational, 0);
  EXPECT_EQ(exactOf("(x * 0.001 + 1.000001) ** 8", 0.5).kind, ExactElement::Kind::rational);
  EXPECT_EQ(exactOf("np.sqrt(x)", 2.25).rational, Rational(3, 2));
  EXPECT_EQ(exactOf("np.floor(x * 0.1)", 30).rational, 3);
  EXPECT_EQ(exactOf("np.rint(x / 2)", 5).rational, 2);
  EXPECT_EQ(exactOf("np.rint(x / 2)", 7).rational, 4);
  EXPECT_EQ(exactOf("np.exp(x) + np.cos(x)", 0).rational, 2);
}

TEST(Exact, BallsEnclose) {
  const auto e = exactOf("np.exp(x)", 1);
  EXPECT_EQ(e.kind, ExactElement::Kind::ball);
  EXPECT_LT(e.upper - e.lower, Rational(1) / Rational(Integer(1) << 100));
  EXPECT_LT(e.lower, e.upper);
  EXPECT_EQ(text(e).substr(0, 8), "2.718281");
  EXPECT_FALSE(certainlyDifferent(exactOf("np.sqrt(x) * np.sqrt(x)", 2), exactOf("x", 2)));
  EXPECT_TRUE(certainlyDifferent(exactOf("np.exp(x)", 1), exactOf("x * 2.718281828459045", 1)));
  EXPECT_EQ(exactOf("1 / (np.sqrt(x) * np.sqrt(x) - 2)", 2).kind, ExactElement::Kind::undecided);
  EXPECT_EQ(exactOf("np.exp(np.exp(x))", 30).kind, ExactElement::Kind::undecided);  // too large, not wrong
}

TEST(Exact, UndefinedSaysWhy) {
  EXPECT_EQ(text(exactOf("x / x", 0)), "0/0, undefined");
  EXPECT_EQ(text(exactOf("np.log(x - 1)", 0)), "log(-1), undefined");
  EXPECT_EQ(text(exactOf("np.sqrt(x)", -2)), "sqrt(-2), undefined");
  EXPECT_EQ(text(exactOf("np.where(x > 0, x, -np.inf)", -2)), "-\u221E, undefined");
  EXPECT_EQ(exactOf("np.where(x > 0, np.log(x), 0)", -2).rational, 0);
  EXPECT_EQ(exactOf("np.exp(np.where(x > 0, x, -np.inf))", -2).rational, 0);
}

TEST(Exact, InfinitiesKeepTheSignOfAFactor) {
  const std::string infinite = "np.where(x > 0, x, -np.inf)";
  EXPECT_EQ(exactOf("np.exp(" + infinite + " * 2)", -2).rational, 0);
  EXPECT_EQ(exactOf("np.exp(" + infinite + " / 3)", -2).rational, 0);
  EXPECT_EQ(exactOf("np.exp(np.sqrt(2) * " + infinite + ")", -2).rational, 0);
  EXPECT_EQ(exactOf("np.maximum(" + infinite + " * 2, 7)", -2).rational, 7);
  EXPECT_EQ(exactOf("np.minimum(" + infinite + " / -2, 7)", -2).rational, 7);
  EXPECT_EQ(exactOf("np.minimum(x * " + infinite + ", 7)", -2).rational, 7);
  EXPECT_EQ(text(exactOf("np.exp(-2 * " + infinite + ")", -2)), "exp(\u221E), undefined");
  EXPECT_EQ(exactOf("1 / " + infinite, -2).kind, ExactElement::Kind::undefined);
  EXPECT_EQ(exactOf(infinite + " * " + infinite, -2).kind, ExactElement::Kind::undefined);
}

}  // namespace
}  // namespace nuscope::semantics
