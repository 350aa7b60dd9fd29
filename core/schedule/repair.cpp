#include "core/schedule/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>

#include "core/schedule/explain.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t mostMoves = 2000;  // of one repair

/// Proposes edits for single findings.
class Proposer {
 public:
  explicit Proposer(const Schedule& schedule)
      : schedule_(schedule),
        ids_(schedule),
        model_(modelOf(schedule, ids_)),
        touched_(footprints(schedule, ids_)),
        touchesOf_(schedule.buffers.size()) {
    for (const Touch& t : touched_.touches) touchesOf_[static_cast<std::size_t>(t.buffer)].push_back(&t);
  }

  std::vector<std::vector<Edit>> of(const Finding& f) {
    result_.clear();
    switch (f.rule) {
      case Rule::race:
        // A writer first: mostly the other one only reads what it makes.
        if (writes(f.task, f.buffer)) {
          order(f.task, f.other);
          order(f.other, f.task);
        } else {
          order(f.other, f.task);
          order(f.task, f.other);
        }
        separate(f.task, f.other);
        separate(f.other, f.task);
        break;
      case Rule::readOnlyWrite:
        single({.kind = Edit::Kind::dropTask, .task = f.task});
        break;
      case Rule::pageClobber:
        if (f.unordered) {
          order(f.task, f.other);
          order(f.other, f.task);
        }
        single({.kind = Edit::Kind::ownPage, .buffer = f.buffer});
        single({.kind = Edit::Kind::ownPage, .buffer = f.otherBuffer});
        break;
      case Rule::uninitialisedRead:
        earlyRead(f);
        break;
      case Rule::deadlock:
        deadlock(f);
        break;
      case Rule::unsatisfiableWait:
        unsatisfiable(f.task);
        break;
      case Rule::outOfBounds:
        outOfBounds(f);
        break;
      case Rule::onChipLocality:
        onChip(f);
        break;
      case Rule::badPlacement:
        badPlacement(f.task);
        break;
      case Rule::outputIncomplete:
        fillGap(f);
        break;
      case Rule::pageCapacity:
        single({.kind = Edit::Kind::ownPage, .buffer = f.buffer});
        break;
      default:
        break;
    }
    return std::move(result_);
  }

 private:
  const Task& task(std::int32_t t) const { return schedule_.tasks[static_cast<std::size_t>(t)]; }
  void single(Edit edit) { result_.push_back({std::move(edit)}); }
  bool writes(std::int32_t t, std::int32_t buffer) const {
    return std::ranges::any_of(touchesOf_[static_cast<std::size_t>(buffer)],
                               [&](const Touch* touch) { return touch->task == t && touch->write; });
  }

