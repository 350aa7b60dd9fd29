#include <fmt/format.h>

#include <algorithm>

#include "core/language/lexer.h"
#include "core/language/lowering.h"

namespace nuscope::language {

using tensor::Dim;

namespace {
constexpr std::size_t deepestCalls = 30;
}

void collectNames(ExprRef expr, std::set<std::string>& into) {
  if (!expr) return;
  if (expr->kind == Expr::Kind::name) into.insert(expr->text);
  for (const ExprRef child : expr->children) collectNames(child, into);
  for (const KeywordArgument& keyword : expr->keywords) collectNames(keyword.value, into);
}

void collectAssigned(const Block& block, std::set<std::string>& into) {
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::loop) {
      into.insert(statement.target->text);
      collectAssigned(statement.body, into);
    } else if (statement.target) {
      collectNames(statement.target, into);
    }
  }
}

std::set<std::string> liveBefore(const Block& block, std::size_t from, std::set<std::string> live) {
  for (std::size_t i = block.size(); i > from; --i) {
    const Statement& statement = block[i - 1];
    if (statement.kind == Statement::Kind::loop) {
      // The loop may run no round, so it ends no life; a value may be carried from round to round.
      std::set<std::string> inside = liveBefore(statement.body, 0, {});
      inside.erase(statement.target->text);
      live.insert(inside.begin(), inside.end());
    } else if (statement.target) {
      std::set<std::string> assigned;
      collectNames(statement.target, assigned);
      for (const std::string& name : assigned) live.erase(name);
      if (statement.kind == Statement::Kind::augmented) live.insert(assigned.begin(), assigned.end());
    }
    collectNames(statement.value, live);
  }
  return live;
}

void Lowering::block(const Block& statements, std::set<std::string> liveAtEnd) {
  std::swap(scope().liveAtEnd, liveAtEnd);
  for (std::size_t i = 0; i < statements.size() && !exhausted_; ++i) {
    if (scope().returned) {
      fail(statements[i].place, "nothing runs after return", "remove it");
      break;
    }
    statement(statements, i);
  }
  std::swap(scope().liveAtEnd, liveAtEnd);
}

void Lowering::statement(const Block& block, std::size_t index) {
  const Statement& statement = block[index];
  switch (statement.kind) {
    case Statement::Kind::assign:
      assign(statement.target, evaluate(statement.value));
      return;
    case Statement::Kind::augmented: {
      const std::string target(builder_.textOf(statement.target));
      fail(statement.place, fmt::format("'{}=' would change a tensor in place", statement.text),
           fmt::format("write {} = {} {} {}", quoted(target), quoted(target), statement.text,
                       quoted(builder_.textOf(statement.value))));
      if (statement.target->kind == Expr::Kind::name) {  // go on as if it were written so
        const Value old = evaluate(statement.target);
        assign(statement.target,
               builder_.binary(statement.text, old, evaluate(statement.value), statement.place));
      }
      return;
    }
    case Statement::Kind::assertion:
      assertion(statement);
      return;
    case Statement::Kind::result:
      returns(statement, true);
      return;
    case Statement::Kind::loop:
      loop(block, index);
      return;
    case Statement::Kind::expression:
      if (statement.value->kind == Expr::Kind::string) return;
      if (!evaluate(statement.value).poisoned()) {
        fail(statement.place, "the value of this line is not used",
             "assign it to a name, or remove the line");
      }
      return;
    case Statement::Kind::function:
      fail(statement.place, "functions inside functions are outside the language",
           "move it to the top of the file");
      return;
    case Statement::Kind::import:
      fail(statement.place, "imports stand at the top of the file", "move it there");
      return;
    case Statement::Kind::invalid:
      if (statement.target) assign(statement.target, {});
      return;
  }
}

void Lowering::assign(ExprRef target, Value value) {
  switch (target->kind) {
    case Expr::Kind::name:
      bind(target->text, std::move(value));
      return;
    case Expr::Kind::tuple:
    case Expr::Kind::list: {
      if (!value.poisoned() && !value.is(Value::Kind::tuple)) {
        fail(target->place, fmt::format("{} cannot be unpacked", Builder::describe(value)),
             "unpack x.shape, the result of np.split or of a helper; pick parts of a tensor by x[0]");
        value = {};
      }
      if (value.is(Value::Kind::tuple) && value.items.size() != target->children.size()) {
        fail(target->place,
             fmt::format("{} names for {} values", target->children.size(), value.items.size()),
             "write one name for each value");
        value = {};
      }
      for (std::size_t i = 0; i < target->children.size(); ++i) {
        assign(target->children[i], value.poisoned() ? Value{} : value.items[i]);
      }
      return;
    }
    case Expr::Kind::subscript:
      fail(target->place, "assigning to elements is outside the language",
           "build the tensor by np.concatenate, np.stack or np.where");
      return;
    default:
      fail(target->place, "only names can be assigned");
      return;
  }
}

