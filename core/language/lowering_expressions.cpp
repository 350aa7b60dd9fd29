#include <fmt/format.h>

#include <algorithm>

#include "core/language/foreign_names.h"
#include "core/language/lexer.h"
#include "core/language/lowering.h"
#include "core/language/numpy_functions.h"

namespace nuscope::language {

using tensor::Dim;
using tensor::DType;
using tensor::Op;

namespace {

constexpr std::size_t mostSteps = 300000;

std::string_view builtinHint(std::string_view name) {
  if (name == "abs") return "write np.abs(x)";
  if (name == "max") return "write np.max(x), or np.maximum(x, y) for two tensors";
  if (name == "min") return "write np.min(x), or np.minimum(x, y) for two tensors";
  if (name == "sum") return "write np.sum(x)";
  if (name == "float") return "write np.float32(x)";
  if (name == "int") return "write np.int32(x)";
  if (name == "len") return "write x.shape[0]";
  if (name == "pow") return "write x ** 2";
  if (name == "round") return "write np.rint(x)";
  if (name == "range") return "ranges occur in for loops only; as a tensor write np.arange(n)";
  if (name == "print") return "remove it; programs have no effects";
  if (name == "zip" || name == "enumerate" || name == "map") return "write for k in range(n): and x[k]";
  if (name == "tuple" || name == "list") return "write the items in parentheses";
  return {};
}

}  // namespace

const Value* Lowering::find(const std::string& name) const {
  if (!scopes_.empty()) {
    const auto found = scope().variables.find(name);
    if (found != scope().variables.end()) return &found->second;
  }
  const auto constant = constants_.find(name);
  return constant == constants_.end() || isLocal(name) ? nullptr : &constant->second;
}

/// Whether the function at hand assigns the name somewhere: it then hides what the module calls so.
bool Lowering::isLocal(const std::string& name) const {
  return !scopes_.empty() && scope().assigned.contains(name);
}

Value Lowering::evaluate(ExprRef expr) {
  if (++steps_ > mostSteps) {
    if (!exhausted_)
      fail(expr->place, "the program is too large once loops are unrolled and helpers are inlined",
           "let the bounds of loops be dimensions");
    exhausted_ = true;
    return {};
  }
  switch (expr->kind) {
    case Expr::Kind::name:
      return evaluateName(expr);
    case Expr::Kind::number:
      return evaluateNumber(expr);
    case Expr::Kind::string: {
      Value value = plainValue(Value::Kind::text);
      value.text = expr->text;
      return value;
    }
    case Expr::Kind::noneValue:
      return plainValue(Value::Kind::none);
    case Expr::Kind::trueValue:
      return booleanValue(true);
    case Expr::Kind::falseValue:
      return booleanValue(false);
    case Expr::Kind::ellipsis:
      return plainValue(Value::Kind::ellipsis);
    case Expr::Kind::attribute:
      return evaluateAttribute(expr);
    case Expr::Kind::call:
      return evaluateCall(expr);
    case Expr::Kind::subscript:
      return evaluateSubscript(expr);
    case Expr::Kind::slice:
      return fail(expr->place, "a slice stands in brackets after a tensor");
    case Expr::Kind::tuple:
    case Expr::Kind::list: {
      std::vector<Value> items;
      bool ok = true;
      for (const ExprRef child : expr->children) {
        items.push_back(evaluate(child));
        ok = ok && !items.back().poisoned();
      }
      return ok ? tupleValue(std::move(items)) : Value{};
    }
    case Expr::Kind::unary:
      return evaluateUnary(expr);
    case Expr::Kind::binary: {
      const Value left = evaluate(expr->children[0]);
      const Value right = evaluate(expr->children[1]);
      if (left.is(Value::Kind::tuple) && !right.poisoned())
        return tupleArithmetic(expr->text, left, right, expr->place);
      return builder_.binary(expr->text, left, right, expr->place);
    }
    case Expr::Kind::comparison:
      return evaluateComparison(expr);
    case Expr::Kind::logical:
      return evaluateLogical(expr);
    case Expr::Kind::invalid:
      return {};
  }
  return {};
}

/// x.shape[:-1] + (N,)
Value Lowering::tupleArithmetic(std::string_view op, const Value& left, const Value& right,
                                const Place& place) {
  if (op == "+" && right.is(Value::Kind::tuple)) {
    std::vector<Value> items = left.items;
    items.insert(items.end(), right.items.begin(), right.items.end());
    if (items.size() > 1000) return fail(place, "a tuple of more than 1000 values");
    return tupleValue(std::move(items));
  }
  return builder_.binary(op, left, right, place);
}

std::string Lowering::unknownNameHint(const std::string& name) {
  if (dimensions_.contains(name)) {
    for (const tensor::Parameter& parameter : program_.parameters) {
      for (std::size_t axis = 0; axis < parameter.node->shape.size(); ++axis) {
        if (parameter.node->shape[axis].asSymbol() == name) {
          return fmt::format("read it first: {} = {}.shape[{}]", name, parameter.name, axis);
        }
      }
    }
    return fmt::format("read {} from a .shape first", name);
  }
  if (const auto hint = builtinHint(name); !hint.empty()) return std::string(hint);
  std::vector<std::string_view> names;
  for (const auto& [known, value] : scope().variables) names.push_back(known);
  for (const auto& [known, helper] : helpers_) names.push_back(known);
  for (const auto& [known, value] : constants_) names.push_back(known);
  std::ranges::sort(names);
  if (const auto close = nearest(name, names)) return fmt::format("did you mean {}?", *close);
  if (isNumpyFunction(name)) return fmt::format("write np.{}", name);
  return "";
}

Value Lowering::evaluateName(ExprRef expr) {
  const std::string& name = expr->text;
  if (const Value* value = find(name)) return *value;
  if (scope().gone.contains(name)) {
    return fail(expr->place, fmt::format("{} is set inside the loop only", name),
                fmt::format("assign {} before the loop to carry it out", name));
  }
  if (const auto helper = helpers_.find(name); helper != helpers_.end() && !isLocal(name)) {
    Value value = plainValue(Value::Kind::function);
    value.text = name;
    value.function = helper->second;
    return value;
  }
  if (const std::string path = dottedPath(expr); !path.empty()) return foreign(expr, path, nullptr);
  if (isLocal(name) && (helpers_.contains(name) || constants_.contains(name)) && firstReport(name)) {
    return fail(expr->place, fmt::format("{} is assigned in this function, and has no value yet here", name),
                "name the variable differently");
  }
  if (quiet_ && dimensions_.contains(name))
    return dimValue(Dim::symbol(name));  // its error is reported later
  if (!firstReport(name)) return {};
  if (dimensions_.contains(name)) {
    return fail(expr->place, fmt::format("{} is a dimension; the body has not read it yet", name),
                unknownNameHint(name));
  }
  if (name == program_.name)
    return fail(expr->place, fmt::format("{} calls itself", name), "recursion is outside the language");
  return fail(expr->place, fmt::format("the name {} is not known", name), unknownNameHint(name));
}

Value Lowering::evaluateNumber(ExprRef expr) {
  const auto value = parseDecimal(expr->text);
  if (!value) {
    return fail(expr->place, fmt::format("the number {} is out of range", quoted(expr->text)),
                "exponents go from -400 to 400");
  }
  return numberValue(*value, expr->text.find_first_of(".eE") != std::string::npos);
}

Value Lowering::evaluateUnary(ExprRef expr) {
  const Value operand = evaluate(expr->children[0]);
  if (operand.poisoned()) return {};
  if (expr->text == "-") {
    Value result = builder_.unary(Op::negate, operand, expr->place);
    result.python = operand.plainPython();
    return result;
  }
  if (expr->text == "~" && operand.plainPython()) {
    return fail(expr->place, "~ of a condition between numbers of Python is a number", "write not");
  }
  if (expr->text == "+") {
    if (operand.is(Value::Kind::tensor) || operand.is(Value::Kind::number) || operand.is(Value::Kind::dim))
      return operand;
    return fail(expr->place, fmt::format("+ of {}", Builder::describe(operand)));
  }
  if (operand.is(Value::Kind::boolean)) return booleanValue(!operand.truth);
  if (expr->text == "not" && operand.is(Value::Kind::tensor) && !operand.node->shape.empty()) {
    return fail(expr->place, "not takes one condition, not a tensor of them",
                "write ~x, or compare the other way round");
  }
  const Value operands[] = {operand};
  return builder_.logical(Op::logicalNot, operands, expr->place);
}

Value Lowering::evaluateComparison(ExprRef expr) {
  std::vector<Value> operands;
  for (const ExprRef child : expr->children) operands.push_back(evaluate(child));
  if (std::ranges::any_of(operands, [](const Value& v) { return v.poisoned(); })) return {};
  Value all;
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    const Value one = builder_.compare(expr->operators[i], operands[i], operands[i + 1], expr->place);
    if (one.poisoned()) return {};
    if (operands.size() > 2 && !one.node->shape.empty()) {
      return fail(expr->place, "a chain of comparisons takes scalars",
                  fmt::format("write ({} {} {}) & ({} {} {})", quoted(builder_.textOf(expr->children[0])),
                              expr->operators[0], quoted(builder_.textOf(expr->children[1])),
                              quoted(builder_.textOf(expr->children[1])), expr->operators[1],
                              quoted(builder_.textOf(expr->children[2]))));
    }
    if (i == 0) {
      all = one;
    } else {
      const Value both[] = {all, one};
      all = builder_.logical(Op::logicalAnd, both, expr->place);
    }
  }
  return all;
}

