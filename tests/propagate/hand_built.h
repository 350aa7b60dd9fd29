#pragma once
// Small graphs built by hand, for tests of single moves.
#include <gtest/gtest.h>

#include "core/tensor/graph.h"

namespace nuscope::test {

class HandBuilt : public testing::Test {
 protected:
  using Node = tensor::NodeRef;
  using Op = tensor::Op;
  using Attributes = tensor::Attributes;

  Node make(Op op, std::vector<Node> operands, Attributes at = {}) {
    auto made = program.store->make(op, std::move(operands), std::move(at), program.facts);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.refusal().message);
    return made.ok() ? *made : nullptr;
  }
  Node input(const std::string& name, tensor::Shape shape) {
    const Node node = program.store->input(name, tensor::DType::f32, std::move(shape));
    program.parameters.push_back({name, node});
    return node;
  }
  Node reduce(Op op, Node x, int axis, bool keep = true) {
    Attributes at;
    at.axes = {axis};
    at.keepDims = keep;
    return make(op, {x}, at);
  }
  Node transpose(Node x) {
    Attributes at;
    for (int i = 0; i < static_cast<int>(x->shape.size()); ++i) at.axes.push_back(i);
    std::swap(at.axes[at.axes.size() - 1], at.axes[at.axes.size() - 2]);
    return make(Op::transpose, {x}, at);
  }
  Node expand(Node x, int axis) {
    Attributes at;
    at.axes = {axis};
    return make(Op::expandDims, {x}, at);
  }
  Node constant(const char* text) { return program.store->constant(*parseDecimal(text)); }

  tensor::Program program{
      "test", std::make_shared<tensor::NodeStore>(), {}, {}, {"result"}, {}, {}, {"M", "K", "N"}, {}, {}};
  tensor::Dim M = tensor::Dim::symbol("M");
  tensor::Dim K = tensor::Dim::symbol("K");
  tensor::Dim N = tensor::Dim::symbol("N");
};

}  // namespace nuscope::test
