#include "core/language/numpy_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/language/foreign_names.h"
#include "core/language/lexer.h"
#include "core/language/numpy_functions.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;

NumpyCall::NumpyCall(Builder& builderUsed, const Arguments& given)
    : builder(builderUsed), arguments(given), place(given.call->place) {}

bool NumpyCall::bind(std::initializer_list<std::string_view> parameters) {
  std::vector<bool> optional;
  std::size_t positional = 0;
  bool keywordOnly = false;
  for (std::string_view name : parameters) {
    if (name == "*") {
      keywordOnly = true;
      continue;
    }
    optional.push_back(name.ends_with('='));
    if (optional.back()) name.remove_suffix(1);
    names.push_back(name);
    if (!keywordOnly) ++positional;
  }
  bound.assign(names.size(), nullptr);
  std::size_t next = 0;
  bool ok = true;
  const auto signature = [&] {
    std::string text = arguments.name + "(";
    for (std::size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::string(names[i]) + (optional[i] ? "=..." : "");
    return text + ")";
  };
  for (const Arguments::Item& given : arguments.items) {
    std::size_t at = names.size();
    if (given.keyword.empty()) {
      if (next < positional) at = next++;
    } else {
      at =
          static_cast<std::size_t>(std::ranges::find(names, std::string_view(given.keyword)) - names.begin());
    }
    if (at == names.size() || bound[at]) {
      std::string hint = "the language has " + signature();
      if (given.keyword == "dim") hint = "write axis=";
      if (given.keyword == "keepdim") hint = "write keepdims=";
      builder.fail(given.place,
                   given.keyword.empty() ? fmt::format("too many arguments for {}", arguments.name)
                                         : fmt::format("{} takes no {} here", arguments.name, given.keyword),
                   hint);
      ok = false;
      continue;
    }
    bound[at] = &given;
  }
  for (std::size_t i = 0; ok && i < names.size(); ++i) {
    if (bound[i] || optional[i]) continue;
    builder.fail(place, fmt::format("{} needs the argument {}", arguments.name, names[i]),
                 "the language has " + signature());
    ok = false;
  }
  return ok;
}

const Arguments::Item* NumpyCall::item(std::string_view name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : bound[static_cast<std::size_t>(at - names.begin())];
}

Value NumpyCall::fail(std::string_view parameter, std::string message, std::string hint) const {
  return builder.fail(placeOf(parameter), std::move(message), std::move(hint));
}

NodeRef NumpyCall::tensor(std::string_view name) const {
  return builder.node(value(name), placeOf(name));
}

std::optional<std::int64_t> NumpyCall::integer(std::string_view name, std::int64_t fallback) const {
  if (!given(name)) return fallback;
  const auto dim = asDim(value(name));
  if (dim && dim->isConstant()) return dim->constant();
  fail(name, fmt::format("{} of {} is a constant integer, not {}", name, arguments.name,
                         Builder::describe(value(name))));
  return std::nullopt;
}

std::optional<bool> NumpyCall::truth(std::string_view name, bool fallback) const {
  if (!item(name)) return fallback;
  if (value(name).is(Value::Kind::boolean)) return value(name).truth;
  fail(name, fmt::format("{} of {} is True or False, not {}", name, arguments.name,
                         Builder::describe(value(name))));
  return std::nullopt;
}

std::optional<int> NumpyCall::axis(std::string_view name, std::size_t rank, int fallback) const {
  const auto number = integer(name, fallback);
  if (!number) return std::nullopt;
  const auto count = static_cast<std::int64_t>(rank);
  if (*number < -count || *number >= count) {
    fail(name, fmt::format("{}: axis {} is outside a tensor of rank {}", arguments.name, *number, rank));
    return std::nullopt;
  }
  return static_cast<int>(*number < 0 ? *number + count : *number);
}

std::optional<std::vector<int>> NumpyCall::axes(std::string_view name, std::size_t rank) const {
  std::vector<int> result;
  if (!given(name)) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<int>(i));
    return result;
  }
  const Value& value = this->value(name);
  const std::vector<Value> items = value.is(Value::Kind::tuple) ? value.items : std::vector<Value>{value};
  const auto count = static_cast<std::int64_t>(rank);
  for (const Value& one : items) {
    const auto dim = asDim(one);
    if (!dim || !dim->isConstant()) {
      fail(name, fmt::format("an axis is a constant integer, not {}", Builder::describe(one)));
      return std::nullopt;
    }
    const std::int64_t axis = *dim->constant() < 0 ? *dim->constant() + count : *dim->constant();
    if (axis < 0 || axis >= count) {
      fail(name,
           fmt::format("{}: axis {} is outside a tensor of rank {}", arguments.name, *dim->constant(), rank));
      return std::nullopt;
    }
    if (std::ranges::find(result, static_cast<int>(axis)) != result.end()) {
      fail(name, fmt::format("{}: axis {} is given twice", arguments.name, *dim->constant()));
      return std::nullopt;
    }
    result.push_back(static_cast<int>(axis));
  }
  std::ranges::sort(result);
  return result;
}

