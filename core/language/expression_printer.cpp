#include "core/language/expression_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/exact.h"

namespace nuscope::language {

using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;

namespace {

std::string numpyTypeName(DType type) {
  switch (type) {
    case DType::f64:
      return "np.float64";
    case DType::f32:
      return "np.float32";
    case DType::f16:
      return "np.float16";
    case DType::i32:
      return "np.int32";
    case DType::i8:
      return "np.int8";
    case DType::boolean:
      return "np.bool_";
    case DType::bf16:
      break;
  }
  return "np.bfloat16";  // NumPy has none; no program that was read has such a cast
}

std::string number(NodeRef node, bool asReal) {
  const tensor::Attributes& at = node->attributes;
  if (at.infinity != 0) return at.infinity < 0 ? "-np.inf" : "np.inf";
  std::string text = decimalText(at.value);
  if (const auto bar = text.find('/'); bar != std::string::npos)
    return text.substr(0, bar) + " / " + text.substr(bar + 1);
  if (asReal && text.find_first_of(".eE") == std::string::npos) text += ".0";
  return text;
}

std::string axesText(const tensor::Attributes& at, std::size_t rank) {
  if (at.axes.size() == 1) {
    const bool last = rank > 1 && at.axes[0] + 1 == static_cast<int>(rank);
    return fmt::format("axis={}", last ? -1 : at.axes[0]);
  }
  return fmt::format("axis=({})", fmt::join(at.axes, ", "));
}

}  // namespace

NodeRef varianceDifference(NodeRef node) {
  if (node->op != Op::mean) return nullptr;
  const NodeRef square = node->operands[0];
  if (square->op != Op::multiply || square->operands[0] != square->operands[1]) return nullptr;
  const NodeRef difference = square->operands[0];
  if (difference->op != Op::subtract) return nullptr;
  const NodeRef mean = difference->operands[1];
  const bool same = mean->op == Op::mean && mean->operands[0] == difference->operands[0] &&
                    mean->attributes.axes == node->attributes.axes && mean->attributes.keepDims;
  return same ? difference : nullptr;
}

std::string ExpressionPrinter::wrap(const Piece& piece, int least) {
  return piece.precedence < least ? "(" + piece.text + ")" : piece.text;
}

ExpressionPrinter::Literal ExpressionPrinter::literal(NodeRef node) {
  if (node->op == Op::constant) return node->dtype == DType::boolean ? Literal::truth : Literal::number;
  if (node->op == Op::dimValue) return Literal::extent;
  if (node->op == Op::cast && node->operands[0]->op == Op::dimValue) return Literal::castExtent;
  return Literal::none;
}

std::string ExpressionPrinter::standalone(NodeRef node) {
  return plain(node).text;
}

std::vector<NodeRef> ExpressionPrinter::inlined(NodeRef node) {
  std::vector<NodeRef> found;
  std::vector<NodeRef>* const before = std::exchange(visited_, &found);
  plain(node);
  visited_ = before;
  return found;
}

ExpressionPrinter::Piece ExpressionPrinter::bare(NodeRef node, bool asReal) {
  visited_->push_back(node);
  switch (literal(node)) {
    case Literal::truth:
      return {node->attributes.value != 0 ? "True" : "False", atom, true};
    case Literal::number: {
      std::string text = number(node, asReal);
      const int precedence = text.find(" / ") != std::string::npos ? term
                             : text.starts_with('-')               ? sign
                                                                   : atom;
      return {std::move(text), precedence, true};
    }
    case Literal::extent: {
      DimText text = extent_(node->attributes.shape[0]);
      return {std::move(text.text), text.precedence, true};
    }
    default: {
      visited_->push_back(node->operands[0]);
      DimText text = extent_(node->operands[0]->attributes.shape[0]);
      return {std::move(text.text), text.precedence, true};
    }
  }
}

ExpressionPrinter::Piece ExpressionPrinter::plain(NodeRef node) {
  switch (literal(node)) {
    case Literal::none:
      return write(node);
    case Literal::truth:
    case Literal::extent:
      return bare(node);
    case Literal::number:
      if (node->dtype == natural_) return bare(node, true);
      if (node->dtype == DType::i32) return bare(node);
      break;
    case Literal::castExtent:
      break;
  }
  return forced(node);
}

ExpressionPrinter::Piece ExpressionPrinter::forced(NodeRef node) {
  if (literal(node) == Literal::none) return write(node);
  return {numpyTypeName(node->dtype) + "(" + bare(node).text + ")", atom, false};
}

ExpressionPrinter::Piece ExpressionPrinter::object(NodeRef node) {
  Piece piece = forced(node);
  if (!piece.weak || !node->shape.empty()) return piece;
  return {numpyTypeName(node->dtype) + "(" + piece.text + ")", atom, false};
}

ExpressionPrinter::Piece ExpressionPrinter::real(NodeRef node) {
  const Literal kind = literal(node);
  if (kind == Literal::none && node->dtype == natural_ && implicitCast(node)) return uncast(node);
  if (kind == Literal::none) return write(node);
  const bool adopts = node->dtype == natural_ && (kind == Literal::number || kind == Literal::castExtent);
  return adopts ? bare(node) : forced(node);
}

/// A cast of a tensor of integers or conditions to reals, which the reader of the text inserts by itself
/// where reals are needed.
bool ExpressionPrinter::implicitCast(NodeRef node) {
  return node->op == Op::cast && literal(node) == Literal::none && tensor::isReal(node->dtype) &&
         !tensor::isReal(node->operands[0]->dtype) && literal(node->operands[0]) == Literal::none &&
         inPlace(node);
}

/// A scalar computed from literals and extents in a real type that is not the natural one. Beside a tensor of
/// that type it is written without types: "x / np.sqrt(D)" is read so that all of it has the type of x.
bool ExpressionPrinter::adopts(NodeRef node, int depth) {
  const Literal kind = literal(node);
  if (kind == Literal::number || kind == Literal::castExtent) return tensor::isReal(node->dtype);
  if (kind != Literal::none || !node->shape.empty() || !tensor::isReal(node->dtype) || !inPlace(node) ||
      depth > 6)
    return false;
  switch (node->op) {
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
      return adopts(node->operands[0], depth + 1);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide: {
      const NodeRef a = node->operands[0];
      const NodeRef b = node->operands[1];
      const bool numbers = literal(a) == Literal::number && literal(b) == Literal::number;
      const bool extents =
          literal(a) == Literal::castExtent && literal(b) == Literal::castExtent && node->op != Op::divide;
      return !numbers && !extents && adopts(a, depth + 1) && adopts(b, depth + 1);
    }
    default:
      return false;
  }
}

ExpressionPrinter::Piece ExpressionPrinter::uncast(NodeRef node) {
  visited_->push_back(node);
  return forced(node->operands[0]);
}

std::vector<ExpressionPrinter::Piece> ExpressionPrinter::together(std::vector<NodeRef> nodes, bool folds,
                                                                  bool divides) {
  const DType type = nodes[0]->dtype;
  std::vector<Piece> pieces(nodes.size());
  bool strong = false;    // an operand that imposes its type
  bool weakReal = false;  // one that makes the common type of literals real
  bool allLiteral = true;
  bool onlyIntegers = type == natural_;  // all tensors are integers cast to f32
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (literal(nodes[i]) != Literal::none) continue;
    allLiteral = false;
    if (implicitCast(nodes[i])) {
      onlyIntegers = onlyIntegers && nodes[i]->operands[0]->dtype == DType::i32;
      continue;
    }
    onlyIntegers = false;
    if (type != natural_ && adopts(nodes[i], 0))
      continue;  // below, once it is known whether there is a type to adopt
    pieces[i] = write(nodes[i]);
    strong = strong || !pieces[i].weak;
    weakReal = weakReal || tensor::isReal(nodes[i]->dtype);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (literal(nodes[i]) != Literal::none || implicitCast(nodes[i]) || !pieces[i].text.empty()) continue;
    const DType before = std::exchange(natural_, strong ? type : natural_);
    pieces[i] = write(nodes[i]);
    natural_ = before;
  }
  const auto numberLiteral = [](NodeRef n) { return literal(n) == Literal::number; };
  const bool integersGiveReal =
      !allLiteral && onlyIntegers && (divides || std::ranges::any_of(nodes, numberLiteral));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (literal(nodes[i]) != Literal::none || !implicitCast(nodes[i])) continue;
    pieces[i] = strong || integersGiveReal ? uncast(nodes[i]) : write(nodes[i]);
  }
  const bool casts = std::ranges::any_of(nodes, [&](NodeRef n) { return implicitCast(n); });
  if (integersGiveReal) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (literal(nodes[i]) != Literal::none) pieces[i] = bare(nodes[i], !divides);
    }
    return pieces;
  }
  strong = strong || casts;
  bool forceOne = false;
  bool writeReal = false;
  if (!strong) {
    const bool anyNumber = std::ranges::any_of(nodes, numberLiteral);
    const bool allNumbers = std::ranges::all_of(nodes, numberLiteral);
    const bool integers = std::ranges::all_of(nodes, [](NodeRef n) { return n->dtype == DType::i32; });
    if (folds && allLiteral && (allNumbers || integers)) {
      forceOne = true;
    } else if (type == natural_) {
      writeReal = !weakReal && !divides;
      forceOne = writeReal && !anyNumber;
    } else if (type != DType::i32 && type != DType::boolean) {
      forceOne = true;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (literal(nodes[i]) == Literal::none) continue;
    pieces[i] = forceOne ? forced(nodes[i]) : bare(nodes[i], writeReal);
    forceOne = false;
  }
  return pieces;
}

