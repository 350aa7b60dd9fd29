#include <fmt/format.h>

#include <algorithm>

#include "core/language/dim_text.h"
#include "core/language/foreign_names.h"
#include "core/language/lexer.h"
#include "core/language/lowering.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;
using tensor::Program;

Lowering::Lowering(std::string_view text, const Module& module, std::shared_ptr<tensor::NodeStore> store,
                   std::vector<Diagnostic>& diagnostics, bool quiet)
    : text_(text),
      module_(module),
      store_(std::move(store)),
      report_(diagnostics),
      builder_(text, *store_, report_),
      quiet_(quiet) {}

std::optional<Program> Lowering::run() {
  scopes_.emplace_back();
  const Statement* main = nullptr;
  for (const Statement& statement : module_.body) {
    if (statement.kind == Statement::Kind::function) main = &statement;
  }
  if (main) program_.name = main->text;
  for (const Statement& statement : module_.body) {
    if (&statement == main) continue;
    moduleStatement(statement, main && statement.place.begin > main->place.begin);
  }
  if (!main) {
    fail({}, "the file has no function", "write def program(x: f32[M, N]): ... return y");
    return std::nullopt;
  }
  if (!annotationsImported_) {
    fail(main->textPlace, "the annotations need a line at the top of the file",
         "add: from __future__ import annotations");
  }
  program_.store = store_;
  if (!quiet_) collectFacts(*main, program_);
  scopes_.emplace_back();
  scope().function = main;
  collectAssigned(main->body, scope().assigned);
  calls_.push_back(main);
  signature(*main, program_);
  block(main->body, {});
  results(*main, program_);
  calls_.pop_back();
  scopes_.pop_back();
  if (!quiet_) checkUncalledHelpers();
  program_.facts = builder_.facts;
  program_.ranges = std::move(builder_.ranges);
  return program_;
}

void Lowering::moduleStatement(const Statement& statement, bool afterMain) {
  switch (statement.kind) {
    case Statement::Kind::import:
      imports(statement);
      return;
    case Statement::Kind::function:
      if (helpers_.contains(statement.text)) {
        fail(statement.textPlace, fmt::format("the function {} is defined twice", statement.text),
             "rename one");
      }
      helpers_[statement.text] = &statement;
      return;
    case Statement::Kind::assign: {
      const Value value = evaluate(statement.value);
      if (!statement.target || statement.target->kind != Expr::Kind::name) {
        fail(statement.place, "only single names are assigned outside functions");
        return;
      }
      if (value.is(Value::Kind::tensor)) {
        fail(statement.place, "tensors are computed inside functions",
             "move the line into the program function");
      }
      constants_[statement.target->text] = value.is(Value::Kind::tensor) ? Value{} : value;
      return;
    }
    case Statement::Kind::expression:
      if (statement.value->kind == Expr::Kind::string) return;
      break;
    case Statement::Kind::invalid:
      if (statement.target) assign(statement.target, {});
      return;
    default:
      break;
  }
  fail(statement.place,
       afterMain ? "the program function must come last" : "this statement belongs into a function",
       "at the top of a file stand imports, constants and functions");
}

void Lowering::imports(const Statement& statement) {
  if (statement.text == "__future__") {
    for (const auto& [name, alias] : statement.names) {
      if (name == "annotations") annotationsImported_ = true;
    }
    return;
  }
  for (const auto& [name, alias] : statement.names) {
    if (statement.text.empty() && name == "numpy" && alias == "np") {
      numpyImported_ = true;
      continue;
    }
    if (statement.text == "typing" || name == "typing") continue;
    const std::string module = statement.text.empty() ? name : statement.text + "." + name;
    foreignModules_[alias.substr(0, alias.find('.'))] =
        statement.text.empty() && alias == name ? name.substr(0, name.find('.')) : module;
    if (module == "numpy" || module.starts_with("numpy.")) {
      numpyImported_ = true;
      fail(statement.place, "NumPy is known as np", "write import numpy as np");
    } else {
      fail(statement.place, fmt::format("the module {} is outside the language", quoted(module)),
           "programs use NumPy only: import numpy as np");
    }
  }
}

