#pragma once
// Rows of integers (one per chain, -1 by default) as persistent trees in an arena: rows that are derived from
// each other share what they have in common. Used by Clocks and by what compares with them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace nuscope::schedule {

/// Arena of immutable tree nodes; rows are pointers into it (null: all -1). All rows of one height can be
/// mixed, also those of another arena that outlives this one. Not thread-safe where it makes rows.
class ClockArena {
 public:
  using Row = const void*;
  static constexpr std::int32_t none = -1;

  explicit ClockArena(std::int32_t mostChains) {
    while (capacity() < mostChains) ++height_;
  }
  [[nodiscard]] ClockArena sibling() const {
    ClockArena made(0);
    made.height_ = height_;
    return made;
  }
  [[nodiscard]] std::int64_t capacity() const { return std::int64_t{1} << (leafBits + innerBits * height_); }
  [[nodiscard]] std::int32_t get(Row row, std::int32_t chain) const {
    for (int height = height_; row != nullptr && height > 0; --height)
      row = inner(row).children[static_cast<std::size_t>((chain >> shift(height)) & (fanOut - 1))];
    return row == nullptr ? none : leaf(row).values[static_cast<std::size_t>(chain & (leafSize - 1))];
  }
  /// The row with entry `chain` raised to `value`.
  Row with(Row row, std::int32_t chain, std::int32_t value) { return with(row, chain, value, height_); }
  /// The row with all entries (chain, value) raised; reorders the entries.
  Row with(Row row, std::vector<std::pair<std::int32_t, std::int32_t>>& entries) {
    std::ranges::sort(entries);
    return with(row, std::span<const std::pair<std::int32_t, std::int32_t>>(entries), height_);
  }
  Row join(Row a, Row b) { return join(a, b, height_); }
  /// Per chain the largest of the rows' values.
  Row join(std::span<const Row> rows) {
    const std::size_t from = gather(rows);
    return taken(from, joinAll(from, height_));
  }
  /// Per chain the `rank`-th largest (1-based) of the rows' values.
  Row ranked(std::span<const Row> rows, std::size_t rank) {
    const std::size_t from = gather(rows);
    return taken(from, ranked(from, rank, height_));
  }
  [[nodiscard]] bool equal(Row a, Row b) const { return equal(a, b, height_); }
  /// No value of `b` is larger than that of `a`.
  [[nodiscard]] bool covers(Row a, Row b) { return covers(a, b, height_); }
  /// Calls visit(chain, value) for all values >= 0 of chains >= from until it returns true.
  template <class Visit>
  bool any(Row row, std::int32_t from, Visit visit) const {
    return any(row, from, 0, height_, visit);
  }

 private:
  static constexpr int leafBits = 5;
  static constexpr int innerBits = 4;
  static constexpr std::int32_t leafSize = 1 << leafBits;
  static constexpr std::int32_t fanOut = 1 << innerBits;
  struct Leaf {
    std::array<std::int32_t, leafSize> values;
  };
  struct Inner {
    std::array<Row, fanOut> children;
  };

  static const Leaf& leaf(Row node) { return *static_cast<const Leaf*>(node); }
  static const Inner& inner(Row node) { return *static_cast<const Inner*>(node); }
  Row make(const Leaf& value) { return &leaves_.emplace_back(value); }
  Row make(const Inner& value) { return &inners_.emplace_back(value); }
  static Leaf emptyLeaf() {
    Leaf made;
    made.values.fill(none);
    return made;
  }
  static int shift(int height) { return leafBits + innerBits * (height - 1); }

