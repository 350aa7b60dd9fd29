#include "core/propagate/remap.h"

#include <algorithm>
#include <numeric>

#include "core/semantics/granular.h"

namespace nuscope::propagate {
namespace {

using tensor::Attributes;
using tensor::DimFacts;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

std::vector<int> mappedAxes(const std::vector<int>& axes, const std::vector<int>& map) {
  std::vector<int> result;
  for (const int axis : axes) {
    const int to = map.at(static_cast<std::size_t>(axis));
    if (to >= 0) result.push_back(to);
  }
  return result;
}

std::optional<Attributes> remappedSlice(const Attributes& at, const std::vector<int>& map, NodeRef from,
                                        NodeRef to, const DimFacts& facts) {
  Attributes result = at;
  result.starts.assign(to->shape.size(), 0);
  result.stops = to->shape;
  bool any = false;
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    const bool whole = facts.equal(at.starts[axis], 0) && facts.equal(at.stops[axis], from->shape[axis]);
    if (map[axis] < 0 || whole) continue;
    const auto target = static_cast<std::size_t>(map[axis]);
    any = true;
    if (facts.equal(to->shape[target], 1) && !facts.equal(from->shape[axis], 1))
      continue;  // constant along it
    result.starts[target] = at.starts[axis];
    result.stops[target] = at.stops[axis];
  }
  return any ? std::optional(result) : std::nullopt;
}

/// Axes of `to` that have no counterpart go last; kept where the ranks agree.
std::optional<Attributes> remappedTranspose(const Attributes& at, const std::vector<int>& map, NodeRef to) {
  Attributes result = at;
  result.axes = mappedAxes(at.axes, map);
  for (int axis = 0; axis < static_cast<int>(to->shape.size()); ++axis) {
    if (std::ranges::find(result.axes, axis) == result.axes.end()) result.axes.push_back(axis);
  }
  return std::ranges::is_sorted(result.axes) ? std::nullopt : std::optional(result);
}

std::optional<Attributes> remappedReshape(NodeRef node, const std::vector<int>& map, NodeRef from, NodeRef to,
                                          const DimFacts& facts) {
  Attributes result = node->attributes;
  result.shape.clear();
  std::vector<int> back(to->shape.size(), -1);
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    if (map[axis] >= 0) back[static_cast<std::size_t>(map[axis])] = static_cast<int>(axis);
  }
  const auto groups = semantics::reshapeGroups(from->shape, node->shape, facts);
  for (std::size_t axis = 0; axis < back.size(); ++axis) {
    if (back[axis] < 0) {
      result.shape.push_back(to->shape[axis]);
      continue;
    }
    const auto source = static_cast<std::size_t>(back[axis]);
    const auto group = std::ranges::find_if(groups, [&](const semantics::AxisGroup& g) {
      return g.sourceBegin <= source && source < g.sourceEnd;
    });
    if (group == groups.end()) return std::nullopt;
    if (facts.equal(to->shape[axis], 1) && !facts.equal(from->shape[source], 1)) {
      if (group->targetEnd - group->targetBegin != 1) return std::nullopt;
      result.shape.emplace_back(1);
    } else if (source == group->sourceBegin) {
      for (std::size_t i = group->targetBegin; i < group->targetEnd; ++i)
        result.shape.push_back(node->shape[i]);
    } else if (axis == 0 || back[axis - 1] != back[axis] - 1) {
      return std::nullopt;  // a group that does not lie together any more
    }
  }
  return result;
}

}  // namespace

std::optional<Attributes> remapped(NodeRef node, const std::vector<int>& map, NodeRef from, NodeRef to,
                                   const DimFacts& facts) {
  Attributes result = node->attributes;
  switch (tensor::kind(node->op)) {
    case OpKind::elementwise:
    case OpKind::contract:
      return result;
    case OpKind::reduce:
    case OpKind::scan:
      result.axes = mappedAxes(result.axes, map);
      std::ranges::sort(result.axes);
      return result.axes.empty() ? std::nullopt : std::optional(result);
    case OpKind::layout:
      break;
    default:
      return std::nullopt;
  }
  switch (node->op) {
    case Op::slice:
      return remappedSlice(node->attributes, map, from, to, facts);
    case Op::transpose:
      return remappedTranspose(node->attributes, map, to);
    case Op::reshape:
      return remappedReshape(node, map, from, to, facts);
    case Op::concatenate:
    case Op::repeat:
    case Op::take:
      result.axes = mappedAxes(result.axes, map);
      return result.axes.empty() ? std::nullopt : std::optional(result);
    default:
      return std::nullopt;  // expand_dims, squeeze and broadcast_to are views
  }
}

}  // namespace nuscope::propagate