std::optional<Dim> Lowering::annotatedDim(ExprRef expr, bool declare) {
  try {
    switch (expr->kind) {
      case Expr::Kind::number: {
        const auto value = parseDecimal(expr->text);
        if (value && value->get_den() == 1 && *value >= 1 && value->get_num().fits_slong_p()) {
          return Dim(value->get_num().get_si());
        }
        fail(expr->place, fmt::format("the extent {} is no integer >= 1", quoted(expr->text)));
        return std::nullopt;
      }
      case Expr::Kind::name: {
        if (find(expr->text) && find(expr->text)->integral() && !dimensions_.contains(expr->text))
          return asDim(*find(expr->text));
        if (!dimensions_.contains(expr->text)) {
          if (!declare) {
            fail(expr->place,
                 fmt::format("the dimension {} is not in the signature's parameters", expr->text));
            return std::nullopt;
          }
          if (expr->text == "np" || expr->text == "range" || tensor::parseDType(expr->text)) {
            fail(expr->place, fmt::format("{} cannot name a dimension", expr->text), "use another name");
            return std::nullopt;
          }
          dimensions_.insert(expr->text);
          program_.dimensions.push_back(expr->text);
        }
        return Dim::symbol(expr->text);
      }
      case Expr::Kind::binary: {
        const auto left = annotatedDim(expr->children[0], declare);
        const auto right = annotatedDim(expr->children[1], declare);
        if (!left || !right) return std::nullopt;
        const Value value = builder_.binary(expr->text, dimValue(*left), dimValue(*right), expr->place);
        if (value.poisoned()) return std::nullopt;
        if (const auto dim = asDim(value)) return dim;
        break;
      }
      default:
        break;
    }
  } catch (const UserError& error) {
    fail(expr->place, error.what());
    return std::nullopt;
  }
  fail(expr->place, fmt::format("'{}' is no extent", quoted(builder_.textOf(expr))),
       "extents are names, integers and expressions of them, e.g. f32[M, 2*K]");
  return std::nullopt;
}

std::optional<Lowering::Annotated> Lowering::annotation(ExprRef expr, bool declare) {
  Annotated result;
  const ExprRef base = expr->kind == Expr::Kind::subscript ? expr->children[0] : expr;
  const auto dtype = base->kind == Expr::Kind::name ? tensor::parseDType(base->text) : std::nullopt;
  if (!dtype) {
    fail(expr->place, fmt::format("the annotation '{}' is not understood", quoted(builder_.textOf(expr))),
         annotationHint(builder_.textOf(base)));
    return std::nullopt;
  }
  result.dtype = *dtype;
  if (base == expr) return result;
  std::vector<ExprRef> extents(expr->children.begin() + 1, expr->children.end());
  if (extents.size() == 1 && extents[0]->kind == Expr::Kind::tuple) extents = extents[0]->children;
  if (extents.size() > 32) {
    fail(expr->place, "a tensor has at most 32 axes");
    return std::nullopt;
  }
  bool ok = true;
  for (const ExprRef extent : extents) {
    const auto dim = annotatedDim(extent, declare);
    ok = ok && dim.has_value();
    if (dim) result.shape.push_back(*dim);
  }
  if (!ok) return std::nullopt;
  return result;
}

void Lowering::signature(const Statement& function, Program& program) {
  std::set<std::string> names;
  for (const FunctionParameter& parameter : function.parameters) {
    if (!names.insert(parameter.name).second) {
      fail(parameter.place, fmt::format("the parameter {} occurs twice", parameter.name), "rename one");
      continue;
    }
    Value value;
    if (parameter.fallback) {
      fail(parameter.fallback->place, "parameters of the program function have no default values",
           "remove it");
    }
    if (!parameter.annotation) {
      fail(parameter.place, fmt::format("the parameter {} has no type", parameter.name),
           fmt::format("write {}: f32[M, N], or {}: f32 for a scalar", parameter.name, parameter.name));
    } else if (const auto type = annotation(parameter.annotation, true)) {
      const auto bad =
          std::ranges::find_if(type->shape, [&](const Dim& d) { return !builder_.facts.positive(d); });
      if (bad != type->shape.end()) {
        fail(parameter.annotation->place,
             fmt::format("the extent {} is not known to be at least 1", bad->text()),
             fmt::format("add: assert {} >= 1", bad->text()));
      } else {
        Attributes at;
        at.name = parameter.name;
        at.dtype = type->dtype;
        at.shape = type->shape;
        const NodeRef node = builder_.make(Op::input, {}, parameter.place, std::move(at));
        value = tensorValue(node);
        if (node) program.parameters.push_back({parameter.name, node});
      }
    }
    if (parameter.name == "np" || parameter.name == "range") {
      fail(parameter.place, fmt::format("{} cannot name a parameter", parameter.name), "use another name");
    }
    scope().variables[parameter.name] = value;
  }
  checkDimensions(function, program);
}

