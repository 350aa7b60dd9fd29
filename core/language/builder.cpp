#include "core/language/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/language/lexer.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;
using tensor::Sort;

namespace {

constexpr std::size_t mostBits = 8192;  ///< of an exact number; the largest literal has about 2700
constexpr std::size_t mostErrors = 200;
// Whoever walks a graph may recurse as deep as it has nodes.
constexpr std::size_t mostNodes = 4000;
constexpr int deepestRetype = 8;

std::size_t bits(const Rational& value) {
  return mpz_sizeinbase(value.get_num_mpz_t(), 2) + mpz_sizeinbase(value.get_den_mpz_t(), 2);
}

Integer floorOf(const Rational& value) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

std::optional<Op> arithmeticOp(std::string_view op) {
  if (op == "+") return Op::add;
  if (op == "-") return Op::subtract;
  if (op == "*") return Op::multiply;
  if (op == "/") return Op::divide;
  if (op == "//") return Op::floorDivide;
  if (op == "%") return Op::modulo;
  return std::nullopt;
}

/// How strongly a value that adopts types insists: 0 condition, 1 integer, 2 real.
int category(const Value& value) {
  switch (value.kind) {
    case Value::Kind::boolean:
      return 0;
    case Value::Kind::dim:
      return 1;
    case Value::Kind::number:
      return value.real || value.infinity != 0 ? 2 : 1;
    default:
      break;
  }
  switch (sort(value.node->dtype)) {
    case Sort::condition:
      return 0;
    case Sort::integer:
      return 1;
    case Sort::real:
      return 2;
  }
  return 2;
}

bool hasType(const Value& value) {
  return value.is(Value::Kind::tensor) || value.is(Value::Kind::number) || value.is(Value::Kind::dim) ||
         value.is(Value::Kind::boolean);
}

}  // namespace

void Report::error(const Place& place, std::string message, std::string hint) {
  if (muted_ > 0) return;
  Diagnostic added{Severity::error, place.range, std::move(message), std::move(hint)};
  const bool known = std::ranges::any_of(
      into_, [&](const Diagnostic& old) { return old.range == added.range && old.message == added.message; });
  if (!known && into_.size() < mostErrors) into_.push_back(std::move(added));
}

std::optional<Dim> asDim(const Value& value) {
  if (value.is(Value::Kind::dim)) return value.dim;
  if (!value.integral() || !value.number.get_num().fits_slong_p()) return std::nullopt;
  return Dim(value.number.get_num().get_si());
}

Value Builder::fail(const Place& place, std::string message, std::string hint) {
  report_.error(place, std::move(message), std::move(hint));
  return {};
}

std::string_view Builder::textOf(const Place& place) const {
  return text_.substr(place.begin, place.end - place.begin);
}

std::string Builder::describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::poison:
      return "a faulty value";
    case Value::Kind::tensor:
      return value.node->shape.empty()
                 ? fmt::format("a scalar {}", tensor::text(value.node->dtype))
                 : fmt::format("a tensor {}", tensor::typeText(value.node->dtype, value.node->shape));
    case Value::Kind::number:
      return value.infinity != 0 ? "infinity" : fmt::format("the number {}", decimalText(value.number));
    case Value::Kind::dim:
      return fmt::format("the extent {}", value.dim.text());
    case Value::Kind::boolean:
      return value.truth ? "True" : "False";
    case Value::Kind::none:
      return "None";
    case Value::Kind::text:
      return "a string";
    case Value::Kind::ellipsis:
      return "...";
    case Value::Kind::tuple:
      return fmt::format("a tuple of {} values", value.items.size());
    case Value::Kind::type:
      return fmt::format("the type {}", tensor::text(value.dtype));
    case Value::Kind::function:
      return fmt::format("the function {}", value.text);
  }
  return "a value";
}

NodeRef Builder::make(Op op, std::vector<NodeRef> operands, const Place& place, Attributes attributes) {
  if (std::ranges::any_of(operands, [](NodeRef n) { return n == nullptr; })) return nullptr;
  try {
    auto made = store_.make(op, std::move(operands), std::move(attributes), facts);
    if (!made) {
      report_.error(place, made.refusal().message, made.refusal().hint);
      return nullptr;
    }
    ranges.try_emplace(*made, place.range);
    if (ranges.size() > mostNodes) {
      if (!full_)
        report_.error(place, fmt::format("the program has more than {} operators", mostNodes),
                      "a kernel has some dozens; let the bounds of loops be dimensions");
      full_ = full_ || !report_.muted();
      return nullptr;
    }
    return *made;
  } catch (const UserError& error) {
    report_.error(place, error.what());
    return nullptr;
  }
}