std::optional<tensor::Shape> NumpyCall::shapeOf(Builder& builder, const Value& value, const Place& place) {
  const std::vector<Value> items = value.is(Value::Kind::tuple) ? value.items : std::vector<Value>{value};
  tensor::Shape result;
  for (const Value& item : items) {
    const auto dim = item.integral() ? asDim(item) : std::nullopt;
    if (!dim) {
      builder.fail(place,
                   fmt::format("a shape has integers and dimensions, not {}", Builder::describe(item)));
      return std::nullopt;
    }
    result.push_back(*dim);
  }
  if (result.size() > 32) {
    builder.fail(place, "a tensor has at most 32 axes");
    return std::nullopt;
  }
  return result;
}

std::optional<tensor::Shape> NumpyCall::shape(std::string_view name) const {
  return shapeOf(builder, value(name), placeOf(name));
}

namespace {

template <Op op>
Value callUnary(NumpyCall& call) {
  if (!call.bind({"x"})) return {};
  return call.builder.unary(op, call.value("x"), call.place);
}

template <Op op>
Value callBinary(NumpyCall& call) {
  if (!call.bind({"x1", "x2"})) return {};
  const Value operands[] = {call.value("x1"), call.value("x2")};
  return call.builder.elementwise(op, operands, call.place);
}

Value callSquare(NumpyCall& call) {
  if (!call.bind({"x"})) return {};
  return call.builder.binary("*", call.value("x"), call.value("x"), call.place);
}

Value callWhere(NumpyCall& call) {
  if (!call.bind({"condition", "x", "y"})) return {};
  const Value operands[] = {call.value("condition"), call.value("x"), call.value("y")};
  return call.builder.elementwise(Op::where, operands, call.place);
}

Value callClip(NumpyCall& call) {
  if (!call.bind({"a", "a_min=", "a_max="})) return {};
  Value result = call.value("a");
  if (!call.given("a_min") && !call.given("a_max")) return call.fail("a", "np.clip needs a bound");
  if (call.given("a_min")) {
    const Value operands[] = {result, call.value("a_min")};
    result = call.builder.elementwise(Op::maximum, operands, call.place);
  }
  if (call.given("a_max")) {
    const Value operands[] = {result, call.value("a_max")};
    result = call.builder.elementwise(Op::minimum, operands, call.place);
  }
  return result;
}

/// What every reduction is called with; empty after an error.
struct ReduceArguments {
  std::vector<int> axes;
  bool keepDims = false;
};
std::optional<ReduceArguments> reduceArguments(NumpyCall& call) {
  if (!call.bind({"a", "axis=", "*", "keepdims="})) return std::nullopt;
  const NodeRef x = call.tensor("a");
  if (!x) return std::nullopt;
  const auto axes = call.axes("axis", x->shape.size());
  const auto keep = call.truth("keepdims", false);
  if (!axes || !keep) return std::nullopt;
  return ReduceArguments{*axes, *keep};
}

template <Op op>
Value callReduce(NumpyCall& call) {
  const auto how = reduceArguments(call);
  if (!how) return {};
  return call.builder.reduce(op, call.value("a"), how->axes, how->keepDims, call.place);
}

Value callVar(NumpyCall& call) {
  const auto how = reduceArguments(call);
  if (!how) return {};
  Builder& b = call.builder;
  const Value mean = b.reduce(Op::mean, call.value("a"), how->axes, true, call.place);
  const Value difference = b.binary("-", call.value("a"), mean, call.place);
  return b.reduce(Op::mean, b.binary("*", difference, difference, call.place), how->axes, how->keepDims,
                  call.place);
}

Value callCumsum(NumpyCall& call) {
  if (!call.bind({"a", "axis="})) return {};
  Value value = call.value("a");
  NodeRef x = call.tensor("a");
  if (!x) return {};
  if (!call.given("axis")) {
    value = flattened(call.builder, value, call.place);
    x = value.node;
    if (!x) return {};
  }
  const auto axis = call.axis("axis", x->shape.size(), 0);
  if (!axis) return {};
  if (x->dtype == DType::boolean || x->dtype == DType::i8) x = call.builder.cast(x, DType::i32, call.place);
  Attributes at;
  at.axes = {*axis};
  return tensorValue(call.builder.make(Op::cumsum, {x}, call.place, std::move(at)), Builder::weak(value));
}

Value callEinsum(NumpyCall& call) {
  const auto& items = call.arguments.items;
  if (items.size() < 2 || !items[0].value.is(Value::Kind::text)) {
    return call.builder.fail(call.place, "np.einsum takes its labels as a string, then the tensors",
                             "write np.einsum('mk,kn->mn', a, b)");
  }
  std::vector<const Value*> values;
  bool allWeak = true;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!items[i].keyword.empty())
      return call.builder.fail(items[i].place, fmt::format("np.einsum takes no {} here", items[i].keyword));
    values.push_back(&items[i].value);
    allWeak = allWeak && Builder::weak(items[i].value);
  }
  const auto type = call.builder.commonType(values, call.place);
  if (!type) return {};
  std::vector<NodeRef> operands;
  for (const Value* value : values) operands.push_back(call.builder.nodeAs(*value, *type, call.place));
  Attributes at;
  for (const char c : items[0].value.text) {
    if (c != ' ') at.name += c;
  }
  return tensorValue(call.builder.make(Op::einsum, std::move(operands), call.place, std::move(at)), allWeak);
}

