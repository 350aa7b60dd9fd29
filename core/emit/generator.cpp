#include "core/emit/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nuscope::emit {

using semantics::Fold;

std::string FileContext::nameOf(NodeRef node) const {
  const auto found = program->variables.find(node);
  if (found != program->variables.end()) return identifier(found->second);
  if (node->op == Op::input) return identifier(node->attributes.name);
  switch (node->op) {
    case Op::matmul:
    case Op::einsum:
      return "product";
    case Op::add:
      return "sum";
    case Op::subtract:
      return "difference";
    case Op::multiply:
      return "scaled";
    case Op::divide:
      return "quotient";
    case Op::maximum:
      return "larger";
    case Op::minimum:
      return "smaller";
    case Op::exp:
      return "power";
    case Op::sum:
      return "total";
    case Op::max:
      return "largest";
    case Op::min:
      return "smallest";
    case Op::sqrt:
      return "root";
    case Op::negate:
      return "negative";
    case Op::where:
      return "chosen";
    default:
      break;
  }
  if (tensor::isComparison(node->op)) return "mask";
  return std::string(tensor::name(node->op));
}

Generator::Generator(FileContext& file, bool vectors) : file_(file), vectors_(vectors), names_(file.globals) {
  frames_.emplace_back();
  for (const auto& [symbol, field] : file.counters) {
    const Extent extent = file.concrete->loopExtents().at(symbol);
    counters_[symbol] = Affine::atom(space_.variable("data." + field, {0, extent - 1}, 0));
  }
}

// ------------------------------------------------------------------------------------------------------------
// frames

void Generator::push(bool branch) {
  frames_.emplace_back();
  frames_.back().branch = branch;
}

std::vector<Line> Generator::popLines() {
  std::vector<Line> lines = std::move(frames_.back().lines);
  frames_.pop_back();
  return lines;
}

void Generator::append(const std::vector<Line>& lines, int indent) {
  for (const Line& line : lines)
    frames_.back().lines.push_back({line.text, line.indent + indent, line.nodes});
}

void Generator::pop(const std::string& header, const std::string& footer, const std::vector<NodeRef>& nodes) {
  const std::vector<Line> lines = popLines();
  add(header, nodes);
  append(lines);
  if (!footer.empty()) add(footer);
}

void Generator::add(const std::string& text, const std::vector<NodeRef>& nodes) {
  frames_.back().lines.push_back({text, 0, nodes});
}

void Generator::addAt(int depth, const std::string& text, const std::vector<NodeRef>& nodes) {
  frames_[static_cast<std::size_t>(depth)].lines.push_back({text, 0, nodes});
}

int Generator::placeOf(int depth) const {
  for (int i = static_cast<int>(frames_.size()) - 1; i > depth; --i) {
    if (frames_[static_cast<std::size_t>(i)].branch) return i;
  }
  return depth;
}

Affine Generator::variable(const std::string& text, Extent from, Extent to) {
  if (to - from == 1) return from;
  return Affine::atom(space_.variable(text, {from, to - 1}, depth()));
}

Affine Generator::laneVariable(const std::string& text, Extent from, Extent to) {
  return Affine::atom(space_.variable(text, {from, to - 1}, depth(), vectors_));
}

// ------------------------------------------------------------------------------------------------------------
// arrays

std::string Generator::use(int array) {
  used_[array];
  return file_.arrays[static_cast<std::size_t>(array)].name;
}

std::string Generator::useWritten(int array) {
  used_[array] = true;
  return file_.arrays[static_cast<std::size_t>(array)].name;
}

Affine Generator::position(int array, const Affine& flat) const {
  const Array& one = file_.arrays[static_cast<std::size_t>(array)];
  return one.strip ? flat - stripBegin_ * one.width() : flat;
}