/// The body and the caller see shapes only: every dimension must show in one.
void Lowering::checkDimensions(const Statement& function, const Program& program) {
  for (const FunctionParameter& parameter : function.parameters) {
    if (dimensions_.contains(parameter.name)) {
      fail(parameter.place, fmt::format("{} is a parameter and a dimension", parameter.name),
           "rename one of them");
    }
  }
  for (const std::string& symbol : program.dimensions) {
    if (program.parameters.size() != function.parameters.size() || !readDimension(program, symbol).empty())
      continue;
    fail(function.textPlace,
         fmt::format("the dimension {} cannot be told from the shapes of the parameters", symbol),
         fmt::format("give a parameter an axis of extent {} or a multiple of it", symbol));
    return;
  }
}

void Lowering::results(const Statement& function, Program& program) {
  if (!scope().returned) {
    failWithoutReturn(function);
    return;
  }
  const Value& value = scope().result;
  if (value.poisoned()) return;
  const Statement* const last = scope().returnedBy;
  const std::vector<Value> items = value.is(Value::Kind::tuple) ? value.items : std::vector<Value>{value};
  const bool written = last->value->kind == Expr::Kind::tuple && last->value->children.size() == items.size();
  std::set<std::string> used;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ExprRef expr = written ? last->value->children[i] : last->value;
    if (items[i].poisoned()) {
      if (report_.empty()) fail(expr->place, "this result could not be read", "please report this program");
      continue;
    }
    const NodeRef node = builder_.node(items[i], expr->place);
    if (!node) continue;
    std::string name = expr->kind == Expr::Kind::name && (written || items.size() == 1) ? expr->text
                       : items.size() == 1                                              ? "result"
                                           : fmt::format("result{}", i + 1);
    while (!used.insert(name).second) name += "_";
    program.results.push_back(node);
    program.resultNames.push_back(std::move(name));
  }
  if (items.empty()) fail(last->place, "an empty result", "return at least one tensor");
  if (function.annotation && program.results.size() == items.size()) checkResultType(function, program);
}

void Lowering::checkResultType(const Statement& function, const Program& program) {
  const ExprRef written = function.annotation;
  std::vector<ExprRef> types{written};
  if (written->kind == Expr::Kind::subscript && written->children[0]->kind == Expr::Kind::name &&
      (written->children[0]->text == "tuple" || written->children[0]->text == "Tuple")) {
    types.assign(written->children.begin() + 1, written->children.end());
    if (types.size() == 1 && types[0]->kind == Expr::Kind::tuple) types = types[0]->children;
  } else if (written->kind == Expr::Kind::tuple) {
    types = written->children;
  }
  if (types.size() != program.results.size()) {
    fail(written->place,
         fmt::format("the function returns {} results, {} are announced", program.results.size(),
                     types.size()),
         program.results.size() > 1 ? "write -> tuple[f32[M], f32[N]]" : "");
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto type = annotation(types[i], false);
    if (!type) continue;
    const NodeRef node = program.results[i];
    if (type->dtype != node->dtype) {
      fail(types[i]->place,
           fmt::format("the result is {}, not {}", tensor::typeText(node->dtype, node->shape),
                       builder_.textOf(types[i])),
           fmt::format("convert it with .astype, or write {}", tensor::typeText(node->dtype, node->shape)));
    } else if (!builder_.facts.equal(type->shape, node->shape)) {
      fail(types[i]->place,
           fmt::format("the result is {}, which is not known to be {}",
                       tensor::typeText(node->dtype, node->shape), builder_.textOf(types[i])),
           fmt::format("write {}", tensor::typeText(node->dtype, node->shape)));
    }
  }
}

/// Helpers that nobody calls are checked with unknown arguments: names and syntax, not shapes.
void Lowering::checkUncalledHelpers() {
  for (const auto& [name, function] : helpers_) {
    if (called_.contains(name)) continue;
    Arguments arguments;
    arguments.name = name;
    for (const FunctionParameter& parameter : function->parameters)
      arguments.items.push_back({"", {}, parameter.place});
    callHelper(*function, arguments);
  }
}

void Lowering::checkNumpyImported(const Place& place) {
  if (numpyImported_ || !firstReport("np")) return;
  fail(place, "np is not imported", "add at the top of the file: import numpy as np");
}

}  // namespace nuscope::language
