#include "core/tensor/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nuscope::tensor {
namespace {

using Operands = std::span<const NodeRef>;

Refusal refuse(std::string message, std::string hint = {}) {
  return {std::move(message), std::move(hint)};
}

std::string assertHint(const Dim& a, const Dim& b) {
  return fmt::format("if they are always equal, say so: assert {} == {}", a.text(), b.text());
}

Result<Type> leafType(Op op, const Attributes& at) {
  switch (op) {
    case Op::input:
    case Op::loopState:
      return Type{at.dtype, at.shape};
    case Op::constant:
      return Type{at.dtype, {}};
    case Op::dimValue:
      return Type{at.dtype, {}};
    default:
      return Type{at.dtype, {at.shape[0]}};  // arange
  }
}

Result<Type> elementwiseType(Op op, Operands operands, const Attributes& at, const DimFacts& facts) {
  const DType first = operands[0]->dtype;
  Shape shape = operands[0]->shape;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto both = broadcastShapes(shape, operands[i]->shape, facts);
    if (!both) return both.refusal();
    shape = *both;
  }
  const auto needs = [&](bool ok, std::string_view what) -> Result<Type> {
    if (ok) return Type{first, shape};
    return refuse(fmt::format("{} takes {}, not {}", name(op), what, text(first)));
  };
  switch (op) {
    case Op::cast:
      return Type{at.dtype, shape};
    case Op::power:
      if (at.index < 0) return refuse("a power needs a constant integer exponent >= 0", "write 1 / x**n");
      return needs(first != DType::boolean, "numbers");
    case Op::negate:
    case Op::abs:
    case Op::sign:
      return needs(first != DType::boolean, "numbers");
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
    case Op::floor:
    case Op::rint:
      return needs(isReal(first), "reals");
    case Op::logicalNot:
      return needs(first == DType::boolean, "conditions");
    default:
      break;
  }
  const DType second = operands[1]->dtype;
  if (op == Op::where) {
    if (first != DType::boolean) {
      return refuse(fmt::format("the first operand of where is a condition, not {}", text(first)),
                    "write x != 0");
    }
    if (second != operands[2]->dtype) {
      return refuse(
          fmt::format("the branches of where have types {} and {}", text(second), text(operands[2]->dtype)));
    }
    return Type{second, shape};
  }
  if (first != second) {
    return refuse(fmt::format("{} of {} and {}", name(op), text(first), text(second)),
                  "convert one with .astype");
  }
  if (isLogical(op)) return needs(first == DType::boolean, "conditions");
  if (isComparison(op)) return Type{DType::boolean, shape};
  if (op == Op::divide) return needs(isReal(first), "reals");
  return needs(first != DType::boolean, "numbers");
}

Result<std::vector<int>> checkedAxes(Op op, const std::vector<int>& axes, std::size_t rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= rank) {
      return refuse(fmt::format("{}: axis {} is outside a tensor of rank {}", name(op), axes[i], rank));
    }
    if (i > 0 && axes[i] <= axes[i - 1])
      return refuse(fmt::format("{}: axis {} is given twice", name(op), axes[i]));
  }
  return axes;
}

Result<Type> reduceType(Op op, NodeRef operand, const Attributes& at) {
  if (auto axes = checkedAxes(op, at.axes, operand->shape.size()); !axes) return axes.refusal();
  const bool ok = op == Op::all    ? operand->dtype == DType::boolean
                  : op == Op::mean ? isReal(operand->dtype)
                                   : operand->dtype != DType::boolean;
  if (!ok) return refuse(fmt::format("{} of {}", name(op), text(operand->dtype)));
  Type result{operand->dtype, {}};
  for (std::size_t i = 0; i < operand->shape.size(); ++i) {
    const bool reduced = std::ranges::find(at.axes, static_cast<int>(i)) != at.axes.end();
    if (!reduced) result.shape.push_back(operand->shape[i]);
    if (reduced && at.keepDims) result.shape.emplace_back(1);
  }
  return result;
}

Result<Type> matmulType(NodeRef a, NodeRef b, const DimFacts& facts) {
  if (a->dtype != b->dtype) {
    return refuse(fmt::format("matmul of {} and {}", text(a->dtype), text(b->dtype)),
                  "convert one with .astype");
  }
  if (a->dtype == DType::boolean) return refuse("matmul of conditions");
  if (a->shape.empty() || b->shape.empty())
    return refuse("@ needs tensors, not scalars", "write * for a product");
  const Dim& inner = a->shape.back();
  const Dim& other = b->shape.size() == 1 ? b->shape[0] : b->shape[b->shape.size() - 2];
  if (!facts.equal(inner, other)) {
    return refuse(fmt::format("@ of {} and {}: the inner extents {} and {} are not known to be equal",
                              text(a->shape), text(b->shape), inner.text(), other.text()),
                  assertHint(inner, other));
  }
  const Shape batchA(a->shape.begin(), a->shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(a->shape)));
  const Shape batchB(b->shape.begin(), b->shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(b->shape)));
  auto batch = broadcastShapes(batchA, batchB, facts);
  if (!batch) return batch.refusal();
  Shape shape = *batch;
  if (a->shape.size() > 1) shape.push_back(a->shape[a->shape.size() - 2]);
  if (b->shape.size() > 1) shape.push_back(b->shape.back());
  return Type{a->dtype, shape};
}

