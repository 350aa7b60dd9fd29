#include "core/semantics/evaluate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <random>

#include "tests/semantics/graphs.h"

namespace nuscope::semantics {
namespace {

using test::Builder;

using test::DType;
using test::NodeRef;
using test::Op;

TensorValue tensorOf(std::vector<std::int64_t> shape, std::vector<double> values, DType type = DType::f32) {
  return {type, std::move(shape), std::move(values)};
}

TensorValue randomTensor(std::vector<std::int64_t> shape, std::mt19937_64& random) {
  TensorValue value{DType::f32, std::move(shape), {}};
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < value.count(); ++i) value.values.push_back(static_cast<float>(normal(random)));
  return value;
}

Evaluated evaluateOne(const tensor::Program& program, const tensor::Extents& extents, const Inputs& inputs,
                      const EvaluateOptions& options = {}) {
  return evaluate(program, program.results, extents, inputs, options).at(0);
}

TEST(Evaluate, RmsnormMatmulAgainstPlainLoops) {
  const auto program = test::rmsnormMatmul();
  std::mt19937_64 random(1);
  const Inputs inputs{{"x", randomTensor({3, 5}, random)},
                      {"g", randomTensor({5}, random)},
                      {"w", randomTensor({5, 4}, random)}};
  const auto result = evaluateOne(program, {{"M", 3}, {"K", 5}, {"N", 4}}, inputs);
  const auto& x = inputs.at("x").values;
  for (std::size_t m = 0; m < 3; ++m) {
    double squares = 0;
    for (std::size_t k = 0; k < 5; ++k) squares += x[m * 5 + k] * x[m * 5 + k];
    const double root = std::sqrt(squares / 5 + 1e-5);
    for (std::size_t n = 0; n < 4; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        sum += x[m * 5 + k] / root * inputs.at("g").values[k] * inputs.at("w").values[k * 4 + n];
      }
      EXPECT_NEAR(result.value.values[m * 4 + n], sum, 1e-13);
      EXPECT_EQ(result.state[m * 4 + n], 0);
      EXPECT_GT(result.bound[m * 4 + n], 0);
      EXPECT_LT(result.bound[m * 4 + n], 1e-13);
    }
  }
}

void expectSame(const Evaluated& fast, const Evaluated& slow, const char* what, bool sameBounds = true) {
  ASSERT_EQ(fast.value.shape, slow.value.shape) << what;
  for (std::size_t i = 0; i < fast.state.size(); ++i) {
    ASSERT_EQ(fast.state[i], slow.state[i]) << what << " at " << i;
    if (fast.state[i] != 0) continue;
    ASSERT_EQ(fast.value.values[i], slow.value.values[i]) << what << " at " << i;
    if (sameBounds) {
      ASSERT_EQ(fast.bound[i], slow.bound[i]) << what << " at " << i;
    } else {
      ASSERT_GE(fast.bound[i] * (1 + 1e-9), slow.bound[i]) << what << " at " << i;
      ASSERT_LE(fast.bound[i], 4 * slow.bound[i]) << what << " at " << i;
    }
  }
}

tensor::Attributes axes(std::vector<int> a) {
  tensor::Attributes at;
  at.axes = std::move(a);
  return at;
}