Value Lowering::evaluateLogical(ExprRef expr) {
  Value all;
  bool ok = true;
  for (std::size_t i = 0; i < expr->children.size(); ++i) {
    const Value value = evaluate(expr->children[i]);
    if (value.is(Value::Kind::tensor) && !value.node->shape.empty()) {
      const bool conjunction = expr->text == "and";
      return fail(expr->place, fmt::format("{} takes single conditions, not tensors of them", expr->text),
                  fmt::format("write ({}) {} ({})", quoted(builder_.textOf(expr->children[0])),
                              conjunction ? "&" : "|", quoted(builder_.textOf(expr->children[1]))));
    }
    ok = ok && !value.poisoned();
    if (!ok) continue;
    const Value both[] = {all, value};
    all = i == 0 ? value
                 : builder_.logical(expr->text == "and" ? Op::logicalAnd : Op::logicalOr, both, expr->place);
    ok = !all.poisoned();
  }
  return ok ? all : Value{};
}

std::string Lowering::dottedPath(ExprRef expr) const {
  std::vector<std::string_view> parts;
  for (; expr->kind == Expr::Kind::attribute; expr = expr->children[0]) parts.push_back(expr->text);
  if (expr->kind != Expr::Kind::name || find(expr->text) || scope().gone.contains(expr->text) ||
      helpers_.contains(expr->text))
    return {};
  std::string root = expr->text;
  if (const auto imported = foreignModules_.find(root); imported != foreignModules_.end()) {
    root = imported->second;
  } else if (root != "np" && root != "numpy" && !isForeignRoot(root)) {
    return {};
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) root += "." + std::string(*part);
  return root;
}

