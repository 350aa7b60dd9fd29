#include "core/tensor/graph.h"

#include <gtest/gtest.h>

#include "core/tensor/shapes.h"

namespace nuscope::tensor {
namespace {

class Graph : public testing::Test {
 protected:
  NodeRef make(Op op, std::vector<NodeRef> operands, Attributes at = {}) {
    auto made = store.make(op, std::move(operands), std::move(at), facts);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.refusal().message);
    return made.ok() ? *made : nullptr;
  }
  NodeStore store;
  DimFacts facts;
  Dim M = Dim::symbol("M");
  Dim K = Dim::symbol("K");
  Dim N = Dim::symbol("N");
  NodeRef x = store.input("x", DType::f32, {M, K});
  NodeRef w = store.input("w", DType::f32, {K, N});
  NodeRef g = store.input("g", DType::f32, {K});
};

TEST_F(Graph, EqualNodesAreOneObject) {
  EXPECT_EQ(make(Op::multiply, {x, g}), make(Op::multiply, {x, g}));
  EXPECT_NE(make(Op::multiply, {x, g}), make(Op::multiply, {g, x}));
}

TEST_F(Graph, Shapes) {
  EXPECT_EQ(describe(make(Op::matmul, {x, w})), "matmul(f32[M, K], f32[K, N]) -> f32[M, N]");
  Attributes at;
  at.axes = {1};
  at.keepDims = true;
  EXPECT_EQ(text(make(Op::mean, {x}, at)->shape), "[M, 1]");
  EXPECT_EQ(text(make(Op::add, {x, g})->shape), "[M, K]");
}

TEST_F(Graph, RefusalsSayWhat) {
  const auto bad = store.make(Op::matmul, {w, x}, {}, facts);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.refusal().message,
            "@ of [K, N] and [M, K]: the inner extents N and M are not known to be equal");
  EXPECT_FALSE(store.make(Op::add, {x, w}, {}, facts).ok());
}

TEST_F(Graph, ReplaceRebuildsAbove) {
  const NodeRef y = make(Op::matmul, {x, w});
  const NodeRef z = make(Op::exp, {y});
  const NodeRef x2 = make(Op::multiply, {x, g});
  const auto replaced = replaceNodes(store, z, {{x, x2}}, facts);
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ((*replaced)->operands[0]->operands[0], x2);
}

TEST(Einsum, Specs) {
  EXPECT_EQ(parseEinsum("ij,jk->ik")->result, "ik");
  EXPECT_EQ(parseEinsum("ij,jk")->result, "ik");
  EXPECT_FALSE(parseEinsum("i...").ok());
  EXPECT_FALSE(parseEinsum("ij->k").ok());
}

}  // namespace
}  // namespace nuscope::tensor