/// One program for each operator, over x[A, B, C], y[B, C], i (indices below A), d (whole numbers).
std::vector<std::pair<std::string, tensor::Program>> operatorPrograms() {
  std::vector<std::pair<std::string, tensor::Program>> programs;
  const auto with = [&](const std::string& name,
                        const std::function<NodeRef(Builder&, NodeRef, NodeRef, NodeRef)>& f) {
    Builder b;
    const NodeRef x = b.input("x", {Builder::dim("A"), Builder::dim("B"), Builder::dim("C")});
    const NodeRef y = b.input("y", {Builder::dim("B"), Builder::dim("C")});
    const NodeRef i = b.input("i", {Builder::dim("D")}, DType::i32);
    programs.emplace_back(name, b.done(f(b, x, y, i)));
  };
  for (const Op op : {Op::negate, Op::exp, Op::log, Op::sqrt, Op::tanh, Op::sin, Op::cos, Op::abs, Op::sign,
                      Op::floor, Op::rint}) {
    with(std::string(tensor::name(op)),
         [op](Builder& b, NodeRef x, NodeRef, NodeRef) { return b.make(op, {x}); });
  }
  for (const Op op :
       {Op::add, Op::subtract, Op::multiply, Op::divide, Op::floorDivide, Op::modulo, Op::maximum,
        Op::minimum, Op::less, Op::lessEqual, Op::greater, Op::greaterEqual, Op::equal, Op::notEqual}) {
    with(std::string(tensor::name(op)), [op](Builder& b, NodeRef x, NodeRef y, NodeRef) {
      return b.make(op, {x, y});
    });
  }
  with("where", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    return b.make(Op::where, {b.make(Op::less, {x, y}), b.make(Op::log, {x}), b.make(Op::sqrt, {y})});
  });
  with("logic", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    const NodeRef p = b.make(Op::less, {x, y});
    const NodeRef q = b.make(Op::logicalNot, {b.make(Op::equal, {x, b.number("1")})});
    return b.make(Op::logicalOr, {b.make(Op::logicalAnd, {p, q}), q});
  });
  with("power", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    tensor::Attributes at;
    at.index = 5;
    return b.make(Op::power, {x}, at);
  });
  with("cast", [](Builder& b, NodeRef x, NodeRef, NodeRef i) {
    return b.make(Op::multiply,
                  {b.cast(b.reduce(Op::sum, i, {0}), DType::f32), b.cast(b.cast(x, DType::i32), DType::f32)});
  });
  for (const Op op : {Op::sum, Op::product, Op::max, Op::min, Op::mean}) {
    with(std::string(tensor::name(op)), [op](Builder& b, NodeRef x, NodeRef, NodeRef) {
      return b.reduce(op, x, {0, 2});
    });
    with(std::string(tensor::name(op)),
         [op](Builder& b, NodeRef x, NodeRef, NodeRef) { return b.reduce(op, x, {1}, true); });
  }
  with("all", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    return b.reduce(Op::all, b.make(Op::less, {x, y}), {2});
  });
  with("cumsum", [](Builder& b, NodeRef x, NodeRef, NodeRef) { return b.make(Op::cumsum, {x}, axes({1})); });
  with("matmul", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    return b.make(Op::matmul, {x, b.transpose(y, {1, 0})});
  });
  with("matmul batch", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    return b.make(Op::matmul, {x, b.transpose(x, {0, 2, 1})});
  });
  with("matmul vector", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    return b.make(Op::matmul, {x, b.reduce(Op::sum, y, {0})});
  });
  with("einsum", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    tensor::Attributes at;
    at.name = "abc,bc,bc->ca";
    return b.make(Op::einsum, {x, y, y}, at);
  });
  with("transpose", [](Builder& b, NodeRef x, NodeRef, NodeRef) { return b.transpose(x, {2, 0, 1}); });
  with("reshape", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    tensor::Attributes at;
    at.shape = {Builder::dim("A") * Builder::dim("B"), Builder::dim("C")};
    const NodeRef flat = b.make(Op::reshape, {b.transpose(x, {1, 0, 2})}, at);
    at.shape = {Builder::dim("C"), Builder::dim("A"), Builder::dim("B")};
    return b.make(Op::reshape, {flat}, at);
  });
  with("broadcast", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    tensor::Attributes at;
    at.shape = x->shape;
    return b.make(Op::broadcastTo, {b.make(Op::expandDims, {b.reduce(Op::sum, y, {1})}, axes({1}))}, at);
  });
  with("squeeze", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    return b.make(Op::squeeze, {b.reduce(Op::sum, x, {1}, true)}, axes({1}));
  });
  with("slice", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    tensor::Attributes at;
    const NodeRef both = b.make(Op::concatenate, {x, x}, axes({1}));
    at.starts = {0, Builder::dim("B") - 1, 0};
    at.stops = {Builder::dim("A"), Builder::dim("B") + 1, Builder::dim("C")};
    return b.make(Op::slice, {both}, at);
  });
  with("concatenate", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {
    return b.make(Op::concatenate, {b.make(Op::expandDims, {y}, axes({0})), x, x}, axes({0}));
  });
  with("repeat", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    tensor::Attributes at = axes({2});
    at.shape = {3};
    return b.make(Op::repeat, {x}, at);
  });
  with("take", [](Builder& b, NodeRef x, NodeRef, NodeRef i) { return b.make(Op::take, {x, i}, axes({0})); });
  with("arange", [](Builder& b, NodeRef x, NodeRef, NodeRef) {
    tensor::Attributes at;
    at.dtype = DType::f32;
    at.shape = {Builder::dim("C")};
    tensor::Attributes extent;
    extent.shape = {Builder::dim("A") * Builder::dim("B")};
    return b.make(Op::multiply,
                  {b.make(Op::add, {x, b.make(Op::arange, {}, at)}), b.make(Op::dimValue, {}, extent)});
  });
  with("loop", [](Builder& b, NodeRef x, NodeRef y, NodeRef) {  // running maximum and sum over rows of y
    tensor::Attributes state;
    state.name = "@1";
    state.shape = {Builder::dim("C")};
    const NodeRef m = b.make(Op::loopState, {}, state);
    state.index = 1;
    const NodeRef s = b.make(Op::loopState, {}, state);
    tensor::Attributes slice;
    tensor::DimFacts facts = b.program.facts;
    facts.declareCounter("@1", Builder::dim("B"));
    slice.starts = {Builder::dim("@1"), 0};
    slice.stops = {Builder::dim("@1") + 1, Builder::dim("C")};
    const NodeRef row = *b.program.store->make(Op::slice, {y}, slice, facts);
    const NodeRef flat = *b.program.store->make(Op::squeeze, {row}, axes({0}), facts);
    tensor::Attributes at;
    at.name = "@1";
    at.shape = {Builder::dim("B")};
    const NodeRef next = b.make(Op::maximum, {m, flat});
    at.body = {next, b.make(Op::add, {s, b.make(Op::exp, {b.make(Op::subtract, {m, next})})})};
    at.dtype = DType::f32;
    tensor::Attributes shape;
    shape.shape = {Builder::dim("C")};
    const NodeRef start = b.make(Op::broadcastTo, {b.infinity(-1)}, shape);
    const NodeRef zero = b.make(Op::broadcastTo, {b.number("0")}, shape);
    const NodeRef loop = b.make(Op::loop, {start, zero}, at);
    tensor::Attributes which;
    const NodeRef maxima = b.make(Op::loopResult, {loop}, which);
    which.index = 1;
    return b.make(Op::add, {b.make(Op::add, {maxima, b.make(Op::loopResult, {loop}, which)}),
                            b.reduce(Op::sum, x, {0, 1})});
  });
  return programs;
}