void Lowering::bind(const std::string& name, Value value) {
  scope().gone.erase(name);
  if ((name == "np" || name == "range") && firstReport(name + " =")) {
    fail(scope().function ? scope().function->textPlace : Place{},
         fmt::format("{} is assigned, but has its meaning in the language", name), "use another name");
  }
  if (value.is(Value::Kind::tensor) && value.node->op != tensor::Op::input &&
      value.node->op != tensor::Op::loopState) {
    program_.variables.try_emplace(value.node, name);
  }
  scope().variables[name] = std::move(value);
}

/// Unless a line that could not be read may have been the return.
void Lowering::failWithoutReturn(const Statement& function) {
  const bool faulty = std::ranges::any_of(
      function.body, [](const Statement& s) { return s.kind == Statement::Kind::invalid; });
  if (faulty || scope().returnFaulty || exhausted_) return;
  fail(function.textPlace, fmt::format("the function {} returns nothing", function.text),
       "end it with return y");
}

void Lowering::returns(const Statement& statement, bool) {
  if (scopes_.size() < 2) {
    fail(statement.place, "return outside a function");
    return;
  }
  if (scope().loops > 0) {
    scope().returnFaulty = true;
    fail(statement.place, "return inside a loop is outside the language", "return after the loop");
    return;
  }
  scope().returned = true;
  scope().returnedBy = &statement;
  if (!statement.value) {
    fail(statement.place, "return without a value", "return the result");
    return;
  }
  scope().result = evaluate(statement.value);
}

bool Lowering::checkHelperArgument(const FunctionParameter& parameter, const Value& value,
                                   std::map<std::string, Dim>& dims, const Place& place) {
  const auto type = annotation(parameter.annotation, true);
  if (!type) return false;
  const tensor::NodeRef node = builder_.node(value, place);
  if (!node) return false;
  bool ok = (value.is(Value::Kind::tensor) && !value.weak
                 ? node->dtype == type->dtype
                 : sort(node->dtype) <= sort(type->dtype) || tensor::isReal(type->dtype)) &&
            node->shape.size() == type->shape.size();
  for (std::size_t i = 0; ok && i < type->shape.size(); ++i) {
    const auto symbol = type->shape[i].asSymbol();
    if (symbol && !dims.contains(*symbol)) {
      dims.emplace(*symbol, node->shape[i]);
      continue;
    }
    try {
      ok = builder_.facts.equal(type->shape[i].substitute(dims), node->shape[i]);
    } catch (const UserError&) {
      ok = false;
    }
  }
  if (!ok) {
    fail(place, fmt::format("the parameter {} is {}, not {}", parameter.name,
                            builder_.textOf(parameter.annotation), Builder::describe(value)));
  }
  return ok;
}

Value Lowering::callHelper(const Statement& function, const Arguments& arguments) {
  called_.insert(function.text);
  const Place place = arguments.call ? arguments.call->place : function.place;
  if (std::ranges::find(calls_, &function) != calls_.end()) {
    return fail(place, fmt::format("{} calls itself", function.text),
                "recursion is outside the language; write a loop");
  }
  if (calls_.size() > deepestCalls) return fail(place, "helpers call each other too deeply");
  Scope inner;
  inner.function = &function;
  collectAssigned(function.body, inner.assigned);
  std::map<std::string, Dim> dims;
  std::size_t position = 0;
  bool ok = true;
  for (const Arguments::Item& item : arguments.items) {
    const FunctionParameter* parameter = nullptr;
    if (item.keyword.empty()) {
      if (position < function.parameters.size()) parameter = &function.parameters[position++];
    } else {
      for (const FunctionParameter& candidate : function.parameters) {
        if (candidate.name == item.keyword) parameter = &candidate;
      }
    }
    if (!parameter || inner.variables.contains(parameter->name)) {
      fail(item.place, item.keyword.empty() || parameter
                           ? fmt::format("{} takes {} arguments", function.text, function.parameters.size())
                           : fmt::format("{} has no parameter {}", function.text, item.keyword));
      ok = false;
      continue;
    }
    Value value = item.value;
    if (parameter->annotation && !value.poisoned() &&
        !checkHelperArgument(*parameter, value, dims, item.place))
      value = {};
    inner.variables[parameter->name] = std::move(value);
  }
  for (const FunctionParameter& parameter : function.parameters) {
    if (inner.variables.contains(parameter.name)) continue;
    if (parameter.fallback) {
      inner.variables[parameter.name] = evaluate(parameter.fallback);
    } else {
      fail(place, fmt::format("the argument {} of {} is missing", parameter.name, function.text));
      ok = false;
    }
  }
  if (!ok) return {};
  scopes_.push_back(std::move(inner));
  calls_.push_back(&function);
  block(function.body, {});
  if (!scope().returned) failWithoutReturn(function);
  Value result = std::move(scope().result);
  calls_.pop_back();
  scopes_.pop_back();
  return result;
}

}  // namespace nuscope::language
