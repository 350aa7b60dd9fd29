#pragma once
// A small nu-graph made by hand: (x / s) @ w with two variants and a refused one.
#include <gtest/gtest.h>

#include "core/nugraph/nugraph.h"

namespace nuscope::test {

inline nugraph::ProofRef proofOf(proof::Verdict verdict) {
  auto proof = std::make_shared<proof::Proof>();
  proof->verdict = verdict;
  proof->mode = proof::Mode::refines;
  proof->reason = "normal forms agree";
  proof->steps.push_back({1, "normal form", "both sides", "a", "b", 0.5, "(assert true)"});
  if (verdict == proof::Verdict::refuted) {
    proof::Counterexample example;
    example.extents = {{"M", 1}, {"K", 2}, {"N", 1}};
    example.inputs["x"] = {tensor::DType::f32, {1, 2}, {1.5, -2}};
    example.index = {0, 0};
    example.left = {tensor::DType::f32, {1, 1}, {0.1}};
    example.right = {tensor::DType::f32, {1, 1}, {std::numeric_limits<double>::quiet_NaN()}};
    example.kind = proof::Counterexample::Kind::rightUndefined;
    example.rightText = "0/0, undefined";
    example.seed = 0xffffffffffffffffULL;
    proof->counterexample = example;
  }
  return proof;
}

inline nugraph::NuGraph sampleGraph() {
  using tensor::Op;
  tensor::Program program;
  program.name = "sample";
  program.store = std::make_shared<tensor::NodeStore>();
  auto& store = *program.store;
  const auto M = tensor::Dim::symbol("M");
  const auto K = tensor::Dim::symbol("K");
  const auto N = tensor::Dim::symbol("N");
  program.dimensions = {"M", "K", "N"};
  tensor::Precondition even;
  even.text = "K % 2 == 0";
  even.dims = tensor::DimRelation{tensor::modulo(K, 2), tensor::Relation::equal, 0};
  program.facts.assume(*even.dims);
  program.preconditions.push_back(even);
  const auto x = store.input("x", tensor::DType::f32, {M, K});
  const auto w = store.input("w", tensor::DType::f32, {K, N});
  program.parameters = {{"x", x}, {"w", w}};
  const auto make = [&](Op op, std::vector<tensor::NodeRef> operands, tensor::Attributes at = {}) {
    return store.make(op, std::move(operands), std::move(at), program.facts).value();
  };
  tensor::Attributes rows;
  rows.axes = {1};
  rows.keepDims = true;
  const auto s = make(Op::sum, {x}, rows);
  program.results = {make(Op::matmul, {make(Op::divide, {x, s}), w})};
  program.resultNames = {"y"};
  program.variables[s] = "s";
  program.ranges[s] = {3, 5, 3, 20};
  nugraph::NuGraph graph(program);
  nugraph::Step step;
  step.what = "divide by s moved past matmul";
  step.moved = "divide";
  step.past = "matmul";
  step.proof = proofOf(proof::Verdict::proved);
  const auto late = make(Op::divide, {make(Op::matmul, {x, w}), s});
  graph.add(step, {late}, nugraph::Stage::algebra, step.what);
  nugraph::Refused refused;
  refused.what = "nonsense";
  refused.results = {make(Op::multiply, {make(Op::matmul, {x, w}), s})};
  refused.proof = proofOf(proof::Verdict::refuted);
  graph.add(refused);
  const auto one = store.constant(*parseDecimal("1e-5"));
  const auto last = make(Op::divide, {make(Op::add, {make(Op::matmul, {x, w}), one}), s});
  step.from = 1;
  graph.add(step, {last}, nugraph::Stage::algebra, "last");
  step.from = 0;
  step.what = "by hand: last.py";
  step.byHand = true;
  graph.add(step, {last}, nugraph::Stage::algebra, "ignored");
  graph.addCut("stopped at 3 variants");
  return graph;
}

}  // namespace nuscope::test