Value Generator::loadStored(NodeRef node, std::span<const Int> index) {
  const auto found = file_.arrayOf.find(node);
  if (found == file_.arrayOf.end()) throw InternalError("emit: no array for " + tensor::describe(node));
  const Array& array = file_.arrays[static_cast<std::size_t>(found->second)];
  const Affine at =
      position(found->second, fusion::flatten(std::vector<Affine>(index.begin(), index.end()), array.shape));
  const std::string name = use(found->second);
  const int place = space_.depth(at);
  if (!space_.lanes(at)) {
    // The whole element; scalars of arguments are elements too.
    std::string text = fmt::format("{}[{}]", name, space_.text(at));
    if (array.dtype == DType::boolean) text += " != 0";
    return define(text, array.dtype, false, place, node);
  }
  Affine base;
  Affine lane;
  base.constant = at.constant;
  bool contiguous = true;
  for (const auto& [id, coefficient] : at.terms) {
    const bool moves = space_.atom(id).lanes;
    (moves ? lane : base).terms[id] = coefficient;
    if (moves)
      contiguous = contiguous && coefficient == 1 && space_.atom(id).kind == fusion::Atom::Kind::variable;
  }
  contiguous = contiguous && lane.terms.size() == 1;
  if (contiguous && onLoad) onLoad(found->second, at);
  if (contiguous)
    return define(fmt::format("load({} + {}, lanes)", name, space_.text(at)), array.dtype, true, place, node);
  if (fusion::countOf(array.shape) >= (std::int64_t{1} << 31))
    throw NeedsScalars{"the tensor has 2^31 elements or more"};
  const std::string from = base == Affine() ? name : fmt::format("{} + {}", name, space_.text(base));
  return define(fmt::format("gather({}, {}, lanes)", from, space_.vectorText(lane)), array.dtype, true, place,
                node);
}

void Generator::store(int array, const Affine& at, const Value& value, NodeRef node) {
  const Array& one = file_.arrays[static_cast<std::size_t>(array)];
  const std::string name = useWritten(array);
  const Affine where = position(array, at);
  if (value.vector ||
      space_.lanes(where)) {  // an axis of extent 1 has no position, but its value may be a vector
    const char* const how =
        one.stream && value.vector && value.dtype != DType::boolean ? "storePast" : "store";
    add(fmt::format("{}({} + {}, {}, lanes);", how, name, space_.text(where), splatText(value)), {node});
  } else {
    add(fmt::format("{}[{}] = {};", name, space_.text(where), value.text), {node});
  }
}

// ------------------------------------------------------------------------------------------------------------
// values

Value Generator::define(const std::string& expression, DType dtype, bool vector, int depth, NodeRef node) {
  const int place = placeOf(depth);
  const std::string name = names_.fresh(node != nullptr ? file_.nameOf(node) : "t");
  const std::string_view type = vector ? vectorType(dtype) : scalarType(dtype);
  addAt(place, fmt::format("const {} {} = {};", type, name, expression),
        node != nullptr ? std::vector{node} : std::vector<NodeRef>{});
  return {name, vector, dtype, place, false};
}

void Generator::remember(NodeRef node, const std::vector<Affine>& index, const Value& value) {
  if (value.literal) return;
  int place = value.depth;
  for (const Affine& one : index) place = std::max(place, space_.depth(one));
  frames_[static_cast<std::size_t>(std::max(value.depth, placeOf(value.depth)))].known[{node, index}] = value;
  static_cast<void>(place);
}

Value Generator::element(NodeRef node, std::span<const Int> index) {
  const std::vector<Affine> at(index.begin(), index.end());
  const auto row = rowValues.find(node);
  if (row != rowValues.end()) return row->second;
  for (std::size_t i = frames_.size(); i-- > 0;) {
    const auto known = frames_[i].known.find({node, at});
    if (known != frames_[i].known.end()) return known->second;
  }
  if (override) {
    if (auto given = override(node, index)) return *given;
  }
  const Value value = file_.arrayOf.contains(node)
                          ? loadStored(node, index)
                          : semantics::granular(*this, *node, index, file_.concrete->facts());
  remember(node, at, value);
  return value;
}

Value Generator::compute(NodeRef node, const std::vector<Affine>& index) {
  const FoldHook hook = std::move(foldHook);
  foldHook = nullptr;
  if (!hook) {
    for (std::size_t i = frames_.size(); i-- > 0;) {
      const auto known = frames_[i].known.find({node, index});
      if (known != frames_[i].known.end()) return known->second;
    }
  }
  foldHook = hook;
  const Value value = semantics::granular(*this, *node, std::span<const Int>(index), file_.concrete->facts());
  foldHook = nullptr;
  if (!hook) remember(node, index, value);
  return value;
}

