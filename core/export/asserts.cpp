#include "core/export/asserts.h"

#include <fmt/format.h>

#include "core/base/diagnostics.h"

namespace nuscope::exporting {
namespace {

using tensor::DType;
using tensor::isComparison;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

/// The constant below layouts that only repeat it; null for anything else.
NodeRef constantBelow(NodeRef node) {
  while (node->op == Op::broadcastTo || node->op == Op::reshape || node->op == Op::expandDims)
    node = node->operands[0];
  return node->op == Op::constant ? node : nullptr;
}

bool isExactly(const Rational& value, double number) {
  return Rational(number) == value;
}

std::string whyRounded(NodeRef node);

/// A constant that elements are compared with: no element lies between it and the nearest double.
std::string whyBoundRounded(NodeRef node, NodeRef constant) {
  const double nearest = constant->attributes.value.get_d();
  if (constant->attributes.infinity != 0 || isExactly(constant->attributes.value, nearest)) return {};
  const bool narrow =
      node->dtype == DType::f32 && static_cast<double>(static_cast<float>(nearest)) != nearest;
  return narrow ? "" : fmt::format("{} is not a number of the type that it is compared in", nearest);
}

std::string whyLeafRounded(NodeRef node) {
  if (node->op == Op::input) return {};
  if (node->op == Op::constant) {
    const double nearest = node->attributes.value.get_d();
    const bool exact =
        node->attributes.infinity != 0 ||
        (isExactly(node->attributes.value, nearest) &&
         (node->dtype != DType::f32 || static_cast<double>(static_cast<float>(nearest)) == nearest));
    return exact ? "" : fmt::format("the constant {} is rounded", nearest);
  }
  return tensor::isReal(node->dtype) ? "an extent is rounded to a real type" : "";
}

std::string whyElementwiseRounded(NodeRef node) {
  const bool integer = tensor::sort(node->dtype) == tensor::Sort::integer;
  switch (node->op) {
    case Op::maximum:
    case Op::minimum:
    case Op::where:
    case Op::logicalAnd:
    case Op::logicalOr:
    case Op::logicalNot:
    case Op::sign:
      return {};
    case Op::abs:
    case Op::negate:
      return integer ? "integers may overflow" : "";
    case Op::cast: {
      const DType from = node->operands[0]->dtype;
      const bool exact = from == DType::boolean || (node->dtype == DType::f64 && from != DType::f64) ||
                         (from == DType::i8 && node->dtype != DType::boolean);
      return exact ? "" : "a cast may round";
    }
    default:
      return isComparison(node->op) ? "" : fmt::format("{} rounds or may overflow", tensor::name(node->op));
  }
}

/// Empty: every value at and below the node is exact. Else which is not, in words.
std::string whyRounded(NodeRef node) {
  std::string own;
  switch (tensor::kind(node->op)) {
    case OpKind::leaf:
      return whyLeafRounded(node);
    case OpKind::elementwise:
      own = whyElementwiseRounded(node);
      break;
    case OpKind::reduce:
      if (node->op != Op::max && node->op != Op::min && node->op != Op::all)
        own = fmt::format("{} rounds", tensor::name(node->op));
      break;
    case OpKind::layout:
      if (node->op == Op::take) own = "it looks elements up";
      break;
    default:
      own = fmt::format("{} rounds", tensor::name(node->op));
  }
  for (std::size_t i = 0; own.empty() && i < node->operands.size(); ++i) {
    const NodeRef constant = isComparison(node->op) ? constantBelow(node->operands[i]) : nullptr;
    own = constant != nullptr ? whyBoundRounded(node->operands[1 - i], constant)
                              : whyRounded(node->operands[i]);
  }
  return own;
}

}  // namespace

Asserts assertsOf(const tensor::Program& program, const tensor::Extents& typical,
                  const std::string& function) {
  Asserts asserts;
  tensor::Program conditions = program;
  conditions.results.clear();
  conditions.resultNames.clear();
  for (const tensor::Precondition& one : program.preconditions) {
    AssertLine line{one.text, AssertLine::When::extents, ""};
    if (!one.dims) {
      line.why = one.condition == nullptr ? "it has no meaning for the prover" : whyRounded(one.condition);
      line.when = line.why.empty() ? AssertLine::When::call : AssertLine::When::never;
      if (line.why.empty()) {
        conditions.results.push_back(one.condition);
        conditions.resultNames.push_back(fmt::format("holds{}", conditions.results.size()));
      }
    }
    asserts.lines.push_back(std::move(line));
  }
  if (conditions.results.empty()) return asserts;
  sweep::PlainOptions options;
  options.anyExtents = true;
  options.wideConstants = true;
  options.function = function;
  auto code = sweep::emitPlain(conditions, typical, options);
  if (code) {
    asserts.decided = static_cast<int>(conditions.results.size());
    asserts.code = std::move(code).value();
    return asserts;
  }
  for (AssertLine& line : asserts.lines) {
    if (line.when == AssertLine::When::call)
      line = {line.text, AssertLine::When::never, code.refusal().message};
  }
  return asserts;
}

}  // namespace nuscope::exporting
