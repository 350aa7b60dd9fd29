#include "views/graph/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace nuscope::views {

namespace {

constexpr int longestWithDummies = 12;  // edges over more ranks are one curve and do not push boxes about
constexpr int orderSweeps = 8;
constexpr int coordinateSweeps = 12;

/// Boxes first, then one dummy per rank that an edge passes. "across" is the coordinate inside a rank.
struct Layers {
  std::size_t boxes = 0;
  std::vector<int> rank;
  std::vector<double> breadth;             // extent across
  std::vector<std::vector<int>> up, down;  // neighbours one rank away (or more, for long edges between boxes)
  std::vector<std::vector<int>> members;   // per rank, in order
  std::vector<int> position;               // in its rank
  std::vector<double> centre;              // across
  std::vector<std::vector<int>> dummies;   // per edge, from source to target
};

std::vector<bool> reversedEdges(const LayoutInput& input) {
  const std::size_t n = input.boxes.size();
  std::vector<std::vector<std::pair<int, std::size_t>>> out(n);
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    if (input.edges[e].from != input.edges[e].to)
      out[static_cast<std::size_t>(input.edges[e].from)].emplace_back(input.edges[e].to, e);
  }
  std::vector<bool> reversed(input.edges.size(), false);
  std::vector<char> state(n, 0);  // 0 unseen, 1 on the path, 2 done
  std::vector<std::pair<std::size_t, std::size_t>> path;
  for (std::size_t root = 0; root < n; ++root) {
    if (state[root] != 0) continue;
    path.emplace_back(root, 0);
    state[root] = 1;
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == out[at].size()) {
        state[at] = 2;
        path.pop_back();
        continue;
      }
      const auto [to, e] = out[at][next++];
      const auto target = static_cast<std::size_t>(to);
      if (state[target] == 1) reversed[e] = true;
      if (state[target] == 0) {
        state[target] = 1;
        path.emplace_back(target, 0);
      }
    }
  }
  return reversed;
}

struct Directed {
  int from, to;
  std::size_t edge;
};

std::vector<Directed> directedEdges(const LayoutInput& input) {
  const std::vector<bool> reversed = reversedEdges(input);
  std::vector<Directed> result;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const auto& edge = input.edges[e];
    if (edge.from == edge.to) continue;
    result.push_back(reversed[e] ? Directed{edge.to, edge.from, e} : Directed{edge.from, edge.to, e});
  }
  return result;
}

/// Longest path from the sources; then sources come down to just above their first user, so that edges stay
/// short.
std::vector<int> ranks(std::size_t n, const std::vector<Directed>& edges) {
  std::vector<std::vector<int>> out(n);
  std::vector<int> incoming(n, 0);
  for (const Directed& e : edges) {
    out[static_cast<std::size_t>(e.from)].push_back(e.to);
    ++incoming[static_cast<std::size_t>(e.to)];
  }
  std::vector<int> rank(n, 0);
  std::vector<int> order;
  std::vector<int> left = incoming;
  for (std::size_t i = 0; i < n; ++i) {
    if (left[i] == 0) order.push_back(static_cast<int>(i));
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    const auto i = static_cast<std::size_t>(order[at]);
    for (const int to : out[i]) {
      auto& r = rank[static_cast<std::size_t>(to)];
      r = std::max(r, rank[i] + 1);
      if (--left[static_cast<std::size_t>(to)] == 0) order.push_back(to);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (incoming[i] != 0 || out[i].empty()) continue;
    int nearest = rank[static_cast<std::size_t>(out[i][0])];
    for (const int to : out[i]) nearest = std::min(nearest, rank[static_cast<std::size_t>(to)]);
    rank[i] = nearest - 1;
  }
  return rank;
}

Layers buildLayers(const LayoutInput& input, const std::vector<Directed>& edges) {
  Layers l;
  l.boxes = input.boxes.size();
  l.rank = ranks(l.boxes, edges);
  for (const QSizeF& size : input.boxes)
    l.breadth.push_back(input.leftToRight ? size.height() : size.width());
  l.up.resize(l.boxes);
  l.down.resize(l.boxes);
  l.dummies.resize(input.edges.size());
  const auto connect = [&](int a, int b) {
    l.down[static_cast<std::size_t>(a)].push_back(b);
    l.up[static_cast<std::size_t>(b)].push_back(a);
  };
  for (const Directed& e : edges) {
    const int span = l.rank[static_cast<std::size_t>(e.to)] - l.rank[static_cast<std::size_t>(e.from)];
    const auto& label = input.edges[e.edge];
    const double labelBreadth = input.leftToRight ? label.labelHeight : label.labelWidth;
    int last = e.from;
    for (int r = 1; r < span && span <= longestWithDummies; ++r) {
      const int dummy = static_cast<int>(l.rank.size());
      l.rank.push_back(l.rank[static_cast<std::size_t>(e.from)] + r);
      l.breadth.push_back(std::max(6.0, r == (span + 1) / 2 ? labelBreadth : 0.0));
      l.up.emplace_back();
      l.down.emplace_back();
      l.dummies[e.edge].push_back(dummy);
      connect(last, dummy);
      last = dummy;
    }
    connect(last, e.to);
  }
  const int depth = l.rank.empty() ? 0 : 1 + *std::max_element(l.rank.begin(), l.rank.end());
  l.members.resize(static_cast<std::size_t>(depth));
  for (std::size_t i = 0; i < l.rank.size(); ++i)
    l.members[static_cast<std::size_t>(l.rank[i])].push_back(static_cast<int>(i));
  l.position.resize(l.rank.size());
  l.centre.resize(l.rank.size());
  return l;
}

void renumber(Layers& l, const std::vector<int>& members) {
  for (std::size_t i = 0; i < members.size(); ++i)
    l.position[static_cast<std::size_t>(members[i])] = static_cast<int>(i);
}

void order(Layers& l) {
  for (const auto& members : l.members) renumber(l, members);
  std::vector<double> weight(l.rank.size());
  const auto sweep = [&](std::vector<int>& members, const std::vector<std::vector<int>>& neighbours) {
    for (const int m : members) {
      const auto& near = neighbours[static_cast<std::size_t>(m)];
      double sum = 0;
      for (const int v : near) sum += l.position[static_cast<std::size_t>(v)];
      weight[static_cast<std::size_t>(m)] =
          near.empty() ? l.position[static_cast<std::size_t>(m)] : sum / static_cast<double>(near.size());
    }
    std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
      return weight[static_cast<std::size_t>(a)] < weight[static_cast<std::size_t>(b)];
    });
    renumber(l, members);
  };
  for (int round = 0; round < orderSweeps; ++round) {
    if (round % 2 == 0) {
      for (std::size_t r = 1; r < l.members.size(); ++r) sweep(l.members[r], l.up);
    } else {
      for (std::size_t r = l.members.size(); r-- > 0;) sweep(l.members[r], l.down);
    }
  }
}

