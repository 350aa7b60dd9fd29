#pragma once
// Granular forms: the one definition of what each operator computes at one output index, as a scalar
// expression over elements of its operands, with folds. The evaluator, the prover, the printer of formulas
// and the synthesizer are *domains*: each says what integers, scalars and folds are, and gets the meaning of
// all operators from here.
//
// A domain D provides
//   types   Int (an integer index expression) and Value (a scalar: real, integer or condition)
//   Int     dim(const Dim&)                       extents, bounds, loop counters
//   Int     plus(Int, Int)  minus(Int, Int)  times(Int, Int)  quotient(Int, Int)   (quotient: floor)
//   Value   element(NodeRef operand, span<const Int> index)
//   Value   constant(const Node&)                 Op::constant, with its infinity
//   Value   number(const Int&, DType)             an index expression used as a value
//   Int     subscript(Value, const Dim& extent)   an integer value used as an index; must lie in [0, extent)
//   Value   apply(Op, span<const Value>, const Node&)   elementwise operators except where; owns their
//   definedness Value   choose(Value condition, Then, Else)         lazy: only the chosen branch has to be
//   defined Value   chooseLess(Int a, Int b, Then, Else)        lazy choice on a < b Value   fold(Fold, const
//   Dim& extent, Body)         Body: Int -> Value, for all indices in [0, extent) Value   prefixFold(Fold,
//   const Int& last, const Dim& extent, Body)   indices 0 .. last, last in [0, extent) Value   leaf(NodeRef,
//   span<const Int>)              Op::input and Op::loopState Value   loopResult(NodeRef, span<const Int>)
//   loops are folds over tensors; each domain runs its own
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/tensor/graph.h"
#include "core/tensor/shapes.h"