Inputs operatorInputs(bool whole, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Inputs inputs{{"x", randomTensor({3, 2, 4}, random)}, {"y", randomTensor({2, 4}, random)}};
  if (whole) {
    for (auto& [name, tensor] : inputs) {
      for (double& v : tensor.values) v = std::nearbyint(v * 2);
    }
  }
  inputs["i"] = tensorOf({5}, {2, 0, 1, 2, -1}, DType::i32);
  return inputs;
}

TEST(Evaluate, FastPathsEqualGranularForms) {
  const tensor::Extents extents{{"A", 3}, {"B", 2}, {"C", 4}, {"D", 5}};
  for (const auto& [name, program] : operatorPrograms()) {
    for (const bool whole : {false, true}) {
      for (const double roundoff : {0x1p-53, 0x1p-24}) {
        const Inputs inputs = operatorInputs(whole, 7);
        EvaluateOptions options;
        options.roundoff = roundoff;
        const auto fast = evaluateOne(program, extents, inputs, options);
        options.generic = true;
        expectSame(fast, evaluateOne(program, extents, inputs, options), name.c_str());
      }
    }
  }
}

TEST(Evaluate, BlockedMatmulEqualsGranularForm) {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("M"), Builder::dim("K")});
  const NodeRef w = b.input("w", {Builder::dim("K"), Builder::dim("N")});
  const NodeRef scaled = b.make(Op::multiply, {x, b.number("0.1")});
  const auto program = b.done(b.make(Op::matmul, {scaled, w}));
  std::mt19937_64 random(3);
  const Inputs inputs{{"x", randomTensor({37, 61}, random)}, {"w", randomTensor({61, 43}, random)}};
  const tensor::Extents extents{{"M", 37}, {"K", 61}, {"N", 43}};
  for (const double roundoff : {0x1p-53, 0x1p-24}) {
    EvaluateOptions options;
    options.roundoff = roundoff;
    const auto fast = evaluateOne(program, extents, inputs, options);
    options.threads = 2;
    expectSame(fast, evaluateOne(program, extents, inputs, options), "threads");
    options.generic = true;
    // Float64's own rounding is measured by the granular path and bounded by the blocked one.
    if (roundoff > 0x1p-53)
      expectSame(fast, evaluateOne(program, extents, inputs, options), "blocked", false);
    EXPECT_EQ(fast.value, evaluateOne(program, extents, inputs, options).value);
  }
}

