#include "core/schedule/clocks.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/base/diagnostics.h"

namespace nuscope::schedule {
namespace {

using Row = ClockArena::Row;
constexpr std::int32_t fewChains = 4096;  // tried first: rows for more chains are larger

}  // namespace

/// Passes over all tasks in firing order. Time is counted in rows that changed, so that a row is computed
/// again only if something that it was made of has changed since.
struct Clocks::Sweep {
  using Tick = std::int64_t;
  struct Partial {
    int sweep = 0;  ///< at most once a sweep: producers in between change it again and again
    Tick made = -1;
    Row row = nullptr;
  };
  Clocks& clocks;
  const Model& model;
  bool partialWaits = false;  ///< false: waits with a threshold below the number of producers say nothing yet
  int number = 1;
  Tick now = 0;
  std::vector<Tick> made;     ///< per task: of when its row is; -1: there is none in this kind of sweep
  std::vector<Tick> changed;  ///< per task: of its last change
  std::vector<Tick> counterChanged;        ///< per counter: of the last change of a producer's row
  std::vector<std::pair<Tick, Row>> full;  ///< per counter: of when, and of all producers
  std::map<std::pair<std::int32_t, std::int64_t>, Partial> partial;  ///< per counter and threshold
  std::vector<Row> rows;                                             ///< scratch

  Sweep(Clocks& clocks_, const Model& model_)
      : clocks(clocks_),
        model(model_),
        made(static_cast<std::size_t>(model_.tasks), -1),
        changed(static_cast<std::size_t>(model_.tasks), 0),
        counterChanged(static_cast<std::size_t>(model_.counters), 0),
        full(static_cast<std::size_t>(model_.counters), {-1, nullptr}) {}

