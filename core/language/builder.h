#pragma once
// Makes nodes for the lowering: types of mixed operands, casts, exact arithmetic of literals and extents,
// errors with places. Whatever fails is reported once and becomes a poisoned value.
#include <optional>
#include <span>
#include <string>

#include "core/language/value.h"
#include "core/tensor/graph.h"

namespace nuscope::language {

/// Where diagnostics go; the same error at the same place is kept once (loops are unrolled, helpers inlined).
class Report {
 public:
  explicit Report(std::vector<Diagnostic>& into) : into_(into) {}
  void error(const Place& place, std::string message, std::string hint = {});
  void mute(bool on) { muted_ += on ? 1 : -1; }
  [[nodiscard]] bool muted() const { return muted_ > 0; }
  [[nodiscard]] bool empty() const { return into_.empty(); }

 private:
  std::vector<Diagnostic>& into_;
  int muted_ = 0;
};

class Builder {
 public:
  Builder(std::string_view text, tensor::NodeStore& store, Report& report)
      : text_(text), store_(store), report_(report) {}

  tensor::DimFacts facts;  ///< of the asserts, and of the loops around the current place
  std::unordered_map<tensor::NodeRef, SourceRange> ranges;

  /// Reports and returns a poisoned value.
  Value fail(const Place& place, std::string message, std::string hint = {});
  [[nodiscard]] std::string_view textOf(const Place& place) const;
  [[nodiscard]] std::string_view textOf(ExprRef expr) const { return textOf(expr->place); }

  /// Null after a reported refusal.
  tensor::NodeRef make(tensor::Op op, std::vector<tensor::NodeRef> operands, const Place& place,
                       tensor::Attributes attributes = {});
  tensor::NodeRef constant(const Rational& value, tensor::DType dtype, const Place& place, int infinity = 0);
  tensor::NodeRef cast(tensor::NodeRef node, tensor::DType dtype, const Place& place);

  /// The value as a node of its own type: literals are i32 or f32, extents i32. Null (reported) where it has
  /// none.
  tensor::NodeRef node(const Value& value, const Place& place);
  /// The value as a node of the type given; converts like NumPy does in arithmetic.
  tensor::NodeRef nodeAs(const Value& value, tensor::DType dtype, const Place& place);
  /// Like `node`, but integers and conditions become real.
  tensor::NodeRef realNode(const Value& value, const Place& place);
  /// Whether the type of the value's tensor gives way to that of another operand.
  static bool weak(const Value& value) { return !value.is(Value::Kind::tensor) || value.weak; }

  /// The common type of operands in arithmetic, `where` and comparisons; conditions only if all are.
  std::optional<tensor::DType> commonType(std::span<const Value* const> values, const Place& place);

  Value unary(tensor::Op op, const Value& value, const Place& place);
  /// Of the operators + - * / // % @ **; and two-operand functions such as maximum.
  Value binary(std::string_view op, const Value& left, const Value& right, const Place& place);
  Value elementwise(tensor::Op op, std::span<const Value> operands, const Place& place);
  Value compare(std::string_view op, const Value& left, const Value& right, const Place& place);
  Value logical(tensor::Op op, std::span<const Value> operands, const Place& place);
  Value reduce(tensor::Op op, const Value& value, std::vector<int> axes, bool keepDims, const Place& place);
  Value broadcast(const Value& value, const tensor::Shape& shape, const Place& place);

  /// "a tensor f32[M, K]", "the number 3", for messages.
  static std::string describe(const Value& value);

 private:
  Value power(const Value& base, const Value& exponent, const Place& place);
  Value numbers(std::string_view op, const Value& left, const Value& right, const Place& place);
  Value dims(std::string_view op, const tensor::Dim& left, const tensor::Dim& right, const Place& place);
  tensor::NodeRef retype(tensor::NodeRef node, tensor::DType dtype, const Place& place, int depth);

  std::string_view text_;
  tensor::NodeStore& store_;
  Report& report_;
  bool full_ = false;  ///< the limit of nodes was reached, and reported
};

/// The integer as a Dim, if the value is one that is known now and fits 64 bits.
std::optional<tensor::Dim> asDim(const Value& value);

}  // namespace nuscope::language
