#pragma once
// Happens-before of a live schedule, as chain clocks: one position per task and chain instead of one bit per
// pair.
//
// A chain is a list of tasks each of which happens before the next: every queue, and a greedy cover of the
// tasks that are in none. clock(v)[c] is the largest position p such that the p-th task of chain c has
// completed whenever v starts
// (-1: none). u happens before v iff clock(v)[chain(u)] >= position(u). Over a wait "t of n" the guaranteed
// position is, per chain, the (n-t+1)-th largest of the producers'; with partial thresholds the clocks are
// the greatest fix-point. Rows are persistent trees that share what they have in common, so that wide joins
// stay cheap.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/schedule/clock_arena.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

class Clocks {
 public:
  /// Precondition: closure({}) of the model completes everything; `order` is its firing order.
  Clocks(const Model& model, const std::vector<std::int32_t>& order);
  ~Clocks();
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  [[nodiscard]] bool happensBefore(std::int32_t u, std::int32_t v) const;
  [[nodiscard]] bool ordered(std::int32_t u, std::int32_t v) const {
    return happensBefore(u, v) || happensBefore(v, u);
  }
  [[nodiscard]] std::int32_t chain(std::int32_t task) const { return chain_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] std::int32_t position(std::int32_t task) const {
    return position_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] std::int32_t chains() const { return static_cast<std::int32_t>(tails_.size()); }
  [[nodiscard]] std::int32_t at(std::int32_t task, std::int32_t chain) const;  ///< clock(task)[chain]
  /// Calls visit(chain, position) for all positions >= 0 of clock(task), by chain.
  void forEach(std::int32_t task, const std::function<void(std::int32_t, std::int32_t)>& visit) const;
  /// The clock as a row of the arena, for comparing it as a whole.
  [[nodiscard]] ClockArena::Row row(std::int32_t task) const { return rows_[static_cast<std::size_t>(task)]; }
  /// An empty arena for rows that are compared with these clocks; it must not outlive them.
  [[nodiscard]] ClockArena arena() const { return arena_->sibling(); }
  [[nodiscard]] int sweeps() const { return sweeps_; }

 private:
  struct Sweep;
  bool cover(const Model& model, const std::vector<std::int32_t>& order, std::int32_t mostChains);
  void refine(const Model& model, const std::vector<std::int32_t>& order);
  std::vector<std::int32_t> chain_, position_;
  std::vector<std::int32_t> tails_;  ///< tasks per chain
  std::unique_ptr<ClockArena> arena_;
  std::vector<ClockArena::Row> rows_;   ///< per task: when it starts
  std::vector<ClockArena::Row> after_;  ///< per task: when it has completed
  int sweeps_ = 0;
};

}  // namespace nuscope::schedule