ExpressionPrinter::Piece ExpressionPrinter::write(NodeRef node) {
  if (node->op == Op::input) return {node->attributes.name, atom, false};
  if (std::string name = name_(node); !name.empty()) return {std::move(name), atom, false};
  if (depth_ <= 0) return {"...", atom, false};
  visited_->push_back(node);
  --depth_;
  Piece piece = operation(node);
  ++depth_;
  return piece;
}

ExpressionPrinter::Piece ExpressionPrinter::infix(NodeRef node, std::string_view op, int precedence) {
  const bool comparing = precedence == comparison;
  const bool logical = precedence == conjunction || precedence == disjunction;
  std::vector<Piece> sides;
  if (logical) {
    sides = {plain(node->operands[0]), plain(node->operands[1])};
  } else if (node->op == Op::matmul) {
    sides = together(node->operands, false);
  } else {
    sides = together(node->operands, true, node->op == Op::divide);
  }
  // Products and quotients on the left of @ are put in parentheses for people.
  const bool scaled = node->op == Op::matmul && node->operands[0]->op != Op::matmul;
  std::string text = wrap(sides[0], comparing || scaled ? precedence + 1 : precedence);
  text += fmt::format(" {} ", op) + wrap(sides[1], precedence + 1);
  return {std::move(text), precedence, sides[0].weak && sides[1].weak};
}

