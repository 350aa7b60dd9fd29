#include <fmt/format.h>

#include <algorithm>

#include "core/language/numpy_calls.h"
#include "core/language/numpy_functions.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;
using tensor::Shape;

namespace {

constexpr std::int64_t mostParts = 1000;

Value layout(NumpyCall& call, Op op, std::string_view parameter, Attributes at) {
  return tensorValue(call.builder.make(op, {call.tensor(parameter)}, call.place, std::move(at)),
                     Builder::weak(call.value(parameter)));
}

Value sliced(Builder& builder, NodeRef x, std::size_t axis, const Dim& start, const Dim& stop,
             const Place& place) {
  Attributes at;
  at.starts.resize(x->shape.size());
  at.stops = x->shape;
  at.starts[axis] = start;
  at.stops[axis] = stop;
  return tensorValue(builder.make(Op::slice, {x}, place, std::move(at)));
}

/// The tensors of a list argument with one common type.
std::optional<std::vector<NodeRef>> tensors(NumpyCall& call, std::string_view name) {
  const Value& list = call.value(name);
  if (!list.is(Value::Kind::tuple) || list.items.empty()) {
    call.fail(name, fmt::format("{} takes a list of tensors", call.arguments.name),
              fmt::format("write {}([x, y])", call.arguments.name));
    return std::nullopt;
  }
  std::vector<const Value*> values;
  for (const Value& item : list.items) values.push_back(&item);
  const auto type = call.builder.commonType(values, call.placeOf(name));
  if (!type) return std::nullopt;
  std::vector<NodeRef> nodes;
  for (const Value* value : values) {
    nodes.push_back(call.builder.nodeAs(*value, *type, call.placeOf(name)));
    if (!nodes.back()) return std::nullopt;
  }
  return nodes;
}

bool allWeak(const Value& list) {
  return std::ranges::all_of(list.items, [](const Value& item) { return Builder::weak(item); });
}

/// A filled tensor; `dtype` as given by the call.
Value filled(NumpyCall& call, Value fill) {
  const auto shape = call.shape("shape");
  if (!shape) return {};
  if (call.given("dtype")) {
    const Value& type = call.value("dtype");
    if (!type.is(Value::Kind::type))
      return call.fail("dtype", "dtype is a type of np", "write dtype=np.float32");
    fill = tensorValue(call.builder.nodeAs(fill, type.dtype, call.place));
  }
  return call.builder.broadcast(fill, *shape, call.place);
}

Value countingFrom(NumpyCall& call, const Dim& start, const Dim& count, const Dim& step) {
  if (!call.builder.facts.positive(count)) {
    return call.builder.fail(
        call.place, fmt::format("np.arange of {} elements: not known to be at least 1", count.text()),
        fmt::format("add: assert {} >= 1", count.text()));
  }
  Attributes at;
  at.dtype = DType::i32;
  at.shape = {count};
  Value result = tensorValue(call.builder.make(Op::arange, {}, call.place, std::move(at)));
  if (!step.isOne()) result = call.builder.binary("*", result, dimValue(step), call.place);
  if (!(start == Dim(0))) result = call.builder.binary("+", result, dimValue(start), call.place);
  return result;
}

}  // namespace

Value permuted(Builder& builder, const Value& value, std::vector<int> axes, const Place& place) {
  Attributes at;
  at.axes = std::move(axes);
  return tensorValue(builder.make(Op::transpose, {builder.node(value, place)}, place, std::move(at)),
                     Builder::weak(value));
}

Value transposed(Builder& builder, const Value& value, const Place& place) {
  const NodeRef x = builder.node(value, place);
  if (!x || x->shape.size() < 2) return value;
  std::vector<int> axes;
  for (std::size_t i = x->shape.size(); i > 0; --i) axes.push_back(static_cast<int>(i - 1));
  return permuted(builder, value, std::move(axes), place);
}