/// Moves members towards `wanted` without overlap: blocks that collide share the mean of their wishes.
void place(const std::vector<int>& members, const std::vector<double>& wanted, double gap, Layers& l) {
  struct Block {
    double sum;     // of wishes, each shifted by its offset in the block
    double length;  // from first to last centre
    std::size_t count;
    double at;  // centre of the first
  };
  std::vector<Block> blocks;
  const auto breadth = [&](std::size_t i) { return l.breadth[static_cast<std::size_t>(members[i])]; };
  const auto distance = [&](std::size_t i) { return (breadth(i - 1) + breadth(i)) / 2 + gap; };
  for (std::size_t i = 0; i < members.size(); ++i) {
    blocks.push_back({wanted[i], 0, 1, wanted[i]});
    std::size_t first = i;
    while (blocks.size() > 1) {
      Block& last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      const double apart = distance(first);
      if (before.at + before.length + apart <= last.at) break;
      const double offset = before.length + apart;
      before.sum += last.sum - static_cast<double>(last.count) * offset;
      before.length = offset + last.length;
      first -= before.count;
      before.count += last.count;
      before.at = before.sum / static_cast<double>(before.count);
      blocks.pop_back();
    }
  }
  std::size_t i = 0;
  for (const Block& block : blocks) {
    double at = block.at;
    for (std::size_t k = 0; k < block.count; ++k, ++i) {
      if (k > 0) at += distance(i);
      l.centre[static_cast<std::size_t>(members[i])] = at;
    }
  }
}

void coordinates(Layers& l, double gap) {
  for (const auto& members : l.members) {
    double at = 0;
    for (const int m : members) {
      const double breadth = l.breadth[static_cast<std::size_t>(m)];
      l.centre[static_cast<std::size_t>(m)] = at + breadth / 2;
      at += breadth + gap;
    }
    for (const int m : members) l.centre[static_cast<std::size_t>(m)] -= (at - gap) / 2;
  }
  std::vector<double> near;
  std::vector<double> wanted;
  const auto sweep = [&](const std::vector<int>& members, bool useUp, bool useDown) {
    wanted.clear();
    for (const int m : members) {
      const auto i = static_cast<std::size_t>(m);
      near.clear();
      if (useUp) {
        for (const int v : l.up[i]) near.push_back(l.centre[static_cast<std::size_t>(v)]);
      }
      if (useDown) {
        for (const int v : l.down[i]) near.push_back(l.centre[static_cast<std::size_t>(v)]);
      }
      if (near.empty()) {
        wanted.push_back(l.centre[i]);
        continue;
      }
      std::sort(near.begin(), near.end());
      const std::size_t middle = near.size() / 2;
      wanted.push_back(near.size() % 2 == 1 ? near[middle] : (near[middle - 1] + near[middle]) / 2);
    }
    place(members, wanted, gap, l);
  };
  for (int round = 0; round < coordinateSweeps; ++round) {
    const bool last = round + 2 >= coordinateSweeps;
    if (round % 2 == 0) {
      for (std::size_t r = 0; r < l.members.size(); ++r) sweep(l.members[r], true, last);
    } else {
      for (std::size_t r = l.members.size(); r-- > 0;) sweep(l.members[r], last, true);
    }
  }
}