std::string Generator::splatText(const Value& value) const {
  if (value.vector) return value.text;
  static_cast<void>(vectorType(value.dtype));  // there is one
  return fmt::format("{}({})", value.dtype == DType::boolean ? "splatMask" : "splat", value.text);
}

Value Generator::asVector(const Value& value) {
  if (value.vector) return value;
  return {splatText(value), true, value.dtype, value.depth, false};
}

std::string Generator::literal(const Rational& value, DType dtype) {
  if (dtype == DType::boolean) return value == 0 ? "false" : "true";
  if (tensor::sort(dtype) == tensor::Sort::integer) {
    const mpz_class whole = value.get_num() / value.get_den();
    if (whole == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
    if (!whole.fits_sint_p())
      throw fusion::Refused{{fmt::format("the constant {} does not fit i32", whole.get_str()), ""}};
    return whole.get_str();
  }
  const double number = value.get_d();
  const bool single = dtype != DType::f64;
  if (single && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max()))
    return number > 0 ? "infinity" : "-infinity";
  std::string text = single ? fmt::format("{:.9g}", static_cast<double>(static_cast<float>(number)))
                            : fmt::format("{:.17g}", number);
  if (single) {  // the shortest text that reads back
    for (int digits = 1; digits < 9; ++digits) {
      const std::string shorter = fmt::format("{:.{}g}", number, digits);
      if (std::strtof(shorter.c_str(), nullptr) == static_cast<float>(number)) {
        text = shorter;
        break;
      }
    }
  }
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

Value Generator::constant(const tensor::Node& node) {
  const auto& at = node.attributes;
  if (at.infinity != 0) return {at.infinity < 0 ? "-infinity" : "infinity", false, node.dtype, 0, true};
  return {literal(at.value, node.dtype), false, node.dtype, 0, true};
}

Value Generator::number(const Int& value, DType dtype) {
  if (value.isConstant())
    return {literal(Rational(mpz_class(std::to_string(value.constant))), dtype), false, dtype, 0, true};
  if (!space_.lanes(value)) {
    const std::string text = space_.text(value);
    if (dtype == DType::boolean)
      return {fmt::format("({} != 0)", text), false, dtype, space_.depth(value), true};
    return {fmt::format("{}({})", scalarType(dtype), text), false, dtype, space_.depth(value), true};
  }
  const std::string lanes = space_.vectorText(value);
  const std::string text = dtype == DType::f32       ? fmt::format("toF({})", lanes)
                           : dtype == DType::boolean ? fmt::format("({}) != 0", lanes)
                                                     : lanes;
  return define(text, dtype, true, space_.depth(value), nullptr);
}

Affine Generator::quotient(const Int& a, const Int& b) {
  if (!b.isConstant() || b.constant <= 0)
    throw fusion::Refused{{"an index is divided by something that changes in the loop", ""}};
  return space_.quotient(a, b.constant);
}

Affine Generator::subscript(const Value& value, const tensor::Dim& extent) {
  const Extent count = file_.concrete->value(extent);
  const int place = placeOf(value.depth);
  const std::string name = names_.fresh("at");
  addAt(place, fmt::format("const {} {} = clampIndex({}, {});", value.vector ? "I" : "long", name, value.text,
                           count));
  return Affine::atom(space_.value(name, {0, count - 1}, place, value.vector));
}

std::string Generator::operandText(const Value& value, bool vector) const {
  // Conditions have no mixed operators; numbers do.
  return vector && !value.vector && value.dtype == DType::boolean ? splatText(value) : value.text;
}

std::string Generator::castText(const Value& value, DType to, bool vector) const {
  const std::string& x = value.text;
  if (!vector) {
    if (to == DType::boolean) return fmt::format("{} != 0", x);
    return fmt::format("{}({})", scalarType(to), x);
  }
  if (value.dtype == DType::boolean) {
    if (to == DType::boolean) return x;
    return to == DType::f32 ? fmt::format("select({}, splat(1.0f), splat(0.0f))", x)
                            : fmt::format("{} & 1", x);
  }
  if (to == DType::boolean) return fmt::format("{} != {}", x, value.dtype == DType::f32 ? "0.0f" : "0");
  if (to == value.dtype) return x;
  return fmt::format("{}({})", to == DType::f32 ? "toF" : "toI", x);
}

std::string Generator::expression(Op op, std::span<const Value> values, const tensor::Node& node,
                                  bool vector) const {
  const std::string a = values.empty() ? "" : operandText(values[0], vector);
  const std::string b = values.size() < 2 ? "" : operandText(values[1], vector);
  const auto call = [&](std::string_view function) {
    std::string text = fmt::format("{}(", function);
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += (i > 0 ? ", " : "") + (vector ? splatText(values[i]) : values[i].text);
    }
    return text + ")";
  };
  const auto infix = [&](std::string_view sign) { return fmt::format("{} {} {}", a, sign, b); };
  switch (op) {
    case Op::negate:
      return "-" + (values[0].literal ? "(" + a + ")" : a);
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
    case Op::abs:
    case Op::sign:
    case Op::floor:
    case Op::rint:
      return call(tensor::name(op));
    case Op::logicalNot:
      return (vector ? "~" : "!") + a;
    case Op::cast:
      return castText(values[0], node.dtype, vector);
    case Op::power:
      return call(fmt::format("power<{}>", node.attributes.index));
    case Op::add:
      return infix("+");
    case Op::subtract:
      return infix("-");
    case Op::multiply:
      return infix("*");
    case Op::divide:
      return infix("/");
    case Op::floorDivide:
      return call("floorDivide");
    case Op::modulo:
      return call("floorModulo");
    case Op::maximum:
      return call("max");
    case Op::minimum:
      return call("min");
    case Op::less:
      return infix("<");
    case Op::lessEqual:
      return infix("<=");
    case Op::greater:
      return infix(">");
    case Op::greaterEqual:
      return infix(">=");
    case Op::equal:
      return infix("==");
    case Op::notEqual:
      return infix("!=");
    case Op::logicalAnd:
      return infix(vector ? "&" : "&&");
    case Op::logicalOr:
      return infix(vector ? "|" : "||");
    default:
      throw InternalError(fmt::format("emit: no text for {}", tensor::name(op)));
  }
}