Value reshaped(Builder& builder, const Value& value, Shape wanted, const Place& place) {
  const NodeRef x = builder.node(value, place);
  if (!x) return {};
  const auto open = std::ranges::find(wanted, Dim(-1));
  if (open != wanted.end()) {
    if (std::find(open + 1, wanted.end(), Dim(-1)) != wanted.end())
      return builder.fail(place, "a shape has one -1 at most");
    try {
      *open = Dim(1);
      const Dim rest = product(wanted);
      if (!builder.facts.positive(rest))
        return builder.fail(place, fmt::format("the extents of the shape give {}", rest.text()));
      *open = floorDiv(product(x->shape), rest);
    } catch (const UserError& error) {
      return builder.fail(place, error.what());
    }
  }
  Attributes at;
  at.shape = std::move(wanted);
  return tensorValue(builder.make(Op::reshape, {x}, place, std::move(at)), Builder::weak(value));
}

Value flattened(Builder& builder, const Value& value, const Place& place) {
  const NodeRef x = builder.node(value, place);
  if (!x) return {};
  if (x->shape.size() == 1) return tensorValue(x, Builder::weak(value));
  return reshaped(builder, value, {Dim(-1)}, place);
}

Value callReshape(NumpyCall& call) {
  if (!call.bind({"a", "shape"})) return {};
  const auto shape = call.shape("shape");
  return shape ? reshaped(call.builder, call.value("a"), *shape, call.place) : Value{};
}

Value callTranspose(NumpyCall& call) {
  if (!call.bind({"a", "axes="})) return {};
  const NodeRef x = call.tensor("a");
  if (!x) return {};
  if (!call.given("axes")) return transposed(call.builder, call.value("a"), call.place);
  const Value& axes = call.value("axes");
  if (!axes.is(Value::Kind::tuple))
    return call.fail("axes", "the axes are a tuple", "write np.transpose(x, (1, 0))");
  std::vector<int> order;
  for (const Value& item : axes.items) {
    const auto dim = asDim(item);
    const auto rank = static_cast<std::int64_t>(x->shape.size());
    if (!dim || !dim->isConstant() || *dim->constant() < -rank || *dim->constant() >= rank) {
      return call.fail(
          "axes", fmt::format("an axis of a tensor of rank {} cannot be {}", rank, Builder::describe(item)));
    }
    order.push_back(static_cast<int>(*dim->constant() < 0 ? *dim->constant() + rank : *dim->constant()));
  }
  return permuted(call.builder, call.value("a"), std::move(order), call.place);
}

