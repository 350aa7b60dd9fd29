#include "core/propagate/axis_map.h"

#include <algorithm>

#include "core/semantics/granular.h"
#include "core/tensor/shapes.h"

namespace nuscope::propagate {
namespace {

using tensor::DimFacts;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;
using Kind = AxisLink::Kind;
using Links = std::vector<AxisLink>;

bool contains(const std::vector<int>& axes, std::size_t axis) {
  return std::ranges::find(axes, static_cast<int>(axis)) != axes.end();
}

/// Right-aligned, stretched where the operand has extent 1 and the result has not.
Links broadcastLinks(NodeRef operand, const tensor::Shape& result, const DimFacts& facts) {
  Links links;
  const std::size_t offset = result.size() - operand->shape.size();
  for (std::size_t i = 0; i < operand->shape.size(); ++i) {
    const bool stretched = facts.equal(operand->shape[i], 1) && !facts.equal(result[offset + i], 1);
    links.push_back({stretched ? Kind::stretched : Kind::identity, static_cast<int>(offset + i), -1});
  }
  return links;
}

Links reduceLinks(NodeRef node) {
  Links links;
  int output = 0;
  int label = 0;
  for (std::size_t i = 0; i < node->operands[0]->shape.size(); ++i) {
    if (contains(node->attributes.axes, i)) {
      links.push_back({Kind::bound, -1, label++});
      if (node->attributes.keepDims) ++output;
    } else {
      links.push_back({Kind::identity, output++, -1});
    }
  }
  return links;
}

Links matmulLinks(NodeRef node, std::size_t slot, const DimFacts& facts) {
  const NodeRef a = node->operands[0];
  const NodeRef b = node->operands[1];
  const auto rank = static_cast<int>(node->shape.size());
  const int tail = (a->shape.size() > 1 ? 1 : 0) + (b->shape.size() > 1 ? 1 : 0);
  const NodeRef operand = node->operands[slot];
  const auto own = static_cast<int>(operand->shape.size());
  const int batch = std::max(own - 2, 0);
  Links links;
  for (int i = 0; i < batch; ++i) {
    const int output = rank - tail - batch + i;
    const bool stretched = facts.equal(operand->shape[static_cast<std::size_t>(i)], 1) &&
                           !facts.equal(node->shape[static_cast<std::size_t>(output)], 1);
    links.push_back({stretched ? Kind::stretched : Kind::identity, output, -1});
  }
  if (slot == 0) {
    if (own > 1) links.push_back({Kind::identity, rank - tail, -1});
    links.push_back({Kind::bound, -1, 0});
  } else {
    links.push_back({Kind::bound, -1, 0});
    if (own > 1) links.push_back({Kind::identity, rank - 1, -1});
  }
  return links;
}

Links einsumLinks(NodeRef node, std::size_t slot) {
  const auto spec = tensor::parseEinsum(node->attributes.name).value();
  const std::string& labels = spec.operands[slot];
  Links links;
  for (const char label : labels) {
    const auto output = spec.result.find(label);
    if (output == std::string::npos) {
      links.push_back({Kind::bound, -1, static_cast<int>(label)});
    } else {
      const bool diagonal = std::ranges::count(labels, label) > 1;
      links.push_back({diagonal ? Kind::changed : Kind::identity, static_cast<int>(output), -1});
    }
  }
  return links;
}

Links reshapeLinks(NodeRef node, const DimFacts& facts) {
  const NodeRef x = node->operands[0];
  Links links(x->shape.size());
  for (const auto& group : semantics::reshapeGroups(x->shape, node->shape, facts)) {
    const bool single = group.sourceEnd - group.sourceBegin == 1 && group.targetEnd - group.targetBegin == 1;
    for (std::size_t i = group.sourceBegin; i < group.sourceEnd; ++i) {
      const bool one = facts.equal(x->shape[i], 1);
      links[i] = single ? AxisLink{Kind::identity, static_cast<int>(group.targetBegin), -1}
                        : AxisLink{one ? Kind::stretched : Kind::changed, -1, -1};
    }
  }
  return links;
}

Links sliceLinks(NodeRef node, const DimFacts& facts) {
  const auto& at = node->attributes;
  Links links;
  for (std::size_t i = 0; i < node->shape.size(); ++i) {
    const bool whole = facts.equal(at.starts[i], 0) && facts.equal(at.stops[i], node->operands[0]->shape[i]);
    links.push_back({whole ? Kind::identity : Kind::changed, static_cast<int>(i), -1});
  }
  return links;
}

Links layoutLinks(NodeRef node, std::size_t slot, const DimFacts& facts) {
  const NodeRef x = node->operands[slot];
  const auto& axes = node->attributes.axes;
  const std::size_t rank = x->shape.size();
  Links links(rank);
  switch (node->op) {
    case Op::transpose:
      for (std::size_t i = 0; i < rank; ++i)
        links[static_cast<std::size_t>(axes[i])] = {Kind::identity, static_cast<int>(i), -1};
      return links;
    case Op::broadcastTo:
      return broadcastLinks(x, node->shape, facts);
    case Op::expandDims: {
      std::size_t next = 0;
      for (std::size_t i = 0; i < node->shape.size(); ++i) {
        if (!contains(axes, i)) links[next++] = {Kind::identity, static_cast<int>(i), -1};
      }
      return links;
    }
    case Op::squeeze: {
      int next = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        links[i] =
            contains(axes, i) ? AxisLink{Kind::stretched, -1, -1} : AxisLink{Kind::identity, next++, -1};
      }
      return links;
    }
    case Op::reshape:
      return reshapeLinks(node, facts);
    case Op::slice:
      return sliceLinks(node, facts);
    case Op::take: {
      const auto indexRank = static_cast<int>(node->operands[1]->shape.size());
      for (std::size_t i = 0; i < rank; ++i) {
        const auto axis = static_cast<int>(i);
        if (slot == 1) {
          links[i] = {Kind::identity, axis + axes[0], -1};
        } else if (axis == axes[0]) {
          links[i] = {Kind::changed, indexRank == 1 ? axis : -1, -1};
        } else {
          links[i] = {Kind::identity, axis < axes[0] ? axis : axis - 1 + indexRank, -1};
        }
      }
      return links;
    }
    default:  // concatenate, repeat
      for (std::size_t i = 0; i < rank; ++i) {
        links[i] = {contains(axes, i) ? Kind::changed : Kind::identity, static_cast<int>(i), -1};
      }
      return links;
  }
}

}  // namespace