TEST(Evaluate, BlockedMatmulOfWhatIsNotDefinedEverywhere) {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("M"), Builder::dim("K")});
  const NodeRef w = b.input("w", {Builder::dim("K"), Builder::dim("N")});
  const auto program = b.done(b.make(Op::matmul, {b.make(Op::log, {x}), b.make(Op::exp, {w})}));
  std::mt19937_64 random(5);
  Inputs inputs{{"x", randomTensor({37, 61}, random)}, {"w", randomTensor({61, 43}, random)}};
  for (double& value : inputs.at("x").values) value = std::fabs(value) + 0.5;
  inputs.at("x").values[5 * 61 + 7] = -1;     // row 5 is undefined
  inputs.at("w").values[9 * 43 + 11] = 5000;  // beyond float64: column 11 is undecided
  const tensor::Extents extents{{"M", 37}, {"K", 61}, {"N", 43}};
  EvaluateOptions options;
  options.roundoff = 0x1p-24;
  const auto fast = evaluateOne(program, extents, inputs, options);
  options.generic = true;
  expectSame(fast, evaluateOne(program, extents, inputs, options), "not defined everywhere", false);
  EXPECT_EQ(static_cast<State>(fast.state[5 * 43 + 11]), State::undefined);
  EXPECT_EQ(static_cast<State>(fast.state[5 * 43 + 12]), State::undefined);
  EXPECT_EQ(static_cast<State>(fast.state[6 * 43 + 11]), State::undecided);
  EXPECT_EQ(static_cast<State>(fast.state[6 * 43 + 12]), State::defined);
}

TEST(Evaluate, BlockedEinsumEqualsGranularForm) {
  for (const char* spec : {"bik,bkj->bij", "bki,bkj->jbi", "bik,bjk->ijb"}) {
    Builder b;
    const NodeRef x = b.input("x", {Builder::dim("P"), Builder::dim("Q"), Builder::dim("Q")});
    const NodeRef w = b.input("w", {Builder::dim("P"), Builder::dim("Q"), Builder::dim("Q")});
    tensor::Attributes at;
    at.name = spec;
    const auto program = b.done(b.make(Op::einsum, {b.make(Op::multiply, {x, b.number("0.1")}), w}, at));
    std::mt19937_64 random(3);
    const Inputs inputs{{"x", randomTensor({5, 29, 29}, random)}, {"w", randomTensor({5, 29, 29}, random)}};
    EvaluateOptions options;
    options.roundoff = 0x1p-24;
    const tensor::Extents extents{{"P", 5}, {"Q", 29}};
    const auto fast = evaluateOne(program, extents, inputs, options);
    options.generic = true;
    expectSame(fast, evaluateOne(program, extents, inputs, options), spec, false);
  }
}

State stateOf(NodeRef (*f)(Builder&, NodeRef), double value) {
  Builder b;
  const NodeRef x = b.input("x", {});
  const auto program = b.done(f(b, x));
  return static_cast<State>(evaluateOne(program, {}, {{"x", tensorOf({}, {value})}}).state[0]);
}

