#include "core/schedule/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "core/schedule/explain.h"
#include "core/schedule/positions.h"
#include "core/schedule/storage.h"
#include "core/schedule/structure.h"

namespace nuscope::schedule {
namespace {

class Checker {
 public:
  Checker(const Schedule& schedule, const CheckOptions& options, const Progress& progress)
      : schedule_(schedule), options_(options), progress_(progress), ids_(schedule) {}

  Report run() {
    report_.faults = malformations(schedule_, ids_);
    if (!report_.faults.empty()) return std::move(report_);
    model_ = modelOf(schedule_, ids_);
    placement();
    unsatisfiable();
    pageCapacity();
    const Closure all = closure(model_);
    progress_.check();
    if (all.order.size() < static_cast<std::size_t>(model_.tasks)) {
      deadlock(all);
    } else {
      report_.order = all.order;
      clocks_ = std::make_shared<const Clocks>(model_, all.order);
      if (options_.keepClocks) report_.clocks = clocks_;
      report_.chains = clocks_->chains();
      report_.sweeps = clocks_->sweeps();
      progress_.check();
    }
    report_.undecided = schedule_.notDecided;
    data(options_.conflicts);
    conclude();
    return report_;
  }

  /// The same schedule with other regions in the storages `only`: what the positions change.
  Report again(const std::vector<char>& only) {
    report_.findings.clear();
    report_.unlisted.clear();
    ConflictOptions options = options_.conflicts;
    options.only = &only;
    data(options);
    conclude();
    return report_;
  }

