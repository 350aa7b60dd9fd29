#include "core/propagate/view.h"

#include <algorithm>
#include <numeric>

#include "core/propagate/axis_map.h"

namespace nuscope::propagate {
namespace {

using tensor::NodeRef;
using tensor::Op;

bool isRelabelling(Op op) {
  return op == Op::transpose || op == Op::expandDims || op == Op::squeeze || op == Op::broadcastTo;
}

void dropOnes(View& view, const tensor::DimFacts& facts) {
  for (std::size_t i = 0; i < view.at.size(); ++i) {
    if (facts.equal(view.base->shape[i], 1)) view.at[i] = -1;
  }
}

/// The base, left as it is, already lies as wanted: walking the positions from `low`, each real axis comes in
/// its turn, and axes of extent 1 fill positions without one.
bool liesAsWanted(const View& view, int low, int rank) {
  std::size_t next = 0;
  for (int position = low; position < rank; ++position) {
    const bool real = variesAlong(view, position);
    if (next >= view.at.size()) return false;
    if (real ? view.at[next] != position : view.at[next] >= 0) return false;
    ++next;
  }
  return next == view.at.size();
}

}  // namespace

View plainView(NodeRef node, std::size_t rank, const tensor::DimFacts& facts) {
  View view{node, std::vector<int>(node->shape.size())};
  std::iota(view.at.begin(), view.at.end(), static_cast<int>(rank - node->shape.size()));
  dropOnes(view, facts);
  return view;
}

View alignedView(NodeRef node, std::size_t rank, const tensor::DimFacts& facts) {
  View view = plainView(node, rank, facts);
  while (isRelabelling(view.base->op)) {
    const auto links = axisLinks(view.base, 0, facts);
    View inner{view.base->operands[0], {}};
    for (const AxisLink& link : links) {
      inner.at.push_back(
          link.kind == AxisLink::Kind::identity ? view.at[static_cast<std::size_t>(link.output)] : -1);
    }
    dropOnes(inner, facts);
    view = std::move(inner);
  }
  return view;
}

View viewOf(NodeRef node, const tensor::DimFacts& facts) {
  return alignedView(node, node->shape.size(), facts);
}

std::optional<View> moved(const View& view, const std::vector<int>& map) {
  View result = view;
  for (int& position : result.at) {
    if (position < 0) continue;
    const int to =
        static_cast<std::size_t>(position) < map.size() ? map[static_cast<std::size_t>(position)] : -1;
    if (to < 0) return std::nullopt;
    position = to;
  }
  return result;
}

bool variesAlong(const View& view, int position) {
  return std::ranges::find(view.at, position) != view.at.end();
}

NodeRef materialise(Builder& build, const View& view, const tensor::Shape& space,
                    const std::vector<bool>& full, bool wholeRank) {
  const auto rank = static_cast<int>(space.size());
  std::vector<std::pair<int, int>> axes;  // position, axis among those that stay
  std::vector<int> gone;
  int low = wholeRank ? 0 : rank;
  for (std::size_t i = 0; i < view.at.size(); ++i) {
    if (view.at[i] < 0) {
      gone.push_back(static_cast<int>(i));
      continue;
    }
    axes.emplace_back(view.at[i], static_cast<int>(axes.size()));
    low = std::min(low, view.at[i]);
  }
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i]) low = std::min(low, static_cast<int>(i));
  }
  NodeRef node = view.base;
  int asItLies = low;
  while (asItLies >= 0 && !liesAsWanted(view, asItLies, rank)) --asItLies;
  if (asItLies >= 0) {
    low = asItLies;
  } else {
    node = build.squeeze(node, gone);
    std::ranges::sort(axes);
    std::vector<int> order;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i > 0 && axes[i].first == axes[i - 1].first) return nullptr;
      order.push_back(axes[i].second);
    }
    if (node != nullptr && !std::ranges::is_sorted(order)) node = build.transpose(node, order);
    std::vector<int> added;
    for (int position = low; position < rank; ++position) {
      if (!variesAlong(view, position)) added.push_back(position - low);
    }
    node = build.expandDims(node, added);
  }
  if (node == nullptr) return nullptr;
  tensor::Shape target = node->shape;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i]) target[i - static_cast<std::size_t>(low)] = space[i];
  }
  return build.broadcastTo(node, std::move(target));
}

NodeRef fitted(Builder& build, NodeRef node, const tensor::Shape& shape) {
  if (node == nullptr || build.facts().equal(node->shape, shape)) return node;
  View view{node, std::vector<int>(node->shape.size(), -1)};
  std::size_t position = 0;
  for (std::size_t i = 0; i < node->shape.size(); ++i) {
    if (build.isOne(node->shape[i])) continue;
    while (position < shape.size() && build.isOne(shape[position])) ++position;
    if (position == shape.size() || !build.facts().equal(shape[position], node->shape[i])) return nullptr;
    view.at[i] = static_cast<int>(position++);
  }
  for (; position < shape.size(); ++position) {
    if (!build.isOne(shape[position])) return nullptr;
  }
  NodeRef result = materialise(build, view, shape, {}, true);
  return result != nullptr && build.facts().equal(result->shape, shape) ? result : nullptr;
}

}  // namespace nuscope::propagate