TEST(Evaluate, DefinednessIsDecidedBySemantics) {
  const auto inverse = [](Builder& b, NodeRef x) { return b.make(Op::divide, {b.number("1"), x}); };
  EXPECT_EQ(stateOf(inverse, 0), State::undefined);
  EXPECT_EQ(stateOf(inverse, 3), State::defined);
  const auto log = [](Builder& b, NodeRef x) { return b.make(Op::log, {x}); };
  EXPECT_EQ(stateOf(log, 0), State::undefined);
  EXPECT_EQ(stateOf(log, -1), State::undefined);
  const auto root = [](Builder& b, NodeRef x) { return b.make(Op::sqrt, {x}); };
  EXPECT_EQ(stateOf(root, 0), State::defined);
  EXPECT_EQ(stateOf(root, -1e-300), State::undefined);
  const auto exp = [](Builder& b, NodeRef x) { return b.make(Op::exp, {x}); };
  EXPECT_EQ(stateOf(exp, 800), State::undecided);  // overflow of float64, not of the reals
  // 0.1 + 0.2 - 0.3 is 0 over the reals: the quotient must not be decided in float64.
  const auto cancelled = [](Builder& b, NodeRef x) {
    const NodeRef sum = b.make(
        Op::add, {b.make(Op::multiply, {x, b.number("0.1")}), b.make(Op::multiply, {x, b.number("0.2")})});
    return b.make(Op::divide,
                  {b.number("1"), b.make(Op::subtract, {sum, b.make(Op::multiply, {x, b.number("0.3")})})});
  };
  EXPECT_EQ(stateOf(cancelled, 1), State::undecided);
  const auto floor = [](Builder& b, NodeRef x) {
    return b.make(Op::floor, {b.make(Op::multiply, {x, b.number("0.1")})});
  };
  EXPECT_EQ(stateOf(floor, 30), State::undecided);
  EXPECT_EQ(stateOf(floor, 31), State::defined);
  const auto hidden = [](Builder& b, NodeRef x) {  // the branch that is not chosen need not be defined
    return b.make(Op::where, {b.make(Op::greater, {x, b.number("0")}), b.make(Op::log, {x}), b.number("0")});
  };
  EXPECT_EQ(stateOf(hidden, -2), State::defined);
}

TEST(Evaluate, GuardedElements) {
  const auto guarded = [](Builder& b, NodeRef x) {
    return b.make(Op::where, {b.make(Op::greater, {x, b.number("0")}), x, b.infinity(-1)});
  };
  static const auto guard = guarded;
  EXPECT_EQ(stateOf(guarded, -1), State::undefined);  // as a result
  EXPECT_EQ(stateOf([](Builder& b, NodeRef x) { return b.make(Op::exp, {guard(b, x)}); }, -1),
            State::defined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.make(Op::maximum, {guard(b, x), b.number("3")});
                },
                -1),
            State::defined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.make(Op::multiply, {guard(b, x), b.number("0")});
                },
                -1),
            State::defined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.make(Op::multiply, {guard(b, x), b.number("2")});
                },
                -1),
            State::undefined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.make(Op::subtract, {guard(b, x), guard(b, x)});
                },
                -1),
            State::undefined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.make(Op::exp, {b.make(Op::subtract, {guard(b, x), b.number("1")})});
                },
                -1),
            State::defined);
  EXPECT_EQ(stateOf(
                [](Builder& b, NodeRef x) {
                  return b.cast(b.make(Op::less, {guard(b, x), x}), DType::f32);
                },
                -1),
            State::undefined);
}

TEST(Evaluate, SmallIntegersAndHalvesAreExact) {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("N")});
  const auto program = b.done(b.reduce(Op::mean, b.make(Op::multiply, {x, x}), {0}));
  for (const double roundoff : {0x1p-53, 0x1p-24}) {
    EvaluateOptions options;
    options.roundoff = roundoff;
    const auto result = evaluateOne(program, {{"N", 4}}, {{"x", tensorOf({4}, {1.5, -2, 3, 0.5})}}, options);
    EXPECT_EQ(result.bound[0], 0);
    EXPECT_EQ(result.value.values[0], (2.25 + 4 + 9 + 0.25) / 4);
  }
}

TEST(Evaluate, BoundsHoldForFloat32Execution) {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("N")});
  const NodeRef e = b.make(Op::exp, {b.make(Op::subtract, {x, b.reduce(Op::max, x, {0}, true)})});
  const auto program = b.done(b.make(Op::divide, {e, b.reduce(Op::sum, e, {0}, true)}));
  std::mt19937_64 random(5);
  EvaluateOptions options;
  options.roundoff = 0x1p-24;
  const auto x64 = randomTensor({64}, random);
  const auto result = evaluateOne(program, {{"N", 64}}, {{"x", x64}}, options);
  float top = -1e30F;
  for (const double v : x64.values) top = std::max(top, static_cast<float>(v));
  float sum = 0;
  std::vector<float> es;
  for (const double v : x64.values) es.push_back(std::exp(static_cast<float>(v) - top));
  for (const float v : es) sum += v;
  for (std::size_t i = 0; i < es.size(); ++i) {
    EXPECT_LE(std::fabs(static_cast<double>(es[i] / sum) - result.value.values[i]), result.bound[i]);
    EXPECT_LT(result.bound[i], 1e-4 * result.value.values[i]);
  }
}

