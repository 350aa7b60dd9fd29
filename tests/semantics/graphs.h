#pragma once
// Small graphs for tests, built by hand.
#include <algorithm>
#include <set>

#include "core/tensor/graph.h"

namespace nuscope::semantics::test {

using tensor::Attributes;
using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;
using tensor::Shape;

class Builder {
 public:
  Builder() { program.store = std::make_shared<tensor::NodeStore>(); }

  static Dim dim(std::string_view name) { return Dim::symbol(std::string(name)); }
  NodeRef input(const std::string& name, Shape shape, DType type = DType::f32) {
    const NodeRef node = program.store->input(name, type, shape);
    program.parameters.push_back({name, node});
    std::set<std::string> symbols;
    for (const Dim& extent : shape) extent.collectSymbols(symbols);
    for (const auto& symbol : symbols) {
      if (std::find(program.dimensions.begin(), program.dimensions.end(), symbol) ==
          program.dimensions.end()) {
        program.dimensions.push_back(symbol);
      }
    }
    return node;
  }
  NodeRef number(const char* text, DType type = DType::f32) {
    return program.store->constant(*parseDecimal(text), type);
  }
  NodeRef infinity(int sign) {
    Attributes at;
    at.infinity = sign;
    return make(Op::constant, {}, at);
  }
  NodeRef make(Op op, std::vector<NodeRef> operands, Attributes at = {}) {
    auto node = program.store->make(op, std::move(operands), std::move(at), program.facts);
    if (!node) throw InternalError(node.refusal().message);
    return *node;
  }
  NodeRef reduce(Op op, NodeRef x, std::vector<int> axes, bool keep = false) {
    Attributes at;
    at.axes = std::move(axes);
    at.keepDims = keep;
    return make(op, {x}, at);
  }
  NodeRef cast(NodeRef x, DType type) {
    Attributes at;
    at.dtype = type;
    return make(Op::cast, {x}, at);
  }
  NodeRef transpose(NodeRef x, std::vector<int> axes) {
    Attributes at;
    at.axes = std::move(axes);
    return make(Op::transpose, {x}, at);
  }
  /// np.all(condition) as an assert.
  void require(NodeRef condition, std::string text) {
    std::vector<int> axes;
    for (std::size_t i = 0; i < condition->shape.size(); ++i) axes.push_back(static_cast<int>(i));
    if (!axes.empty()) condition = reduce(Op::all, condition, axes);
    tensor::Precondition precondition;
    precondition.text = std::move(text);
    precondition.condition = condition;
    program.preconditions.push_back(precondition);
  }
  tensor::Program done(NodeRef result) {
    program.results = {result};
    program.resultNames = {"result"};
    return program;
  }

  tensor::Program program;
};

/// (x / sqrt(mean(x * x) + 1e-5) * g) @ w
inline tensor::Program rmsnormMatmul() {
  Builder b;
  const NodeRef x = b.input("x", {Builder::dim("M"), Builder::dim("K")});
  const NodeRef g = b.input("g", {Builder::dim("K")});
  const NodeRef w = b.input("w", {Builder::dim("K"), Builder::dim("N")});
  const NodeRef mean = b.reduce(Op::mean, b.make(Op::multiply, {x, x}), {1}, true);
  const NodeRef root = b.make(Op::sqrt, {b.make(Op::add, {mean, b.number("1e-5")})});
  const NodeRef scaled = b.make(Op::multiply, {b.make(Op::divide, {x, root}), g});
  return b.done(b.make(Op::matmul, {scaled, w}));
}

}  // namespace nuscope::semantics::test