ExpressionPrinter::Piece ExpressionPrinter::function(std::string_view name,
                                                     const std::vector<Piece>& arguments,
                                                     std::string_view more) {
  std::string text = fmt::format("np.{}(", name);
  bool weak = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    text += (i == 0 ? "" : ", ") + arguments[i].text;
    weak = weak && arguments[i].weak;
  }
  if (!more.empty()) text += fmt::format(", {}", more);
  return {text + ")", atom, weak};
}

std::string ExpressionPrinter::shapeText(const tensor::Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + extent_(shape[i]).text;
  return text + (shape.size() == 1 ? ",)" : ")");
}

ExpressionPrinter::Piece ExpressionPrinter::variance(NodeRef node) {
  const NodeRef difference = varianceDifference(node);
  if (!difference || !inPlace(difference) || !inPlace(node->operands[0])) return {};
  if (literal(difference->operands[0]) != Literal::none) return {};
  visited_->insert(visited_->end(), {node->operands[0], difference, difference->operands[1]});
  const NodeRef x = difference->operands[0];
  std::string more;
  if (node->attributes.axes.size() != x->shape.size()) more = axesText(node->attributes, x->shape.size());
  if (node->attributes.keepDims) more += more.empty() ? "keepdims=True" : ", keepdims=True";
  return function("var", {write(x)}, more);
}