namespace nuscope::semantics {

using tensor::Dim;
using tensor::DimFacts;
using tensor::DType;
using tensor::Node;
using tensor::NodeRef;
using tensor::Op;
using tensor::Shape;

enum class Fold : std::uint8_t { sum, product, max, min, all };

/// A group of axes of a reshape whose extents have the same product on both sides.
struct AxisGroup {
  std::size_t sourceBegin = 0, sourceEnd = 0;
  std::size_t targetBegin = 0, targetEnd = 0;
};
/// Groups the axes greedily, so that [A, B, C] -> [A*B, C] divides nothing. All axes in one group where the
/// facts do not allow more.
std::vector<AxisGroup> reshapeGroups(const Shape& source, const Shape& target, const DimFacts& facts);

namespace detail {

template <class D>
using Ints = std::vector<typename D::Int>;

/// Index of an operand that broadcasts to `shape`.
template <class D>
Ints<D> broadcastIndex(D& d, NodeRef operand, const Shape& shape, std::span<const typename D::Int> index,
                       const DimFacts& facts) {
  Ints<D> result;
  const std::size_t offset = shape.size() - operand->shape.size();
  for (std::size_t i = 0; i < operand->shape.size(); ++i) {
    const bool stretched = facts.equal(operand->shape[i], 1);
    result.push_back(stretched ? d.dim(Dim(0)) : index[offset + i]);
  }
  return result;
}

template <class D>
typename D::Value elementwise(D& d, const Node& node, std::span<const typename D::Int> index,
                              const DimFacts& facts) {
  const auto operand = [&](std::size_t i) {
    return d.element(node.operands[i], broadcastIndex(d, node.operands[i], node.shape, index, facts));
  };
  if (node.op == Op::where)
    return d.choose(
        operand(0), [&] { return operand(1); }, [&] { return operand(2); });
  std::vector<typename D::Value> values;
  for (std::size_t i = 0; i < node.operands.size(); ++i) values.push_back(operand(i));
  return d.apply(node.op, values, node);
}

inline Fold foldOf(Op op) {
  switch (op) {
    case Op::product:
      return Fold::product;
    case Op::max:
      return Fold::max;
    case Op::min:
      return Fold::min;
    case Op::all:
      return Fold::all;
    default:
      return Fold::sum;  // sum, mean, cumsum, matmul, einsum
  }
}

/// Nested folds over `extents`, outermost first; body gets all bound indices.
template <class D, class Body>
typename D::Value nestedFold(D& d, Fold fold, std::span<const Dim> extents, Ints<D>& bound, Body body) {
  if (bound.size() == extents.size()) return body(bound);
  return d.fold(fold, extents[bound.size()], [&](const typename D::Int& k) {
    bound.push_back(k);
    auto value = nestedFold(d, fold, extents, bound, body);
    bound.pop_back();
    return value;
  });
}

template <class D>
typename D::Value reduce(D& d, const Node& node, std::span<const typename D::Int> index) {
  const NodeRef operand = node.operands[0];
  const auto& axes = node.attributes.axes;
  std::vector<Dim> extents;
  for (const int axis : axes) extents.push_back(operand->shape[static_cast<std::size_t>(axis)]);
  Ints<D> bound;
  auto value = nestedFold(d, foldOf(node.op), extents, bound, [&](const Ints<D>& ks) {
    Ints<D> at;
    std::size_t next = 0;
    std::size_t reduced = 0;
    for (std::size_t i = 0; i < operand->shape.size(); ++i) {
      if (reduced < axes.size() && static_cast<std::size_t>(axes[reduced]) == i) {
        at.push_back(ks[reduced++]);
        if (node.attributes.keepDims) ++next;
      } else {
        at.push_back(index[next++]);
      }
    }
    return d.element(operand, at);
  });
  if (node.op != Op::mean) return value;
  Dim count(1);
  for (const Dim& extent : extents) count = count * extent;
  const std::array<typename D::Value, 2> quotient{value, d.number(d.dim(count), node.dtype)};
  return d.apply(Op::divide, quotient, node);
}

template <class D>
typename D::Value scan(D& d, const Node& node, std::span<const typename D::Int> index) {
  const auto axis = static_cast<std::size_t>(node.attributes.axes[0]);
  return d.prefixFold(Fold::sum, index[axis], node.shape[axis], [&](const typename D::Int& k) {
    Ints<D> at(index.begin(), index.end());
    at[axis] = k;
    return d.element(node.operands[0], at);
  });
}

template <class D>
typename D::Value matmul(D& d, const Node& node, std::span<const typename D::Int> index,
                         const DimFacts& facts) {
  const NodeRef a = node.operands[0];
  const NodeRef b = node.operands[1];
  const bool rowOfA = a->shape.size() > 1;
  const bool columnOfB = b->shape.size() > 1;
  const std::size_t batch = index.size() - (rowOfA ? 1 : 0) - (columnOfB ? 1 : 0);
  const auto batchIndex = [&](NodeRef operand) {
    Ints<D> at;
    const std::size_t own = operand->shape.size() < 2 ? 0 : operand->shape.size() - 2;
    for (std::size_t i = 0; i < own; ++i) {
      at.push_back(facts.equal(operand->shape[i], 1) ? d.dim(Dim(0)) : index[batch - own + i]);
    }
    return at;
  };
  return d.fold(Fold::sum, a->shape.back(), [&](const typename D::Int& k) {
    Ints<D> atA = batchIndex(a);
    if (rowOfA) atA.push_back(index[batch]);
    atA.push_back(k);
    Ints<D> atB = batchIndex(b);
    atB.push_back(k);
    if (columnOfB) atB.push_back(index.back());
    const std::array<typename D::Value, 2> factors{d.element(a, atA), d.element(b, atB)};
    return d.apply(Op::multiply, factors, node);
  });
}

template <class D>
typename D::Value einsum(D& d, const Node& node, std::span<const typename D::Int> index) {
  const auto spec = tensor::parseEinsum(node.attributes.name).value();
  std::string summed;
  std::vector<Dim> extents;
  for (std::size_t o = 0; o < spec.operands.size(); ++o) {
    for (std::size_t i = 0; i < spec.operands[o].size(); ++i) {
      const char label = spec.operands[o][i];
      if (spec.result.find(label) != std::string::npos || summed.find(label) != std::string::npos) continue;
      summed += label;
      extents.push_back(node.operands[o]->shape[i]);
    }
  }
  Ints<D> bound;
  return nestedFold(d, Fold::sum, extents, bound, [&](const Ints<D>& ks) {
    std::vector<typename D::Value> factors;
    for (std::size_t o = 0; o < spec.operands.size(); ++o) {
      Ints<D> at;
      for (const char label : spec.operands[o]) {
        const auto inner = summed.find(label);
        at.push_back(inner != std::string::npos ? ks[inner] : index[spec.result.find(label)]);
      }
      factors.push_back(d.element(node.operands[o], at));
    }
    typename D::Value product = factors[0];
    for (std::size_t o = 1; o < factors.size(); ++o) {
      const std::array<typename D::Value, 2> pair{product, factors[o]};
      product = d.apply(Op::multiply, pair, node);
    }
    return product;
  });
}

template <class D>
Ints<D> reshapeIndex(D& d, const Shape& source, const Shape& target, std::span<const typename D::Int> index,
                     const DimFacts& facts) {
  Ints<D> result;
  for (const AxisGroup& group : reshapeGroups(source, target, facts)) {
    if (group.sourceEnd - group.sourceBegin == 1 && group.targetEnd - group.targetBegin == 1) {
      result.push_back(index[group.targetBegin]);
      continue;
    }
    typename D::Int flat = d.dim(Dim(0));
    for (std::size_t i = group.targetBegin; i < group.targetEnd; ++i)
      flat = d.plus(d.times(flat, d.dim(target[i])), index[i]);
    // Peel source axes from the last: i = flat % extent, flat = flat // extent; the first takes what is left.
    Ints<D> reversed;
    for (std::size_t i = group.sourceEnd; i-- > group.sourceBegin;) {
      if (i == group.sourceBegin) {
        reversed.push_back(flat);
        break;
      }
      const typename D::Int extent = d.dim(source[i]);
      const typename D::Int quotient = d.quotient(flat, extent);
      reversed.push_back(d.minus(flat, d.times(quotient, extent)));
      flat = quotient;
    }
    result.insert(result.end(), reversed.rbegin(), reversed.rend());
  }
  return result;
}

template <class D>
typename D::Value concatenate(D& d, const Node& node, std::span<const typename D::Int> index,
                              std::size_t from, const Dim& offset) {
  const auto axis = static_cast<std::size_t>(node.attributes.axes[0]);
  const NodeRef operand = node.operands[from];
  const auto here = [&] {
    Ints<D> at(index.begin(), index.end());
    at[axis] = d.minus(index[axis], d.dim(offset));
    return d.element(operand, at);
  };
  if (from + 1 == node.operands.size()) return here();
  const Dim end = offset + operand->shape[axis];
  return d.chooseLess(index[axis], d.dim(end), here,
                      [&] { return concatenate(d, node, index, from + 1, end); });
}

template <class D>
typename D::Value layout(D& d, const Node& node, std::span<const typename D::Int> index,
                         const DimFacts& facts) {
  const NodeRef x = node.operands[0];
  const auto& at = node.attributes;
  Ints<D> source;
  switch (node.op) {
    case Op::transpose:
      source.resize(index.size(), d.dim(Dim(0)));
      for (std::size_t i = 0; i < at.axes.size(); ++i)
        source[static_cast<std::size_t>(at.axes[i])] = index[i];
      break;
    case Op::reshape:
      source = reshapeIndex(d, x->shape, node.shape, index, facts);
      break;
    case Op::broadcastTo:
      source = broadcastIndex(d, x, node.shape, index, facts);
      break;
    case Op::expandDims:
      for (std::size_t i = 0; i < index.size(); ++i) {
        if (std::find(at.axes.begin(), at.axes.end(), static_cast<int>(i)) == at.axes.end())
          source.push_back(index[i]);
      }
      break;
    case Op::squeeze: {
      std::size_t next = 0;
      for (std::size_t i = 0; i < x->shape.size(); ++i) {
        const bool gone = std::find(at.axes.begin(), at.axes.end(), static_cast<int>(i)) != at.axes.end();
        source.push_back(gone ? d.dim(Dim(0)) : index[next++]);
      }
      break;
    }
    case Op::slice:
      for (std::size_t i = 0; i < index.size(); ++i) source.push_back(d.plus(index[i], d.dim(at.starts[i])));
      break;
    case Op::concatenate:
      return concatenate(d, node, index, 0, Dim(0));
    case Op::repeat: {
      source.assign(index.begin(), index.end());
      auto& i = source[static_cast<std::size_t>(at.axes[0])];
      i = d.quotient(i, d.dim(at.shape[0]));
      break;
    }
    default: {  // take
      const auto axis = static_cast<std::size_t>(at.axes[0]);
      const std::size_t rank = node.operands[1]->shape.size();
      const Ints<D> inner(index.begin() + static_cast<std::ptrdiff_t>(axis),
                          index.begin() + static_cast<std::ptrdiff_t>(axis + rank));
      source.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
      source.push_back(d.subscript(d.element(node.operands[1], inner), x->shape[axis]));
      source.insert(source.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + rank), index.end());
      break;
    }
  }
  return d.element(x, source);
}

}  // namespace detail