NodeRef Builder::constant(const Rational& value, DType dtype, const Place& place, int infinity) {
  Attributes at;
  at.value = value;
  at.infinity = infinity;
  at.dtype = dtype;
  return make(Op::constant, {}, place, std::move(at));
}

NodeRef Builder::cast(NodeRef node, DType dtype, const Place& place) {
  if (!node || node->dtype == dtype) return node;
  Attributes at;
  at.dtype = dtype;
  return make(Op::cast, {node}, place, std::move(at));
}

/// A real computed from literals and extents only, computed in another real type instead of cast to it.
NodeRef Builder::retype(NodeRef node, DType dtype, const Place& place, int depth) {
  if (!node || node->dtype == dtype) return node;
  if (!tensor::isReal(dtype) || !tensor::isReal(node->dtype) || depth == 0) return cast(node, dtype, place);
  if (node->op == Op::constant)
    return constant(node->attributes.value, dtype, place, node->attributes.infinity);
  if (node->op == Op::cast)
    return cast(tensor::isReal(node->operands[0]->dtype) ? node : node->operands[0], dtype, place);
  const tensor::OpKind kind = tensor::kind(node->op);
  const bool rebuilds = (kind == tensor::OpKind::elementwise || kind == tensor::OpKind::layout ||
                         kind == tensor::OpKind::reduce || kind == tensor::OpKind::scan) &&
                        node->op != Op::take;
  if (!rebuilds) return cast(node, dtype, place);
  std::vector<NodeRef> operands;
  for (const NodeRef operand : node->operands) {
    operands.push_back(operand->dtype == DType::boolean ? operand : retype(operand, dtype, place, depth - 1));
  }
  return make(node->op, std::move(operands), place, node->attributes);
}

NodeRef Builder::nodeAs(const Value& value, DType dtype, const Place& place) {
  switch (value.kind) {
    case Value::Kind::poison:
      return nullptr;
    case Value::Kind::tensor:
      return value.weak ? retype(value.node, dtype, place, deepestRetype) : cast(value.node, dtype, place);
    case Value::Kind::boolean:
      return constant(value.truth ? 1 : 0, dtype, place);
    case Value::Kind::number:
      if (!tensor::isReal(dtype) && (value.infinity != 0 || value.number.get_den() != 1)) {
        fail(place, fmt::format("{} is no {}", describe(value), tensor::text(dtype)));
        return nullptr;
      }
      return constant(value.number, dtype, place, value.infinity);
    case Value::Kind::dim: {
      if (const auto known = value.dim.constant()) return constant(*known, dtype, place);
      Attributes at;
      at.dtype = DType::i32;
      at.shape = {value.dim};
      return cast(make(Op::dimValue, {}, place, std::move(at)), dtype, place);
    }
    default:
      break;
  }
  fail(place, fmt::format("a tensor or a number is needed here, not {}", describe(value)));
  return nullptr;
}

NodeRef Builder::node(const Value& value, const Place& place) {
  if (value.is(Value::Kind::tensor)) return value.node;
  if (value.is(Value::Kind::boolean)) return nodeAs(value, DType::boolean, place);
  return nodeAs(value, value.integral() ? DType::i32 : DType::f32, place);
}

NodeRef Builder::realNode(const Value& value, const Place& place) {
  if (value.is(Value::Kind::tensor))
    return tensor::isReal(value.node->dtype) ? value.node : cast(value.node, DType::f32, place);
  return nodeAs(value, DType::f32, place);
}

std::optional<DType> Builder::commonType(std::span<const Value* const> values, const Place& place) {
  std::optional<DType> strong;
  int insists = 0;
  bool filled = false;  // np.zeros and the like: f32 unless another operand is wider
  for (const Value* value : values) {
    if (value->poisoned()) return std::nullopt;
    if (!hasType(*value)) {
      fail(place, fmt::format("a tensor or a number is needed here, not {}", describe(*value)));
      return std::nullopt;
    }
    if (weak(*value)) {
      insists = std::max(insists, category(*value));
      filled = filled || (value->is(Value::Kind::tensor) && !value->node->shape.empty() &&
                          tensor::isReal(value->node->dtype));
    } else if (!strong) {
      strong = value->node->dtype;
    } else if (*strong != value->node->dtype) {
      strong = tensor::promote(*strong, value->node->dtype);
    }
  }
  const int have = !strong ? -1 : *strong == DType::boolean ? 0 : tensor::isReal(*strong) ? 2 : 1;
  if (have == 2 && filled) return tensor::promote(*strong, DType::f32);
  if (have >= insists) return strong;
  return insists == 2 ? DType::f32 : insists == 1 ? DType::i32 : DType::boolean;
}