Result<Type> einsumType(Operands operands, const Attributes& at, const DimFacts& facts) {
  auto spec = parseEinsum(at.name);
  if (!spec) return spec.refusal();
  if (spec->operands.size() != operands.size()) {
    return refuse(fmt::format("einsum '{}' names {} operands, {} are given", at.name, spec->operands.size(),
                              operands.size()));
  }
  std::map<char, Dim> extents;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& labels = spec->operands[i];
    if (operands[i]->dtype != operands[0]->dtype || operands[i]->dtype == DType::boolean) {
      return refuse("einsum needs operands of one number type", "convert with .astype");
    }
    if (labels.size() != operands[i]->shape.size()) {
      return refuse(fmt::format("einsum '{}': '{}' has {} labels, the operand has rank {}", at.name, labels,
                                labels.size(), operands[i]->shape.size()));
    }
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      const auto [found, inserted] = extents.emplace(labels[axis], operands[i]->shape[axis]);
      if (!inserted && !facts.equal(found->second, operands[i]->shape[axis])) {
        return refuse(fmt::format("einsum '{}': '{}' stands for {} and for {}", at.name, labels[axis],
                                  found->second.text(), operands[i]->shape[axis].text()),
                      assertHint(found->second, operands[i]->shape[axis]));
      }
    }
  }
  Type result{operands[0]->dtype, {}};
  for (const char label : spec->result) result.shape.push_back(extents.at(label));
  return result;
}

Result<Type> transposeType(NodeRef x, const Attributes& at) {
  std::set<int> seen(at.axes.begin(), at.axes.end());
  const auto rank = static_cast<int>(x->shape.size());
  if (static_cast<int>(at.axes.size()) != rank || static_cast<int>(seen.size()) != rank ||
      (rank > 0 && (*seen.begin() != 0 || *seen.rbegin() != rank - 1))) {
    return refuse(fmt::format("transpose needs a permutation of {} axes", rank));
  }
  Type result{x->dtype, {}};
  for (const int axis : at.axes) result.shape.push_back(x->shape[static_cast<std::size_t>(axis)]);
  return result;
}

Result<Type> reshapeType(NodeRef x, const Attributes& at, const DimFacts& facts) {
  if (!facts.equal(product(x->shape), product(at.shape))) {
    return refuse(fmt::format("reshape of {} to {}: {} elements against {}", text(x->shape), text(at.shape),
                              product(x->shape).text(), product(at.shape).text()),
                  "an extent that divides another needs an assert, e.g. assert N % 4 == 0");
  }
  for (const Dim& extent : at.shape) {
    if (!facts.positive(extent)) {
      return refuse(fmt::format("the extent {} is not known to be at least 1", extent.text()),
                    fmt::format("assert {} >= 1", extent.text()));
    }
  }
  return Type{x->dtype, at.shape};
}

Result<Type> broadcastType(NodeRef x, const Attributes& at, const DimFacts& facts) {
  auto both = broadcastShapes(x->shape, at.shape, facts);
  if (!both) return both.refusal();
  if (!facts.equal(*both, at.shape)) {
    return refuse(fmt::format("{} does not broadcast to {}", text(x->shape), text(at.shape)));
  }
  for (const Dim& extent : at.shape) {
    if (!facts.positive(extent))
      return refuse(fmt::format("the extent {} is not known to be at least 1", extent.text()));
  }
  return Type{x->dtype, at.shape};
}

Result<Type> sliceType(NodeRef x, const Attributes& at, const DimFacts& facts) {
  if (at.starts.size() != x->shape.size() || at.stops.size() != x->shape.size()) {
    return refuse(fmt::format("a slice of rank {} needs bounds for every axis", x->shape.size()));
  }
  Type result{x->dtype, {}};
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    const Dim length = at.stops[i] - at.starts[i];
    if (!facts.nonNegative(at.starts[i])) {
      return refuse(fmt::format("the start {} of a slice is not known to be at least 0", at.starts[i].text()),
                    fmt::format("assert {} >= 0", at.starts[i].text()));
    }
    if (!facts.lessEqual(at.stops[i], x->shape[i])) {
      return refuse(fmt::format("the end {} of a slice is not known to lie within the extent {}",
                                at.stops[i].text(), x->shape[i].text()),
                    fmt::format("assert {} >= {}", x->shape[i].text(), at.stops[i].text()));
    }
    if (!facts.positive(length)) {
      return refuse(fmt::format("the slice {}:{} may be empty", at.starts[i].text(), at.stops[i].text()),
                    fmt::format("assert {} >= 1", facts.normalise(length).text()));
    }
    result.shape.push_back(length);
  }
  return result;
}

