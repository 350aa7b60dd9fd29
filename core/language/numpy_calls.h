#pragma once
// One call of a function of np, bound to its parameters. Private to core/language.
#include "core/language/lowering.h"

namespace nuscope::language {

/// Parameters of a function in order; a name ending in '=' may be left out. After '*' only by keyword.
struct NumpyCall {
  Builder& builder;
  const Arguments& arguments;
  const Place& place;
  std::vector<std::string_view> names;
  std::vector<const Arguments::Item*> bound;  ///< null: left out

  NumpyCall(Builder& builder, const Arguments& arguments);
  /// False after a reported mismatch.
  bool bind(std::initializer_list<std::string_view> parameters);

  [[nodiscard]] const Arguments::Item* item(std::string_view name) const;
  [[nodiscard]] bool given(std::string_view name) const {
    return item(name) != nullptr && !item(name)->value.is(Value::Kind::none);
  }
  [[nodiscard]] const Value& value(std::string_view name) const { return item(name)->value; }
  [[nodiscard]] Place placeOf(std::string_view name) const { return item(name) ? item(name)->place : place; }

  Value fail(std::string_view parameter, std::string message, std::string hint = {}) const;
  /// The argument as a tensor node of its own type; null after a report.
  [[nodiscard]] tensor::NodeRef tensor(std::string_view name) const;
  /// An integer constant.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] std::optional<bool> truth(std::string_view name, bool fallback) const;
  /// An axis in [0, rank).
  [[nodiscard]] std::optional<int> axis(std::string_view name, std::size_t rank, int fallback) const;
  /// Sorted axes; all of them where left out or None.
  [[nodiscard]] std::optional<std::vector<int>> axes(std::string_view name, std::size_t rank) const;
  /// A shape: a tuple or one integer.
  [[nodiscard]] std::optional<tensor::Shape> shape(std::string_view name) const;
  [[nodiscard]] static std::optional<tensor::Shape> shapeOf(Builder& builder, const Value& value,
                                                            const Place& place);
};

using NumpyFunction = Value (*)(NumpyCall&);

// Layout (numpy_layout.cpp).
Value callReshape(NumpyCall& call);
Value callTranspose(NumpyCall& call);
Value callSwapaxes(NumpyCall& call);
Value callExpandDims(NumpyCall& call);
Value callSqueeze(NumpyCall& call);
Value callBroadcastTo(NumpyCall& call);
Value callConcatenate(NumpyCall& call);
Value callStack(NumpyCall& call);
Value callSplit(NumpyCall& call);
Value callRepeat(NumpyCall& call);
Value callTake(NumpyCall& call);
Value callArange(NumpyCall& call);
Value callZeros(NumpyCall& call);
Value callOnes(NumpyCall& call);
Value callFull(NumpyCall& call);

/// x.reshape(...): `wanted` may hold one -1.
Value reshaped(Builder& builder, const Value& value, tensor::Shape wanted, const Place& place);
Value permuted(Builder& builder, const Value& value, std::vector<int> axes, const Place& place);
/// Flattened to one axis; itself if it has one.
Value flattened(Builder& builder, const Value& value, const Place& place);

}  // namespace nuscope::language
