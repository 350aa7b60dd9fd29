#pragma once
// The concrete domain of granular.h: indices are machine integers, scalars are those of an arithmetic. One
// class for float64 with bounds and for exact numbers.
//
// A Host provides
//   Arithmetic& arithmetic()
//   int64 evaluate(const Dim&)
//   Value element(NodeRef, span<const int64> index)      a computed element of an operand
//   Value leaf(const Node&, span<const int64> index)     input and loopState
//   Value loopResult(const Node&, span<const int64> index)
// An Arithmetic provides
//   Value, Accumulator accumulator(Fold, const Node&)    with add(Value) and finish()
//   Value constant(const Node&), number(int64, DType), apply(Op, span<const Value>, const Node&)
//   Value undefined(why), undecided()
//   Truth truth(const Value&)
//   optional<int64> integer(const Value&)                empty if not a decided, defined integer
#include <limits>
#include <optional>

#include "core/semantics/granular.h"

namespace nuscope::semantics {

enum class Truth : std::uint8_t { no, yes, undefined, undecided };

template <class Host>
class ConcreteDomain {
 public:
  using Arithmetic = typename Host::Arithmetic;
  using Int = std::int64_t;
  using Value = typename Arithmetic::Value;

  ConcreteDomain(Host& host, const Node& node) : host_(host), node_(node) {}

  Int dim(const Dim& value) { return host_.evaluate(value); }
  Int plus(Int a, Int b) { return a + b; }
  Int minus(Int a, Int b) { return a - b; }
  Int times(Int a, Int b) { return a * b; }
  Int quotient(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

  Value element(NodeRef operand, std::span<const Int> index) {
    for (const Int i : index) {
      if (i == kOutside) return arithmetic().undefined("index outside the extent");
      if (i == kUndefinedIndex) return arithmetic().undefined("undefined index");
      if (i == kUndecided) return arithmetic().undecided();
    }
    return host_.element(operand, index);
  }
  Value constant(const Node& node) { return arithmetic().constant(node); }
  Value number(Int value, DType type) { return arithmetic().number(value, type); }

  Int subscript(const Value& value, const Dim& extent) {
    const auto at = arithmetic().integer(value);
    if (!at) return arithmetic().truth(value) == Truth::undefined ? kUndefinedIndex : kUndecided;
    return *at >= 0 && *at < dim(extent) ? *at : kOutside;
  }
  Value apply(Op op, std::span<const Value> operands, const Node& node) {
    return arithmetic().apply(op, operands, node);
  }
  template <class Then, class Else>
  Value choose(const Value& condition, Then then, Else otherwise) {
    switch (arithmetic().truth(condition)) {
      case Truth::yes:
        return then();
      case Truth::no:
        return otherwise();
      case Truth::undefined:
        return condition;
      default:
        break;
    }
    const Value a = then();
    if (arithmetic().truth(a) != Truth::undefined) return arithmetic().undecided();
    const Value b = otherwise();
    return arithmetic().truth(b) == Truth::undefined ? a : arithmetic().undecided();
  }
  template <class Then, class Else>
  Value chooseLess(Int a, Int b, Then then, Else otherwise) {
    return a < b ? then() : otherwise();
  }
  template <class Body>
  Value fold(Fold kind, const Dim& extent, Body body) {
    return foldTo(kind, dim(extent), body);
  }
  template <class Body>
  Value prefixFold(Fold kind, Int last, const Dim&, Body body) {
    return foldTo(kind, last + 1, body);
  }
  Value leaf(NodeRef node, std::span<const Int> index) { return host_.leaf(*node, index); }
  Value loopResult(NodeRef node, std::span<const Int> index) { return host_.loopResult(*node, index); }

 private:
  // Subscripts that are no index. Index arithmetic is never applied to them: take hands them to element at
  // once.
  static constexpr Int kOutside = std::numeric_limits<Int>::min();
  static constexpr Int kUndefinedIndex = kOutside + 1;
  static constexpr Int kUndecided = kOutside + 2;

  decltype(auto) arithmetic() { return host_.arithmetic(); }
  template <class Body>
  Value foldTo(Fold kind, Int count, Body body) {
    auto accumulator = arithmetic().accumulator(kind, node_);
    for (Int k = 0; k < count; ++k) accumulator.add(body(k));
    return accumulator.finish();
  }

  Host& host_;
  const Node& node_;
};

}  // namespace nuscope::semantics