  Row with(Row row, std::int32_t chain, std::int32_t value, int height) {
    if (height == 0) {
      Leaf made = row != nullptr ? leaf(row) : emptyLeaf();
      auto& at = made.values[static_cast<std::size_t>(chain & (leafSize - 1))];
      if (at >= value) return row;
      at = value;
      return make(made);
    }
    Inner made = row != nullptr ? inner(row) : Inner{};
    auto& child = made.children[static_cast<std::size_t>((chain >> shift(height)) & (fanOut - 1))];
    Row changed = with(child, chain, value, height - 1);
    if (changed == child && row != nullptr) return row;
    child = changed;
    return make(made);
  }
  Row with(Row row, std::span<const std::pair<std::int32_t, std::int32_t>> entries, int height) {
    if (entries.empty()) return row;
    if (height == 0) {
      Leaf made = row != nullptr ? leaf(row) : emptyLeaf();
      for (const auto& [chain, value] : entries) {
        auto& at = made.values[static_cast<std::size_t>(chain & (leafSize - 1))];
        at = std::max(at, value);
      }
      return make(made);
    }
    Inner made = row != nullptr ? inner(row) : Inner{};
    for (std::size_t i = 0; i < entries.size();) {
      const std::int32_t slot = entries[i].first >> shift(height);
      std::size_t end = i + 1;
      while (end < entries.size() && entries[end].first >> shift(height) == slot) ++end;
      auto& child = made.children[static_cast<std::size_t>(slot & (fanOut - 1))];
      child = with(child, entries.subspan(i, end - i), height - 1);
      i = end;
    }
    return make(made);
  }
  Row join(Row a, Row b, int height) {
    if (a == b || b == nullptr) return a;
    if (a == nullptr) return b;
    bool isA = true;
    bool isB = true;
    if (height == 0) {
      Leaf made;
      for (std::size_t i = 0; i < leafSize; ++i) {
        made.values[i] = std::max(leaf(a).values[i], leaf(b).values[i]);
        isA = isA && made.values[i] == leaf(a).values[i];
        isB = isB && made.values[i] == leaf(b).values[i];
      }
      return isA ? a : isB ? b : make(made);
    }
    Inner made;
    for (std::size_t i = 0; i < fanOut; ++i) {
      made.children[i] = join(inner(a).children[i], inner(b).children[i], height - 1);
      isA = isA && made.children[i] == inner(a).children[i];
      isB = isB && made.children[i] == inner(b).children[i];
    }
    return isA ? a : isB ? b : make(made);
  }
  // Many rows at once lie on a stack of rows, from `from` to its end; those of a subtree above them.
  std::size_t gather(std::span<const Row> rows) {
    const std::size_t from = stack_.size();
    for (Row row : rows) {
      if (row != nullptr) stack_.push_back(row);
    }
    return from;
  }
  Row taken(std::size_t from, Row result) {
    stack_.resize(from);
    return result;
  }
  [[nodiscard]] std::span<const Row> above(std::size_t from) const { return std::span(stack_).subspan(from); }
  [[nodiscard]] bool oneOnly(std::size_t from) const {
    return std::ranges::all_of(above(from), [&](Row row) { return row == stack_[from]; });
  }

