#include <fmt/format.h>

#include <algorithm>

#include "core/language/lexer.h"
#include "core/language/lowering.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;

namespace {
constexpr std::size_t mostAxes = 32;
}

Value Lowering::evaluateSubscript(ExprRef expr) {
  const Value base = evaluate(expr->children[0]);
  if (base.is(Value::Kind::tensor) && !base.python) return indexTensor(base, expr);
  if (base.is(Value::Kind::tuple)) return indexTuple(base, expr);
  for (std::size_t i = 1; i < expr->children.size(); ++i) {
    if (expr->children[i]->kind != Expr::Kind::slice) evaluate(expr->children[i]);
  }
  if (base.poisoned()) return {};
  return fail(expr->place, fmt::format("{} has no elements", Builder::describe(base)));
}

Value Lowering::indexTuple(const Value& base, ExprRef expr) {
  const auto size = static_cast<std::int64_t>(base.items.size());
  const ExprRef index = expr->children[1];
  const auto position = [&](ExprRef at, std::int64_t open) -> std::optional<std::int64_t> {
    if (!at) return open;
    const Value value = evaluate(at);
    if (value.poisoned()) return std::nullopt;
    const auto dim = asDim(value);
    if (!dim || !dim->isConstant()) {
      fail(at->place, "a tuple is indexed by constants");
      return std::nullopt;
    }
    return *dim->constant() < 0 ? *dim->constant() + size : *dim->constant();
  };
  if (expr->children.size() != 2) return fail(expr->place, "a tuple takes one index");
  if (index->kind == Expr::Kind::slice) {
    if (index->children[2]) return fail(index->place, "slices with a step are outside the language");
    const auto start = position(index->children[0], 0);
    const auto stop = position(index->children[1], size);
    if (!start || !stop) return {};
    std::vector<Value> items;
    for (std::int64_t i = std::clamp<std::int64_t>(*start, 0, size);
         i < std::clamp<std::int64_t>(*stop, 0, size); ++i) {
      items.push_back(base.items[static_cast<std::size_t>(i)]);
    }
    return tupleValue(std::move(items));
  }
  const auto at = position(index, 0);
  if (!at) return {};
  if (*at < 0 || *at >= size) {
    return fail(index->place, fmt::format("the index {} is outside a tuple of {} values",
                                          quoted(builder_.textOf(index)), size));
  }
  return base.items[static_cast<std::size_t>(*at)];
}

/// A bound as a Dim; a negative constant, or -n, counts from the end.
std::optional<Dim> Lowering::bound(ExprRef expr, const Dim& extent) {
  const Value value = evaluate(expr);
  if (value.poisoned()) return std::nullopt;
  if (!value.integral()) {
    const bool indices = value.is(Value::Kind::tensor) && !value.node->shape.empty();
    fail(expr->place, fmt::format("the index is {}", Builder::describe(value)),
         value.is(Value::Kind::tensor) && indices
             ? "write np.take(x, indices, axis=0)"
             : "indices are integers and expressions of dimensions; slices have two bounds");
    return std::nullopt;
  }
  const auto dim = asDim(value);
  if (!dim) {
    fail(expr->place, "the index leaves 64 bits");
    return std::nullopt;
  }
  const bool fromEnd = dim->isConstant() ? *dim->constant() < 0 : builder_.facts.nonNegative(-*dim - 1);
  return fromEnd ? extent + *dim : *dim;
}

Value Lowering::indexTensor(const Value& base, ExprRef expr) {
  std::vector<ExprRef> parts(expr->children.begin() + 1, expr->children.end());
  if (parts.size() == 1 && parts[0]->kind == Expr::Kind::tuple) parts = parts[0]->children;
  const tensor::Shape& shape = base.node->shape;
  const auto consumes = [](ExprRef part) {
    return part->kind != Expr::Kind::noneValue && part->kind != Expr::Kind::ellipsis;
  };
  const auto consumed = static_cast<std::size_t>(std::ranges::count_if(parts, consumes));
  const auto ellipses =
      std::ranges::count_if(parts, [](ExprRef part) { return part->kind == Expr::Kind::ellipsis; });
  if (ellipses > 1) return fail(expr->place, "an index has one ... at most");
  if (consumed > shape.size()) {
    return fail(expr->place,
                fmt::format("{} indices for {} of rank {}", consumed, Builder::describe(base), shape.size()));
  }
  if (parts.size() > 2 * mostAxes) return fail(expr->place, "an index has too many parts");
  Attributes slice;
  std::vector<int> squeezed;  // axes of the operand
  std::vector<int> expanded;  // axes of the result
  bool cut = false;
  bool ok = true;
  int resultAxis = 0;
  const auto whole = [&](std::size_t count) {
    for (; count > 0; --count, ++resultAxis) {
      slice.starts.emplace_back(0);
      slice.stops.push_back(shape[slice.stops.size()]);
    }
  };
  const auto keepRank = [&] {  // after a fault
    const std::size_t axis = slice.starts.size();
    slice.starts.resize(axis + 1);
    slice.stops.push_back(shape[axis]);
    ok = false;
  };
  for (const ExprRef part : parts) {
    if (part->kind == Expr::Kind::noneValue) {
      expanded.push_back(resultAxis++);
    } else if (part->kind == Expr::Kind::ellipsis) {
      whole(shape.size() - consumed);
    } else if (part->kind == Expr::Kind::slice) {
      const Dim extent = shape[slice.starts.size()];
      if (part->children[2]) {
        fail(part->place, "slices with a step are outside the language",
             "reshape and slice the new axis: x.reshape(n, 2)[:, 0]");
        keepRank();
        continue;
      }
      const auto start = part->children[0] ? bound(part->children[0], extent) : Dim(0);
      const auto stop = part->children[1] ? bound(part->children[1], extent) : extent;
      if (!start || !stop) {
        keepRank();
        continue;
      }
      cut = cut || part->children[0] || part->children[1];
      slice.starts.push_back(*start);
      slice.stops.push_back(*stop);
      ++resultAxis;
    } else {
      const std::size_t axis = slice.starts.size();
      const auto at = bound(part, shape[axis]);
      if (!at) {
        keepRank();
        continue;
      }
      if (!builder_.facts.nonNegative(*at) || !builder_.facts.positive(shape[axis] - *at)) {
        fail(part->place,
             fmt::format("the index {} is not known to lie within the extent {}", at->text(),
                         shape[axis].text()),
             fmt::format("add: assert {} >= {}", shape[axis].text(), (*at + 1).text()));
        keepRank();
        continue;
      }
      cut = true;
      slice.starts.push_back(*at);
      slice.stops.push_back(*at + 1);
      squeezed.push_back(static_cast<int>(axis));
    }
  }
  if (!ok) return {};
  if (ellipses == 0) whole(shape.size() - slice.starts.size());
  if (static_cast<std::size_t>(resultAxis) > mostAxes)
    return fail(expr->place, "a tensor has at most 32 axes");
  NodeRef node = base.node;
  if (cut) node = builder_.make(Op::slice, {node}, expr->place, std::move(slice));
  if (!squeezed.empty()) {
    Attributes at;
    at.axes = std::move(squeezed);
    node = builder_.make(Op::squeeze, {node}, expr->place, std::move(at));
  }
  if (!expanded.empty()) {
    Attributes at;
    at.axes = std::move(expanded);
    node = builder_.make(Op::expandDims, {node}, expr->place, std::move(at));
  }
  return tensorValue(node, base.weak);
}

}  // namespace nuscope::language