Value Generator::apply(Op op, std::span<const Value> values, const tensor::Node& node) {
  bool vector = false;
  int place = 0;
  for (const Value& value : values) {
    vector = vector || value.vector;
    place = std::max(place, value.depth);
  }
  if (op == Op::divide && values[0].vector && !values[1].vector && !values[1].literal &&
      node.dtype == DType::f32) {
    // All lanes by one divisor: one division, then products. Costs half a unit in the last place.
    return define(fmt::format("{} * {}", values[0].text, inverseOf(values[1]).text), node.dtype, true, place,
                  &node);
  }
  return define(expression(op, values, node, vector), node.dtype, vector, place, &node);
}

Value Generator::inverseOf(const Value& divisor) {
  for (std::size_t i = frames_.size(); i-- > 0;) {
    const auto known = frames_[i].inverses.find(divisor.text);
    if (known != frames_[i].inverses.end()) return known->second;
  }
  const int place = placeOf(divisor.depth);
  const std::string name = names_.fresh("per_" + divisor.text);
  addAt(place, fmt::format("const float {} = 1.0f / {};", name, divisor.text));
  const Value inverse{name, false, DType::f32, place, false};
  frames_[static_cast<std::size_t>(place)].inverses[divisor.text] = inverse;
  return inverse;
}

Value Generator::select(const Value& condition, const Value& yes, const Value& no) {
  const bool vector = condition.vector || yes.vector || no.vector;
  const int place = std::max({condition.depth, yes.depth, no.depth});
  if (!vector)
    return define(fmt::format("{} ? {} : {}", condition.text, yes.text, no.text), yes.dtype, false, place,
                  nullptr);
  const std::string text =
      condition.vector ? fmt::format("select({}, {}, {})", condition.text, splatText(yes), splatText(no))
                       : fmt::format("{} ? {} : {}", condition.text, splatText(yes), splatText(no));
  return define(text, yes.dtype, true, place, nullptr);
}