Value callOuter(NumpyCall& call) {
  if (!call.bind({"a", "b"})) return {};
  const Value a = flattened(call.builder, call.value("a"), call.place);
  const Value b = flattened(call.builder, call.value("b"), call.place);
  if (a.poisoned() || b.poisoned()) return {};
  Attributes at;
  at.axes = {1};
  const Value column =
      tensorValue(call.builder.make(Op::expandDims, {a.node}, call.place, std::move(at)), a.weak);
  return call.builder.binary("*", column, b, call.place);
}

Value callTril(NumpyCall& call) {
  if (!call.bind({"m", "k="})) return {};
  const NodeRef x = call.tensor("m");
  if (!x) return {};
  if (x->shape.size() < 2) return call.fail("m", "np.tril needs a matrix");
  Builder& b = call.builder;
  const auto counting = [&](const Dim& extent) {
    Attributes at;
    at.dtype = DType::i32;
    at.shape = {extent};
    return b.make(Op::arange, {}, call.place, std::move(at));
  };
  Attributes at;
  at.axes = {1};
  Value rows = tensorValue(
      b.make(Op::expandDims, {counting(x->shape[x->shape.size() - 2])}, call.place, std::move(at)));
  const Value columns = tensorValue(counting(x->shape.back()));
  if (call.given("k")) {
    if (!call.value("k").integral()) return call.fail("k", "k of np.tril is an integer");
    rows = b.binary("+", rows, call.value("k"), call.place);
  }
  const Value operands[] = {b.compare(">=", rows, columns, call.place), call.value("m"),
                            numberValue(0, false)};
  return b.elementwise(Op::where, operands, call.place);
}

struct Entry {
  std::string_view name;
  NumpyFunction function;
};

constexpr Entry functions[] = {
    {"abs", callUnary<Op::abs>},
    {"all", callReduce<Op::all>},
    {"arange", callArange},
    {"broadcast_to", callBroadcastTo},
    {"clip", callClip},
    {"concatenate", callConcatenate},
    {"cos", callUnary<Op::cos>},
    {"cumsum", callCumsum},
    {"einsum", callEinsum},
    {"exp", callUnary<Op::exp>},
    {"expand_dims", callExpandDims},
    {"floor", callUnary<Op::floor>},
    {"full", callFull},
    {"log", callUnary<Op::log>},
    {"max", callReduce<Op::max>},
    {"maximum", callBinary<Op::maximum>},
    {"mean", callReduce<Op::mean>},
    {"min", callReduce<Op::min>},
    {"minimum", callBinary<Op::minimum>},
    {"ones", callOnes},
    {"outer", callOuter},
    {"prod", callReduce<Op::product>},
    {"repeat", callRepeat},
    {"reshape", callReshape},
    {"rint", callUnary<Op::rint>},
    {"sign", callUnary<Op::sign>},
    {"sin", callUnary<Op::sin>},
    {"split", callSplit},
    {"sqrt", callUnary<Op::sqrt>},
    {"square", callSquare},
    {"squeeze", callSqueeze},
    {"stack", callStack},
    {"sum", callReduce<Op::sum>},
    {"swapaxes", callSwapaxes},
    {"take", callTake},
    {"tanh", callUnary<Op::tanh>},
    {"transpose", callTranspose},
    {"tril", callTril},
    {"var", callVar},
    {"where", callWhere},
    {"zeros", callZeros},
};

const Entry* entryOf(std::string_view name) {
  const auto* found = std::ranges::find(functions, name, &Entry::name);
  return found == std::end(functions) ? nullptr : found;
}

}  // namespace

bool isNumpyFunction(std::string_view name) {
  return entryOf(name) != nullptr;
}