ExpressionPrinter::Piece ExpressionPrinter::reduction(NodeRef node) {
  if (Piece var = variance(node); !var.text.empty()) return var;
  const NodeRef x = node->operands[0];
  std::string more;
  if (node->attributes.axes.size() != x->shape.size()) more = axesText(node->attributes, x->shape.size());
  if (node->attributes.keepDims) more += more.empty() ? "keepdims=True" : ", keepdims=True";
  const std::string_view called = node->op == Op::product ? "prod" : name(node->op);
  const bool counts = (node->op == Op::sum || node->op == Op::product) && x->op == Op::cast &&
                      x->dtype == DType::i32 && x->operands[0]->dtype == DType::boolean &&
                      literal(x->operands[0]) == Literal::none && inPlace(x);
  return function(called, {counts ? uncast(x) : node->op == Op::mean ? real(x) : plain(x)}, more);
}

ExpressionPrinter::Piece ExpressionPrinter::castOf(NodeRef node) {
  const Piece x = forced(node->operands[0]);
  if (x.weak) return {numpyTypeName(node->dtype) + "(" + x.text + ")", atom, false};
  return {wrap(x, atom) + ".astype(" + numpyTypeName(node->dtype) + ")", atom, false};
}

ExpressionPrinter::Piece ExpressionPrinter::transposition(NodeRef node) {
  const NodeRef x = node->operands[0];
  const std::vector<int>& axes = node->attributes.axes;
  const std::size_t rank = axes.size();
  bool reversed = rank > 1;
  for (std::size_t i = 0; i < rank; ++i) reversed = reversed && axes[i] == static_cast<int>(rank - 1 - i);
  if (reversed) {
    const Piece piece = forced(x);
    return {wrap(piece, atom) + ".T", atom, piece.weak};
  }
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < rank; ++i) {
    if (axes[i] != static_cast<int>(i)) moved.push_back(i);
  }
  if (moved.size() == 2) {
    const bool last = moved[0] + 2 == rank && moved[1] + 1 == rank;
    return function("swapaxes", {plain(x)},
                    last ? std::string("-1, -2") : fmt::format("{}, {}", moved[0], moved[1]));
  }
  return function("transpose", {plain(x)},
                  fmt::format("({}{})", fmt::join(axes, ", "), rank == 1 ? "," : ""));
}

ExpressionPrinter::Piece ExpressionPrinter::broadcasting(NodeRef node) {
  const NodeRef x = node->operands[0];
  const std::string shape = shapeText(node->attributes.shape);
  if (x->op != Op::constant) return function("broadcast_to", {plain(x)}, shape);
  visited_->push_back(x);
  const bool plainZero = x->attributes.infinity == 0 && x->attributes.value == 0;
  const bool plainOne = x->attributes.infinity == 0 && x->attributes.value == 1;
  if (x->dtype == DType::f32 && (plainZero || plainOne)) {
    return {fmt::format("np.{}({})", plainZero ? "zeros" : "ones", shape), atom, true};
  }
  if (x->dtype == DType::f32 || x->dtype == DType::i32 || x->dtype == DType::boolean) {
    return {fmt::format("np.full({}, {})", shape, plain(x).text), atom, true};
  }
  return {fmt::format("np.full({}, {}, dtype={})", shape, bare(x).text, numpyTypeName(x->dtype)), atom,
          false};
}

ExpressionPrinter::Piece ExpressionPrinter::expansion(NodeRef node) {
  const NodeRef x = node->operands[0];
  const std::vector<int>& axes = node->attributes.axes;
  if (axes.empty() || axes.back() > 3) {
    return function("expand_dims", {plain(x)},
                    fmt::format("({}{})", fmt::join(axes, ", "), axes.size() == 1 ? "," : ""));
  }
  std::string index;
  for (int axis = 0; axis <= axes.back(); ++axis) {
    const bool added = std::ranges::find(axes, axis) != axes.end();
    index += std::string(axis == 0 ? "" : ", ") + (added ? "None" : ":");
  }
  const Piece piece = object(x);
  return {wrap(piece, atom) + "[" + index + "]", atom, piece.weak};
}