/// The value of `node` at `index` (one Int per axis of node.shape). `facts` decide which extents are 1 and
/// how reshapes group; they must be those under which the node was made.
template <class D>
typename D::Value granular(D& d, const Node& node, std::span<const typename D::Int> index,
                           const DimFacts& facts) {
  switch (tensor::kind(node.op)) {
    case tensor::OpKind::leaf:
      if (node.op == Op::constant) return d.constant(node);
      if (node.op == Op::dimValue) return d.number(d.dim(node.attributes.shape[0]), node.dtype);
      if (node.op == Op::arange) return d.number(index[0], node.dtype);
      return d.leaf(&node, index);
    case tensor::OpKind::elementwise:
      return detail::elementwise(d, node, index, facts);
    case tensor::OpKind::reduce:
      return detail::reduce(d, node, index);
    case tensor::OpKind::scan:
      return detail::scan(d, node, index);
    case tensor::OpKind::contract:
      return node.op == Op::matmul ? detail::matmul(d, node, index, facts) : detail::einsum(d, node, index);
    case tensor::OpKind::layout:
      return detail::layout(d, node, index, facts);
    case tensor::OpKind::loop:
      return d.loopResult(&node, index);
  }
  throw InternalError("granular: an operator without a kind");
}

}  // namespace nuscope::semantics