Value Builder::elementwise(Op op, std::span<const Value> operands, const Place& place) {
  std::vector<const Value*> typed;
  for (const Value& operand : operands) typed.push_back(&operand);
  const std::span<const Value* const> branches = std::span(typed).subspan(op == Op::where ? 1 : 0);
  auto type = commonType(branches, place);
  if (!type || (op == Op::where && operands[0].poisoned())) return {};
  if (*type == DType::boolean && op != Op::where) {
    // As in NumPy, a product of conditions is their "and", a sum their "or".
    if (op == Op::multiply || op == Op::minimum) return logical(Op::logicalAnd, operands, place);
    if (op == Op::add || op == Op::maximum) return logical(Op::logicalOr, operands, place);
    return fail(place, fmt::format("{} takes numbers, not conditions", name(op)),
                "convert with .astype(np.float32), or combine conditions by & and |");
  }
  if (op == Op::divide && !tensor::isReal(*type)) type = DType::f32;
  bool allWeak = true;
  std::vector<NodeRef> nodes;
  if (op == Op::where) {
    nodes.push_back(node(operands[0], place));
    allWeak = weak(operands[0]);
  }
  for (const Value* value : branches) {
    nodes.push_back(nodeAs(*value, *type, place));
    allWeak = allWeak && weak(*value);
  }
  return tensorValue(make(op, std::move(nodes), place), allWeak);
}

Value Builder::unary(Op op, const Value& value, const Place& place) {
  if (value.poisoned()) return {};
  if (!hasType(value))
    return fail(place, fmt::format("{} takes a tensor or a number, not {}", name(op), describe(value)));
  if (op == Op::negate) {
    if (value.is(Value::Kind::number)) {
      Value result = value;
      result.number = -value.number;
      result.infinity = -value.infinity;
      return result;
    }
    if (value.is(Value::Kind::dim)) return dimValue(-value.dim);
  }
  const bool keepsIntegers = op == Op::negate || op == Op::abs || op == Op::sign;
  return tensorValue(make(op, {keepsIntegers ? node(value, place) : realNode(value, place)}, place),
                     weak(value));
}

Value Builder::numbers(std::string_view op, const Value& left, const Value& right, const Place& place) {
  const Rational& a = left.number;
  const Rational& b = right.number;
  const bool real = left.real || right.real || op == "/";
  if (b == 0 && (op == "/" || op == "//" || op == "%")) return fail(place, "division by zero");
  Rational result;
  if (op == "+") result = a + b;
  if (op == "-") result = a - b;
  if (op == "*") result = a * b;
  if (op == "/") result = a / b;
  if (op == "//") result = Rational(floorOf(a / b));
  if (op == "%") result = a - b * Rational(floorOf(a / b));
  if (bits(result) > mostBits)
    return fail(place, "the constant has too many digits", "compute it with fewer digits");
  return numberValue(std::move(result), real);
}

Value Builder::dims(std::string_view op, const Dim& left, const Dim& right, const Place& place) {
  try {
    if (op == "+") return dimValue(left + right);
    if (op == "-") return dimValue(left - right);
    if (op == "*") return dimValue(left * right);
    if (!facts.positive(right)) {
      if (right == Dim(0)) return fail(place, "division by zero");
      return fail(place, fmt::format("{} by {}, which is not known to be at least 1", op, right.text()),
                  fmt::format("assert {} >= 1", right.text()));
    }
    return dimValue(op == "//" ? floorDiv(left, right) : modulo(left, right));
  } catch (const UserError& error) {
    return fail(place, error.what());
  }
}

Value Builder::power(const Value& base, const Value& exponent, const Place& place) {
  if (base.poisoned() || exponent.poisoned()) return {};
  if (!exponent.is(Value::Kind::number) || exponent.infinity != 0) {
    return fail(place, "a power needs a constant integer exponent",
                "write x ** 2; for others np.exp(y * np.log(x))");
  }
  const Rational& n = exponent.number;
  if (n == Rational(1, 2)) return fail(place, "a power needs an integer exponent", "write np.sqrt(x)");
  if (n == Rational(-1, 2)) return fail(place, "a power needs an integer exponent", "write 1 / np.sqrt(x)");
  if (n.get_den() != 1)
    return fail(place, "a power needs an integer exponent", "write np.exp(y * np.log(x))");
  if (n < 0)
    return fail(place, "a power needs an exponent >= 0", fmt::format("write 1 / x ** {}", decimalText(-n)));
  if (exponent.real)
    return fail(place, "a power needs an integer exponent", fmt::format("write x ** {}", decimalText(n)));
  if (n > 1000)
    return fail(place, fmt::format("the exponent {} is too large", decimalText(n)), "at most 1000");
  const auto count = static_cast<int>(n.get_num().get_si());
  if (base.is(Value::Kind::number) && base.infinity == 0) {
    if (bits(base.number) * static_cast<std::size_t>(count) > mostBits)
      return fail(place, "the constant has too many digits");
    Rational result(1);
    for (int i = 0; i < count; ++i) result *= base.number;
    return numberValue(result, base.real);
  }
  if (base.is(Value::Kind::dim)) {
    try {
      Dim result(1);
      for (int i = 0; i < count; ++i) result = result * base.dim;
      return dimValue(result);
    } catch (const UserError& error) {
      return fail(place, error.what());
    }
  }
  Attributes at;
  at.index = count;
  return tensorValue(make(Op::power, {node(base, place)}, place, std::move(at)), weak(base));
}

