#include "core/proof/refute.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/semantics/graphs.h"

namespace nuscope::proof {
namespace {

using semantics::test::Builder;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;
using tensor::Program;

using Make = std::function<NodeRef(Builder&, NodeRef, NodeRef)>;

/// One side over x[M, N] and the scalar s.
Program side(const Make& make, const Make& assertion = {}) {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("M"), Builder::dim("N")});
  const NodeRef s = b.input("s", {});
  if (assertion) b.require(assertion(b, x, s), "given");
  return b.done(make(b, x, s));
}

std::optional<Counterexample> tryRefute(const Make& left, const Make& right, const Make& assertion = {},
                                        Mode mode = Mode::equal, int draws = 300) {
  return refute(side(left, assertion), side(right, assertion), mode, 1, draws);
}

const Make plain = [](Builder&, NodeRef x, NodeRef) { return x; };
const Make thereAndBack = [](Builder& b, NodeRef x, NodeRef s) {
  return b.make(Op::multiply, {b.make(Op::divide, {x, s}), s});
};

TEST(Refute, TrueGoalsSurvive) {
  const Make sum = [](Builder& b, NodeRef x, NodeRef s) {
    return b.reduce(Op::sum, b.make(Op::multiply, {x, s}), {1});
  };
  const Make scaled = [](Builder& b, NodeRef x, NodeRef s) {
    return b.make(Op::multiply, {b.reduce(Op::sum, x, {1}), s});
  };
  EXPECT_FALSE(tryRefute(sum, scaled));
  const Make positive = [](Builder& b, NodeRef, NodeRef s) {
    return b.make(Op::greater, {s, b.number("0")});
  };
  EXPECT_FALSE(tryRefute(plain, thereAndBack, positive));
}

TEST(Refute, ValuesShrinkToAFewOnes) {
  const Make max = [](Builder& b, NodeRef x, NodeRef s) {
    return b.reduce(Op::max, b.make(Op::multiply, {x, s}), {1});
  };
  const Make scaled = [](Builder& b, NodeRef x, NodeRef s) {
    return b.make(Op::multiply, {b.reduce(Op::max, x, {1}), s});
  };
  const auto found = tryRefute(max, scaled);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Counterexample::Kind::values);
  EXPECT_EQ(found->extents, (tensor::Extents{{"M", 1}, {"N", 2}}));
  EXPECT_EQ(found->inputs.at("s").values, std::vector<double>{-1});
  EXPECT_NE(found->leftText, found->rightText);
  EXPECT_GE(found->draw, 1);
}

TEST(Refute, DefinednessCountsInOneDirectionForRefinement) {
  const auto found = tryRefute(plain, thereAndBack);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Counterexample::Kind::rightUndefined);
  EXPECT_EQ(found->rightText, "0/0, undefined");
  EXPECT_EQ(found->leftText, "0");
  EXPECT_TRUE(tryRefute(plain, thereAndBack, {}, Mode::refines));
  EXPECT_FALSE(tryRefute(thereAndBack, plain, {}, Mode::refines));
}

TEST(Refute, RoundingIsNoCounterexample) {
  const Make comparison = [](Builder& b, NodeRef x, NodeRef) {
    const NodeRef back = b.make(Op::multiply, {b.make(Op::divide, {x, b.number("49")}), b.number("49")});
    return b.make(Op::where, {b.make(Op::greaterEqual, {back, x}), x, b.number("0")});
  };
  EXPECT_FALSE(tryRefute(comparison, plain));
  const Make cancelled = [](Builder& b, NodeRef x, NodeRef) {
    const NodeRef e = b.make(Op::multiply, {b.make(Op::multiply, {x, x}), b.number("900")});
    const NodeRef one =
        b.make(Op::multiply, {b.make(Op::exp, {e}), b.make(Op::exp, {b.make(Op::negate, {e})})});
    return b.make(Op::multiply, {x, one});
  };
  EXPECT_FALSE(tryRefute(cancelled, plain));
}

TEST(Refute, FindsWhatOnlySweepsReach) {
  const auto division = [](bool magic) {
    Builder b;
    const NodeRef x = b.input("x", {Builder::dim("N")}, DType::i32);
    const NodeRef product = b.make(Op::multiply, {x, b.number("43", DType::i32)});
    return b.done(magic ? b.make(Op::floorDivide, {product, b.number("128", DType::i32)})
                        : b.make(Op::floorDivide, {x, b.number("3", DType::i32)}));
  };
  const auto found = refute(division(true), division(false), Mode::equal, 1, 300);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->extents.at("N"), 1);
}

TEST(Refute, AGoalWithoutInputsSaysSo) {
  const Make never = [](Builder& b, NodeRef x, NodeRef) {
    return b.make(Op::less, {b.make(Op::multiply, {x, x}), b.number("-1")});
  };
  const auto outcome = refute(side(plain, never), side(thereAndBack, never), RefuteOptions{});
  EXPECT_FALSE(outcome.counterexample);
  EXPECT_NE(outcome.note.find("given"), std::string::npos);
}

TEST(Refute, DrawsDoNotDependOnGrouping) {
  const Make left = [](Builder& b, NodeRef x, NodeRef) { return b.make(Op::minimum, {x, b.number("2")}); };
  const auto whole = refute(side(left), side(plain), RefuteOptions{});
  ASSERT_TRUE(whole.counterexample);
  RefuteOptions later;
  later.firstDraw = whole.counterexample->draw;
  later.lastDraw = later.firstDraw;
  const auto one = refute(side(left), side(plain), later);
  ASSERT_TRUE(one.counterexample);
  EXPECT_EQ(one.counterexample->inputs, whole.counterexample->inputs);
}

TEST(Refute, ConfirmChecksInputsFromElsewhere) {
  const auto left = side(plain);
  const auto right = side(thereAndBack);
  const tensor::Extents extents{{"M", 1}, {"N", 1}};
  const semantics::Inputs zero{{"x", {DType::f32, {1, 1}, {5}}}, {"s", {DType::f32, {}, {0}}}};
  EXPECT_TRUE(confirm(left, right, Mode::equal, extents, zero, false));
  const semantics::Inputs two{{"x", {DType::f32, {1, 1}, {5}}}, {"s", {DType::f32, {}, {2}}}};
  EXPECT_FALSE(confirm(left, right, Mode::equal, extents, two, false));
}

TEST(Refute, Cancels) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(refute(side(plain), side(plain), RefuteOptions{}, Progress(stop.get_token())), Cancelled);
}

}  // namespace
}  // namespace nuscope::proof