  /// u before v: a wait of v on u's counter, a higher threshold, or program order.
  void order(std::int32_t u, std::int32_t v) {
    for (const std::int32_t counter : model_.raises[static_cast<std::size_t>(u)]) {
      const auto& producers = model_.producers[static_cast<std::size_t>(counter)];
      if (std::ranges::find(producers, v) != producers.end()) continue;  // v would wait for itself
      const auto all = static_cast<std::int64_t>(producers.size());
      bool has = false;
      const auto& needs = model_.needs[static_cast<std::size_t>(v)];
      for (std::size_t i = 0; i < needs.size(); ++i) {
        if (needs[i].counter != counter) continue;
        has = true;
        if (needs[i].threshold < all)
          single({.kind = Edit::Kind::setThreshold, .task = v, .index = i, .value = all});
      }
      if (!has && (needs.size() < maxWaits || schedule_.format != Format::amk))
        single({.kind = Edit::Kind::addWait, .task = v, .counter = counter, .value = all});
    }
    if (task(u).sm) {
      if (task(v).sm == task(u).sm) {
        if (v < u) single({.kind = Edit::Kind::moveBefore, .task = u, .other = v});
      } else {
        const Edit move{.kind = Edit::Kind::setSm, .task = v, .value = *task(u).sm};
        if (v > u) {
          single(move);
        } else {
          result_.push_back({move, {.kind = Edit::Kind::moveBefore, .task = u, .other = v}});
        }
      }
    }
  }
  /// Two tiles of one buffer that overlap: the first ends where the second begins, or the second begins where
  /// the first ends, or the first moves in front of the second.
  void separate(std::int32_t u, std::int32_t v) {
    const auto from = task(u).integer("n_off");
    const auto width = task(u).integer("N_tile");
    const auto other = task(v).integer("n_off");
    if (!from || !width || !other || *from >= *other || *other >= *from + *width) return;
    single({.kind = Edit::Kind::setParam, .task = v, .value = *from + *width, .key = "n_off"});
    if (*other >= *width)
      single({.kind = Edit::Kind::setParam, .task = u, .value = *other - *width, .key = "n_off"});
    single({.kind = Edit::Kind::setParam, .task = u, .value = *other - *from, .key = "N_tile"});
  }
  /// Columns that no tile writes: the tile before them grows, or the one behind begins earlier.
  void fillGap(const Finding& f) {
    const auto& shape = schedule_.buffers[static_cast<std::size_t>(f.buffer)].shape;
    const std::int64_t width = shape.empty() ? 1 : shape.back();
    const std::int64_t column = f.element % width;
    std::int32_t before = -1;
    std::int32_t behind = -1;
    for (const Touch* t : touchesOf_[static_cast<std::size_t>(f.buffer)]) {
      const auto from = task(t->task).integer("n_off");
      const auto columns = task(t->task).integer("N_tile");
      if (!t->write || !from || !columns) continue;
      if (*from <= column && (before < 0 || *from > *task(before).integer("n_off"))) before = t->task;
      if (*from > column && (behind < 0 || *from < *task(behind).integer("n_off"))) behind = t->task;
    }
    const std::int64_t end = behind < 0 ? width : *task(behind).integer("n_off");
    if (before >= 0)
      single({.kind = Edit::Kind::setParam,
              .task = before,
              .value = end - *task(before).integer("n_off"),
              .key = "N_tile"});
    if (behind >= 0) {
      const Edit move{.kind = Edit::Kind::setParam, .task = behind, .value = column, .key = "n_off"};
      single(move);
      result_.push_back({move,
                         {.kind = Edit::Kind::setParam,
                          .task = behind,
                          .value = *task(behind).integer("N_tile") + end - column,
                          .key = "N_tile"}});
    }
  }
  /// Every writer of what is read comes first: by one wait each, or by all their counters at once.
  void earlyRead(const Finding& f) {
    std::vector<std::int32_t> writers;
    std::vector<Edit> together;
    for (const Touch* t : touchesOf_[static_cast<std::size_t>(f.buffer)]) {
      if (!t->write || t->task == f.task) continue;
      if (overlap(t->region, {f.element, 1, 0, 1})) writers.push_back(t->task);
      for (const std::int32_t counter : model_.raises[static_cast<std::size_t>(t->task)])
        waitForAll(counter, f.task, together);
    }
    for (const std::int32_t w : writers) order(w, f.task);
    if (together.size() > 1) result_.push_back(std::move(together));
    if (writers.empty()) fillGap(f);
  }
  /// What makes v wait until every task that raises the counter has; nothing if it does already or raises it
  /// itself.
  void waitForAll(std::int32_t counter, std::int32_t v, std::vector<Edit>& into) const {
    const auto& producers = model_.producers[static_cast<std::size_t>(counter)];
    if (std::ranges::find(producers, v) != producers.end()) return;
    const auto all = static_cast<std::int64_t>(producers.size());
    Edit edit{.kind = Edit::Kind::addWait, .task = v, .counter = counter, .value = all};
    const auto& needs = model_.needs[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < needs.size(); ++i) {
      if (needs[i].counter != counter) continue;
      if (needs[i].threshold >= all) return;
      edit = {.kind = Edit::Kind::setThreshold, .task = v, .index = i, .value = all};
    }
    if (std::ranges::find(into, edit) == into.end()) into.push_back(std::move(edit));
  }
  void deadlock(const Finding& f) {
    const Closure end = closure(model_);
    for (std::size_t i = 0; i < f.cycle.size(); ++i) {
      const std::int32_t waits = f.cycle[i];
      const std::int32_t on = f.cycle[(i + 1) % f.cycle.size()];
      // `waits` stands behind `on` in a queue: let it go first.
      if (task(waits).sm && task(waits).sm == task(on).sm && on < waits) {
        single({.kind = Edit::Kind::moveBefore, .task = waits, .other = on});
        const auto& queue =
            model_.queues[static_cast<std::size_t>(model_.queueOf[static_cast<std::size_t>(waits)])];
        single({.kind = Edit::Kind::moveBefore, .task = waits, .other = queue.front()});
      }
    }
    for (std::size_t i = 0; i < f.cycle.size(); ++i) {
      const std::int32_t waits = f.cycle[i];
      const std::int32_t on = f.cycle[(i + 1) % f.cycle.size()];
      const auto& needs = model_.needs[static_cast<std::size_t>(waits)];
      for (std::size_t n = 0; n < needs.size(); ++n) {
        const auto& raised = model_.raises[static_cast<std::size_t>(on)];
        if (std::ranges::find(raised, needs[n].counter) != raised.end()) {
          const std::int64_t reached = end.counters[static_cast<std::size_t>(needs[n].counter)];
          if (reached > 0 && reached < needs[n].threshold - 1)
            single({.kind = Edit::Kind::setThreshold, .task = waits, .index = n, .value = reached});
          single({.kind = Edit::Kind::dropWait, .task = waits, .index = n});
          if (needs[n].threshold > 1)
            single({.kind = Edit::Kind::setThreshold,
                    .task = waits,
                    .index = n,
                    .value = needs[n].threshold - 1});
        }
      }
    }
    for (const std::int32_t t : f.stuck) {
      if (f.cycle.empty()) unsatisfiable(t);
    }
    reachable(f, end);
    if (auto sorted = sortedQueues(); !sorted.empty() && sorted.size() <= mostMoves)
      result_.push_back(std::move(sorted));
  }
  /// Every stuck task that waits for itself waits for the others only.
  void reachable(const Finding& f, const Closure& end) {
    std::vector<Edit> all;
    for (const std::int32_t t : f.stuck) {
      const auto& needs = model_.needs[static_cast<std::size_t>(t)];
      for (std::size_t n = 0; n < needs.size(); ++n) {
        const auto& producers = model_.producers[static_cast<std::size_t>(needs[n].counter)];
        const bool own = std::ranges::find(producers, t) != producers.end();
        const auto others = static_cast<std::int64_t>(producers.size()) - 1;
        if (!own || needs[n].threshold <= others ||
            end.counters[static_cast<std::size_t>(needs[n].counter)] >= needs[n].threshold)
          continue;
        if (others > 0) {
          all.push_back({.kind = Edit::Kind::setThreshold, .task = t, .index = n, .value = others});
        } else {
          all.push_back({.kind = Edit::Kind::dropWait, .task = t, .index = n});
        }
      }
    }
    if (all.size() > 1) result_.push_back(std::move(all));
  }
  void unsatisfiable(std::int32_t t) {
    const auto& needs = model_.needs[static_cast<std::size_t>(t)];
    for (std::size_t n = 0; n < needs.size(); ++n) {
      const auto producers =
          static_cast<std::int64_t>(model_.producers[static_cast<std::size_t>(needs[n].counter)].size());
      if (needs[n].threshold <= producers) continue;
      if (producers > 0)
        single({.kind = Edit::Kind::setThreshold, .task = t, .index = n, .value = producers});
      single({.kind = Edit::Kind::dropWait, .task = t, .index = n});
    }
  }
  /// Moves that put every queue into an order in which its counters can be met: the order of a run without
  /// queues.
  std::vector<Edit> sortedQueues() const {
    Model loose = model_;
    std::ranges::fill(loose.before, -1);
    const Closure run = closure(loose);
    if (run.order.size() < static_cast<std::size_t>(model_.tasks)) return {};
    std::vector<Edit> edits;
    // Earlier moves do not disturb later ones: each takes a task to the front of what is left of its queue.
    std::vector<std::int32_t> rank(run.order.size());
    for (std::size_t i = 0; i < run.order.size(); ++i)
      rank[static_cast<std::size_t>(run.order[i])] = static_cast<std::int32_t>(i);
    for (const auto& queue : model_.queues) {
      std::vector<std::int32_t> left = queue;
      std::vector<std::int32_t> wanted = queue;
      std::ranges::sort(wanted, {}, [&](std::int32_t t) { return rank[static_cast<std::size_t>(t)]; });
      for (const std::int32_t t : wanted) {
        if (left.front() != t)
          edits.push_back({.kind = Edit::Kind::moveBefore, .task = t, .other = left.front()});
        std::erase(left, t);
      }
    }
    return edits;
  }
  void outOfBounds(const Finding& f) {
    const Task& t = task(f.task);
    const auto& shape = schedule_.buffers[static_cast<std::size_t>(f.buffer)].shape;
    if (shape.empty()) return;
    const auto from = t.integer("n_off");
    const auto width = t.integer("N_tile");
    if (from && width && *from >= 0 && *from < shape.back() && *from + *width > shape.back()) {
      single({.kind = Edit::Kind::setParam, .task = f.task, .value = shape.back() - *from, .key = "N_tile"});
    }
    const auto start = t.integer("kv_start");
    const std::size_t axis = shape.size() == 4 ? 1 : 0;
    if (start && t.integer("kv_len") && *start >= 0 && *start < shape[axis]) {
      single({.kind = Edit::Kind::setParam, .task = f.task, .value = shape[axis] - *start, .key = "kv_len"});
    }
    if (t.integer("K") && *t.integer("K") != shape.back()) {
      single({.kind = Edit::Kind::setParam, .task = f.task, .value = shape.back(), .key = "K"});
    }
  }
  void onChip(const Finding& f) {
    const auto move = [&](std::int32_t from, std::int32_t to) {
      if (from >= 0 && to >= 0 && task(to).sm)
        single({.kind = Edit::Kind::setSm, .task = from, .value = *task(to).sm});
    };
    move(f.task, f.other);
    move(f.other, f.task);
    // All users to the SM of the first that has one.
    std::vector<Edit> all;
    std::optional<std::int64_t> sm;
    for (const Touch* t : touchesOf_[static_cast<std::size_t>(f.buffer)]) {
      if (!sm) sm = task(t->task).sm;
    }
    for (const Touch* t : touchesOf_[static_cast<std::size_t>(f.buffer)]) {
      const Edit toIt{.kind = Edit::Kind::setSm, .task = t->task, .value = sm.value_or(0)};
      if (task(t->task).sm != sm.value_or(0) && std::ranges::find(all, toIt) == all.end())
        all.push_back(toIt);
    }
    if (!all.empty()) result_.push_back(std::move(all));
  }
  void badPlacement(std::int32_t t) {
    if (schedule_.numSms && *schedule_.numSms > 0) {
      const std::int64_t sm = *task(t).sm % *schedule_.numSms;
      single({.kind = Edit::Kind::setSm, .task = t, .value = sm < 0 ? sm + *schedule_.numSms : sm});
    }
  }

