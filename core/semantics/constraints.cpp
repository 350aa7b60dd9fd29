#include "core/semantics/constraints.h"

#include <algorithm>

namespace nuscope::semantics {
namespace {

using tensor::NodeRef;
using tensor::Op;

/// Through what does not change values: casts between numbers, layouts that only repeat or rename axes.
NodeRef stripped(NodeRef node) {
  while (node->op == Op::cast || node->op == Op::broadcastTo || node->op == Op::expandDims ||
         node->op == Op::squeeze || node->op == Op::reshape) {
    if (node->op == Op::cast && tensor::sort(node->dtype) == tensor::Sort::integer &&
        tensor::isReal(node->operands[0]->dtype)) {
      break;  // truncates
    }
    node = node->operands[0];
  }
  return node;
}

std::optional<double> constantOf(NodeRef node, const tensor::Extents& extents) {
  node = stripped(node);
  if (node->op == Op::constant && node->attributes.infinity == 0) return node->attributes.value.get_d();
  if (node->op == Op::dimValue) return static_cast<double>(node->attributes.shape[0].evaluate(extents));
  if (node->op == Op::negate) {
    const auto value = constantOf(node->operands[0], extents);
    if (value) return -*value;
  }
  return std::nullopt;
}

std::optional<std::string> inputOf(NodeRef node) {
  node = stripped(node);
  return node->op == Op::input ? std::optional(node->attributes.name) : std::nullopt;
}

Op mirrored(Op op) {
  switch (op) {
    case Op::less:
      return Op::greater;
    case Op::lessEqual:
      return Op::greaterEqual;
    case Op::greater:
      return Op::less;
    case Op::greaterEqual:
      return Op::lessEqual;
    default:
      return op;
  }
}

class Collector {
 public:
  Collector(const tensor::Extents& extents, InputConstraints& into) : extents_(extents), into_(into) {}

  void condition(NodeRef node) {
    while (node->op == Op::all || node->op == Op::broadcastTo) node = node->operands[0];
    if (node->op == Op::logicalAnd) {
      condition(node->operands[0]);
      condition(node->operands[1]);
    } else if (tensor::isComparison(node->op)) {
      comparison(node->op, node->operands[0], node->operands[1]);
    }
  }

 private:
  void comparison(Op op, NodeRef left, NodeRef right) {
    if (constantOf(left, extents_) && !constantOf(right, extents_)) {
      std::swap(left, right);
      op = mirrored(op);
    }
    if (const auto constant = constantOf(right, extents_)) {
      againstConstant(op, stripped(left), *constant);
      return;
    }
    const auto a = inputOf(left);
    const auto b = inputOf(right);
    if (a && b && *a != *b) {
      into_.relationships.push_back({Relationship::Kind::order, *a, *b, op, 0, {}});
    } else if (op == Op::equal && a && !selfEqual(*a, stripped(right)) && b) {
      selfEqual(*b, stripped(left));
    } else if (op == Op::equal && b) {
      selfEqual(*b, stripped(left));
    }
  }

  void againstConstant(Op op, NodeRef left, double constant) {
    if (left->op == Op::input) return bound(into_.elements[left->attributes.name], op, constant);
    if (left->op == Op::modulo && op == Op::equal) return remainder(left, constant);
    if (left->op == Op::multiply) return product(op, left, constant);
    if (left->op == Op::max || left->op == Op::min) return extremum(op, left, constant);
  }

  static void bound(ElementConstraints& c, Op op, double value) {
    const auto raise = [&](bool strict) {
      if (!c.lower || value > *c.lower || (value == *c.lower && strict)) {
        c.lower = value;
        c.lowerStrict = strict;
      }
    };
    const auto lower = [&](bool strict) {
      if (!c.upper || value < *c.upper || (value == *c.upper && strict)) {
        c.upper = value;
        c.upperStrict = strict;
      }
    };
    switch (op) {
      case Op::equal:
        c.equal = value;
        break;
      case Op::notEqual:
        c.excluded.push_back(value);
        break;
      case Op::greater:
        raise(true);
        break;
      case Op::greaterEqual:
        raise(false);
        break;
      case Op::less:
        lower(true);
        break;
      default:
        lower(false);
        break;
    }
  }