  /// What is sure once the wait is met, and of when.
  std::pair<Tick, Row> need(const Model::Need& wait) {
    const auto c = static_cast<std::size_t>(wait.counter);
    const auto& producers = model.producers[c];
    const auto threshold = static_cast<std::size_t>(wait.threshold);
    if (threshold == producers.size()) {
      auto& [when, row] = full[c];
      if (when < counterChanged[c]) {
        rows.clear();
        for (const std::int32_t p : producers) rows.push_back(clocks.after_[static_cast<std::size_t>(p)]);
        row = clocks.arena_->join(rows);
        when = now;
      }
      return {now, row};
    }
    if (!partialWaits) return {now, nullptr};
    Partial& known = partial[{wait.counter, wait.threshold}];
    if (known.made >= counterChanged[c]) return {now, known.row};
    if (known.sweep == number) return {known.made, known.row};
    // The t-th smallest of n; a row not known yet counts as everything, that is as one of the largest.
    rows.clear();
    for (const std::int32_t p : producers) {
      if (made[static_cast<std::size_t>(p)] >= 0) rows.push_back(clocks.after_[static_cast<std::size_t>(p)]);
    }
    const std::size_t unknown = producers.size() - rows.size();
    const std::size_t rank = producers.size() - threshold + 1;  // (n-t+1)-th largest of all
    if (unknown >= rank) throw InternalError("clocks: a wait was met before its producers were seen");
    known = {number, now, clocks.arena_->ranked(rows, rank - unknown)};
    return {known.made, known.row};
  }
  /// The row of a task, and of when all that it is made of is.
  std::pair<Tick, Row> row(std::size_t t) {
    std::pair<Tick, Row> result{now, nullptr};
    if (model.before[t] >= 0) result.second = clocks.after_[static_cast<std::size_t>(model.before[t])];
    for (const Model::Need& wait : model.needs[t]) {
      const auto [when, sure] = need(wait);
      result = {std::min(result.first, when), clocks.arena_->join(result.second, sure)};
    }
    return result;
  }
  void set(std::size_t t, Row row) {
    clocks.rows_[t] = row;
    clocks.after_[t] = clocks.arena_->with(row, clocks.chain_[t], clocks.position_[t]);
    changed[t] = ++now;
    for (const std::int32_t counter : model.raises[t])
      counterChanged[static_cast<std::size_t>(counter)] = now;
  }
  /// Something that the row of t depends on has changed since the row was computed.
  [[nodiscard]] bool stale(std::size_t t) const {
    if (made[t] < 0) return true;
    if (model.before[t] >= 0 && changed[static_cast<std::size_t>(model.before[t])] > made[t]) return true;
    return std::ranges::any_of(model.needs[t], [&](const Model::Need& wait) {
      return counterChanged[static_cast<std::size_t>(wait.counter)] > made[t];
    });
  }
};

Clocks::Clocks(const Model& model, const std::vector<std::int32_t>& order) {
  const auto loose = static_cast<std::int32_t>(std::ranges::count(model.queueOf, -1));
  const auto queued = static_cast<std::int32_t>(model.queues.size());
  if (!cover(model, order, queued + std::min(loose, fewChains))) cover(model, order, queued + loose);
  sweeps_ = 1;
  const auto isPartial = [&](const Model::Need& wait) {
    return wait.threshold !=
           static_cast<std::int64_t>(model.producers[static_cast<std::size_t>(wait.counter)].size());
  };
  const bool partial = std::ranges::any_of(
      model.needs, [&](const auto& needs) { return std::ranges::any_of(needs, isPartial); });
  if (partial) refine(model, order);
}

/// First sweep: full thresholds only. A task outside the queues goes to the end of a chain whose last task
/// happens before it, if there is one. False if the chains do not fit.
bool Clocks::cover(const Model& model, const std::vector<std::int32_t>& order, std::int32_t mostChains) {
  const auto n = static_cast<std::size_t>(model.tasks);
  arena_ = std::make_unique<ClockArena>(mostChains);
  chain_.assign(n, -1);
  position_.assign(n, -1);
  rows_.assign(n, nullptr);
  after_.assign(n, nullptr);
  tails_.clear();
  for (std::size_t q = 0; q < model.queues.size(); ++q) {
    for (std::size_t i = 0; i < model.queues[q].size(); ++i) {
      chain_[static_cast<std::size_t>(model.queues[q][i])] = static_cast<std::int32_t>(q);
      position_[static_cast<std::size_t>(model.queues[q][i])] = static_cast<std::int32_t>(i);
    }
    tails_.push_back(static_cast<std::int32_t>(model.queues[q].size()));
  }
  const auto queued = static_cast<std::int32_t>(tails_.size());
  // A chain whose end is not in a row will never be again: chains only grow. So rows that are shared are
  // searched once.
  std::unordered_map<Row, std::int32_t> searched;
  Sweep sweep(*this, model);
  for (const std::int32_t task : order) {
    const auto t = static_cast<std::size_t>(task);
    const Row row = sweep.row(t).second;
    if (chain_[t] < 0) {
      std::int32_t& from = searched.try_emplace(row, queued).first->second;
      const bool placed = arena_->any(row, from, [&](std::int32_t c, std::int32_t value) {
        from = c + 1;
        if (value != tails_[static_cast<std::size_t>(c)] - 1) return false;
        chain_[t] = c;
        return true;
      });
      if (!placed) {
        from = INT32_MAX;
        chain_[t] = static_cast<std::int32_t>(tails_.size());
        if (chain_[t] >= arena_->capacity()) return false;
        tails_.push_back(0);
      }
      position_[t] = tails_[static_cast<std::size_t>(chain_[t])]++;
    }
    sweep.set(t, row);
  }
  return true;
}

/// Greatest fix-point with the partial thresholds: from everything downwards. The rows of the first sweep are
/// kept nowhere: a producer that comes later in the order counts as everything until it is seen.
void Clocks::refine(const Model& model, const std::vector<std::int32_t>& order) {
  Sweep sweep(*this, model);
  sweep.partialWaits = true;
  for (bool changed = true; changed; ++sweep.number) {
    changed = false;
    for (const std::int32_t task : order) {
      const auto t = static_cast<std::size_t>(task);
      if (!sweep.stale(t)) continue;
      const bool first = sweep.made[t] < 0;
      const auto [of, row] = sweep.row(t);
      sweep.made[t] = of;
      if (!first && arena_->equal(row, rows_[t])) continue;
      sweep.set(t, row);
      changed = true;
    }
    ++sweeps_;
  }
}

Clocks::~Clocks() = default;

bool Clocks::happensBefore(std::int32_t u, std::int32_t v) const {
  return u != v && at(v, chain(u)) >= position(u);
}

void Clocks::forEach(std::int32_t task, const std::function<void(std::int32_t, std::int32_t)>& visit) const {
  arena_->any(row(task), 0, [&](std::int32_t chain, std::int32_t position) {
    visit(chain, position);
    return false;
  });
}

std::int32_t Clocks::at(std::int32_t task, std::int32_t chain) const {
  return arena_->get(row(task), chain);
}

}  // namespace nuscope::schedule
