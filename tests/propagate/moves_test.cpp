#include "core/propagate/moves.h"

#include "tests/propagate/hand_built.h"

namespace nuscope::propagate {
namespace {

using tensor::Shape;

class Moves : public test::HandBuilt {
 protected:
  /// The candidates for a whole graph hold this rewriting of one node.
  void expectMove(Node result, Node before, Node after) {
    program.results = {result};
    const auto moves = movesOf(program, program.results);
    const bool found = std::ranges::any_of(moves, [&](const Move& move) {
      return move.before == std::vector{before} && move.after == std::vector{after};
    });
    EXPECT_TRUE(found) << all(moves);
  }
  static std::string deep(Node node) {
    if (node->op == Op::input) return node->attributes.name;
    if (node->op == Op::constant) return decimalText(node->attributes.value);
    std::string text(tensor::name(node->op));
    if (!node->attributes.axes.empty()) {
      for (const int axis : node->attributes.axes) text += std::to_string(axis);
    }
    text += "(";
    for (const Node operand : node->operands) text += (text.ends_with('(') ? "" : ", ") + deep(operand);
    return text + ")";
  }
  static std::string all(const std::vector<Move>& moves) {
    std::string text;
    for (const Move& move : moves) {
      text += "  " + move.what + ": " + deep(move.before[0]) + " -> " + deep(move.after[0]) + "\n";
    }
    return text;
  }
  Node x = input("x", {M, K});
  Node w = input("w", {K, N});
  Node g = input("g", {K});
  Node b = input("b", {N});
};

TEST_F(Moves, RowScalePastMatmul) {
  const Node s = reduce(Op::sum, x, 1);
  const Node y = make(Op::matmul, {make(Op::divide, {x, s}), w});
  expectMove(y, y, make(Op::divide, {make(Op::matmul, {x, w}), s}));
}

TEST_F(Moves, VectorOfRowsStaysOnRows) {
  const Node s = reduce(Op::sum, x, 1, false);
  const Node y = make(Op::matmul, {make(Op::divide, {x, expand(s, 1)}), w});
  expectMove(y, y, make(Op::divide, {make(Op::matmul, {x, w}), expand(s, 1)}));
}

TEST_F(Moves, ColumnGainOntoWeight) {
  const Node y = make(Op::matmul, {make(Op::multiply, {x, g}), w});
  expectMove(y, y, make(Op::matmul, {x, make(Op::multiply, {w, expand(g, 1)})}));
}

TEST_F(Moves, GainBackFromWeight) {
  const Node y = make(Op::matmul, {x, make(Op::multiply, {w, expand(g, 1)})});
  expectMove(y, y, make(Op::matmul, {make(Op::multiply, {x, g}), w}));
}

TEST_F(Moves, OutputScaleOntoWeight) {
  const Node y = make(Op::multiply, {make(Op::matmul, {x, w}), b});
  expectMove(y, y, make(Op::matmul, {x, make(Op::multiply, {w, b})}));
}

TEST_F(Moves, DistributesOverBothOperands) {
  const Node z = input("z", {M, K});
  const Node y = make(Op::matmul, {make(Op::add, {x, z}), w});
  const Node spread = make(Op::add, {make(Op::matmul, {x, w}), make(Op::matmul, {z, w})});
  expectMove(y, y, spread);
  expectMove(spread, spread, y);
}

TEST_F(Moves, VectorTermGetsItsOwnProduct) {
  const Node y = make(Op::matmul, {make(Op::add, {x, g}), w});
  expectMove(y, y, make(Op::add, {make(Op::matmul, {x, w}), make(Op::matmul, {g, w})}));
}

TEST_F(Moves, Associativity) {
  const Node v = input("v", {N, tensor::Dim::symbol("P")});
  const Node left = make(Op::matmul, {make(Op::matmul, {x, w}), v});
  const Node right = make(Op::matmul, {x, make(Op::matmul, {w, v})});
  expectMove(left, left, right);
  expectMove(right, right, left);
}

TEST_F(Moves, TransposePastMatmul) {
  const Node xt = input("xt", {K, M});
  const Node y = make(Op::matmul, {transpose(xt), w});
  const Node flipped = transpose(make(Op::matmul, {transpose(w), xt}));
  expectMove(y, y, flipped);
  expectMove(flipped, flipped, y);
}

TEST_F(Moves, SumOfProductIsProductWithSum) {
  const Node y = reduce(Op::sum, make(Op::matmul, {x, w}), 1, false);
  expectMove(y, y, make(Op::matmul, {x, reduce(Op::sum, w, 1, false)}));
}

TEST_F(Moves, RowFactorOutOfSum) {
  const Node s = input("s", {M, 1});
  const Node y = reduce(Op::sum, make(Op::multiply, {x, s}), 1);
  const Node late = make(Op::multiply, {reduce(Op::sum, x, 1), s});
  expectMove(y, y, late);
  expectMove(late, late, y);
}

TEST_F(Moves, SiblingsMerge) {
  const Node v = input("v", {K, tensor::Dim::symbol("P")});
  program.results = {make(Op::matmul, {x, w}), make(Op::matmul, {x, v})};
  program.resultNames = {"a", "b"};
  const auto moves = movesOf(program, program.results);
  const auto merge = std::ranges::find_if(moves, [](const Move& move) { return move.before.size() == 2; });
  ASSERT_NE(merge, moves.end()) << all(moves);
  EXPECT_EQ(deep(merge->after[0]), "slice(matmul(x, concatenate1(w, v)))");
  EXPECT_EQ(text(merge->after[1]->shape), "[M, P]");
}

TEST_F(Moves, JoinedAxisSplitsTheFold) {
  const tensor::Dim J = tensor::Dim::symbol("J");
  const Node z = input("z", {M, J});
  const Node v = input("v", {J, N});
  Attributes columns;
  columns.axes = {1};
  Attributes rows;
  rows.axes = {0};
  const Node apart = make(Op::add, {make(Op::matmul, {x, w}), make(Op::matmul, {z, v})});
  const Node joined =
      make(Op::matmul, {make(Op::concatenate, {x, z}, columns), make(Op::concatenate, {w, v}, rows)});
  expectMove(apart, apart, joined);
}

TEST_F(Moves, ReshapeFollowsTheRows) {
  const tensor::Dim B = tensor::Dim::symbol("B");
  const Node batch = input("batch", {B, M, K});
  Attributes flat;
  flat.shape = {B * M, K};
  Attributes out;
  out.shape = {B * M, N};
  const Node y = make(Op::matmul, {make(Op::reshape, {batch}, flat), w});
  expectMove(y, y, make(Op::reshape, {make(Op::matmul, {batch, w})}, out));
}

TEST_F(Moves, SliceOfProductSlicesTheWeight) {
  Attributes at;
  at.starts = {0, 0};
  at.stops = {M, 1};
  Attributes ofWeight;
  ofWeight.starts = {0, 0};
  ofWeight.stops = {K, 1};
  const Node y = make(Op::slice, {make(Op::matmul, {x, w})}, at);
  expectMove(y, y, make(Op::matmul, {x, make(Op::slice, {w}, ofWeight)}));
}

TEST_F(Moves, CandidatesKeepTheType) {
  const Node y = make(Op::matmul, {make(Op::maximum, {make(Op::multiply, {x, g}), constant("0")}), w});
  program.results = {y};
  for (const Move& move : movesOf(program, program.results)) {
    ASSERT_EQ(move.before.size(), move.after.size());
    for (std::size_t i = 0; i < move.before.size(); ++i) {
      EXPECT_EQ(move.before[i]->dtype, move.after[i]->dtype);
      EXPECT_EQ(text(move.before[i]->shape), text(move.after[i]->shape));
    }
  }
}

}  // namespace
}  // namespace nuscope::propagate