/// A name of torch, jax or NumPy that the language does not have.
Value Lowering::foreign(ExprRef expr, const std::string& path, ExprRef call) {
  std::vector<std::string> texts;
  if (call) {
    for (std::size_t i = 1; i < call->children.size(); ++i) {
      evaluate(call->children[i]);  // for errors in the arguments
      texts.emplace_back(builder_.textOf(call->children[i]));
    }
    for (const KeywordArgument& keyword : call->keywords) {
      evaluate(keyword.value);
      texts.push_back(keyword.name + "=" + std::string(builder_.textOf(keyword.value)));
    }
  }
  const auto replacement = replacementText(path, texts);
  std::string hint = replacement ? "write " + *replacement : "";
  const bool numpy = path.starts_with("np.") || path.starts_with("numpy.");
  if (hint.empty()) {
    const std::string last = path.substr(path.rfind('.') + 1);
    const auto names = numpyNames();
    if (isNumpyFunction(last)) {
      hint = fmt::format("write np.{}", last);
    } else if (const auto close = nearest(last, names)) {
      hint = fmt::format("the nearest is np.{}", *close);
    } else if (!numpy) {
      hint = "write it with NumPy";
    }
  }
  return fail(expr->place, fmt::format("{} is outside the language", quoted(path)), hint);
}