ExpressionPrinter::Piece ExpressionPrinter::slicing(NodeRef slice, const std::vector<int>& squeezed) {
  const NodeRef x = slice->operands[0];
  const tensor::Attributes& at = slice->attributes;
  std::vector<std::string> parts;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    const bool fromStart = at.starts[i] == Dim(0);
    const bool toEnd = at.stops[i] == x->shape[i];
    if (std::ranges::find(squeezed, static_cast<int>(i)) != squeezed.end()) {
      parts.push_back(extent_(at.starts[i]).text);
    } else {
      parts.push_back((fromStart ? "" : extent_(at.starts[i]).text) + ":" +
                      (toEnd ? "" : extent_(at.stops[i]).text));
    }
    if (parts.back() != ":") kept = i + 1;
  }
  if (kept == 0 && !parts.empty()) {  // the whole tensor, as a slice all the same
    parts[0] = "0:" + extent_(x->shape[0]).text;
    kept = 1;
  }
  parts.resize(kept);
  const Piece piece = forced(x);
  return {fmt::format("{}[{}]", wrap(piece, atom),
                      parts.empty() ? "..." : fmt::format("{}", fmt::join(parts, ", "))),
          atom, piece.weak};
}

ExpressionPrinter::Piece ExpressionPrinter::squeezing(NodeRef node) {
  const NodeRef x = node->operands[0];
  const std::vector<int>& axes = node->attributes.axes;
  if (x->op == Op::slice && !axes.empty() && inPlace(x)) {
    const tensor::Attributes& at = x->attributes;
    const bool single = std::ranges::all_of(axes, [&](int axis) {
      const auto i = static_cast<std::size_t>(axis);
      return at.stops[i] - at.starts[i] == Dim(1);
    });
    if (single) {
      visited_->push_back(x);
      return slicing(x, axes);
    }
  }
  if (axes.size() == 1) return function("squeeze", {plain(x)}, fmt::format("axis={}", axes[0]));
  return function("squeeze", {plain(x)}, fmt::format("axis=({})", fmt::join(axes, ", ")));
}

ExpressionPrinter::Piece ExpressionPrinter::concatenation(NodeRef node) {
  const int axis = node->attributes.axes[0];
  const bool stacked = std::ranges::all_of(node->operands, [&](NodeRef n) {
    return n->op == Op::expandDims && n->attributes.axes.size() == 1 && n->attributes.axes[0] == axis &&
           inPlace(n);
  });
  std::vector<NodeRef> parts = node->operands;
  if (stacked) {
    for (NodeRef& part : parts) {
      visited_->push_back(part);
      part = part->operands[0];
    }
  }
  std::string text;
  bool weak = true;
  for (const Piece& piece : together(parts, false)) {
    text += (text.empty() ? "" : ", ") + piece.text;
    weak = weak && piece.weak;
  }
  const std::string where = node->shape.size() == 1 ? "" : fmt::format(", axis={}", axis);
  return {fmt::format("np.{}([{}]{})", stacked ? "stack" : "concatenate", text, where), atom, weak};
}