  const Schedule& schedule_;
  Ids ids_;
  Model model_;
  Footprints touched_;
  std::vector<std::vector<const Touch*>> touchesOf_;  ///< per buffer
  std::vector<std::vector<Edit>> result_;
};

/// A name for "the same edit elsewhere", so that one proposal is carried over to all findings of a group.
std::string shapeOf(const Schedule& s, const std::vector<Edit>& edits) {
  std::string out;
  for (const Edit& e : edits) {
    out += fmt::format("{}:{}:{};", static_cast<int>(e.kind), e.task >= 0 ? kindName(s, e.task) : "",
                       e.other >= 0 ? kindName(s, e.other) : "");
  }
  return out;
}

}  // namespace

std::vector<FindingGroup> groups(const Schedule& schedule, const Report& report) {
  std::vector<FindingGroup> result;
  std::map<std::string, std::size_t> byPattern;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    std::string pattern = std::string(code(f.rule));
    std::vector<std::string> kinds;  // in no order: which of the two comes first in a run is chance
    if (f.task >= 0) kinds.push_back(kindName(schedule, f.task));
    if (f.other >= 0) kinds.push_back(kindName(schedule, f.other));
    std::ranges::sort(kinds);
    for (std::size_t k = 0; k < kinds.size(); ++k) pattern += (k == 0 ? " " : " and ") + kinds[k];
    if (f.buffer >= 0)
      pattern += " on " + patternOf(schedule.buffers[static_cast<std::size_t>(f.buffer)].name);
    const auto [at, isNew] = byPattern.emplace(pattern, result.size());
    if (isNew) result.push_back({f.rule, pattern, {}});
    result[at->second].findings.push_back(i);
  }
  return result;
}

