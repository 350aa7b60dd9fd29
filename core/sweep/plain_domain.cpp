#include "core/sweep/plain_domain.h"

#include <fmt/format.h>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

using semantics::Fold;
using tensor::DType;
using tensor::Op;

std::string startOf(Fold fold, DType type) {
  const bool real = tensor::isReal(type);
  const std::string name = type == DType::i8 ? "signed char" : plainType(type);
  switch (fold) {
    case Fold::sum:
      return "0";
    case Fold::product:
    case Fold::all:
      return "1";
    case Fold::max:
      return real ? "-INFINITY" : fmt::format("std::numeric_limits<{}>::lowest()", name);
    case Fold::min:
      return real ? "INFINITY" : fmt::format("std::numeric_limits<{}>::max()", name);
  }
  return "0";
}

std::string stepOf(Fold fold, const std::string& accumulator, const std::string& value) {
  switch (fold) {
    case Fold::sum:
      return fmt::format("{} += {};", accumulator, value);
    case Fold::product:
      return fmt::format("{} *= {};", accumulator, value);
    case Fold::max:
      return fmt::format("{0} = largest({0}, {1});", accumulator, value);
    case Fold::min:
      return fmt::format("{0} = smallest({0}, {1});", accumulator, value);
    case Fold::all:
      return fmt::format("{0} = {0} && {1};", accumulator, value);
  }
  return {};
}

std::string binary(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::less:
      return "<";
    case Op::lessEqual:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greaterEqual:
      return ">=";
    case Op::equal:
      return "==";
    case Op::notEqual:
      return "!=";
    case Op::logicalAnd:
      return "&&";
    case Op::logicalOr:
      return "||";
    default:
      return {};
  }
}

std::string function(Op op) {
  switch (op) {
    case Op::exp:
      return "std::exp";
    case Op::log:
      return "std::log";
    case Op::sqrt:
      return "std::sqrt";
    case Op::tanh:
      return "std::tanh";
    case Op::sin:
      return "std::sin";
    case Op::cos:
      return "std::cos";
    case Op::abs:
      return "std::abs";
    case Op::floor:
      return "std::floor";
    case Op::rint:
      return "std::nearbyint";
    case Op::sign:
      return "signOf";
    case Op::maximum:
      return "largest";
    case Op::minimum:
      return "smallest";
    case Op::floorDivide:
      return "floorDivide";
    case Op::modulo:
      return "modulo";
    default:
      return {};
  }
}

}  // namespace

std::string CodeBlock::text() const {
  std::string all;
  for (const auto& text : lines_) all += text + "\n";
  return all;
}

std::string plainType(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::i32:
      return "int";
    case DType::i8:
      return "signed char";
    case DType::boolean:
      return "unsigned char";
    default:
      return {};
  }
}

PlainDomain::Int PlainDomain::dim(const tensor::Dim& value) const {
  std::string sum;
  for (const auto& [monomial, coefficient] : value.terms()) {
    std::int64_t known = coefficient;
    std::string factors;
    for (const auto& atom : monomial) {
      if (atom.quotient) {
        factors +=
            fmt::format(" * ({} / {})", dim(atom.quotient->numerator), dim(atom.quotient->denominator));
      } else if (tensor::isCounter(atom.symbol)) {
        factors += " * " + counters_.at(atom.symbol);
      } else if (words_.anyExtents) {
        factors += " * " + dimensionName(atom.symbol);
      } else {
        known *= tensor::Dim::symbol(atom.symbol).evaluate(extents_);
      }
    }
    const bool plain = words_.anyExtents && known == 1 && !factors.empty();  // without "1 * "
    sum += fmt::format("{}{}{}", sum.empty() ? "" : " + ", plain ? "" : std::to_string(known),
                       plain ? factors.substr(3) : factors);
  }
  if (sum.empty()) return "0";
  return sum.find(' ') == std::string::npos ? sum : "(" + sum + ")";
}

PlainDomain::Int PlainDomain::plus(const Int& a, const Int& b) const {
  if (a == "0") return b;
  return b == "0" ? a : fmt::format("({} + {})", a, b);
}
PlainDomain::Int PlainDomain::minus(const Int& a, const Int& b) const {
  return b == "0" ? a : fmt::format("({} - {})", a, b);
}
PlainDomain::Int PlainDomain::times(const Int& a, const Int& b) const {
  if (a == "0" || b == "0") return "0";
  if (a == "1") return b;
  return b == "1" ? a : fmt::format("{} * {}", a, b);
}
PlainDomain::Int PlainDomain::quotient(const Int& a, const Int& b) const {
  return b == "1" ? a : fmt::format("({} / {})", a, b);
}

std::string PlainDomain::flat(const tensor::Shape& shape, Indices index) const {
  std::string position = "0";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    position = plus(times(position, size(shape[axis])), index[axis]);
  }
  return position;
}