Value Builder::binary(std::string_view op, const Value& left, const Value& right, const Place& place) {
  if (left.poisoned() || right.poisoned()) return {};
  if (op == "**") return power(left, right, place);
  for (const Value* side : {&left, &right}) {
    if (!hasType(*side)) {
      return fail(place, fmt::format("{} of {} and {}", op, describe(left), describe(right)),
                  side->is(Value::Kind::tuple)
                      ? "join tensors by np.concatenate, or name the parts of the tuple"
                      : "");
    }
  }
  if (op == "@") {
    const Value* const both[] = {&left, &right};
    const auto type = commonType(both, place);
    if (!type) return {};
    return tensorValue(make(Op::matmul, {nodeAs(left, *type, place), nodeAs(right, *type, place)}, place),
                       weak(left) && weak(right));
  }
  if (op == "&" || op == "|") {
    const Value operands[] = {left, right};
    return logical(op == "&" ? Op::logicalAnd : Op::logicalOr, operands, place);
  }
  const auto known = [](const Value& v) { return v.is(Value::Kind::number) && v.infinity == 0; };
  if (known(left) && known(right)) return numbers(op, left, right, place);
  if (left.integral() && right.integral() && op != "/") {
    const auto a = asDim(left);
    const auto b = asDim(right);
    if (!a || !b) return fail(place, "an extent expression leaves 64 bits");
    return dims(op, *a, *b, place);
  }
  if (op == "/" && right.is(Value::Kind::number) && right.infinity == 0 && right.number == 0) {
    return fail(place, "division by zero");
  }
  const Value operands[] = {left, right};
  Value result = elementwise(*arithmeticOp(op), operands, place);
  result.python = left.plainPython() && right.plainPython();
  return result;
}

Value Builder::compare(std::string_view op, const Value& left, const Value& right, const Place& place) {
  if (left.poisoned() || right.poisoned()) return {};
  const Value* const both[] = {&left, &right};
  const auto type = commonType(both, place);
  if (!type) return {};
  const Op code = op == "<"    ? Op::less
                  : op == "<=" ? Op::lessEqual
                  : op == ">"  ? Op::greater
                  : op == ">=" ? Op::greaterEqual
                  : op == "==" ? Op::equal
                               : Op::notEqual;
  if (*type == DType::boolean && code != Op::equal && code != Op::notEqual) {
    return fail(place, fmt::format("conditions have no order: {}", op), "compare them by == or !=");
  }
  Value result = tensorValue(make(code, {nodeAs(left, *type, place), nodeAs(right, *type, place)}, place),
                             weak(left) && weak(right));
  result.python = left.plainPython() && right.plainPython();
  return result;
}

Value Builder::logical(Op op, std::span<const Value> operands, const Place& place) {
  std::vector<NodeRef> nodes;
  bool allWeak = true;
  for (const Value& operand : operands) {
    if (operand.poisoned()) return {};
    nodes.push_back(node(operand, place));
    allWeak = allWeak && weak(operand);
    if (nodes.back() && nodes.back()->dtype != DType::boolean) {
      return fail(place, fmt::format("{} takes conditions, not {}", name(op), describe(operand)),
                  "write x != 0");
    }
  }
  return tensorValue(make(op, std::move(nodes), place), allWeak);
}

Value Builder::reduce(Op op, const Value& value, std::vector<int> axes, bool keepDims, const Place& place) {
  if (value.poisoned()) return {};
  NodeRef operand = op == Op::mean ? realNode(value, place) : node(value, place);
  if (!operand) return {};
  if ((op == Op::sum || op == Op::product) &&
      (operand->dtype == DType::boolean || operand->dtype == DType::i8)) {
    operand = cast(operand, DType::i32, place);
  }
  Attributes at;
  at.axes = std::move(axes);
  at.keepDims = keepDims;
  return tensorValue(make(op, {operand}, place, std::move(at)), weak(value));
}

Value Builder::broadcast(const Value& value, const tensor::Shape& shape, const Place& place) {
  const NodeRef operand = node(value, place);
  if (!operand) return {};
  if (shape.empty() && operand->shape.empty()) return tensorValue(operand, weak(value));
  Attributes at;
  at.shape = shape;
  return tensorValue(make(Op::broadcastTo, {operand}, place, std::move(at)), weak(value));
}

}  // namespace nuscope::language