Value callSwapaxes(NumpyCall& call) {
  if (!call.bind({"a", "axis1", "axis2"})) return {};
  const NodeRef x = call.tensor("a");
  if (!x) return {};
  const auto first = call.axis("axis1", x->shape.size(), 0);
  const auto second = call.axis("axis2", x->shape.size(), 0);
  if (!first || !second) return {};
  std::vector<int> axes(x->shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::swap(axes[static_cast<std::size_t>(*first)], axes[static_cast<std::size_t>(*second)]);
  return permuted(call.builder, call.value("a"), std::move(axes), call.place);
}

Value callExpandDims(NumpyCall& call) {
  if (!call.bind({"a", "axis"})) return {};
  const NodeRef x = call.tensor("a");
  if (!x) return {};
  const Value& value = call.value("axis");
  const std::size_t added = value.is(Value::Kind::tuple) ? value.items.size() : 1;
  if (!call.given("axis")) return call.fail("axis", "np.expand_dims needs an axis");
  if (x->shape.size() + added > 32) return call.fail("axis", "a tensor has at most 32 axes");
  auto axes = call.axes("axis", x->shape.size() + added);
  if (!axes) return {};
  Attributes at;
  at.axes = std::move(*axes);
  return layout(call, Op::expandDims, "a", std::move(at));
}

Value callSqueeze(NumpyCall& call) {
  if (!call.bind({"a", "axis="})) return {};
  const NodeRef x = call.tensor("a");
  if (!x) return {};
  Attributes at;
  if (call.given("axis")) {
    auto axes = call.axes("axis", x->shape.size());
    if (!axes) return {};
    at.axes = std::move(*axes);
  } else {
    for (std::size_t i = 0; i < x->shape.size(); ++i) {
      if (call.builder.facts.equal(x->shape[i], 1)) {
        at.axes.push_back(static_cast<int>(i));
      } else if (!call.builder.facts.positive(x->shape[i] - 1)) {
        return call.fail(
            "a",
            fmt::format("np.squeeze without axis: NumPy would drop axis {} where {} happens to be 1", i,
                        x->shape[i].text()),
            "name the axes: np.squeeze(x, axis=0)");
      }
    }
  }
  return layout(call, Op::squeeze, "a", std::move(at));
}

Value callBroadcastTo(NumpyCall& call) {
  if (!call.bind({"array", "shape"})) return {};
  const auto shape = call.shape("shape");
  return shape ? call.builder.broadcast(call.value("array"), *shape, call.place) : Value{};
}

Value callConcatenate(NumpyCall& call) {
  if (!call.bind({"arrays", "axis="})) return {};
  auto nodes = tensors(call, "arrays");
  if (!nodes) return {};
  const auto axis = call.axis("axis", (*nodes)[0]->shape.size(), 0);
  if (!axis) return {};
  Attributes at;
  at.axes = {*axis};
  return tensorValue(call.builder.make(Op::concatenate, std::move(*nodes), call.place, std::move(at)),
                     allWeak(call.value("arrays")));
}

Value callStack(NumpyCall& call) {
  if (!call.bind({"arrays", "axis="})) return {};
  auto nodes = tensors(call, "arrays");
  if (!nodes) return {};
  const auto axis = call.axis("axis", (*nodes)[0]->shape.size() + 1, 0);
  if (!axis) return {};
  const Shape first = (*nodes)[0]->shape;
  for (NodeRef& node : *nodes) {
    if (!call.builder.facts.equal(node->shape, first)) {
      return call.fail("arrays", fmt::format("np.stack of {} and {}: the shapes differ", tensor::text(first),
                                             tensor::text(node->shape)));
    }
    Attributes at;
    at.axes = {*axis};
    node = call.builder.make(Op::expandDims, {node}, call.place, std::move(at));
  }
  Attributes at;
  at.axes = {*axis};
  return tensorValue(call.builder.make(Op::concatenate, std::move(*nodes), call.place, std::move(at)),
                     allWeak(call.value("arrays")));
}

Value callSplit(NumpyCall& call) {
  if (!call.bind({"ary", "indices_or_sections", "axis="})) return {};
  const NodeRef x = call.tensor("ary");
  if (!x) return {};
  const auto axis = call.axis("axis", x->shape.size(), 0);
  if (!axis) return {};
  const auto at = static_cast<std::size_t>(*axis);
  const Dim extent = x->shape[at];
  std::vector<Dim> bounds{0};
  const Value& parts = call.value("indices_or_sections");
  if (parts.is(Value::Kind::tuple)) {
    for (const Value& item : parts.items) {
      const auto bound = item.integral() ? asDim(item) : std::nullopt;
      if (!bound)
        return call.fail("indices_or_sections", "the places to split at are integers and dimensions");
      bounds.push_back(*bound);
    }
  } else {
    const auto count = call.integer("indices_or_sections", 1);
    if (!count) return {};
    if (*count < 1 || *count > mostParts) {
      return call.fail("indices_or_sections", fmt::format("np.split into {} parts", *count),
                       fmt::format("1 to {} parts", mostParts));
    }
    try {
      const Dim part = floorDiv(extent, Dim(*count));
      if (!call.builder.facts.equal(part * Dim(*count), extent)) {
        return call.fail("indices_or_sections",
                         fmt::format("{} is not known to be a multiple of {}", extent.text(), *count),
                         fmt::format("add: assert {} % {} == 0", extent.text(), *count));
      }
      for (std::int64_t i = 1; i < *count; ++i) bounds.push_back(part * Dim(i));
    } catch (const UserError& error) {
      return call.fail("indices_or_sections", error.what());
    }
  }
  bounds.push_back(extent);
  std::vector<Value> pieces;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    pieces.push_back(sliced(call.builder, x, at, bounds[i], bounds[i + 1], call.place));
    if (pieces.back().poisoned()) return {};
  }
  return tupleValue(std::move(pieces));
}

