#include <fmt/format.h>

#include "core/language/lexer.h"
#include "core/language/lowering.h"

namespace nuscope::language {

using tensor::Dim;
using tensor::DimRelation;
using tensor::NodeRef;
using tensor::Program;
using tensor::Relation;

/// What the asserts say about dimensions holds in the whole function, so it is found before any shape is
/// checked: by lowering the function once, silently and into a store that is thrown away.
void Lowering::collectFacts(const Statement& function, Program& program) {
  bool any = false;
  for (const Statement& statement : function.body) any = any || statement.kind == Statement::Kind::assertion;
  if (!any) return;
  std::vector<Diagnostic> ignored;
  Lowering scout(text_, module_, std::make_shared<tensor::NodeStore>(), ignored, true);
  const auto found = scout.run();
  if (!found) return;
  builder_.facts = found->facts;
  program.facts = found->facts;
}

void Lowering::assertion(const Statement& statement) {
  if (scope().function != calls_.front() || scope().loops > 0) {
    fail(statement.place,
         "asserts state what the program needs, and stand in the program function outside loops",
         "move it there");
    return;
  }
  precondition(statement.value);
}

void Lowering::precondition(ExprRef condition) {
  if (condition->kind == Expr::Kind::logical && condition->text == "and") {
    for (const ExprRef part : condition->children) precondition(part);
    return;
  }
  if (condition->kind == Expr::Kind::comparison) {
    std::vector<Value> values;
    bool known = true;
    for (const ExprRef operand : condition->children) {
      values.push_back(evaluate(operand));
      if (values.back().poisoned()) return;
      known = known && (values.back().integral() || values.back().is(Value::Kind::tuple));
    }
    if (known) {
      for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        if (!relation(condition->operators[i], values[i], values[i + 1], condition, values.size() == 2))
          return;
      }
      return;
    }
  }
  const Value value = evaluate(condition);
  if (value.poisoned()) return;
  const NodeRef node = builder_.node(value, condition->place);
  if (!node) return;
  if (node->dtype != tensor::DType::boolean) {
    fail(condition->place, fmt::format("an assert needs a condition, not {}", Builder::describe(value)),
         "write assert x != 0");
    return;
  }
  if (!node->shape.empty()) {
    fail(condition->place, "an assert of a tensor of conditions",
         fmt::format("write assert np.all({})", quoted(builder_.textOf(condition))));
    return;
  }
  program_.preconditions.push_back(
      {std::string(builder_.textOf(condition)), condition->place.range, std::nullopt, node});
}

bool Lowering::relation(std::string_view op, const Value& left, const Value& right, ExprRef whole,
                        bool single) {
  if (left.is(Value::Kind::tuple) || right.is(Value::Kind::tuple)) {
    if (!left.is(Value::Kind::tuple) || !right.is(Value::Kind::tuple) || op != "==" ||
        left.items.size() != right.items.size()) {
      fail(whole->place, "shapes are compared by == with shapes of the same rank",
           "write assert x.shape == y.shape");
      return false;
    }
    for (std::size_t i = 0; i < left.items.size(); ++i) {
      if (!left.items[i].integral() || !right.items[i].integral()) {
        fail(whole->place, "only shapes are compared in an assert");
        return false;
      }
      if (!relation("==", left.items[i], right.items[i], whole, false)) return false;
    }
    return true;
  }
  const auto a = asDim(left);
  const auto b = asDim(right);
  if (!a || !b) {
    fail(whole->place, "an extent expression leaves 64 bits");
    return false;
  }
  DimRelation added;
  const bool swapped = op == ">" || op == ">=";
  added.left = swapped ? *b : *a;
  added.right = swapped ? *a : *b;
  added.relation = op == "=="               ? Relation::equal
                   : op == "!="             ? Relation::notEqual
                   : op == "<" || op == ">" ? Relation::less
                                            : Relation::lessEqual;
  try {
    const Dim difference = added.right - added.left;
    if (difference.isConstant() && !added.holds({}) && added.left.isConstant() && added.right.isConstant()) {
      fail(whole->place, "this assert never holds");
      return false;
    }
    if (quiet_) builder_.facts.assume(added);
  } catch (const UserError& error) {
    fail(whole->place, error.what());
    return false;
  }
  const std::string text = single ? std::string(builder_.textOf(whole)) : added.text();
  program_.preconditions.push_back({text, whole->place.range, added, nullptr});
  return true;
}

}  // namespace nuscope::language
