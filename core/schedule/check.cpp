#include "core/schedule/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/schedule/explain.h"
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
    const Footprints touched = footprints(schedule_, ids_);
    placement();
    unsatisfiable();
    bounds(touched);
    readOnly(touched);
    pageCapacity();
    onChip(touched);
    const Closure all = closure(model_);
    progress_.check();
    if (all.order.size() < static_cast<std::size_t>(model_.tasks)) {
      deadlock(all);
      uncoveredOutputs(touched);
    } else {
      report_.order = all.order;
      const auto shared = std::make_shared<const Clocks>(model_, all.order);
      const Clocks& clocks = *shared;
      if (options_.keepClocks) report_.clocks = shared;
      report_.chains = clocks.chains();
      report_.sweeps = clocks.sweeps();
      progress_.check();
      Conflicts found =
          conflicts(schedule_, ids_, model_, touched, all.order, clocks, options_.conflicts, progress_);
      for (Finding& finding : found.findings) report_.findings.push_back(std::move(finding));
      report_.unlisted = std::move(found.unlisted);
    }
    std::ranges::stable_sort(report_.findings, {}, &Finding::rule);
    report_.verdict = report_.findings.empty() ? Safety::safe : Safety::unsafe;
    return std::move(report_);
  }

 private:
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
    for (const Touch& touch : touched.touches) {
      if (!touch.write || !isReadOnly(schedule_.buffers[static_cast<std::size_t>(touch.buffer)].kind))
        continue;
      Finding& finding = add(Rule::readOnlyWrite, "");
      finding.task = touch.task;
      finding.buffer = touch.buffer;
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
    std::vector<std::int32_t> firstUser(schedule_.buffers.size(), -1);
    std::vector<char> reported(schedule_.buffers.size(), 0);
    for (const Touch& touch : touched.touches) {
      const auto b = static_cast<std::size_t>(touch.buffer);
      const Buffer& buffer = schedule_.buffers[b];
      if ((buffer.space != Space::smem && buffer.space != Space::reg) || reported[b] != 0) continue;
      const auto& sm = schedule_.tasks[static_cast<std::size_t>(touch.task)].sm;
      std::string what;
      if (!sm) {
        what = fmt::format("{} has no SM", nameOf(schedule_, touch.task));
      } else if (firstUser[b] >= 0 && schedule_.tasks[static_cast<std::size_t>(firstUser[b])].sm != sm) {
        what = fmt::format("{} and {} are on different SMs", nameOf(schedule_, firstUser[b]),
                           nameOf(schedule_, touch.task));
      }
      if (firstUser[b] < 0) firstUser[b] = touch.task;
      if (what.empty()) continue;
      reported[b] = 1;
      Finding& finding = add(Rule::onChipLocality, fmt::format("buffer {} ({}) is in {}: {}", buffer.id,
                                                               buffer.name, text(buffer.space), what));
      finding.task = touch.task;
      finding.other = firstUser[b] == touch.task ? -1 : firstUser[b];
      finding.buffer = touch.buffer;
    }
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
  /// Coverage of outputs needs no run; with a deadlock it is all that can be said about data.
  void uncoveredOutputs(const Footprints& touched) {
    const auto storage = storageOf(schedule_);
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
      if (schedule_.buffers[b].kind != BufferKind::output) continue;
      std::vector<std::int32_t> writes;
      for (std::size_t i = 0; i < touched.touches.size(); ++i) {
        const Touch& touch = touched.touches[i];
        if (touch.write && storage[static_cast<std::size_t>(touch.buffer)] == storage[b])
          writes.push_back(static_cast<std::int32_t>(i));
      }
      for (const Segment& segment : segments(touched.touches, writes, schedule_.buffers[b].elements())) {
        if (!segment.touches.empty() || segment.size == 0) continue;
        Finding& finding = add(Rule::outputIncomplete, "");
        finding.buffer = static_cast<std::int32_t>(b);
        finding.element = segment.element;
        finding.message = describe(schedule_, finding);
        break;
      }
    }
  }

  const Schedule& schedule_;
  const CheckOptions& options_;
  const Progress& progress_;
  Ids ids_;
  Model model_;
  Report report_;
};

}  // namespace

std::string_view text(Safety safety) {
  return safety == Safety::safe ? "safe" : safety == Safety::unsafe ? "unsafe" : "malformed";
}

std::string_view assumptions() {
  return "Assumes that all counters are zero at the start, all queues are resident at once, tasks touch only "
         "what they declare, "
         "and signals release and waits acquire.";
}

Report check(const Schedule& schedule, const CheckOptions& options, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Report report = Checker(schedule, options, progress).run();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace nuscope::schedule