Value callRepeat(NumpyCall& call) {
  if (!call.bind({"a", "repeats", "axis="})) return {};
  if (!call.tensor("a")) return {};
  const Value& repeats = call.value("repeats");
  const auto count = repeats.integral() ? asDim(repeats) : std::nullopt;
  if (!count)
    return call.fail("repeats",
                     fmt::format("repeats is one integer or dimension, not {}", Builder::describe(repeats)));
  const Value value =
      call.given("axis") ? call.value("a") : flattened(call.builder, call.value("a"), call.place);
  const NodeRef x = value.poisoned() ? nullptr : call.builder.node(value, call.place);
  if (!x) return {};
  const auto axis = call.axis("axis", x->shape.size(), 0);
  if (!axis) return {};
  Attributes at;
  at.axes = {*axis};
  at.shape = {*count};
  return tensorValue(call.builder.make(Op::repeat, {x}, call.place, std::move(at)), Builder::weak(value));
}

Value callTake(NumpyCall& call) {
  if (!call.bind({"a", "indices", "axis="})) return {};
  if (!call.tensor("a")) return {};
  const Value value =
      call.given("axis") ? call.value("a") : flattened(call.builder, call.value("a"), call.place);
  const NodeRef x = value.poisoned() ? nullptr : call.builder.node(value, call.place);
  const NodeRef indices = call.tensor("indices");
  if (!x || !indices) return {};
  const auto axis = call.axis("axis", x->shape.size(), 0);
  if (!axis) return {};
  if (x->shape.size() + indices->shape.size() > 32)
    return call.fail("indices", "a tensor has at most 32 axes");
  Attributes at;
  at.axes = {*axis};
  return tensorValue(call.builder.make(Op::take, {x, indices}, call.place, std::move(at)),
                     Builder::weak(value));
}

Value callArange(NumpyCall& call) {
  if (!call.bind({"start", "stop=", "step="})) return {};
  if (!call.given("start")) return call.fail("start", "np.arange takes integers and dimensions, not None");
  std::vector<Dim> parts;
  for (const std::string_view name : {"start", "stop", "step"}) {
    if (!call.given(name)) continue;
    const auto dim = call.value(name).integral() ? asDim(call.value(name)) : std::nullopt;
    if (!dim) {
      return call.fail(
          name,
          fmt::format("np.arange takes integers and dimensions, not {}", Builder::describe(call.value(name))),
          "scale it afterwards: np.arange(n) * 0.5");
    }
    parts.push_back(*dim);
  }
  const Dim start = parts.size() > 1 ? parts[0] : Dim(0);
  const Dim stop = parts.size() > 1 ? parts[1] : parts[0];
  const Dim step = parts.size() > 2 ? parts[2] : Dim(1);
  if (!step.isConstant() || *step.constant() == 0)
    return call.fail("step", "the step is a constant other than 0");
  try {
    const auto by = *step.constant();
    const Dim count = by > 0 ? floorDiv(stop - start + by - 1, by) : floorDiv(start - stop - by - 1, -by);
    return countingFrom(call, start, count, step);
  } catch (const UserError& error) {
    return call.fail("start", error.what());
  }
}

Value callZeros(NumpyCall& call) {
  if (!call.bind({"shape", "dtype="})) return {};
  return filled(call, numberValue(0, true));
}

Value callOnes(NumpyCall& call) {
  if (!call.bind({"shape", "dtype="})) return {};
  return filled(call, numberValue(1, true));
}

Value callFull(NumpyCall& call) {
  if (!call.bind({"shape", "fill_value", "dtype="})) return {};
  return filled(call, call.value("fill_value"));
}

}  // namespace nuscope::language
