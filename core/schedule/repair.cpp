#include "core/schedule/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>

#include "core/schedule/explain.h"

namespace nuscope::schedule {
namespace {

/// "L12.q_proj[t3]" -> "L#.q_proj[t#]".
std::string patternOf(std::string_view label) {
  std::string out;
  for (const char c : label) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string kindName(const Schedule& s, std::int32_t task) {
  const Task& t = s.tasks[static_cast<std::size_t>(task)];
  return t.label.empty() ? std::string(text(t.op)) : patternOf(t.label);
}

/// Proposes edits for single findings.
class Proposer {
 public:
  explicit Proposer(const Schedule& schedule)
      : schedule_(schedule), ids_(schedule), model_(modelOf(schedule, ids_)) {}

  std::vector<std::vector<Edit>> of(const Finding& f) {
    result_.clear();
    switch (f.rule) {
      case Rule::race:
        order(f.task, f.other);
        order(f.other, f.task);
        shrink(f.task, f.other);
        shrink(f.other, f.task);
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
      default:
        break;
    }
    return std::move(result_);
  }

 private:
  const Task& task(std::int32_t t) const { return schedule_.tasks[static_cast<std::size_t>(t)]; }
  void single(Edit edit) { result_.push_back({std::move(edit)}); }

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
      if (!has && needs.size() < maxWaits)
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
  /// Two tiles of one buffer that overlap: the first ends where the second begins.
  void shrink(std::int32_t u, std::int32_t v) {
    const auto from = task(u).integer("n_off");
    const auto width = task(u).integer("N_tile");
    const auto other = task(v).integer("n_off");
    if (from && width && other && *from < *other && *other < *from + *width) {
      single({.kind = Edit::Kind::setParam, .task = u, .value = *other - *from, .key = "N_tile"});
    }
  }
  void earlyRead(const Finding& f) {
    const Footprints touched = footprints(schedule_, ids_);
    std::vector<std::int32_t> writers;
    for (const Touch& t : touched.touches) {
      if (t.write && t.buffer == f.buffer && t.task != f.task && overlap(t.region, {f.element, 1, 0, 1}))
        writers.push_back(t.task);
    }
    for (const std::int32_t w : writers) order(w, f.task);
  }
  void deadlock(const Finding& f) {
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
    if (const auto sorted = sortedQueues(); !sorted.empty()) result_.push_back(sorted);
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
    const Footprints touched = footprints(schedule_, ids_);
    for (const Touch& t : touched.touches) {
      if (t.buffer == f.buffer && !sm) sm = task(t.task).sm;
    }
    for (const Touch& t : touched.touches) {
      if (t.buffer == f.buffer && task(t.task).sm != sm.value_or(0)) {
        all.push_back({.kind = Edit::Kind::setSm, .task = t.task, .value = sm.value_or(0)});
      }
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
  std::vector<std::vector<Edit>> result_;
};

std::string editText(const Schedule& s, const Edit& e, bool generator) {
  const auto name = [&](std::int32_t t) { return generator ? kindName(s, t) : nameOf(s, t); };
  const auto counterId = [&](std::int32_t c) { return s.counters[static_cast<std::size_t>(c)].id; };
  switch (e.kind) {
    case Edit::Kind::addWait:
      if (generator) {
        for (std::size_t t = 0; t < s.tasks.size(); ++t) {
          if (std::ranges::find(s.tasks[t].signals, counterId(e.counter)) != s.tasks[t].signals.end()) {
            return fmt::format("let {} wait for all of {}", name(e.task),
                               kindName(s, static_cast<std::int32_t>(t)));
          }
        }
      }
      return fmt::format("{} waits for counter {} to reach {}", name(e.task), counterId(e.counter), e.value);
    case Edit::Kind::setThreshold:
      return fmt::format("{} waits for counter {} to reach {} instead of {}", name(e.task),
                         s.tasks[static_cast<std::size_t>(e.task)].waits[e.index].counter, e.value,
                         s.tasks[static_cast<std::size_t>(e.task)].waits[e.index].threshold);
    case Edit::Kind::dropWait:
      return fmt::format("{} no longer waits for counter {}", name(e.task),
                         s.tasks[static_cast<std::size_t>(e.task)].waits[e.index].counter);
    case Edit::Kind::moveBefore:
      return fmt::format("{} comes before {} in the queue", name(e.task), name(e.other));
    case Edit::Kind::setSm:
      return fmt::format("{} moves to SM {}", name(e.task), e.value);
    case Edit::Kind::setParam:
      return fmt::format("{} gets {} = {}", name(e.task), e.key, e.value);
    case Edit::Kind::dropTask:
      return fmt::format("{} is removed", name(e.task));
    case Edit::Kind::ownPage: {
      const Buffer& b = s.buffers[static_cast<std::size_t>(e.buffer)];
      return fmt::format("buffer {} ({}) gets a page of its own", b.id, b.name);
    }
  }
  return {};
}

std::string repairText(const Schedule& s, const std::vector<Edit>& edits, bool generator) {
  const auto moves = std::ranges::count(edits, Edit::Kind::moveBefore, &Edit::kind);
  if (moves > 2 && moves == std::ssize(edits))
    return fmt::format("sort the queues so that producers come first ({} moves)", moves);
  std::set<std::string> seen;
  std::string out;
  for (const Edit& e : edits) {
    const std::string one = editText(s, e, generator);
    if (!seen.insert(one).second) continue;
    if (seen.size() > 3) return out + fmt::format("; and {} more edits", edits.size() - 3);
    out += (out.empty() ? "" : "; ") + one;
  }
  return out;
}

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
    if (f.task >= 0) pattern += " " + kindName(schedule, f.task);
    if (f.other >= 0) pattern += " and " + kindName(schedule, f.other);
    if (f.buffer >= 0)
      pattern += " on " + patternOf(schedule.buffers[static_cast<std::size_t>(f.buffer)].name);
    const auto [at, isNew] = byPattern.emplace(pattern, result.size());
    if (isNew) result.push_back({f.rule, pattern, {}});
    result[at->second].findings.push_back(i);
  }
  return result;
}

std::vector<Repair> repairs(const Schedule& schedule, const Report& report, const FindingGroup& group,
                            const RepairOptions& options, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Proposer proposer(schedule);
  // Proposals of the first finding; the like of them for the others of the group.
  std::vector<std::vector<Edit>> candidates = proposer.of(report.findings[group.findings.front()]);
  if (group.findings.size() > 1) {
    std::map<std::string, std::size_t> byShape;
    for (std::size_t i = 0; i < candidates.size(); ++i) byShape.emplace(shapeOf(schedule, candidates[i]), i);
    for (std::size_t k = 1; k < group.findings.size(); ++k) {
      std::set<std::size_t> extended;
      for (const auto& edits : proposer.of(report.findings[group.findings[k]])) {
        const auto at = byShape.find(shapeOf(schedule, edits));
        if (at == byShape.end() || !extended.insert(at->second).second) continue;
        auto& all = candidates[at->second];
        for (const Edit& edit : edits) {
          if (std::ranges::find(all, edit) == all.end()) all.push_back(edit);
        }
      }
    }
  }
  std::vector<Repair> result;
  std::set<std::string> tried;
  for (auto& edits : candidates) {
    progress.check();
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
        options.secondsLimit)
      break;
    const std::string patch = jsonPatch(schedule, edits);
    if (!tried.insert(patch).second) continue;
    Report after = check(applyEdits(schedule, edits), {}, progress);
    if (after.verdict == Safety::malformed || after.findings.size() >= report.findings.size() + 1) continue;
    const bool worse = after.verdict == Safety::unsafe && after.findings.size() >= report.findings.size();
    if (worse) continue;
    Repair repair;
    repair.makesSafe = after.verdict == Safety::safe;
    repair.repaired = report.findings.size() - after.findings.size();
    repair.remaining = std::move(after.findings);
    repair.text = repairText(schedule, edits, false);
    repair.generator = repairText(schedule, edits, true);
    repair.edits = std::move(edits);
    result.push_back(std::move(repair));
  }
  std::ranges::stable_sort(result, {}, [](const Repair& r) {
    return std::make_tuple(!r.makesSafe, r.remaining.size(), r.edits.size());
  });
  if (result.size() > options.most) result.resize(options.most);
  return result;
}

std::optional<Repair> repairAll(const Schedule& schedule, const Report& report, const RepairOptions& options,
                                const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::int32_t> original;  // position in the given schedule of each task of the current one
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) original.push_back(static_cast<std::int32_t>(t));
  std::vector<Edit> edits;
  Schedule current = schedule;
  Report now = report;
  while (now.verdict == Safety::unsafe &&
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
             options.secondsLimit) {
    std::optional<Repair> best;
    for (const FindingGroup& group : groups(current, now)) {
      for (Repair& repair : repairs(current, now, group, options, progress)) {
        // Indices of waits stay those of the given schedule only while nothing was dropped from the task.
        const bool drops =
            std::ranges::any_of(repair.edits, [](const Edit& e) { return e.kind == Edit::Kind::dropWait; });
        if (drops && !edits.empty()) continue;
        if (!best || repair.remaining.size() < best->remaining.size()) best = std::move(repair);
      }
      if (best && best->makesSafe) break;
    }
    if (!best) break;
    const bool dropped = std::ranges::any_of(best->edits, [](const Edit& e) {
      return e.kind == Edit::Kind::dropWait || e.kind == Edit::Kind::dropTask;
    });
    for (Edit edit : best->edits) {
      if (edit.task >= 0) edit.task = original[static_cast<std::size_t>(edit.task)];
      if (edit.other >= 0) edit.other = original[static_cast<std::size_t>(edit.other)];
      edits.push_back(std::move(edit));
    }
    current = applyEdits(schedule, edits);
    now = check(current, {}, progress);
    if (dropped || now.verdict == Safety::malformed) break;
    std::unordered_map<std::int64_t, std::int32_t> byId;
    for (std::size_t t = 0; t < schedule.tasks.size(); ++t)
      byId.emplace(schedule.tasks[t].id, static_cast<std::int32_t>(t));
    for (std::size_t t = 0; t < current.tasks.size(); ++t) original[t] = byId.at(current.tasks[t].id);
  }
  if (edits.empty() || now.verdict == Safety::malformed) return std::nullopt;
  Repair result;
  result.makesSafe = now.verdict == Safety::safe;
  result.repaired = report.findings.size() - std::min(report.findings.size(), now.findings.size());
  result.remaining = std::move(now.findings);
  result.text = repairText(schedule, edits, false);
  result.generator = repairText(schedule, edits, true);
  result.edits = std::move(edits);
  return result;
}

Schedule applyEdits(const Schedule& schedule, const std::vector<Edit>& edits) {
  Schedule s = schedule;
  std::vector<std::int32_t> order;  // positions of the original tasks, in their new order
  for (std::size_t t = 0; t < s.tasks.size(); ++t) order.push_back(static_cast<std::int32_t>(t));
  std::vector<std::pair<std::int32_t, std::size_t>> dropped;
  for (const Edit& e : edits) {
    Task* task = e.task >= 0 ? &s.tasks[static_cast<std::size_t>(e.task)] : nullptr;
    switch (e.kind) {
      case Edit::Kind::addWait: {
        const Wait wait{s.counters[static_cast<std::size_t>(e.counter)].id, e.value};
        const bool there = std::ranges::any_of(task->waits, [&](const Wait& w) {
          return w.counter == wait.counter && w.threshold == wait.threshold;
        });
        if (!there) task->waits.push_back(wait);
        break;
      }
      case Edit::Kind::setThreshold:
        task->waits[e.index].threshold = e.value;
        break;
      case Edit::Kind::dropWait:
        dropped.emplace_back(e.task, e.index);
        break;
      case Edit::Kind::dropTask:
        std::erase(order, e.task);
        break;
      case Edit::Kind::moveBefore: {
        std::erase(order, e.task);
        order.insert(std::ranges::find(order, e.other), e.task);
        break;
      }
      case Edit::Kind::setSm:
        task->sm = e.value;
        break;
      case Edit::Kind::setParam:
        for (auto& [key, value] : task->params) {
          if (key == e.key) value = std::to_string(e.value);
        }
        break;
      case Edit::Kind::ownPage: {
        const Buffer& b = s.buffers[static_cast<std::size_t>(e.buffer)];
        std::int64_t id = 0;
        for (const Page& page : s.pages->pages) id = std::max(id, page.id + 1);
        s.pages->pages.push_back(
            {id, s.pages->pages.empty() ? Space::hbm : s.pages->pages[0].space, b.bytes(), {}});
        for (auto& [buffer, page] : s.pages->ofBuffer) {
          if (buffer == b.id) page = id;
        }
        break;
      }
    }
  }
  std::ranges::sort(dropped, std::greater<>());
  dropped.erase(std::unique(dropped.begin(), dropped.end()), dropped.end());
  for (const auto& [t, index] : dropped) {
    auto& waits = s.tasks[static_cast<std::size_t>(t)].waits;
    waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::vector<Task> tasks;
  tasks.reserve(order.size());
  for (const std::int32_t t : order) tasks.push_back(std::move(s.tasks[static_cast<std::size_t>(t)]));
  s.tasks = std::move(tasks);
  return s;
}

std::string jsonPatch(const Schedule& schedule, const std::vector<Edit>& edits) {
  std::string out = "[";
  std::vector<std::int32_t> order;
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) order.push_back(static_cast<std::int32_t>(t));
  const auto at = [&](std::int32_t t) { return std::ranges::find(order, t) - order.begin(); };
  const auto line = [&](std::string text) { out += (out.size() > 1 ? ",\n " : "") + std::move(text); };
  for (const Edit& e : edits) {
    switch (e.kind) {
      case Edit::Kind::addWait:
        line(fmt::format(
            R"({{"op": "add", "path": "/tasks/{}/waits/-", "value": {{"counter": {}, "threshold": {}}}}})",
            at(e.task), schedule.counters[static_cast<std::size_t>(e.counter)].id, e.value));
        break;
      case Edit::Kind::setThreshold:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/waits/{}/threshold", "value": {}}})",
                         at(e.task), e.index, e.value));
        break;
      case Edit::Kind::dropTask: {
        line(fmt::format(R"({{"op": "remove", "path": "/tasks/{}"}})", at(e.task)));
        std::erase(order, e.task);
        break;
      }
      case Edit::Kind::dropWait:
        line(fmt::format(R"({{"op": "remove", "path": "/tasks/{}/waits/{}"}})", at(e.task), e.index));
        break;
      case Edit::Kind::moveBefore: {
        const auto from = at(e.task);
        std::erase(order, e.task);
        const auto to = at(e.other);
        order.insert(order.begin() + to, e.task);
        line(fmt::format(R"({{"op": "move", "from": "/tasks/{}", "path": "/tasks/{}"}})", from, to));
        break;
      }
      case Edit::Kind::setSm:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/sm", "value": {}}})", at(e.task), e.value));
        break;
      case Edit::Kind::setParam:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/params/{}", "value": {}}})", at(e.task),
                         e.key, e.value));
        break;
      case Edit::Kind::ownPage: {
        const std::vector<Edit> soFar(edits.begin(), edits.begin() + (&e - edits.data()) + 1);
        const Schedule after = applyEdits(schedule, soFar);
        const std::int64_t id = schedule.buffers[static_cast<std::size_t>(e.buffer)].id;
        const Page& page = after.pages->pages.back();
        line(fmt::format(
            R"({{"op": "add", "path": "/pages/pages/-", "value": {{"id": {}, "space": "{}", "nbytes": {}}}}})",
            page.id, text(page.space), page.bytes));
        line(fmt::format(R"({{"op": "replace", "path": "/pages/buffer_to_page/{}", "value": {}}})", id,
                         page.id));
        break;
      }
    }
  }
  return out + "]\n";
}

}  // namespace nuscope::schedule
