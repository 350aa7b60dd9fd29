#include "core/schedule/clocks.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "core/base/diagnostics.h"

namespace nuscope::schedule {
namespace {

constexpr int leafBits = 5;
constexpr int innerBits = 4;
constexpr std::int32_t leafSize = 1 << leafBits;
constexpr std::int32_t fanOut = 1 << innerBits;
constexpr std::int32_t none = -1;

struct Leaf {
  std::array<std::int32_t, leafSize> values;
};
struct Inner {
  std::array<const void*, fanOut> children;
};

}  // namespace

/// Arena of immutable tree nodes. A null pointer is a subtree of -1. All trees have the same height.
class ClockStore {
 public:
  explicit ClockStore(std::int32_t mostChains) {
    while ((std::int64_t{1} << (leafBits + innerBits * height_)) < mostChains) ++height_;
  }
  [[nodiscard]] std::int32_t get(const void* row, std::int32_t chain) const {
    return get(row, chain, height_);
  }
  const void* with(const void* row, std::int32_t chain, std::int32_t value) {
    return with(row, chain, value, height_);
  }
  const void* join(const void* a, const void* b) { return join(a, b, height_); }
  /// Per chain the `rank`-th largest (1-based) of the rows' values.
  const void* ranked(std::vector<const void*> rows, std::size_t rank) {
    return ranked(std::move(rows), rank, height_);
  }
  [[nodiscard]] bool equal(const void* a, const void* b) const { return equal(a, b, height_); }
  /// Calls visit(chain, value) for all values >= 0 until it returns true.
  template <class Visit>
  bool any(const void* row, Visit visit) const {
    return any(row, 0, height_, visit);
  }

 private:
  static const Leaf& leaf(const void* node) { return *static_cast<const Leaf*>(node); }
  static const Inner& inner(const void* node) { return *static_cast<const Inner*>(node); }
  const void* make(const Leaf& value) { return &leaves_.emplace_back(value); }
  const void* make(const Inner& value) { return &inners_.emplace_back(value); }
  static Leaf emptyLeaf() {
    Leaf made;
    made.values.fill(none);
    return made;
  }
  static int shift(int height) { return leafBits + innerBits * (height - 1); }

  std::int32_t get(const void* row, std::int32_t chain, int height) const {
    for (; row != nullptr && height > 0; --height) {
      row = inner(row).children[static_cast<std::size_t>((chain >> shift(height)) & (fanOut - 1))];
    }
    return row == nullptr ? none : leaf(row).values[static_cast<std::size_t>(chain & (leafSize - 1))];
  }
  const void* with(const void* row, std::int32_t chain, std::int32_t value, int height) {
    if (height == 0) {
      Leaf made = row != nullptr ? leaf(row) : emptyLeaf();
      auto& at = made.values[static_cast<std::size_t>(chain & (leafSize - 1))];
      if (at >= value) return row;
      at = value;
      return make(made);
    }
    Inner made = row != nullptr ? inner(row) : Inner{};
    auto& child = made.children[static_cast<std::size_t>((chain >> shift(height)) & (fanOut - 1))];
    const void* changed = with(child, chain, value, height - 1);
    if (changed == child && row != nullptr) return row;
    child = changed;
    return make(made);
  }
  const void* join(const void* a, const void* b, int height) {
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
  const void* ranked(std::vector<const void*> rows, std::size_t rank, int height) {
    std::erase(rows, nullptr);
    if (rows.size() < rank) return nullptr;  // fewer than `rank` values above -1 anywhere in this subtree
    if (rank == rows.size() && std::ranges::all_of(rows, [&](const void* row) { return row == rows[0]; }))
      return rows[0];
    if (height == 0) {
      Leaf made;
      bool empty = true;
      std::vector<std::int32_t> values(rows.size());
      for (std::size_t i = 0; i < leafSize; ++i) {
        for (std::size_t r = 0; r < rows.size(); ++r) values[r] = leaf(rows[r]).values[i];
        const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
        std::nth_element(values.begin(), nth, values.end(), std::greater<>());
        made.values[i] = *nth;
        empty = empty && *nth == none;
      }
      return empty ? nullptr : make(made);
    }
    Inner made;
    bool empty = true;
    for (std::size_t i = 0; i < fanOut; ++i) {
      std::vector<const void*> children;
      children.reserve(rows.size());
      for (const void* row : rows) children.push_back(inner(row).children[i]);
      made.children[i] = ranked(std::move(children), rank, height - 1);
      empty = empty && made.children[i] == nullptr;
    }
    return empty ? nullptr : make(made);
  }
  bool equal(const void* a, const void* b, int height) const {
    if (a == b) return true;
    if (a == nullptr || b == nullptr) return false;  // no tree stores a subtree of -1 only
    if (height == 0) return leaf(a).values == leaf(b).values;
    for (std::size_t i = 0; i < fanOut; ++i) {
      if (!equal(inner(a).children[i], inner(b).children[i], height - 1)) return false;
    }
    return true;
  }
  template <class Visit>
  bool any(const void* row, std::int32_t base, int height, Visit& visit) const {
    if (row == nullptr) return false;
    if (height == 0) {
      for (std::int32_t i = 0; i < leafSize; ++i) {
        const std::int32_t value = leaf(row).values[static_cast<std::size_t>(i)];
        if (value != none && visit(base + i, value)) return true;
      }
      return false;
    }
    for (std::int32_t i = 0; i < fanOut; ++i) {
      if (any(inner(row).children[static_cast<std::size_t>(i)], base + (i << shift(height)), height - 1,
              visit))
        return true;
    }
    return false;
  }

  int height_ = 0;
  std::deque<Leaf> leaves_;
  std::deque<Inner> inners_;
};

/// One pass over all tasks in firing order.
struct Clocks::Sweep {
  Clocks& clocks;
  const Model& model;
  bool partialWaits;        ///< false: waits with a threshold below the number of producers say nothing yet
  bool top;                 ///< rows of the previous sweep are upper bounds (absent: everything)
  std::vector<char> known;  ///< per task: its row is computed (in this or an earlier sweep)
  std::map<std::pair<std::int32_t, std::int64_t>, std::pair<const void*, bool>>
      memo;  ///< joined waits of full thresholds