PlainDomain::Value PlainDomain::expand(const tensor::Node& node, Indices index) {
  const tensor::Node* outer = std::exchange(current_, &node);
  Value value = semantics::granular(*this, node, index, program_.facts);
  current_ = outer;
  return value;
}

PlainDomain::Value PlainDomain::element(tensor::NodeRef operand, Indices index) {
  const auto found = stored_.find(operand);
  if (found != stored_.end()) return fmt::format("{}[{}]", found->second, flat(operand->shape, index));
  return expand(*operand, index);
}

PlainDomain::Value PlainDomain::constant(const tensor::Node& node) const {
  if (node.attributes.infinity != 0) return node.attributes.infinity < 0 ? "(-INFINITY)" : "INFINITY";
  const double value = node.attributes.value.get_d();
  if (!tensor::isReal(node.dtype)) return fmt::format("{}", static_cast<std::int64_t>(value));
  std::string text = fmt::format("{:.17g}", value);
  const bool narrow = node.dtype == DType::f32 && !words_.wideConstants;
  if (narrow) text = fmt::format("{:.9g}", static_cast<double>(static_cast<float>(value)));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (narrow) text += "f";
  return value < 0 ? "(" + text + ")" : text;
}

PlainDomain::Value PlainDomain::number(const Int& value, DType type) const {
  return fmt::format("({})({})", plainType(type), value);
}

PlainDomain::Int PlainDomain::subscript(const Value& value, const tensor::Dim& extent) const {
  return fmt::format("inside({}, {})", value, dim(extent));
}

PlainDomain::Value PlainDomain::apply(Op op, std::span<const Value> values, const tensor::Node& node) const {
  if (const std::string infix = binary(op); !infix.empty())
    return fmt::format("({} {} {})", values[0], infix, values[1]);
  if (op == Op::negate) return fmt::format("(-{})", values[0]);
  if (op == Op::logicalNot) return fmt::format("(!{})", values[0]);
  if (op == Op::cast) {
    if (node.dtype == DType::boolean) return fmt::format("({} != 0)", values[0]);
    return fmt::format("({})({})", plainType(node.dtype), values[0]);
  }
  if (op == Op::power) return fmt::format("power<{}>({})", node.attributes.index, values[0]);
  const std::string name = function(op);
  if (name.empty()) throw InternalError(fmt::format("plain loops cannot print {}", tensor::name(op)));
  return values.size() == 1 ? fmt::format("{}({})", name, values[0])
                            : fmt::format("{}({}, {})", name, values[0], values[1]);
}

PlainDomain::Value PlainDomain::choose(const Value& condition, const std::function<Value()>& then,
                                       const std::function<Value()>& otherwise) {
  CodeBlock* const outer = block_;
  CodeBlock thenBlock;
  CodeBlock elseBlock;
  block_ = &thenBlock;
  const Value thenValue = then();
  block_ = &elseBlock;
  const Value elseValue = otherwise();
  block_ = outer;
  if (thenBlock.empty() && elseBlock.empty())
    return fmt::format("({} ? {} : {})", condition, thenValue, elseValue);
  const std::string chosen = fresh("c");
  block_->line(fmt::format("{} {};", plainType(current_->dtype), chosen));
  block_->open(fmt::format("if ({})", condition));
  block_->append(thenBlock);
  block_->line(fmt::format("{} = {};", chosen, thenValue));
  block_->close();
  block_->open("else");
  block_->append(elseBlock);
  block_->line(fmt::format("{} = {};", chosen, elseValue));
  block_->close();
  return chosen;
}

PlainDomain::Value PlainDomain::foldUntil(Fold fold, const std::string& end,
                                          const std::function<Value(const Int&)>& body) {
  const std::string accumulator = fresh("s");
  const std::string k = fresh("k");
  block_->line(
      fmt::format("{} {} = {};", plainType(current_->dtype), accumulator, startOf(fold, current_->dtype)));
  block_->open(fmt::format("for (long {0} = 0; {0} < {1}; ++{0})", k, end));
  const Value value = body(k);
  block_->line(stepOf(fold, accumulator, value));
  block_->close();
  return accumulator;
}

PlainDomain::Value PlainDomain::fold(Fold fold, const tensor::Dim& extent,
                                     const std::function<Value(const Int&)>& body) {
  return foldUntil(fold, dim(extent), body);
}

PlainDomain::Value PlainDomain::prefixFold(Fold fold, const Int& last, const tensor::Dim& /*extent*/,
                                           const std::function<Value(const Int&)>& body) {
  return foldUntil(fold, fmt::format("{} + 1", last), body);
}

PlainDomain::Value PlainDomain::leaf(tensor::NodeRef node, Indices /*index*/) {
  throw InternalError(fmt::format("plain loops: {} is not stored", tensor::describe(node)));
}

PlainDomain::Value PlainDomain::loopResult(tensor::NodeRef node, Indices /*index*/) {
  throw InternalError(fmt::format("plain loops: {} is not stored", tensor::describe(node)));
}

}  // namespace nuscope::sweep