TEST(Evaluate, RoundsEveryNodeToItsType) {
  Builder b;
  const NodeRef x = b.input("x", {}, DType::f16);
  const auto program = b.done(b.make(Op::multiply, {x, b.number("3", DType::f16)}));
  EvaluateOptions options;
  options.roundToDType = true;
  EXPECT_EQ(
      evaluateOne(program, {}, {{"x", tensorOf({}, {0.333251953125}, DType::f16)}}, options).value.values[0],
      1.0);
  EXPECT_EQ(evaluateOne(program, {}, {{"x", tensorOf({}, {40000}, DType::f16)}}, options).state[0],
            2);  // range
  EXPECT_EQ(roundTo(1 + 0x1p-12, DType::f16), 1);
  EXPECT_EQ(roundTo(0x1p-25, DType::f16), 0);
  EXPECT_EQ(roundTo(3 * 0x1p-25, DType::f16), 0x1p-23);
  EXPECT_EQ(roundTo(1 + 0x1p-7, DType::bf16), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(1 + 0x1p-8, DType::bf16), 1);
  EXPECT_TRUE(std::isinf(roundTo(65520, DType::f16)));
  EXPECT_EQ(roundTo(65519, DType::f16), 65504);
}

TEST(Evaluate, StoringInACoarserTypeWidensTheBound) {
  Builder b;
  const NodeRef x = b.input("x", {}, DType::f16);
  const auto program = b.done(b.make(Op::multiply, {x, b.number("3", DType::f16)}));
  const Inputs inputs{{"x", tensorOf({}, {0.333251953125}, DType::f16)}};
  EXPECT_EQ(evaluateOne(program, {}, inputs).bound[0], 0);  // over the reals
  EvaluateOptions options;
  options.roundoff = 0x1p-24;
  const auto result = evaluateOne(program, {}, inputs, options);
  EXPECT_NEAR(result.bound[0], 0x1p-11, 1e-6);
  EXPECT_LE(std::fabs(1.0 - result.value.values[0]), result.bound[0]);  // 0.999756 rounds to 1 in f16
}

TEST(Evaluate, KeepsEveryNode) {
  const auto program = test::rmsnormMatmul();
  std::mt19937_64 random(1);
  const Inputs inputs{{"x", randomTensor({3, 5}, random)},
                      {"g", randomTensor({5}, random)},
                      {"w", randomTensor({5, 4}, random)}};
  const auto all = evaluateAll(program, program.results, {{"M", 3}, {"K", 5}, {"N", 4}}, inputs);
  EXPECT_EQ(all.size(), tensor::topological(program.results).size());
}

TEST(Evaluate, ErrorsSayWhatIsWrong) {
  const auto program = test::rmsnormMatmul();
  const tensor::Extents extents{{"M", 3}, {"K", 5}, {"N", 4}};
  EXPECT_THROW(evaluateOne(program, extents, {}), UserError);
  Inputs inputs{{"x", tensorOf({1, 1}, {1})}};
  try {
    evaluateOne(program, extents, inputs);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("x has shape [1, 1]"), std::string::npos);
  }
}

TEST(Evaluate, Cancels) {
  const auto program = test::rmsnormMatmul();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(
      evaluate(program, program.results, {{"M", 3}, {"K", 5}, {"N", 4}}, {}, {}, Progress(stop.get_token())),
      Cancelled);
}

TEST(Evaluate, LargeRmsnormMatmulWithBoundsUnderTwoSeconds) {
  const auto program = test::rmsnormMatmul();
  std::mt19937_64 random(2);
  const Inputs inputs{{"x", randomTensor({512, 1024}, random)},
                      {"g", randomTensor({1024}, random)},
                      {"w", randomTensor({1024, 1024}, random)}};
  EvaluateOptions options;
  options.roundoff = 0x1p-24;
  options.threads = 2;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const auto result = evaluateOne(program, {{"M", 512}, {"K", 1024}, {"N", 1024}}, inputs, options);
  const double used = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("rmsnorm_matmul 512x1024x1024 with bounds: %.2f s, %.2f s of processor time\n", seconds, used);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(used, 4.0);  // of both threads; the machine may be busy
#endif
  EXPECT_EQ(result.state[0], 0);
  EXPECT_LT(result.bound[0], 0.1);
  EXPECT_GT(result.bound[0], 1e-6);
}

}  // namespace
}  // namespace nuscope::semantics