Result<Type> concatenateType(Operands operands, const Attributes& at, const DimFacts& facts) {
  const NodeRef first = operands[0];
  if (auto axes = checkedAxes(Op::concatenate, at.axes, first->shape.size()); !axes) return axes.refusal();
  if (at.axes.size() != 1) return refuse("concatenate needs one axis");
  const auto axis = static_cast<std::size_t>(at.axes[0]);
  Type result{first->dtype, first->shape};
  for (const NodeRef other : operands.subspan(1)) {
    if (other->dtype != first->dtype) {
      return refuse(fmt::format("concatenate of {} and {}", text(first->dtype), text(other->dtype)));
    }
    if (other->shape.size() != first->shape.size()) {
      return refuse(
          fmt::format("concatenate of {} and {}: the ranks differ", text(first->shape), text(other->shape)));
    }
    for (std::size_t i = 0; i < first->shape.size(); ++i) {
      if (i != axis && !facts.equal(first->shape[i], other->shape[i])) {
        return refuse(fmt::format("concatenate along axis {}: {} and {} differ in axis {}", axis,
                                  text(first->shape), text(other->shape), i));
      }
    }
    result.shape[axis] = result.shape[axis] + other->shape[axis];
  }
  return result;
}

Result<Type> layoutType(Op op, Operands operands, const Attributes& at, const DimFacts& facts) {
  const NodeRef x = operands[0];
  switch (op) {
    case Op::transpose:
      return transposeType(x, at);
    case Op::reshape:
      return reshapeType(x, at, facts);
    case Op::broadcastTo:
      return broadcastType(x, at, facts);
    case Op::slice:
      return sliceType(x, at, facts);
    case Op::concatenate:
      return concatenateType(operands, at, facts);
    case Op::expandDims: {
      Type result{x->dtype, x->shape};
      if (auto axes = checkedAxes(op, at.axes, x->shape.size() + at.axes.size()); !axes)
        return axes.refusal();
      for (const int axis : at.axes) result.shape.insert(result.shape.begin() + axis, Dim(1));
      return result;
    }
    case Op::squeeze: {
      if (auto axes = checkedAxes(op, at.axes, x->shape.size()); !axes) return axes.refusal();
      Type result{x->dtype, {}};
      for (std::size_t i = 0; i < x->shape.size(); ++i) {
        if (std::ranges::find(at.axes, static_cast<int>(i)) == at.axes.end()) {
          result.shape.push_back(x->shape[i]);
        } else if (!facts.equal(x->shape[i], 1)) {
          return refuse(fmt::format("squeeze: axis {} has extent {}, not 1", i, x->shape[i].text()));
        }
      }
      return result;
    }
    case Op::repeat: {
      if (auto axes = checkedAxes(op, at.axes, x->shape.size()); !axes) return axes.refusal();
      if (at.axes.size() != 1 || at.shape.size() != 1) return refuse("repeat needs one axis and one count");
      if (!facts.positive(at.shape[0])) {
        return refuse(fmt::format("the count {} is not known to be at least 1", at.shape[0].text()));
      }
      Type result{x->dtype, x->shape};
      Dim& extent = result.shape[static_cast<std::size_t>(at.axes[0])];
      extent = extent * at.shape[0];
      return result;
    }
    default: {  // take
      if (auto axes = checkedAxes(op, at.axes, x->shape.size()); !axes) return axes.refusal();
      if (at.axes.size() != 1) return refuse("take needs one axis");
      if (sort(operands[1]->dtype) != Sort::integer) {
        return refuse(fmt::format("take needs integer indices, not {}", text(operands[1]->dtype)));
      }
      Type result{x->dtype, x->shape};
      const auto at0 = result.shape.erase(result.shape.begin() + at.axes[0]);
      result.shape.insert(at0, operands[1]->shape.begin(), operands[1]->shape.end());
      return result;
    }
  }
}