/// Start of each rank along the direction of flow.
std::vector<double> rankStarts(const LayoutInput& input, const Layers& l, std::vector<double>& depths) {
  depths.assign(l.members.size(), 0);
  std::vector<double> labels(l.members.size() + 1, 0);
  for (std::size_t i = 0; i < l.boxes; ++i) {
    const double depth = input.leftToRight ? input.boxes[i].width() : input.boxes[i].height();
    auto& most = depths[static_cast<std::size_t>(l.rank[i])];
    most = std::max(most, depth);
  }
  for (const auto& edge : input.edges) {
    const double along = input.leftToRight ? edge.labelWidth : edge.labelHeight;
    if (along <= 0) continue;
    const int a =
        std::min(l.rank[static_cast<std::size_t>(edge.from)], l.rank[static_cast<std::size_t>(edge.to)]);
    const int b =
        std::max(l.rank[static_cast<std::size_t>(edge.from)], l.rank[static_cast<std::size_t>(edge.to)]);
    if (b == a + 1)
      labels[static_cast<std::size_t>(a)] = std::max(labels[static_cast<std::size_t>(a)], along + 16);
  }
  std::vector<double> starts;
  double at = 0;
  for (std::size_t r = 0; r < l.members.size(); ++r) {
    starts.push_back(at);
    at += depths[r] + std::max(input.betweenRanks, labels[r]);
  }
  return starts;
}

}  // namespace

GraphLayout layeredLayout(const LayoutInput& input) {
  GraphLayout out;
  out.edges.resize(input.edges.size());
  out.labels.resize(input.edges.size());
  if (input.boxes.empty()) return out;
  const std::vector<Directed> edges = directedEdges(input);
  Layers l = buildLayers(input, edges);
  order(l);
  coordinates(l, input.betweenBoxes);
  std::vector<double> depths;
  const std::vector<double> starts = rankStarts(input, l, depths);

  const auto point = [&](double along, double across) {
    return input.leftToRight ? QPointF(along, across) : QPointF(across, along);
  };
  for (std::size_t i = 0; i < l.boxes; ++i) {
    const auto r = static_cast<std::size_t>(l.rank[i]);
    const QSizeF size = input.boxes[i];
    const QPointF centre = point(starts[r] + depths[r] / 2, l.centre[i]);
    out.boxes.emplace_back(centre - QPointF(size.width() / 2, size.height() / 2), size);
    out.bounds = out.bounds.united(out.boxes.back());
  }
  const auto along = [&](const QPointF& p) { return input.leftToRight ? p.x() : p.y(); };
  const auto across = [&](const QPointF& p) { return input.leftToRight ? p.y() : p.x(); };
  for (const Directed& e : edges) {
    const QRectF& a = out.boxes[static_cast<std::size_t>(e.from)];
    const QRectF& b = out.boxes[static_cast<std::size_t>(e.to)];
    std::vector<QPointF> through{input.leftToRight ? QPointF(a.right(), a.center().y())
                                                   : QPointF(a.center().x(), a.bottom())};
    for (const int dummy : l.dummies[e.edge]) {
      const auto r = static_cast<std::size_t>(l.rank[static_cast<std::size_t>(dummy)]);
      through.push_back(point(starts[r], l.centre[static_cast<std::size_t>(dummy)]));
      through.push_back(point(starts[r] + depths[r], l.centre[static_cast<std::size_t>(dummy)]));
    }
    through.push_back(input.leftToRight ? QPointF(b.left(), b.center().y())
                                        : QPointF(b.center().x(), b.top()));
    auto& spline = out.edges[e.edge];
    spline.push_back(through[0]);
    for (std::size_t i = 1; i < through.size(); ++i) {
      const QPointF from = through[i - 1];
      const QPointF to = through[i];
      const double half = (along(to) - along(from)) / 2;
      spline.push_back(point(along(from) + half, across(from)));
      spline.push_back(point(along(to) - half, across(to)));
      spline.push_back(to);
    }
    const std::size_t middle = (through.size() - 1) / 2;
    out.labels[e.edge] = (through[middle] + through[middle + 1]) / 2;
    const bool wasReversed = input.edges[e.edge].from != e.from;
    if (wasReversed) std::reverse(spline.begin(), spline.end());
    for (const QPointF& p : spline) {
      out.bounds = out.bounds.united(QRectF(p - QPointF(1, 1), QSizeF(2, 2)));
    }
  }
  return out;
}

}  // namespace nuscope::views