Value Generator::branch(const Int& a, const Int& b, const std::function<Value()>& then,
                        const std::function<Value()>& otherwise) {
  const Affine distance = a - b;
  if (space_.lanes(distance)) {
    // a < b changes at one lane if the lane's variable stands alone.
    if (distance.terms.size() == 1 && distance.terms.begin()->second == 1 &&
        space_.atom(distance.terms.begin()->first).kind == fusion::Atom::Kind::variable) {
      throw NeedsSplit{-distance.constant};
    }
    throw NeedsScalars{"a concatenation's seam is not at a fixed lane"};
  }
  push(true);
  const Value yes = then();
  const auto yesLines = popLines();
  push(true);
  const Value no = otherwise();
  const auto noLines = popLines();
  const bool vector = yes.vector || no.vector;
  const std::string name = names_.fresh("piece");
  add(fmt::format("{} {};", vector ? vectorType(yes.dtype) : scalarType(yes.dtype), name));
  add(fmt::format("if ({} < {}) {{", space_.text(a), space_.text(b)));
  append(yesLines);
  append({{fmt::format("{} = {};", name, vector ? splatText(yes) : yes.text), 0, {}}});
  add("} else {");
  append(noLines);
  append({{fmt::format("{} = {};", name, vector ? splatText(no) : no.text), 0, {}}});
  add("}");
  return {name, vector, yes.dtype, depth(), false};
}

std::string Generator::identity(Fold fold, DType dtype) {
  const bool real = tensor::isReal(dtype);
  switch (fold) {
    case Fold::sum:
      return dtype == DType::f64 ? "0.0" : real ? "0.0f" : "0";
    case Fold::product:
      return dtype == DType::f64 ? "1.0" : real ? "1.0f" : "1";
    case Fold::max:
      return real ? "-infinity" : dtype == DType::i8 ? "-128" : "(-2147483647 - 1)";
    case Fold::min:
      return real ? "infinity" : dtype == DType::i8 ? "127" : "2147483647";
    case Fold::all:
      return "true";
  }
  throw InternalError("a fold without an identity");
}

std::string Generator::combine(Fold fold, const Value& a, const Value& b) const {
  const bool vector = a.vector || b.vector;
  const std::string x = vector ? splatText(a) : a.text;
  const std::string y = vector ? splatText(b) : b.text;
  const std::string cast = !vector && a.dtype == DType::i8 ? "(signed char)" : "";
  switch (fold) {
    case Fold::sum:
      return cast.empty() ? fmt::format("{} + {}", x, y) : fmt::format("{}({} + {})", cast, x, y);
    case Fold::product:
      return cast.empty() ? fmt::format("{} * {}", x, y) : fmt::format("{}({} * {})", cast, x, y);
    case Fold::max:
      return fmt::format("{}max({}, {})", cast, x, y);
    case Fold::min:
      return fmt::format("{}min({}, {})", cast, x, y);
    case Fold::all:
      return vector ? fmt::format("{} & {}", x, y) : fmt::format("{} && {}", x, y);
  }
  throw InternalError("a fold without an operator");
}

Value Generator::plainFold(Fold fold, const Affine& extent, const std::function<Value(const Int&)>& body) {
  push();
  const std::string k = names_.fresh("k1");
  const Affine counter =
      Affine::atom(space_.variable(k, {0, std::max<Extent>(0, space_.range(extent).most - 1)}, depth()));
  const Value inner = body(counter);
  const auto lines = popLines();
  const std::string name = names_.fresh("folded");
  const DType dtype = inner.dtype;
  const std::string start = identity(fold, dtype);
  const Value accumulator{name, inner.vector, dtype, depth(), false};
  const std::string first =
      !inner.vector ? start : fmt::format("{}({})", dtype == DType::boolean ? "splatMask" : "splat", start);
  add(fmt::format("{} {} = {};", inner.vector ? vectorType(dtype) : scalarType(dtype), name, first));
  add(fmt::format("for (long {} = 0; {} < {}; ++{}) {{", k, k, space_.text(extent), k));
  append(lines);
  append({{fmt::format("{} = {};", name, combine(fold, accumulator, inner)), 0, {}}});
  add("}");
  return accumulator;
}

}  // namespace nuscope::emit