Value Lowering::evaluateAttribute(ExprRef expr) {
  if (const std::string path = dottedPath(expr); !path.empty()) {
    if (path.starts_with("np.") || path.starts_with("numpy.")) {
      checkNumpyImported(expr->place);
      const std::string name = path.substr(path.find('.') + 1);
      if (name == "inf") {
        Value value = numberValue(0, true);
        value.infinity = 1;
        return value;
      }
      if (const auto dtype = numpyType(name)) {
        Value value = plainValue(Value::Kind::type);
        value.dtype = *dtype;
        return value;
      }
      if (isNumpyFunction(name))
        return fail(expr->place, fmt::format("np.{} is a function", name), "call it");
    }
    return foreign(expr, path, nullptr);
  }
  const Value base = evaluate(expr->children[0]);
  if (base.poisoned()) return {};
  if (base.is(Value::Kind::tensor) && !base.python) {
    if (expr->text == "shape") {
      std::vector<Value> items;
      for (const Dim& extent : base.node->shape) items.push_back(dimValue(extent));
      return tupleValue(std::move(items));
    }
    if (expr->text == "T") return transposed(builder_, base, expr->place);
  }
  const std::string text = quoted(builder_.textOf(expr->children[0]));
  std::string hint;
  if (expr->text == "mT") hint = fmt::format("write np.swapaxes({}, -1, -2)", text);
  if (expr->text == "ndim" || expr->text == "size") hint = fmt::format("use {}.shape", text);
  if (expr->text == "dtype") hint = "types are part of the signature; convert by .astype(np.float32)";
  if (isNumpyFunction(expr->text)) hint = fmt::format("write np.{}({})", expr->text, text);
  if (base.is(Value::Kind::tensor) &&
      (expr->text == "reshape" || expr->text == "astype" || expr->text == "transpose"))
    hint = "call it";
  return fail(expr->place,
              fmt::format(".{} of {} is outside the language", quoted(expr->text), Builder::describe(base)),
              hint);
}

std::optional<Arguments> Lowering::arguments(ExprRef call, std::string name) {
  Arguments result;
  result.call = call;
  result.name = std::move(name);
  bool ok = true;
  for (std::size_t i = 1; i < call->children.size(); ++i) {
    result.items.push_back({"", evaluate(call->children[i]), call->children[i]->place});
    ok = ok && !result.items.back().value.poisoned();
  }
  for (const KeywordArgument& keyword : call->keywords) {
    result.items.push_back(
        {keyword.name, evaluate(keyword.value), join(keyword.place, keyword.value->place)});
    ok = ok && !result.items.back().value.poisoned();
  }
  if (!ok) return std::nullopt;
  return result;
}

Value Lowering::evaluateCall(ExprRef expr) {
  const ExprRef callee = expr->children[0];
  if (const std::string path = dottedPath(callee); !path.empty()) {
    const bool numpy = path.starts_with("np.") || path.starts_with("numpy.");
    const std::string name = path.substr(path.find('.') + 1);
    if (!numpy || (!isNumpyFunction(name) && !numpyType(name))) return foreign(callee, path, expr);
    checkNumpyImported(callee->place);
    const auto args = arguments(expr, "np." + name);
    return args ? callNumpy(name, *args) : Value{};
  }
  if (callee->kind == Expr::Kind::attribute) {
    const Value base = evaluate(callee->children[0]);
    return callMethod(base, callee->text, expr);
  }
  if (callee->kind == Expr::Kind::name && !find(callee->text)) {
    if (const auto helper = helpers_.find(callee->text); helper != helpers_.end() && !isLocal(callee->text)) {
      const auto args = arguments(expr, callee->text);
      return args ? callHelper(*helper->second, *args) : Value{};
    }
    const auto hint = builtinHint(callee->text);
    if (!hint.empty()) {
      for (std::size_t i = 1; i < expr->children.size(); ++i) evaluate(expr->children[i]);
      return fail(callee->place, fmt::format("{} is outside the language", callee->text), std::string(hint));
    }
    if (callee->text == program_.name) {
      return fail(callee->place, fmt::format("{} calls itself", callee->text),
                  "recursion is outside the language; write a loop");
    }
  }
  const Value value = evaluate(callee);
  if (value.poisoned()) return {};
  return fail(callee->place, fmt::format("{} cannot be called", Builder::describe(value)),
              "for a product write *");
}

}  // namespace nuscope::language