namespace {

/// Waits and queue entries at which a schedule stands when nothing moves any more.
std::int64_t blocks(const Schedule& schedule) {
  const Model model = modelOf(schedule, Ids(schedule));
  const Closure end = closure(model);
  std::int64_t count = 0;
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) {
    if (end.completed[t] != 0) continue;
    if (model.before[t] >= 0 && end.completed[static_cast<std::size_t>(model.before[t])] == 0) ++count;
    for (const Model::Need& need : model.needs[t])
      count += end.counters[static_cast<std::size_t>(need.counter)] < need.threshold ? 1 : 0;
  }
  return count;
}

/// How bad a schedule is: what a repair must lower. A deadlock counts its stuck tasks, so that freeing some
/// of them helps, and what they stand at, so that of two cycles through the same tasks one can go first.
std::int64_t badness(const Schedule& schedule, const Report& report) {
  constexpr std::int64_t asDeadlock = 1'000'000'000'000;
  constexpr std::int64_t asStuckTask = 100'000;
  std::int64_t sum = 0;
  for (const Finding& f : report.findings)
    sum += f.rule == Rule::deadlock
               ? asDeadlock + asStuckTask * static_cast<std::int64_t>(f.stuck.size()) + blocks(schedule)
               : 1;
  for (const auto& [key, count] : report.unlisted) sum += count;
  return sum;
}