ExpressionPrinter::Piece ExpressionPrinter::operation(NodeRef node) {
  const std::vector<NodeRef>& in = node->operands;
  const tensor::Attributes& at = node->attributes;
  switch (node->op) {
    case Op::negate: {
      const Piece x = forced(in[0]);
      return {"-" + wrap(x, sign), sign, x.weak};
    }
    case Op::logicalNot: {
      const Piece x = object(in[0]);
      return {"~" + wrap(x, sign), sign, x.weak};
    }
    case Op::abs:
    case Op::sign:
      return function(name(node->op), {plain(in[0])});
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
    case Op::floor:
    case Op::rint:
      return function(name(node->op), {real(in[0])});
    case Op::cast:
      return castOf(node);
    case Op::power: {
      const Piece x = forced(in[0]);
      return {fmt::format("{} ** {}", wrap(x, atom), at.index), powers, x.weak};
    }
    case Op::add:
      return infix(node, "+", sum);
    case Op::subtract:
      return infix(node, "-", sum);
    case Op::multiply:
      return infix(node, "*", term);
    case Op::divide:
      return infix(node, "/", term);
    case Op::floorDivide:
      return infix(node, "//", term);
    case Op::modulo:
      return infix(node, "%", term);
    case Op::matmul:
      return infix(node, "@", term);
    case Op::less:
      return infix(node, "<", comparison);
    case Op::lessEqual:
      return infix(node, "<=", comparison);
    case Op::greater:
      return infix(node, ">", comparison);
    case Op::greaterEqual:
      return infix(node, ">=", comparison);
    case Op::equal:
      return infix(node, "==", comparison);
    case Op::notEqual:
      return infix(node, "!=", comparison);
    case Op::logicalAnd:
      return infix(node, "&", conjunction);
    case Op::logicalOr:
      return infix(node, "|", disjunction);
    case Op::maximum:
    case Op::minimum:
      return function(name(node->op), together(in, false));
    case Op::where: {
      std::vector<Piece> pieces = together({in[1], in[2]}, false);
      pieces.insert(pieces.begin(), plain(in[0]));
      return function("where", pieces);
    }
    case Op::sum:
    case Op::product:
    case Op::max:
    case Op::min:
    case Op::mean:
    case Op::all:
      return reduction(node);
    case Op::cumsum:
      return function("cumsum", {plain(in[0])}, axesText(at, in[0]->shape.size()));
    case Op::einsum: {
      std::vector<Piece> pieces = together(in, false);
      pieces.insert(pieces.begin(), Piece{"'" + at.name + "'", atom, true});
      return function("einsum", pieces);
    }
    case Op::arange:
      return {"np.arange(" + extent_(at.shape[0]).text + ")", atom, false};
    case Op::transpose:
      return transposition(node);
    case Op::reshape: {
      const Piece x = object(in[0]);
      std::string shape = shapeText(at.shape);
      if (at.shape.size() == 1) shape = "(" + extent_(at.shape[0]).text + ")";
      return {wrap(x, atom) + ".reshape" + (at.shape.empty() ? "(())" : shape), atom, x.weak};
    }
    case Op::broadcastTo:
      return broadcasting(node);
    case Op::expandDims:
      return expansion(node);
    case Op::squeeze:
      return squeezing(node);
    case Op::slice:
      return slicing(node, {});
    case Op::concatenate:
      return concatenation(node);
    case Op::repeat:
      return function("repeat", {plain(in[0])},
                      fmt::format("{}, axis={}", extent_(at.shape[0]).text, at.axes[0]));
    case Op::take:
      return function("take", {plain(in[0]), plain(in[1])}, fmt::format("axis={}", at.axes[0]));
    case Op::loop:
    case Op::loopResult:
    case Op::loopState:
      return {std::string(name(node->op)), atom, false};  // named by whoever prints loops
    case Op::input:
    case Op::constant:
    case Op::dimValue:
      break;
  }
  return plain(node);
}

std::string ExpressionPrinter::start(NodeRef node, NodeRef end) {
  const bool adopts =
      tensor::isReal(node->dtype) && node->dtype == end->dtype && literal(end) == Literal::none;
  if (!adopts || node->dtype == DType::f32) return standalone(node);
  if (node->op == Op::constant) return bare(node, true).text;
  const bool filled = node->op == Op::broadcastTo && node->operands[0]->op == Op::constant;
  if (filled &&
      node->dtype == DType::bf16) {  // NumPy has no name for the type: the literal adopts shape and type
    visited_->push_back(node);
    return bare(node->operands[0], true).text;
  }
  if (!filled || node->dtype != DType::f64) return standalone(node);
  visited_->push_back(node);
  const tensor::Attributes& value = node->operands[0]->attributes;
  if (value.infinity == 0 && value.value == 0) return "np.zeros(" + shapeText(node->attributes.shape) + ")";
  return fmt::format("np.full({}, {})", shapeText(node->attributes.shape),
                     bare(node->operands[0], true).text);
}

}  // namespace nuscope::language