  void remainder(NodeRef left, double constant) {
    const auto a = inputOf(left->operands[0]);
    if (!a) return;
    if (const auto divisor = constantOf(left->operands[1], extents_)) {
      into_.elements[*a].multipleOf = *divisor;
      into_.elements[*a].residue = constant;
    } else if (const auto b = inputOf(left->operands[1]); b && constant == 0) {
      into_.relationships.push_back({Relationship::Kind::multiple, *a, *b, Op::equal, 0, {}});
    }
  }

  void product(Op op, NodeRef left, double constant) {
    if (constant != 0) return;
    const auto a = inputOf(left->operands[0]);
    const auto b = inputOf(left->operands[1]);
    if (a && b && *a != *b) {
      into_.relationships.push_back({Relationship::Kind::productSign, *a, *b, op, 0, {}});
      return;
    }
    if (op != Op::equal) return;
    for (const auto& [x, other] :
         {std::pair{a, stripped(left->operands[1])}, std::pair{b, stripped(left->operands[0])}}) {
      if (!x || other->op != Op::subtract) continue;  // x * (1 - x) or x * (x - 1)
      const auto p = inputOf(other->operands[0]);
      const auto q = inputOf(other->operands[1]);
      const auto one = constantOf(other->operands[p ? 1 : 0], extents_);
      if ((p == x || q == x) && one == 1) into_.elements[*x].zeroOrOne = true;
    }
  }

  void extremum(Op op, NodeRef left, double constant) {
    const auto a = inputOf(left->operands[0]);
    if (!a || stripped(left->operands[0]) != left->operands[0]) return;
    const bool maximum = left->op == Op::max;
    if (maximum && (op == Op::less || op == Op::lessEqual)) return bound(into_.elements[*a], op, constant);
    if (!maximum && (op == Op::greater || op == Op::greaterEqual))
      return bound(into_.elements[*a], op, constant);
    if (tensor::isComparison(op) && op != Op::notEqual) {
      into_.relationships.push_back(
          {Relationship::Kind::rowExtremum, *a, {}, op, constant, left->attributes.axes});
    }
  }

  bool selfEqual(const std::string& name, NodeRef other) {
    if (other->op == Op::transpose && inputOf(other->operands[0]) == name) {
      into_.elements[name].symmetric = true;
      return true;
    }
    if (other->op != Op::slice || inputOf(other->operands[0]) != name) return false;
    for (std::size_t i = 0; i < other->shape.size(); ++i) {
      if (other->shape[i].isOne() && !other->operands[0]->shape[i].isOne())
        into_.elements[name].sameAlong.push_back(i);
    }
    return true;
  }

  const tensor::Extents& extents_;
  InputConstraints& into_;
};

}  // namespace

void collectConstraints(const tensor::Program& program, const tensor::Extents& extents,
                        InputConstraints& into) {
  Collector collector(extents, into);
  for (const tensor::Precondition& precondition : program.preconditions) {
    if (precondition.condition) collector.condition(precondition.condition);
  }
  for (const NodeRef node : tensor::topological(program.results)) {
    if (node->op != Op::take) continue;
    const auto index = inputOf(node->operands[1]);
    if (!index) continue;
    const tensor::Dim& extent = node->operands[0]->shape[static_cast<std::size_t>(node->attributes.axes[0])];
    std::set<std::string> symbols;
    extent.collectSymbols(symbols);
    if (std::ranges::any_of(symbols, [](const auto& s) { return tensor::isCounter(s); })) continue;
    const std::int64_t below = extent.evaluate(extents);
    const auto [at, inserted] = into.indexBelow.emplace(*index, below);
    if (!inserted) at->second = std::min(at->second, below);
  }
}

}  // namespace nuscope::semantics