std::vector<std::string_view> numpyNames() {
  std::vector<std::string_view> names{"inf"};
  for (const Entry& entry : functions) names.push_back(entry.name);
  std::ranges::sort(names);
  return names;
}

std::optional<DType> numpyType(std::string_view name) {
  if (name == "float64") return DType::f64;
  if (name == "float32") return DType::f32;
  if (name == "float16") return DType::f16;
  if (name == "int32" || name == "int64") return DType::i32;
  if (name == "int8") return DType::i8;
  if (name == "bool_") return DType::boolean;
  return std::nullopt;
}

Value Lowering::callNumpy(const std::string& function, const Arguments& given) {
  NumpyCall call(builder_, given);
  if (const auto type = numpyType(function)) {
    if (!call.bind({"x"})) return {};
    return tensorValue(builder_.nodeAs(call.value("x"), *type, call.place));
  }
  return entryOf(function)->function(call);
}

Value Lowering::callMethod(const Value& base, const std::string& method, ExprRef expr) {
  const ExprRef target = expr->children[0]->children[0];
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < expr->children.size(); ++i)
    texts.emplace_back(builder_.textOf(expr->children[i]));
  for (const KeywordArgument& keyword : expr->keywords) {
    texts.push_back(keyword.name + "=" + std::string(builder_.textOf(keyword.value)));
  }
  const bool known =
      method == "reshape" || method == "transpose" || method == "swapaxes" || method == "astype";
  if (!known) {
    arguments(expr, method);  // for errors in the arguments
    const auto replacement = methodReplacement(method, builder_.textOf(target), texts);
    std::string hint = replacement ? "write " + *replacement : "";
    if (hint.empty() && isNumpyFunction(method))
      hint = fmt::format("write np.{}({}, ...)", method, quoted(builder_.textOf(target)));
    if (base.poisoned() && hint.empty()) return {};
    const std::string_view methods[] = {"reshape", "transpose", "swapaxes", "astype"};
    if (hint.empty()) {
      if (const auto close = nearest(method, methods)) hint = fmt::format("did you mean .{}?", *close);
    }
    return fail(expr->children[0]->textPlace,
                fmt::format("the method .{} is outside the language", quoted(method)), hint);
  }
  const auto args = arguments(expr, "." + method);
  if (!args || base.poisoned()) return {};
  if (!base.is(Value::Kind::tensor) || base.python)
    return fail(expr->place, fmt::format("{} has no .{}", Builder::describe(base), method));
  NumpyCall call(builder_, *args);
  if (method == "astype") {
    if (!call.bind({"dtype"})) return {};
    const Value& type = call.value("dtype");
    if (!type.is(Value::Kind::type))
      return call.fail("dtype", ".astype takes a type of np", "write .astype(np.float32)");
    return tensorValue(builder_.nodeAs(base, type.dtype, call.place));
  }
  const auto rank = base.node->shape.size();
  if (method == "swapaxes") {
    if (!call.bind({"axis1", "axis2"})) return {};
    const auto first = call.axis("axis1", rank, 0);
    const auto second = call.axis("axis2", rank, 0);
    if (!first || !second) return {};
    std::vector<int> axes(rank);
    for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<int>(i);
    std::swap(axes[static_cast<std::size_t>(*first)], axes[static_cast<std::size_t>(*second)]);
    return permuted(builder_, base, std::move(axes), call.place);
  }
  // reshape and transpose take their numbers one by one, or as a tuple
  std::vector<Value> items;
  for (const Arguments::Item& item : args->items) {
    if (!item.keyword.empty())
      return fail(item.place, fmt::format(".{} takes no {} here", method, item.keyword));
    items.push_back(item.value);
  }
  if (method == "transpose" && items.empty()) return transposed(builder_, base, call.place);
  const Value shape = items.size() == 1 ? items[0] : tupleValue(items);
  const auto wanted = NumpyCall::shapeOf(builder_, shape, call.place);
  if (!wanted) return {};
  if (method == "reshape") {
    if (args->items.empty()) return fail(call.place, ".reshape needs a shape");
    return reshaped(builder_, base, *wanted, call.place);
  }
  std::vector<int> axes;
  for (const Dim& axis : *wanted) {
    const auto number = axis.constant();
    if (!number || *number < -static_cast<std::int64_t>(rank) || *number >= static_cast<std::int64_t>(rank)) {
      return fail(call.place,
                  fmt::format("transpose: axis {} is outside a tensor of rank {}", axis.text(), rank));
    }
    axes.push_back(static_cast<int>(*number < 0 ? *number + static_cast<std::int64_t>(rank) : *number));
  }
  return permuted(builder_, base, std::move(axes), call.place);
}

}  // namespace nuscope::language