 private:
  /// What depends on regions.
  void data(const ConflictOptions& options) {
    const Footprints touched = footprints(schedule_, ids_);
    bounds(touched);
    readOnly(touched);
    onChip(touched);
    if (clocks_ == nullptr) {
      for (Finding& finding : incompleteOutputs(schedule_, touched))
        report_.findings.push_back(std::move(finding));
      return;
    }
    Conflicts found =
        conflicts(schedule_, ids_, model_, touched, report_.order, *clocks_, options, progress_);
    for (Finding& finding : found.findings) report_.findings.push_back(std::move(finding));
    report_.unlisted = std::move(found.unlisted);
    for (std::string& what : found.undecided) report_.undecided.push_back(std::move(what));
  }
  void conclude() {
    std::ranges::stable_sort(report_.findings, {}, &Finding::rule);
    report_.verdict = !report_.findings.empty()   ? Safety::unsafe
                      : report_.undecided.empty() ? Safety::safe
                                                  : Safety::undecided;
  }
  Finding& add(Rule rule, std::string message) {
    Finding& finding = report_.findings.emplace_back();
    finding.rule = rule;
    finding.message = std::move(message);
    return finding;
  }
  void placement() {
    for (std::size_t t = 0; t < schedule_.tasks.size(); ++t) {
      const auto& sm = schedule_.tasks[t].sm;
      if (!sm || (*sm >= 0 && (!schedule_.numSms || *sm < *schedule_.numSms))) continue;
      add(Rule::badPlacement,
          fmt::format("{} is on SM {}{}", nameOf(schedule_, static_cast<std::int32_t>(t)), *sm,
                      schedule_.numSms ? fmt::format("; the target has {}", *schedule_.numSms) : ""))
          .task = static_cast<std::int32_t>(t);
    }
  }
  void unsatisfiable() {
    for (std::int32_t t = 0; t < model_.tasks; ++t) {
      for (const Model::Need& need : model_.needs[static_cast<std::size_t>(t)]) {
        const auto producers = model_.producers[static_cast<std::size_t>(need.counter)].size();
        if (need.threshold <= static_cast<std::int64_t>(producers)) continue;
        add(Rule::unsatisfiableWait,
            fmt::format("{} waits for counter {} to reach {}, and {} tasks raise it", nameOf(schedule_, t),
                        schedule_.counters[static_cast<std::size_t>(need.counter)].id, need.threshold,
                        producers))
            .task = t;
      }
    }
  }
  void bounds(const Footprints& touched) {
    for (const Overrun& overrun : touched.overruns) {
      Finding& finding =
          add(Rule::outOfBounds, fmt::format("{} touches {}", nameOf(schedule_, overrun.task), overrun.what));
      finding.task = overrun.task;
      finding.buffer = overrun.buffer;
    }
  }
  void readOnly(const Footprints& touched) {
    std::set<std::pair<std::int32_t, std::int32_t>> written;  // (task, buffer)
    const auto writes = [&](std::int32_t task, std::int32_t buffer) {
      if (isReadOnly(schedule_.buffers[static_cast<std::size_t>(buffer)].kind)) written.emplace(task, buffer);
    };
    for (const Touch& touch : touched.touches) {
      if (touch.write) writes(touch.task, touch.buffer);
    }
    for (std::int32_t t = 0; t < model_.tasks; ++t) {  // also where the region is empty
      const Task& task = schedule_.tasks[static_cast<std::size_t>(t)];
      if (task.writes) {
        for (const Access& access : *task.writes) writes(t, ids_.buffer(access.buffer));
      } else if (!task.reads) {
        for (const std::int64_t id : task.outputs) writes(t, ids_.buffer(id));
      }
    }
    for (const auto& [task, buffer] : written) {
      Finding& finding = add(Rule::readOnlyWrite, "");
      finding.task = task;
      finding.buffer = buffer;
      finding.message = describe(schedule_, finding);
    }
  }
  void pageCapacity() {
    if (!schedule_.pages) return;
    for (const auto& [id, pageId] : schedule_.pages->ofBuffer) {
      const auto index = ids_.buffer(id);
      const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(index)];
      for (const Page& page : schedule_.pages->pages) {
        if (page.id != pageId || buffer.bytes() <= page.bytes) continue;
        add(Rule::pageCapacity, fmt::format("buffer {} ({}) has {} bytes, its page {} has {}", buffer.id,
                                            buffer.name, buffer.bytes(), page.id, page.bytes))
            .buffer = index;
      }
    }
  }
  void onChip(const Footprints& touched) {
    const auto isOnChip = [](const Buffer& b) { return b.space == Space::smem || b.space == Space::reg; };
    if (std::ranges::none_of(schedule_.buffers, isOnChip)) return;
    std::vector<std::int32_t> firstUser(schedule_.buffers.size(), -1);
    std::vector<char> reported(schedule_.buffers.size(), 0);
    const auto use = [&](std::int32_t index, std::int32_t task) {
      const auto b = static_cast<std::size_t>(index);
      const Buffer& buffer = schedule_.buffers[b];
      if (!isOnChip(buffer) || reported[b] != 0) return;
      const auto& sm = schedule_.tasks[static_cast<std::size_t>(task)].sm;
      std::string what;
      if (!sm) {
        what = fmt::format("{} has no SM", nameOf(schedule_, task));
      } else if (firstUser[b] >= 0 && schedule_.tasks[static_cast<std::size_t>(firstUser[b])].sm != sm) {
        what = fmt::format("{} and {} are on different SMs", nameOf(schedule_, firstUser[b]),
                           nameOf(schedule_, task));
      }
      if (firstUser[b] < 0) firstUser[b] = task;
      if (what.empty()) return;
      reported[b] = 1;
      Finding& finding = add(Rule::onChipLocality, fmt::format("buffer {} ({}) is in {}: {}", buffer.id,
                                                               buffer.name, text(buffer.space), what));
      finding.task = task;
      finding.other = firstUser[b] == task ? -1 : firstUser[b];
      finding.buffer = index;
    };
    // What a task names it uses, also where its region is empty.
    for (std::int32_t t = 0; t < model_.tasks; ++t) {
      const Task& task = schedule_.tasks[static_cast<std::size_t>(t)];
      for (const auto* list : {&task.inputs, &task.outputs}) {
        for (const std::int64_t id : *list) use(ids_.buffer(id), t);
      }
      for (const auto* list : {&task.reads, &task.writes}) {
        if (!*list) continue;
        for (const Access& access : **list) use(ids_.buffer(access.buffer), t);
      }
    }
    for (const Touch& touch : touched.touches) use(touch.buffer, touch.task);
  }
  void deadlock(const Closure& all) {
    Finding& finding = add(Rule::deadlock, "");
    for (std::int32_t t = 0; t < model_.tasks; ++t) {
      if (all.completed[static_cast<std::size_t>(t)] == 0) finding.stuck.push_back(t);
    }
    finding.cycle = waitCycle(model_, all);
    finding.task = finding.cycle.empty() ? finding.stuck[0] : finding.cycle[0];
    finding.firing = all.order;
    finding.message = describe(schedule_, finding);
  }
  const Schedule& schedule_;
  const CheckOptions& options_;
  const Progress& progress_;
  Ids ids_;
  Model model_;
  std::shared_ptr<const Clocks> clocks_;
  Report report_;
};

constexpr std::size_t mostStretches = 20'000;

/// Storages of which some region depends on the position.
std::vector<char> dependOnPosition(const Schedule& schedule) {
  const Ids ids(schedule);
  const auto storage = storageOf(schedule);
  std::vector<char> result(schedule.buffers.size(), 0);
  for (const Task& task : schedule.tasks) {
    for (const auto* list : {&task.reads, &task.writes}) {
      if (!*list) continue;
      for (const Access& access : **list) {
        const std::int32_t buffer = ids.buffer(access.buffer);
        if (!access.symbolic.empty() && buffer >= 0)
          result[static_cast<std::size_t>(storage[static_cast<std::size_t>(buffer)])] = 1;
      }
    }
  }
  return result;
}

Report checkPositions(const Schedule& schedule, const CheckOptions& options, const Progress& progress) {
  Schedule at = schedule;
  setPosition(at, schedule.positions->from);
  Checker checker(at, options, progress);
  Report report = checker.run();
  if (report.verdict == Safety::unsafe) report.position = schedule.positions->from;
  if (report.verdict == Safety::unsafe || report.verdict == Safety::malformed) return report;
  const auto starts = stretches(schedule, mostStretches);
  if (!starts) {
    report.undecided.push_back(fmt::format(
        "more than {} positions at which the order of two regions changes; only position {} was looked at",
        mostStretches, schedule.positions->from));
    report.verdict = Safety::undecided;
    return report;
  }
  const std::vector<char> only = dependOnPosition(schedule);
  for (std::size_t i = 1; i < starts->size(); ++i) {
    progress.check();
    progress.report(static_cast<double>(i) / static_cast<double>(starts->size()), "checking positions");
    setPosition(at, (*starts)[i]);
    report = checker.again(only);
    if (report.verdict != Safety::unsafe) continue;
    report.position = (*starts)[i];
    break;
  }
  return report;
}

}  // namespace

std::string_view text(Safety safety) {
  constexpr std::string_view texts[] = {"safe", "unsafe", "malformed", "undecided"};
  return texts[static_cast<std::size_t>(safety)];
}

std::string_view assumptions() {
  return "Assumes that all counters are zero at the start, all queues are resident at once, tasks touch only "
         "what they declare, "
         "and signals release and waits acquire.";
}

Report check(const Schedule& schedule, const CheckOptions& options, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Report report = schedule.positions ? checkPositions(schedule, options, progress)
                                     : Checker(schedule, options, progress).run();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace nuscope::schedule
