#include "core/schedule/region_tree.h"

#include <algorithm>
#include <numeric>

namespace nuscope::schedule {
namespace {

constexpr std::size_t mostNodes = 1'000'000;  // in any tree; more where its grid has many lines
constexpr std::size_t recentMost = 32;        // entries of a horizon that are compared one by one

/// A width such that every region is a rectangle of rows of it; 0 if there is none.
std::int64_t commonWidth(std::span<const Strided> regions) {
  std::int64_t width = 0;
  std::int64_t end = 1;
  for (const Strided& r : regions) {
    if (r.count > 1) width = std::gcd(width, r.stride);
    end = std::max(end, r.end());
  }
  if (width == 0) return end;  // intervals only: one row
  for (const Strided& r : regions) {
    const bool insideOneRow = r.start / width == (r.start + r.length - 1) / width;
    const bool wholeRows = r.start % width == 0 && r.length % width == 0;
    const bool consecutive = r.count == 1 || r.stride == width || wholeRows;
    if (!(insideOneRow || wholeRows) || !consecutive) return 0;
    if (wholeRows && r.count > 1 && r.stride != r.length) return 0;  // bands of whole rows with gaps
  }
  return width;
}

void distinct(std::vector<std::int64_t>& edges) {
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

}  // namespace

std::optional<Grid> Grid::of(std::span<const Strided> regions, std::size_t mostPieces) {
  Grid grid;
  grid.first_.push_back(0);
  const std::int64_t width = commonWidth(regions);
  if (width == 0) {
    std::int64_t end = 1;
    std::size_t pieces = 0;
    for (const Strided& r : regions) {
      end = std::max(end, r.end());
      pieces += static_cast<std::size_t>(
          std::min<std::int64_t>(r.count, static_cast<std::int64_t>(mostPieces) + 1));
      if (pieces > mostPieces) return std::nullopt;
    }
    grid.width_ = end;
    for (const Strided& r : regions) {
      for (std::int64_t i = 0; i < r.count; ++i) {
        const std::int64_t at = r.start + i * r.stride;
        grid.boxes_.push_back({0, 1, at, at + r.length});
      }
      grid.first_.push_back(grid.boxes_.size());
    }
  } else {
    grid.width_ = width;
    for (const Strided& r : regions) {
      Box box{r.start / width, 0, r.start % width, 0};
      if (r.start % width == 0 && r.length % width == 0) {
        box.rowTo = box.rowFrom + r.count * (r.length / width);
        box.to = width;
      } else {
        box.rowTo = box.rowFrom + r.count;
        box.to = box.from + r.length;
      }
      grid.boxes_.push_back(box);
      grid.first_.push_back(grid.boxes_.size());
    }
  }
  grid.compress();
  return grid;
}

void Grid::compress() {
  for (const Box& box : boxes_) {
    rowEdges_.insert(rowEdges_.end(), {box.rowFrom, box.rowTo});
    columnEdges_.insert(columnEdges_.end(), {box.from, box.to});
  }
  distinct(rowEdges_);
  distinct(columnEdges_);
  const auto position = [](const std::vector<std::int64_t>& edges, std::int64_t value) {
    return static_cast<std::int64_t>(std::ranges::lower_bound(edges, value) - edges.begin());
  };
  for (Box& box : boxes_) {
    box = {position(rowEdges_, box.rowFrom), position(rowEdges_, box.rowTo), position(columnEdges_, box.from),
           position(columnEdges_, box.to)};
  }
}

void Horizon::add(std::int32_t chain, std::int32_t position) {
  if (!recent_.empty() && recent_.back().first == chain) {
    recent_.back().second = std::max(recent_.back().second, position);
  } else {
    if (recent_.empty()) recent_.reserve(4);  // what a block of memory holds anyway
    recent_.emplace_back(chain, position);
  }
}

bool Horizon::allBefore(const Clocks& clocks, ClockArena& arena, std::int32_t task) {
  if (recent_.size() > recentMost) {
    row_ = arena.with(row_, recent_);
    recent_.clear();
    recent_.shrink_to_fit();
  }
  for (const auto& [chain, position] : recent_) {
    if (clocks.at(task, chain) < position) return false;
  }
  return row_ == nullptr || arena.covers(clocks.row(task), row_);
}

RegionTree::RegionTree(const Grid& grid, const Clocks* clocks, ClockArena* arena)
    : all_{0, grid.rows(), 0, grid.columns()},
      clocks_(clocks),
      arena_(arena),
      most_(std::max(mostNodes, 4 * static_cast<std::size_t>(grid.rows() + grid.columns()))),
      nodes_(1) {}

std::pair<Box, Box> RegionTree::halves(const Box& area) {
  Box low = area;
  Box high = area;
  if (area.to - area.from >= area.rowTo - area.rowFrom) {
    low.to = high.from = area.from + (area.to - area.from) / 2;
  } else {
    low.rowTo = high.rowFrom = area.rowFrom + (area.rowTo - area.rowFrom) / 2;
  }
  return {low, high};
}

std::int32_t RegionTree::child(std::int32_t node, bool high) {
  auto& at = nodes_[static_cast<std::size_t>(node)];
  const std::int32_t there = high ? at.high : at.low;
  if (there >= 0) return there;
  if (nodes_.size() >= most_) throw RegionTreeFull{};
  const auto made = static_cast<std::int32_t>(nodes_.size());
  (high ? at.high : at.low) = made;
  nodes_.emplace_back();
  return made;
}

bool RegionTree::ordered(std::int32_t task, bool write, std::span<const Box> boxes) {
  return std::ranges::all_of(boxes, [&](const Box& box) { return ordered(0, all_, box, task, write); });
}

bool RegionTree::ordered(std::int32_t index, const Box& area, const Box& box, std::int32_t task, bool write) {
  if (index < 0 || area.meet(box).empty()) return true;
  Node& node = nodes_[static_cast<std::size_t>(index)];
  const auto before = [&](Horizon& horizon) { return horizon.allBefore(*clocks_, *arena_, task); };
  if (within(area, box)) return before(node.writesBelow) && (!write || before(node.readsBelow));
  if (!before(node.writesOwn) || (write && !before(node.readsOwn))) return false;
  const auto [low, high] = halves(area);
  return ordered(node.low, low, box, task, write) && ordered(node.high, high, box, task, write);
}

void RegionTree::add(std::int32_t task, bool write, std::span<const Box> boxes) {
  for (const Box& box : boxes) add(0, all_, box, task, write, false);
}

void RegionTree::fill(std::span<const Box> boxes) {
  for (const Box& box : boxes) add(0, all_, box, 0, true, true);
}

void RegionTree::add(std::int32_t index, const Box& area, const Box& box, std::int32_t task, bool write,
                     bool fillOnly) {
  const bool here = within(area, box);
  {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    if (!fillOnly && clocks_ != nullptr) {
      const std::int32_t chain = clocks_->chain(task);
      const std::int32_t position = clocks_->position(task);
      (write ? node.writesBelow : node.readsBelow).add(chain, position);
      if (here) (write ? node.writesOwn : node.readsOwn).add(chain, position);
    }
    if (here) {
      node.full = node.full || write;
      return;
    }
  }
  const auto [low, high] = halves(area);
  if (!low.meet(box).empty()) add(child(index, false), low, box, task, write, fillOnly);
  if (!high.meet(box).empty()) add(child(index, true), high, box, task, write, fillOnly);
  Node& node = nodes_[static_cast<std::size_t>(index)];
  node.full =
      node.full || (node.low >= 0 && node.high >= 0 && nodes_[static_cast<std::size_t>(node.low)].full &&
                    nodes_[static_cast<std::size_t>(node.high)].full);
}

std::optional<std::pair<std::int64_t, std::int64_t>> RegionTree::gap(std::span<const Box> boxes) const {
  for (const Box& box : boxes) {
    if (const auto found = gap(0, all_, box)) return found;
  }
  return std::nullopt;
}

std::optional<std::pair<std::int64_t, std::int64_t>> RegionTree::gap(std::int32_t index, const Box& area,
                                                                     const Box& box) const {
  const Box common = area.meet(box);
  if (common.empty()) return std::nullopt;
  if (index < 0) return std::pair(common.rowFrom, common.from);
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  if (node.full) return std::nullopt;
  if (area.rowTo - area.rowFrom == 1 && area.to - area.from == 1) return std::pair(area.rowFrom, area.from);
  const auto [low, high] = halves(area);
  if (const auto found = gap(node.low, low, box)) return found;
  return gap(node.high, high, box);
}

}  // namespace nuscope::schedule
