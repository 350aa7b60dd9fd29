#include "core/propagate/words.h"

#include <fmt/format.h>

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using tensor::Program;

std::string_view infix(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floorDivide:
      return "//";
    case Op::modulo:
      return "%";
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
    case Op::matmul:
      return "@";
    default:
      return "";
  }
}

/// Views of a tensor go by the tensor's name.
bool isTransparent(Op op) {
  return op == Op::expandDims || op == Op::squeeze || op == Op::broadcastTo || op == Op::reshape ||
         op == Op::cast;
}

std::string leafText(NodeRef node) {
  const auto& at = node->attributes;
  switch (node->op) {
    case Op::constant:
      if (at.infinity != 0) return at.infinity < 0 ? "-inf" : "inf";
      return decimalText(at.value);
    case Op::dimValue:
      return at.shape[0].text();
    case Op::arange:
      return "arange";
    default:
      return at.name;
  }
}

std::string formula(const Program& program, NodeRef node, int depth) {
  if (tensor::kind(node->op) == OpKind::leaf) return leafText(node);
  if (const auto named = program.variables.find(node); named != program.variables.end()) return named->second;
  if (node->op == Op::loopResult) return "the loop";
  if (isTransparent(node->op)) return formula(program, node->operands[0], depth);
  if (depth == 0) return std::string(tensor::name(node->op)) + "(..)";
  const auto operand = [&](std::size_t i) { return formula(program, node->operands[i], depth - 1); };
  if (const auto sign = infix(node->op); !sign.empty()) {
    const auto side = [&](std::size_t i) {
      NodeRef inner = node->operands[i];
      while (isTransparent(inner->op)) inner = inner->operands[0];
      const bool plain = infix(inner->op).empty() || program.variables.contains(inner);
      return plain ? operand(i) : "(" + operand(i) + ")";
    };
    return fmt::format("{} {} {}", side(0), sign, side(1));
  }
  if (node->op == Op::transpose) return operand(0) + ".T";
  std::string operands;
  for (std::size_t i = 0; i < node->operands.size(); ++i) operands += (i == 0 ? "" : ", ") + operand(i);
  return fmt::format("{}({})", tensor::name(node->op), operands);
}

std::string axesText(NodeRef node) {
  std::string text = node->attributes.axes.size() == 1 ? "axis " : "axes ";
  for (std::size_t i = 0; i < node->attributes.axes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(node->attributes.axes[i]);
  }
  return text;
}

}  // namespace

std::string shortText(const Program& program, NodeRef node, std::size_t limit) {
  for (int depth = 4; depth > 0; --depth) {
    std::string text = formula(program, node, depth);
    if (text.size() <= limit) return text;
  }
  return formula(program, node, 0);
}

std::string actionText(const Program& program, NodeRef node, std::size_t kept) {
  const auto other = [&] { return shortText(program, node->operands[1 - kept]); };
  switch (tensor::kind(node->op)) {
    case OpKind::elementwise:
      if (node->operands.size() != 2) return std::string(tensor::name(node->op));
      switch (node->op) {
        case Op::add:
          return "add " + other();
        case Op::subtract:
          return kept == 0 ? "subtract " + other() : "subtract from " + other();
        case Op::multiply:
          return "multiply by " + other();
        case Op::divide:
          return kept == 0 ? "divide by " + other() : "divide " + other() + " by it";
        default:
          return fmt::format("{} with {}", tensor::name(node->op), other());
      }
    case OpKind::reduce:
    case OpKind::scan:
      return fmt::format("{} over {}", tensor::name(node->op), axesText(node));
    case OpKind::contract:
      return node->operands.size() == 2 ? fmt::format("{} with {}", tensor::name(node->op), other())
                                        : std::string(tensor::name(node->op));
    default:
      return std::string(tensor::name(node->op));
  }
}

}  // namespace nuscope::propagate
