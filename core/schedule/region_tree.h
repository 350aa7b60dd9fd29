#pragma once
// The elements of one storage as a grid, and a tree over it that answers, for each access in firing order:
// does it come after every access it conflicts with, and is all that it reads written? Near-linear for any
// mix of tiles and whole buffers: 50,000 writers and as many readers of one buffer are 10^5 steps, not 10^9.
//
// The grid is cut at the edges of all accesses, so that a cell is touched whole or not at all. A node of the
// tree is a rectangle of cells, halved along its longer side. An access is stored at the nodes that make it
// up ("own"), and is known to all nodes above ("below"); what it overlaps is then "own" of the nodes above it
// and "below" of its own nodes.
#include <optional>
#include <span>
#include <vector>

#include "core/schedule/clocks.h"
#include "core/schedule/footprint.h"

namespace nuscope::schedule {

/// Half-open rectangle of cells or of elements.
struct Box {
  std::int64_t rowFrom = 0, rowTo = 0, from = 0, to = 0;
  [[nodiscard]] bool empty() const { return rowFrom >= rowTo || from >= to; }
  [[nodiscard]] Box meet(const Box& o) const {
    return {std::max(rowFrom, o.rowFrom), std::min(rowTo, o.rowTo), std::max(from, o.from),
            std::min(to, o.to)};
  }
};

/// Row-major elements of a storage as rows of one width, so that every region is a few rectangles.
class Grid {
 public:
  /// Empty if the regions have no common form and would fall into more than `mostPieces` intervals.
  static std::optional<Grid> of(std::span<const Strided> regions, std::size_t mostPieces);
  /// Rectangles of cells of region i.
  [[nodiscard]] std::span<const Box> boxes(std::size_t i) const {
    return std::span(boxes_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(rowEdges_.size()) - 1; }
  [[nodiscard]] std::int64_t columns() const { return static_cast<std::int64_t>(columnEdges_.size()) - 1; }
  /// The first element of a cell.
  [[nodiscard]] std::int64_t element(std::int64_t row, std::int64_t column) const {
    return rowEdges_[static_cast<std::size_t>(row)] * width_ + columnEdges_[static_cast<std::size_t>(column)];
  }

 private:
  void compress();
  std::int64_t width_ = 0;
  std::vector<std::int64_t> rowEdges_, columnEdges_;
  std::vector<Box> boxes_;
  std::vector<std::size_t> first_;
};

/// Tasks of which it is asked whether all happen before another one. Kept as the last of each chain.
class Horizon {
 public:
  void add(std::int32_t chain, std::int32_t position);
  [[nodiscard]] bool allBefore(const Clocks& clocks, ClockArena& arena, std::int32_t task);

 private:
  std::vector<std::pair<std::int32_t, std::int32_t>> recent_;  ///< (chain, position), not yet in row_
  const void* row_ = nullptr;
};

/// Thrown where a tree would take too much memory: thousands of bands that cross thousands of others.
struct RegionTreeFull {};

class RegionTree {
 public:
  /// `clocks` may be null: then only coverage is kept.
  RegionTree(const Grid& grid, const Clocks* clocks, ClockArena* arena);
  /// Every conflicting access that was added happens before `task`.
  [[nodiscard]] bool ordered(std::int32_t task, bool write, std::span<const Box> boxes);
  void add(std::int32_t task, bool write, std::span<const Box> boxes);
  /// Marks as written without a task: what was there from the start.
  void fill(std::span<const Box> boxes);
  /// A cell (row, column) of the boxes that is not written yet.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> gap(std::span<const Box> boxes) const;

 private:
  struct Node {
    std::int32_t low = -1, high = -1;
    bool full = false;
    Horizon writesOwn, writesBelow, readsOwn, readsBelow;
  };
  static bool within(const Box& inner, const Box& outer) {
    return inner.rowFrom >= outer.rowFrom && inner.rowTo <= outer.rowTo && inner.from >= outer.from &&
           inner.to <= outer.to;
  }
  static std::pair<Box, Box> halves(const Box& area);
  std::int32_t child(std::int32_t node, bool high);
  bool ordered(std::int32_t node, const Box& area, const Box& box, std::int32_t task, bool write);
  void add(std::int32_t node, const Box& area, const Box& box, std::int32_t task, bool write, bool fillOnly);
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> gap(std::int32_t node, const Box& area,
                                                                         const Box& box) const;
  Box all_;
  const Clocks* clocks_;
  ClockArena* arena_;
  std::size_t most_;  ///< nodes: linear in the number of regions
  std::vector<Node> nodes_;
};

}  // namespace nuscope::schedule