/// Proposals for the first finding, each extended by its like for all the others.
std::vector<std::vector<Edit>> proposals(const Schedule& schedule, const Report& report,
                                         const std::vector<std::size_t>& findings) {
  Proposer proposer(schedule);
  std::vector<std::vector<Edit>> candidates = proposer.of(report.findings[findings.front()]);
  std::map<std::string, std::size_t> byShape;
  std::vector<std::set<Edit>> has(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    byShape.emplace(shapeOf(schedule, candidates[i]), i);
    has[i] = {candidates[i].begin(), candidates[i].end()};
  }
  for (std::size_t k = 1; k < findings.size(); ++k) {
    std::set<std::size_t> extended;
    for (const auto& edits : proposer.of(report.findings[findings[k]])) {
      const auto at = byShape.find(shapeOf(schedule, edits));
      if (at == byShape.end() || !extended.insert(at->second).second) continue;
      for (const Edit& edit : edits) {
        if (has[at->second].insert(edit).second) candidates[at->second].push_back(edit);
      }
    }
  }
  return candidates;
}

/// Proposals for all findings of a group, those that the report only counts included: a wait that every tile
/// of an operator lacks is added to every tile.
std::vector<std::vector<Edit>> proposalsFor(const Schedule& schedule, const Report& report,
                                            const FindingGroup& group, const Progress& progress) {
  const bool unlisted = std::ranges::any_of(
      report.unlisted, [&](const auto& entry) { return entry.first.first == group.rule; });
  if (!unlisted) return proposals(schedule, report, group.findings);
  CheckOptions everything;
  everything.conflicts = {.listedPerBuffer = 4096, .listedPerRule = 65536, .runsPerRule = 0};
  const Report all = check(schedule, everything, progress);
  const auto rows = groups(schedule, all);
  const auto same = std::ranges::find(rows, group.pattern, &FindingGroup::pattern);
  return same == rows.end() ? proposals(schedule, report, group.findings)
                            : proposals(schedule, all, same->findings);
}

Repair repairOf(const Schedule& schedule, const Report& before, std::vector<Edit> edits, Report after) {
  Repair repair;
  repair.makesSafe = after.verdict == Safety::safe;
  repair.repaired = before.findings.size() - std::min(before.findings.size(), after.findings.size());
  repair.remaining = std::move(after.findings);
  repair.text = editsText(schedule, edits, false);
  repair.generator = editsText(schedule, edits, true);
  repair.edits = std::move(edits);
  return repair;
}

class Timer {
 public:
  explicit Timer(double limit) : limit_(limit) {}
  [[nodiscard]] bool late() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > limit_;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double limit_;
};

}  // namespace

