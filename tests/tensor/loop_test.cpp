// Loops: their extents, the facts inside them, and rebuilding them.
#include <gtest/gtest.h>

#include "core/base/diagnostics.h"
#include "core/tensor/graph.h"

namespace nuscope::tensor {
namespace {

class Loops : public testing::Test {
 protected:
  static Dim counter(int height) { return Dim::symbol("@" + std::to_string(height)); }

  NodeRef state(const std::string& name, int index, Shape shape) {
    Attributes at;
    at.name = name;
    at.index = index;
    at.shape = std::move(shape);
    return *store.make(Op::loopState, {}, at, facts);
  }
  /// x[:, c:c + 1] under the facts of a loop of `rounds`.
  Result<NodeRef> column(NodeRef from, const std::string& name, const Dim& rounds, const Dim& offset = 0) {
    DimFacts inside = facts;
    inside.declareCounter(name, rounds);
    Attributes at;
    at.starts = {0, Dim::symbol(name) + offset};
    at.stops = {from->shape[0], Dim::symbol(name) + offset + 1};
    return store.make(Op::slice, {from}, at, inside);
  }
  Result<NodeRef> loop(const std::string& name, const Dim& rounds, NodeRef start, NodeRef next) {
    Attributes at;
    at.name = name;
    at.shape = {rounds};
    at.body = {next};
    return store.make(Op::loop, {start}, at, facts);
  }
  NodeRef result(NodeRef of) { return *store.make(Op::loopResult, {of}, {}, facts); }
  NodeRef add(NodeRef a, NodeRef b) { return *store.make(Op::add, {a, b}, {}, facts); }

  /// A loop that sums the columns of `from`.
  NodeRef rowSum(NodeRef from) {
    const NodeRef s = state("@1", 0, {M, 1});
    return result(*loop("@1", from->shape[1], zero(), add(s, *column(from, "@1", from->shape[1]))));
  }
  NodeRef zero() {
    Attributes at;
    at.shape = {M, 1};
    return *store.make(Op::broadcastTo, {store.constant(0)}, at, facts);
  }

  NodeStore store;
  DimFacts facts;
  Dim M = Dim::symbol("M");
  Dim K = Dim::symbol("K");
  NodeRef x = store.input("x", DType::f32, {M, K});
  NodeRef y = store.input("y", DType::f32, {M, K});
};

TEST_F(Loops, ThereIsARoundInsideALoop) {
  EXPECT_FALSE(facts.positive(K - 1));
  EXPECT_TRUE(column(x, "@1", K - 1, 1).ok());  // range(K - 1) may be empty, but then nothing is sliced
  EXPECT_FALSE(column(x, "@1", K, 1).ok());     // the last round would leave the tensor
  DimFacts inside = facts;
  inside.declareCounter("@1", K - 1);
  EXPECT_TRUE(inside.positive(K - 1));
  EXPECT_TRUE(inside.relations().empty());
}

TEST_F(Loops, MayRunNoRound) {
  const NodeRef s = state("@1", 0, {M, 1});
  EXPECT_TRUE(loop("@1", K - 1, zero(), s).ok());
  EXPECT_FALSE(loop("@1", K - 2, zero(), s).ok());
}

TEST_F(Loops, CountersLieAboveTheLoopsInside) {
  const NodeRef s = state("@1", 0, {M, 1});
  const auto bad = loop("@1", K, zero(), add(s, rowSum(x)));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.refusal().hint, "call it @2");
  EXPECT_EQ(loopHeightOf("@12"), 12);
  EXPECT_EQ(loopHeightOf("K"), 0);
  EXPECT_EQ(loopHeightOf("@x"), 0);
}

TEST_F(Loops, ReplaceReachesIntoBodies) {
  const NodeRef sum = rowSum(x);
  const auto replaced = replaceNodes(store, sum, {{x, y}}, facts);
  ASSERT_TRUE(replaced.ok()) << replaced.refusal().message;
  EXPECT_EQ(*replaced, rowSum(y));
}

TEST_F(Loops, ReplaceRenamesACounterThatIsTaken) {
  const NodeRef s = state("@1", 0, {M, 1});
  const NodeRef start = store.input("start", DType::f32, {M, 1});
  const NodeRef outer = result(*loop("@1", K, zero(), add(add(s, start), *column(y, "@1", K))));
  const auto replaced = replaceNodes(store, outer, {{start, rowSum(x)}}, facts);
  ASSERT_TRUE(replaced.ok()) << replaced.refusal().message;
  const NodeRef s2 = state("@2", 0, {M, 1});
  EXPECT_EQ(*replaced, result(*loop("@2", K, zero(), add(add(s2, rowSum(x)), *column(y, "@2", K)))));
}

TEST_F(Loops, EqualCountersOfSiblingsKeepTheirOwnFacts) {
  const NodeRef s = state("@1", 0, {M, 1});
  const NodeRef shorter = result(*loop("@1", K - 1, zero(), add(s, *column(x, "@1", K - 1))));
  const NodeRef both = add(rowSum(x), shorter);
  const NodeRef narrow = store.input("z", DType::f32, {M, K - 1});
  (void)narrow;
  const auto replaced = replaceNodes(store, both, {{x, y}}, facts);
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ((*replaced)->operands[0], rowSum(y));
  // z[:, k] is inside for the shorter loop only; the other refuses.
  DimFacts two = facts;
  two.assume({2, Relation::lessEqual, K});
  Attributes at;
  at.starts = {0, 0};
  at.stops = {M, K - 1};
  const NodeRef cut = *store.make(Op::slice, {x}, at, two);
  EXPECT_TRUE(replaceNodes(store, shorter, {{x, cut}}, two).ok());
  EXPECT_FALSE(replaceNodes(store, rowSum(x), {{x, cut}}, two).ok());
}

TEST(DimLimits, ExpressionsDoNotGrowWithoutEnd) {
  Dim d = Dim::symbol("K") + 1;
  EXPECT_THROW(for (int i = 0; i < 64; ++i) d = d * d, UserError);
}

}  // namespace
}  // namespace nuscope::tensor