  Row joinAll(std::size_t from, int height) {
    const std::size_t to = stack_.size();
    if (from == to) return nullptr;
    if (oneOnly(from)) return stack_[from];
    if (height == 0) {
      Leaf made = leaf(stack_[from]);
      for (Row row : above(from)) {
        const auto& values = leaf(row).values;
        for (std::size_t i = 0; i < leafSize; ++i) made.values[i] = std::max(made.values[i], values[i]);
      }
      for (Row row : above(from)) {
        if (leaf(row).values == made.values) return row;
      }
      return make(made);
    }
    Inner made;
    for (std::size_t i = 0; i < fanOut; ++i) {
      for (std::size_t r = from; r < to; ++r) {
        Row child = inner(stack_[r]).children[i];
        const bool seen = stack_.size() > to && (child == stack_[to] || child == stack_.back());
        if (child != nullptr && !seen) stack_.push_back(child);
      }
      made.children[i] = taken(to, joinAll(to, height - 1));
    }
    for (Row row : above(from)) {
      if (inner(row).children == made.children) return row;
    }
    return make(made);
  }
  Row ranked(std::size_t from, std::size_t rank, int height) {
    const std::size_t to = stack_.size();
    if (to - from < rank) return nullptr;  // fewer than `rank` values above -1 anywhere in this subtree
    if (oneOnly(from)) return stack_[from];
    bool empty = true;
    if (height == 0) {
      Leaf made;
      for (std::size_t i = 0; i < leafSize; ++i) {
        made.values[i] = rankedValue(above(from), rank, i);
        empty = empty && made.values[i] == none;
      }
      return empty ? nullptr : make(made);
    }
    Inner made;
    for (std::size_t i = 0; i < fanOut; ++i) {
      for (std::size_t r = from; r < to; ++r) {
        if (Row child = inner(stack_[r]).children[i]; child != nullptr) stack_.push_back(child);
      }
      made.children[i] = taken(to, ranked(to, rank, height - 1));
      empty = empty && made.children[i] == nullptr;
    }
    return empty ? nullptr : make(made);
  }
  /// Producers mostly know the same of a chain: then the first one's value is the answer.
  std::int32_t rankedValue(std::span<const Row> leaves, std::size_t rank, std::size_t i) {
    const std::int32_t first = leaf(leaves[0]).values[i];
    std::size_t larger = 0;
    std::size_t equals = 0;
    for (Row row : leaves) {
      larger += leaf(row).values[i] > first ? 1 : 0;
      equals += leaf(row).values[i] == first ? 1 : 0;
    }
    if (larger < rank && rank <= larger + equals) return first;
    values_.resize(leaves.size());
    for (std::size_t r = 0; r < leaves.size(); ++r) values_[r] = leaf(leaves[r]).values[i];
    const auto nth = values_.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values_.begin(), nth, values_.end(), std::greater<>());
    return *nth;
  }
  bool equal(Row a, Row b, int height) const {
    if (a == b) return true;
    if (a == nullptr || b == nullptr) return false;  // no tree stores a subtree of -1 only
    if (height == 0) return leaf(a).values == leaf(b).values;
    for (std::size_t i = 0; i < fanOut; ++i) {
      if (!equal(inner(a).children[i], inner(b).children[i], height - 1)) return false;
    }
    return true;
  }
  bool covers(Row a, Row b, int height) {
    if (a == b || b == nullptr) return true;
    if (a == nullptr) return false;  // no tree stores a subtree of -1 only
    if (height == 0) {
      bool all = true;
      for (std::size_t i = 0; i < leafSize; ++i) all = all && leaf(a).values[i] >= leaf(b).values[i];
      return all;
    }
    // Readers that share a wait share subtrees: what was compared once need not be again.
    auto& known = covered_[(reinterpret_cast<std::uintptr_t>(a) / 128 * 31 +
                            reinterpret_cast<std::uintptr_t>(b) / 128) %
                           covered_.size()];
    if (known == std::pair(a, b)) return true;
    for (std::size_t i = 0; i < fanOut; ++i) {
      if (!covers(inner(a).children[i], inner(b).children[i], height - 1)) return false;
    }
    known = {a, b};
    return true;
  }
  template <class Visit>
  bool any(Row row, std::int32_t from, std::int32_t base, int height, Visit& visit) const {
    if (row == nullptr ||
        static_cast<std::int64_t>(base) + (std::int64_t{1} << (leafBits + innerBits * height)) <= from)
      return false;
    if (height == 0) {
      for (std::int32_t i = 0; i < leafSize; ++i) {
        const std::int32_t value = leaf(row).values[static_cast<std::size_t>(i)];
        if (value != none && base + i >= from && visit(base + i, value)) return true;
      }
      return false;
    }
    for (std::int32_t i = 0; i < fanOut; ++i) {
      if (any(inner(row).children[static_cast<std::size_t>(i)], from, base + (i << shift(height)), height - 1,
              visit))
        return true;
    }
    return false;
  }

  int height_ = 0;
  std::deque<Leaf> leaves_;
  std::deque<Inner> inners_;
  std::vector<Row> stack_;
  std::vector<std::int32_t> values_;
  std::array<std::pair<Row, Row>, 1024> covered_{};
};

}  // namespace nuscope::schedule