Result<Type> loopType(Op op, Operands operands, const Attributes& at, const DimFacts& facts) {
  if (op == Op::loopResult) {
    const NodeRef loop = operands[0];
    if (loop->op != Op::loop || at.index < 0 || static_cast<std::size_t>(at.index) >= loop->operands.size()) {
      return refuse("loop_result needs a loop and the index of one of its states");
    }
    const NodeRef state = loop->operands[static_cast<std::size_t>(at.index)];
    return Type{state->dtype, state->shape};
  }
  if (at.body.size() != operands.size() || at.shape.size() != 1) {
    return refuse("a loop needs one extent, and a new value for each state");
  }
  if (!facts.nonNegative(at.shape[0])) {
    return refuse(
        fmt::format("the number of rounds {} of a loop is not known to be at least 0", at.shape[0].text()),
        fmt::format("assert {} >= 0", at.shape[0].text()));
  }
  for (const NodeRef root : at.body) {
    if (loopHeightOf(at.name) <= root->loopHeight) {
      return refuse(fmt::format("the counter '{}' is not above the loops in the body", at.name),
                    fmt::format("call it @{}", root->loopHeight + 1));
    }
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->dtype != at.body[i]->dtype || !facts.equal(operands[i]->shape, at.body[i]->shape)) {
      return refuse(fmt::format("an accumulator starts as {} and becomes {} in the loop",
                                typeText(operands[i]->dtype, operands[i]->shape),
                                typeText(at.body[i]->dtype, at.body[i]->shape)),
                    "start it with the shape and type that it has after one round");
    }
  }
  return Type{operands[0]->dtype, operands[0]->shape};
}

}  // namespace

Result<Shape> broadcastShapes(const Shape& a, const Shape& b, const DimFacts& facts) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Dim& x = longer[offset + i];
    const Dim& y = shorter[i];
    if (facts.equal(x, y) || facts.equal(y, 1)) continue;
    if (facts.equal(x, 1)) {
      result[offset + i] = y;
      continue;
    }
    return refuse(
        fmt::format("{} and {} do not broadcast: {} against {}", text(a), text(b), x.text(), y.text()),
        fmt::format(
            "NumPy would accept this only where {} or {} happens to be 1, or both are equal: assert {} == {}",
            x.text(), y.text(), x.text(), y.text()));
  }
  return result;
}

Result<EinsumSpec> parseEinsum(std::string_view text) {
  EinsumSpec spec;
  std::string compact;
  for (const char c : text) {
    if (c != ' ') compact += c;
  }
  const auto arrow = compact.find("->");
  std::string inputs = compact.substr(0, arrow);
  std::string current;
  const auto isLabel = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (const char c : inputs) {
    if (c == ',') {
      spec.operands.push_back(std::move(current));
      current.clear();
    } else if (isLabel(c)) {
      current += c;
    } else {
      return refuse(fmt::format("einsum '{}': '{}' is no label", text, c), "use letters, commas and one ->");
    }
  }
  spec.operands.push_back(current);
  std::map<char, int> counts;
  for (const std::string& labels : spec.operands) {
    for (const char c : labels) ++counts[c];
  }
  if (arrow == std::string::npos) {  // NumPy's implicit result: labels that occur once, in alphabetical order
    for (const auto& [label, count] : counts) {
      if (count == 1) spec.result += label;
    }
    return spec;
  }
  spec.result = compact.substr(arrow + 2);
  std::set<char> seen;
  for (const char c : spec.result) {
    if (!isLabel(c) || !counts.contains(c)) {
      return refuse(fmt::format("einsum '{}': the result's label '{}' is in no operand", text, c));
    }
    if (!seen.insert(c).second) return refuse(fmt::format("einsum '{}': the result repeats '{}'", text, c));
  }
  return spec;
}

Result<Type> inferType(Op op, std::span<const NodeRef> operands, const Attributes& at,
                       const DimFacts& facts) {
  const int expected = arity(op);
  if (expected >= 0 ? std::ssize(operands) != expected : operands.empty()) {
    return refuse(fmt::format("{} takes {} operands, not {}", name(op),
                              expected >= 0 ? std::to_string(expected) : "one or more", operands.size()));
  }
  switch (kind(op)) {
    case OpKind::leaf:
      return leafType(op, at);
    case OpKind::elementwise:
      return elementwiseType(op, operands, at, facts);
    case OpKind::reduce:
      return reduceType(op, operands[0], at);
    case OpKind::scan: {
      if (auto axes = checkedAxes(op, at.axes, operands[0]->shape.size()); !axes) return axes.refusal();
      if (at.axes.size() != 1) return refuse("cumsum needs one axis");
      if (operands[0]->dtype == DType::boolean) return refuse("cumsum of conditions");
      return Type{operands[0]->dtype, operands[0]->shape};
    }
    case OpKind::contract:
      return op == Op::matmul ? matmulType(operands[0], operands[1], facts) : einsumType(operands, at, facts);
    case OpKind::layout:
      return layoutType(op, operands, at, facts);
    case OpKind::loop:
      return loopType(op, operands, at, facts);
  }
  return refuse("unknown operator");
}

}  // namespace nuscope::tensor