std::vector<Repair> repairs(const Schedule& schedule, const Report& report, const FindingGroup& group,
                            const RepairOptions& options, const Progress& progress) {
  const Timer timer(options.secondsLimit);
  const std::int64_t bad = badness(schedule, report);
  std::vector<std::pair<std::int64_t, Repair>> found;
  std::set<std::vector<Edit>> tried;
  for (auto& edits : options.only ? proposals(schedule, report, {*options.only})
                                  : proposalsFor(schedule, report, group, progress)) {
    progress.check();
    if (timer.late()) break;
    if (!tried.insert(edits).second) continue;
    const Schedule repaired = applyEdits(schedule, edits);
    Report after = check(repaired, {}, progress);
    const std::int64_t left = badness(repaired, after);
    if (after.verdict == Safety::malformed || left >= bad) continue;
    found.emplace_back(left, repairOf(schedule, report, std::move(edits), std::move(after)));
  }
  std::ranges::stable_sort(found, {}, [](const auto& r) {
    return std::make_tuple(!r.second.makesSafe, r.first, r.second.edits.size());
  });
  if (found.size() > options.most) found.resize(options.most);
  std::vector<Repair> result;
  for (auto& [left, repair] : found) result.push_back(std::move(repair));
  return result;
}

namespace {

/// Edits of a schedule to which edits were applied already, as edits of the original. Tasks are told by id; a
/// wait by its place among those that were not dropped.
class Rebase {
 public:
  Rebase(const Schedule& original, const Schedule& current, const std::vector<Edit>& applied)
      : original_(original), current_(current), applied_(applied) {
    for (std::size_t t = 0; t < original.tasks.size(); ++t)
      byId_.emplace(original.tasks[t].id, static_cast<std::int32_t>(t));
  }
  /// False if an edit changes a wait that was added: the original does not have it.
  bool run(std::vector<Edit>& edits) const {
    for (Edit& edit : edits) {
      edit.task = taskOf(edit.task);
      edit.other = taskOf(edit.other);
      const bool names = edit.kind == Edit::Kind::dropWait || edit.kind == Edit::Kind::setThreshold;
      if (names && !wait(edit)) return false;
    }
    return true;
  }

 private:
  std::int32_t taskOf(std::int32_t t) const {
    return t < 0 ? t : byId_.at(current_.tasks[static_cast<std::size_t>(t)].id);
  }
  bool wait(Edit& edit) const {
    const auto dropped = [&](std::size_t index) {
      return std::ranges::any_of(applied_, [&](const Edit& e) {
        return e.kind == Edit::Kind::dropWait && e.task == edit.task && e.index == index;
      });
    };
    std::size_t place = 0;
    const std::size_t count = original_.tasks[static_cast<std::size_t>(edit.task)].waits.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (dropped(i)) continue;
      if (place++ == edit.index) {
        edit.index = i;
        return true;
      }
    }
    return false;
  }
  const Schedule& original_;
  const Schedule& current_;
  const std::vector<Edit>& applied_;
  std::unordered_map<std::int64_t, std::int32_t> byId_;
};

}  // namespace

std::optional<Repair> repairAll(const Schedule& schedule, const Report& report, const RepairOptions& options,
                                const Progress& progress) {
  const Timer timer(options.secondsLimit);
  std::vector<Edit> edits;
  Schedule current = schedule;
  Report now = report;
  while (now.verdict == Safety::unsafe && !timer.late()) {
    std::vector<Edit> best;
    std::int64_t least = badness(current, now);
    for (const FindingGroup& group : groups(current, now)) {
      for (const auto& candidate : proposalsFor(current, now, group, progress)) {
        progress.check();
        if (timer.late()) break;
        const Schedule repaired = applyEdits(current, candidate);
        const Report after = check(repaired, {}, progress);
        const std::int64_t left = badness(repaired, after);
        std::vector<Edit> rebased = candidate;
        if (after.verdict == Safety::malformed || left >= least ||
            !Rebase(schedule, current, edits).run(rebased))
          continue;
        least = left;
        best = std::move(rebased);
        if (least == 0) break;
      }
      if (least == 0) break;
    }
    if (best.empty()) break;
    edits.insert(edits.end(), best.begin(), best.end());
    current = applyEdits(schedule, edits);
    now = check(current, {}, progress);
  }
  if (edits.empty() || badness(current, now) >= badness(schedule, report)) return std::nullopt;
  return repairOf(schedule, report, std::move(edits), std::move(now));
}

}  // namespace nuscope::schedule
