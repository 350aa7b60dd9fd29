#pragma once
// One node as a Python expression that the language reads back as the same node. Private to core/language.
//
// The language lets literals and extents adopt the type of the other operand, and folds what it knows. So the
// printer writes a literal plainly where the reader will give it the node's type, and as np.float32(2) where
// it would not.
#include <functional>
#include <string>
#include <vector>

#include "core/language/dim_text.h"
#include "core/tensor/graph.h"

namespace nuscope::language {

class ExpressionPrinter {
 public:
  using Name = std::function<std::string(tensor::NodeRef)>;  ///< empty: write the node in place
  using Extent = std::function<DimText(const tensor::Dim&)>;

  /// `visited` receives every node that is written in place.
  ExpressionPrinter(Name name, Extent extent, std::vector<tensor::NodeRef>& visited)
      : name_(std::move(name)), extent_(std::move(extent)), visited_(&visited) {}

  /// Text that is this node wherever it stands: after "x =", "return", in brackets.
  std::string standalone(tensor::NodeRef node);
  /// The start of an accumulator that becomes `end`: literals may adopt the type of `end`.
  std::string start(tensor::NodeRef node, tensor::NodeRef end);
  /// The nodes that `standalone` would write in place.
  std::vector<tensor::NodeRef> inlined(tensor::NodeRef node);
  /// Replaces operands below this depth by "...", for short texts that need not parse.
  void limitDepth(int depth) { depth_ = depth; }

 private:
  struct Piece {
    std::string text;
    int precedence = atom;
    bool weak = false;  ///< read as a literal, or as a tensor of literals: adopts the other operand's type
  };
  enum class Literal { none, number, extent, castExtent, truth };

  static Literal literal(tensor::NodeRef node);
  /// The node as it is; literals are forced to their type unless reading them as `node(value)` gives it
  /// anyway.
  Piece plain(tensor::NodeRef node);
  /// A strong tensor of the node's type.
  Piece forced(tensor::NodeRef node);
  /// A strong tensor that has methods and takes ~ when NumPy runs the text: 1 / M is a number of Python.
  Piece object(tensor::NodeRef node);
  /// Where integers and conditions become f32: arguments of exp, sqrt, mean...
  Piece real(tensor::NodeRef node);
  /// A literal in a place where another operand decides its type.
  Piece bare(tensor::NodeRef node, bool asReal = false);
  bool implicitCast(tensor::NodeRef node);
  bool adopts(tensor::NodeRef node, int depth);
  Piece uncast(tensor::NodeRef node);
  /// Operands that share a type: arithmetic, comparison, where's branches, concatenate, einsum.
  std::vector<Piece> together(std::vector<tensor::NodeRef> nodes, bool folds, bool divides = false);

  Piece write(tensor::NodeRef node);
  Piece operation(tensor::NodeRef node);
  Piece infix(tensor::NodeRef node, std::string_view op, int precedence);
  Piece function(std::string_view name, const std::vector<Piece>& arguments, std::string_view more = {});
  Piece reduction(tensor::NodeRef node);
  Piece variance(tensor::NodeRef node);
  Piece castOf(tensor::NodeRef node);
  Piece transposition(tensor::NodeRef node);
  Piece broadcasting(tensor::NodeRef node);
  Piece expansion(tensor::NodeRef node);
  Piece slicing(tensor::NodeRef slice, const std::vector<int>& squeezed);
  Piece squeezing(tensor::NodeRef node);
  Piece concatenation(tensor::NodeRef node);
  std::string shapeText(const tensor::Shape& shape);
  static std::string wrap(const Piece& piece, int least);
  [[nodiscard]] bool inPlace(tensor::NodeRef node) { return name_(node).empty(); }

  Name name_;
  Extent extent_;
  std::vector<tensor::NodeRef>* visited_;
  int depth_ = 1 << 20;
  tensor::DType natural_ = tensor::DType::f32;  ///< what literals become where nothing decides their type
};

/// mean((x - mean(x)) * (x - mean(x))) over the same axes; the difference, or null.
tensor::NodeRef varianceDifference(tensor::NodeRef node);

}  // namespace nuscope::language