std::vector<AxisLink> axisLinks(NodeRef node, std::size_t slot, const DimFacts& facts) {
  const NodeRef operand = node->operands[slot];
  switch (tensor::kind(node->op)) {
    case OpKind::elementwise:
      return broadcastLinks(operand, node->shape, facts);
    case OpKind::reduce:
      return reduceLinks(node);
    case OpKind::scan: {
      Links links;
      for (std::size_t i = 0; i < operand->shape.size(); ++i) {
        links.push_back(
            {contains(node->attributes.axes, i) ? Kind::changed : Kind::identity, static_cast<int>(i), -1});
      }
      return links;
    }
    case OpKind::contract:
      return node->op == Op::matmul ? matmulLinks(node, slot, facts) : einsumLinks(node, slot);
    case OpKind::layout:
      return layoutLinks(node, slot, facts);
    default:
      return Links(operand->shape.size(), AxisLink{Kind::changed, -1, -1});
  }
}

std::vector<InverseLink> inverseLinks(NodeRef node, std::size_t slot, const DimFacts& facts) {
  std::vector<InverseLink> inverse(node->shape.size());
  const auto links = axisLinks(node, slot, facts);
  for (std::size_t axis = 0; axis < links.size(); ++axis) {
    const AxisLink& link = links[axis];
    if (link.output < 0 || (link.kind != Kind::identity && link.kind != Kind::changed)) continue;
    inverse[static_cast<std::size_t>(link.output)] = {static_cast<int>(axis), link.kind == Kind::identity};
  }
  return inverse;
}

}  // namespace nuscope::propagate