  const void* after(std::int32_t task) const {
    const auto t = static_cast<std::size_t>(task);
    return clocks.store_->with(clocks.rows_[t], clocks.chain_[t], clocks.position_[t]);
  }
  const void* need(const Model::Need& wait) {
    const auto& producers = model.producers[static_cast<std::size_t>(wait.counter)];
    const auto threshold = static_cast<std::size_t>(wait.threshold);
    if (threshold == producers.size()) {
      const auto key = std::make_pair(wait.counter, wait.threshold);
      if (const auto at = memo.find(key); at != memo.end()) return at->second.first;
      const void* row = nullptr;
      for (const std::int32_t p : producers) row = clocks.store_->join(row, after(p));
      memo.emplace(key, std::make_pair(row, true));
      return row;
    }
    if (!partialWaits) return nullptr;
    // The t-th smallest of n; a row not known yet counts as everything, that is as one of the largest.
    std::vector<const void*> rows;
    for (const std::int32_t p : producers) {
      if (known[static_cast<std::size_t>(p)] != 0) rows.push_back(after(p));
    }
    const std::size_t unknown = producers.size() - rows.size();
    const std::size_t rank = producers.size() - threshold + 1;  // (n-t+1)-th largest of all
    if (unknown >= rank) throw InternalError("clocks: a wait was met before its producers were seen");
    return clocks.store_->ranked(std::move(rows), rank - unknown);
  }
  const void* row(std::int32_t task) {
    const auto t = static_cast<std::size_t>(task);
    const void* result = model.before[t] >= 0 ? after(model.before[t]) : nullptr;
    for (const Model::Need& wait : model.needs[t]) result = clocks.store_->join(result, need(wait));
    return result;
  }
};

Clocks::Clocks(const Model& model, const std::vector<std::int32_t>& order) {
  const auto n = static_cast<std::size_t>(model.tasks);
  chain_.assign(n, -1);
  position_.assign(n, -1);
  rows_.assign(n, nullptr);
  for (std::size_t q = 0; q < model.queues.size(); ++q) {
    for (std::size_t i = 0; i < model.queues[q].size(); ++i) {
      chain_[static_cast<std::size_t>(model.queues[q][i])] = static_cast<std::int32_t>(q);
      position_[static_cast<std::size_t>(model.queues[q][i])] = static_cast<std::int32_t>(i);
    }
    tails_.push_back(static_cast<std::int32_t>(model.queues[q].size()));
  }
  const std::size_t queued = tails_.size();
  const auto loose = std::ranges::count(model.queueOf, -1);
  store_ = std::make_unique<ClockStore>(static_cast<std::int32_t>(queued) + static_cast<std::int32_t>(loose));

  // First sweep: full thresholds only. A task outside the queues goes to the end of a chain whose last task
  // happens before it, if there is one.
  bool partial = false;
  for (std::size_t t = 0; t < n && !partial; ++t) {
    for (const Model::Need& wait : model.needs[t]) {
      const auto count =
          static_cast<std::int64_t>(model.producers[static_cast<std::size_t>(wait.counter)].size());
      partial = partial || wait.threshold != count;
    }
  }
  Sweep first{*this, model, false, false, std::vector<char>(n, 1), {}};
  for (const std::int32_t task : order) {
    const auto t = static_cast<std::size_t>(task);
    rows_[t] = first.row(task);
    if (chain_[t] >= 0) continue;
    const bool placed = store_->any(rows_[t], [&](std::int32_t c, std::int32_t value) {
      if (static_cast<std::size_t>(c) < queued || value != tails_[static_cast<std::size_t>(c)] - 1)
        return false;
      chain_[t] = c;
      return true;
    });
    if (!placed) {
      chain_[t] = static_cast<std::int32_t>(tails_.size());
      tails_.push_back(0);
    }
    position_[t] = tails_[static_cast<std::size_t>(chain_[t])]++;
  }
  sweeps_ = 1;
  if (!partial) return;

  // Greatest fix-point with the partial thresholds: from everything downwards.
  Sweep next{*this, model, true, true, std::vector<char>(n, 0), {}};
  for (bool changed = true; changed;) {
    changed = false;
    next.memo.clear();
    for (const std::int32_t task : order) {
      const auto t = static_cast<std::size_t>(task);
      const void* row = next.row(task);
      changed = changed || next.known[t] == 0 || !store_->equal(row, rows_[t]);
      rows_[t] = row;
      next.known[t] = 1;
    }
    ++sweeps_;
  }
}

Clocks::~Clocks() = default;

bool Clocks::happensBefore(std::int32_t u, std::int32_t v) const {
  return u != v && at(v, chain(u)) >= position(u);
}

void Clocks::forEach(std::int32_t task, const std::function<void(std::int32_t, std::int32_t)>& visit) const {
  store_->any(rows_[static_cast<std::size_t>(task)], [&](std::int32_t chain, std::int32_t position) {
    visit(chain, position);
    return false;
  });
}

std::int32_t Clocks::at(std::int32_t task, std::int32_t chain) const {
  return store_->get(rows_[static_cast<std::size_t>(task)], chain);
}

}  // namespace nuscope::schedule
