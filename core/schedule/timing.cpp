#include "core/schedule/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <queue>

#include "core/schedule/explain.h"

namespace nuscope::schedule {
namespace {

struct TargetRow {
  const char* name;
  std::int64_t sms;
  double gigabytes;  ///< per second, data sheet
  double measured;   ///< per second; 0: not known
  double teraflops;  ///< 16-bit dense, data sheet
};
// SMs and bandwidths as in reference/megakernel.md A.3; flops of the vendor's data sheets without sparsity.
constexpr TargetRow targetRows[] = {{"a100", 108, 1555, 1382, 312}, {"a10g", 80, 600, 0, 70},
                                    {"b200", 148, 8000, 0, 2250},   {"h100", 132, 3350, 3089, 989},
                                    {"h200", 132, 4800, 0, 989},    {"l4", 58, 300, 0, 121},
                                    {"l40s", 142, 864, 0, 362},     {"t4", 40, 320, 0, 65}};
constexpr double oneSmShare = 3;  // one SM draws at most this many even shares of the bandwidth

double number(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return std::isfinite(value) && value > 0 ? value : 0;
}

TimingTarget made(std::string name, std::int64_t sms, double gigabytes, double teraflops,
                  std::string source) {
  TimingTarget t;
  t.name = std::move(name);
  t.sms = sms;
  t.bytesPerSecond = gigabytes * 1e9;
  t.smBytesPerSecond = oneSmShare * t.bytesPerSecond / static_cast<double>(sms);
  t.flopsPerSecond = teraflops * 1e12;
  t.source = std::move(source);
  return t;
}

Result<TimingTarget> ofFile(const Schedule& schedule) {
  for (const auto& [key, text] : schedule.rest) {
    if (key != "target" || text.size() > (1U << 20U)) continue;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) break;
    const auto real = [&](const char* name) {
      const auto at = json.find(name);
      return at != json.end() && at->is_number() ? std::max(0.0, at->get<double>()) : 0.0;
    };
    const double measured = real("measured_bw_gbs");
    const double bandwidth = measured > 0 ? measured : real("hbm_bandwidth_gbs");
    const double flops = real("fp16_tflops");
    if (!schedule.numSms || *schedule.numSms < 1 || *schedule.numSms > 100'000 || bandwidth <= 0 ||
        flops <= 0)
      break;
    return made("file", *schedule.numSms, bandwidth, flops,
                fmt::format("the file's target, {} bandwidth", measured > 0 ? "measured" : "data sheet"));
  }
  return Refusal{
      "the file's target does not give num_sms, a bandwidth (measured_bw_gbs or hbm_bandwidth_gbs) and "
      "fp16_tflops",
      "name a target instead: " + fmt::format("{}", fmt::join(timingTargetNames(), ", "))};
}

class Simulation {
 public:
  Simulation(const Analysis& a, const TimingTarget& target, const Progress& progress)
      : a_(a), m_(a.model()), target_(target), progress_(progress) {}

  Timing run() {
    prepare();
    for (std::int32_t t = 0; t < m_.tasks; ++t) {
      if (open_[static_cast<std::size_t>(t)] == 0) becomeReady(t, -1);
    }
    startLoose();
    std::size_t steps = 0;
    while (!events_.empty() || !memory_.empty()) {
      if (++steps % 4096 == 0) progress_.check();
      step();
    }
    finish();
    return std::move(result_);
  }

 private:
  enum class What : std::uint8_t { begun, computed, signal };
  struct Event {
    double time;
    What what;
    std::int32_t task;
    std::int32_t counter;
    bool operator>(const Event& o) const {
      return std::tie(time, task, counter) > std::tie(o.time, o.task, o.counter);
    }
  };
  template <class T>
  using Heap = std::priority_queue<T, std::vector<T>, std::greater<>>;

  void prepare() {
    const auto n = static_cast<std::size_t>(m_.tasks);
    result_.target = target_;
    result_.start.assign(n, 0);
    result_.finish.assign(n, 0);
    result_.ranOn.assign(n, -1);
    cause_.assign(n, -1);
    parts_.assign(n, 0);
    open_.assign(n, 0);
    counters_.assign(static_cast<std::size_t>(m_.counters), 0);
    pending_.resize(counters_.size());
    for (std::size_t t = 0; t < n; ++t) {
      open_[t] = static_cast<std::int32_t>(m_.needs[t].size()) + (m_.before[t] >= 0 ? 1 : 0);
      for (const Model::Need& need : m_.needs[t])
        pending_[static_cast<std::size_t>(need.counter)].emplace_back(need.threshold,
                                                                      static_cast<std::int32_t>(t));
    }
    for (auto& list : pending_)
      std::ranges::stable_sort(list, std::greater<>(), [](const auto& p) { return p.first; });
    after_.assign(n, -1);
    for (std::size_t t = 0; t < n; ++t) {
      if (m_.before[t] >= 0) after_[static_cast<std::size_t>(m_.before[t])] = static_cast<std::int32_t>(t);
    }
    // Queues have their SM; the others are free for tasks in no queue. An SM runs one task at a time.
    for (std::int64_t sm = 0; sm < target_.sms; ++sm) free_.push(sm);
    busy_.assign(static_cast<std::size_t>(target_.sms), -1);
    last_.assign(busy_.size(), -1);
    smOfQueue_.clear();
    for (std::size_t q = 0; q < m_.queues.size(); ++q) smOfQueue_.push_back(static_cast<std::int64_t>(q));
    waitingOnSm_.assign(busy_.size(), -1);
    bytes_.assign(n, 0);
    for (std::size_t t = 0; t < n; ++t) {
      bytes_[t] = number(a_.schedule().tasks[t].estBytes);
      if (bytes_[t] > 0) continue;
      for (const Touch& touch : a_.touchesOf(static_cast<std::int32_t>(t)))
        bytes_[t] += static_cast<double>(touch.region.length) * static_cast<double>(touch.region.count) *
                     bits(a_.schedule().buffers[static_cast<std::size_t>(touch.buffer)].type) / 8;
    }
  }
  void becomeReady(std::int32_t t, std::int32_t cause) {
    cause_[static_cast<std::size_t>(t)] = cause;
    const std::int32_t queue = m_.queueOf[static_cast<std::size_t>(t)];
    if (queue < 0) {
      ready_.push(t);
      return;
    }
    const auto sm = static_cast<std::size_t>(smOfQueue_[static_cast<std::size_t>(queue)]);
    if (busy_[sm] < 0) {
      begin(t, static_cast<std::int64_t>(sm));
    } else {
      waitingOnSm_[sm] = t;  // a task of no queue is running there
    }
  }
  void startLoose() {
    while (!ready_.empty() && !free_.empty()) {
      const std::int64_t sm = free_.top();
      free_.pop();
      if (busy_[static_cast<std::size_t>(sm)] >= 0) continue;
      const std::int32_t t = ready_.top();
      ready_.pop();
      const std::int32_t last = last_[static_cast<std::size_t>(sm)];
      auto& cause = cause_[static_cast<std::size_t>(t)];
      if (last >= 0 && result_.finish[static_cast<std::size_t>(last)] >= now_ && cause < 0) cause = last;
      begin(t, sm);
    }
  }
  void begin(std::int32_t t, std::int64_t sm) {
    busy_[static_cast<std::size_t>(sm)] = t;
    result_.start[static_cast<std::size_t>(t)] = now_;
    result_.ranOn[static_cast<std::size_t>(t)] = sm;
    const double polls =
        target_.pollSeconds * static_cast<double>(m_.needs[static_cast<std::size_t>(t)].size());
    events_.push({now_ + target_.taskSeconds + polls, What::begun, t, -1});
  }
  double rate() const {
    return std::min(target_.smBytesPerSecond,
                    target_.bytesPerSecond / static_cast<double>(std::max<std::size_t>(1, memory_.size())));
  }
  /// The memory serves every task that still needs bytes at one rate: `served_` is what each has got since
  /// the start.
  void advance(double time) {
    served_ += (time - now_) * rate();
    now_ = time;
  }
  void step() {
    const double fetched =
        memory_.empty() ? INFINITY : now_ + std::max(0.0, memory_.top().first - served_) / rate();
    if (events_.empty() || fetched <= events_.top().time) {
      advance(fetched);
      const std::int32_t t = memory_.top().second;
      memory_.pop();
      partDone(t);
      return;
    }
    const Event event = events_.top();
    events_.pop();
    advance(event.time);
    const auto t = static_cast<std::size_t>(event.task);
    if (event.what == What::begun) {
      parts_[t] = 2;
      const double flops = number(a_.schedule().tasks[t].estFlops);
      events_.push({now_ + flops * static_cast<double>(target_.sms) / target_.flopsPerSecond, What::computed,
                    event.task, -1});
      if (bytes_[t] > 0) {
        memory_.emplace(served_ + bytes_[t], event.task);
      } else {
        partDone(event.task);
      }
    } else if (event.what == What::computed) {
      partDone(event.task);
    } else {
      signal(event.counter, event.task);
    }
  }
  void partDone(std::int32_t task) {
    const auto t = static_cast<std::size_t>(task);
    if (--parts_[t] > 0) return;
    result_.finish[t] = now_;
    const auto sm = static_cast<std::size_t>(result_.ranOn[t]);
    busy_[sm] = -1;
    last_[sm] = task;
    for (const std::int32_t counter : m_.raises[t])
      events_.push({now_ + target_.waitSeconds, What::signal, task, counter});
    if (after_[t] >= 0) release(after_[t], task);
    if (busy_[sm] < 0 && waitingOnSm_[sm] >= 0) {
      const std::int32_t waiting = waitingOnSm_[sm];
      waitingOnSm_[sm] = -1;
      cause_[static_cast<std::size_t>(waiting)] = task;
      begin(waiting, static_cast<std::int64_t>(sm));
    }
    if (busy_[sm] < 0) free_.push(static_cast<std::int64_t>(sm));
    startLoose();
  }
  void release(std::int32_t t, std::int32_t cause) {
    if (--open_[static_cast<std::size_t>(t)] == 0) becomeReady(t, cause);
  }
  void signal(std::int32_t counter, std::int32_t from) {
    const auto c = static_cast<std::size_t>(counter);
    ++counters_[c];
    while (!pending_[c].empty() && pending_[c].back().first <= counters_[c]) {
      const std::int32_t t = pending_[c].back().second;
      pending_[c].pop_back();
      release(t, from);
    }
    startLoose();
  }

  void finish() {
    std::int32_t last = 0;
    for (std::int32_t t = 0; t < m_.tasks; ++t) {
      if (result_.finish[static_cast<std::size_t>(t)] > result_.finish[static_cast<std::size_t>(last)])
        last = t;
    }
    if (m_.tasks == 0) return;
    result_.makespan = result_.finish[static_cast<std::size_t>(last)];
    for (std::int32_t t = last; t >= 0; t = cause_[static_cast<std::size_t>(t)])
      result_.criticalPath.push_back(t);
    std::ranges::reverse(result_.criticalPath);
    std::vector<double> ends(static_cast<std::size_t>(target_.sms), 0);
    result_.queues.resize(ends.size());
    for (std::size_t t = 0; t < result_.ranOn.size(); ++t) {
      QueueTime& q = result_.queues[static_cast<std::size_t>(result_.ranOn[t])];
      q.busy += result_.finish[t] - result_.start[t];
      ++q.tasks;
      auto& end = ends[static_cast<std::size_t>(result_.ranOn[t])];
      end = std::max(end, result_.finish[t]);
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      QueueTime& q = result_.queues[i];
      q.sm = i < m_.queueSm.size() ? m_.queueSm[i] : static_cast<std::int64_t>(i);
      q.idle = result_.makespan - ends[i];
      q.waiting = std::max(0.0, ends[i] - q.busy);
    }
    for (auto& sm : result_.ranOn) {
      if (static_cast<std::size_t>(sm) < m_.queueSm.size()) sm = m_.queueSm[static_cast<std::size_t>(sm)];
    }
    floor();
  }
  /// Weights and caches are read at least once, unless the tasks that read one say that they need less of it.
  void floor() {
    const auto& buffers = a_.schedule().buffers;
    std::vector<double> asked(buffers.size(), 0);
    for (std::int32_t t = 0; t < m_.tasks; ++t) {
      for (const Touch& touch : a_.touchesOf(t)) {
        const auto b = static_cast<std::size_t>(touch.buffer);
        const bool kept = buffers[b].kind == BufferKind::weight || buffers[b].kind == BufferKind::kvCache;
        if (touch.write || !kept) continue;
        const double region = static_cast<double>(touch.region.length) *
                              static_cast<double>(touch.region.count) * bits(buffers[b].type) / 8;
        asked[b] += std::min(region, bytes_[static_cast<std::size_t>(t)]);
      }
    }
    for (std::size_t b = 0; b < buffers.size(); ++b)
      result_.floorBytes += std::min(asked[b], static_cast<double>(buffers[b].bytes()));
    result_.floor = result_.floorBytes / target_.bytesPerSecond;
  }

  const Analysis& a_;
  const Model& m_;
  const TimingTarget& target_;
  const Progress& progress_;
  Timing result_;
  double now_ = 0;
  double served_ = 0;
  Heap<Event> events_;
  Heap<std::pair<double, std::int32_t>> memory_;         ///< (served_ at which it has all its bytes, task)
  Heap<std::int32_t> ready_;                             ///< tasks in no queue that can start
  Heap<std::int64_t> free_;                              ///< SMs that may be free
  std::vector<std::int32_t> busy_, last_, waitingOnSm_;  ///< per SM: task; -1
  std::vector<std::int64_t> smOfQueue_;
  std::vector<std::int32_t> cause_, parts_, open_, after_;  ///< per task
  std::vector<std::int64_t> counters_;
  std::vector<std::vector<std::pair<std::int64_t, std::int32_t>>> pending_;
  std::vector<double> bytes_;
};

}  // namespace

std::vector<std::string> timingTargetNames() {
  std::vector<std::string> names;
  for (const TargetRow& row : targetRows) names.emplace_back(row.name);
  return names;
}

Result<TimingTarget> timingTarget(std::string_view name, const Schedule& schedule) {
  if (name == "file") return ofFile(schedule);
  for (const TargetRow& row : targetRows) {
    if (name != row.name) continue;
    return made(row.name, row.sms, row.measured > 0 ? row.measured : row.gigabytes, row.teraflops,
                fmt::format("{} bandwidth, data sheet flops", row.measured > 0 ? "measured" : "data sheet"));
  }
  return Refusal{fmt::format("there is no target '{}'", name),
                 fmt::format("known: file, {}", fmt::join(timingTargetNames(), ", "))};
}

Result<Timing> modelTime(const Analysis& analysis, const TimingTarget& target, const Progress& progress) {
  if (!analysis.live()) return Refusal{"the schedule deadlocks, so that there is no time to model", ""};
  const auto queues = static_cast<std::int64_t>(analysis.model().queues.size());
  if (queues > target.sms)
    return Refusal{
        fmt::format("the schedule has {} queues, and {} has {} SMs", queues, target.name, target.sms), ""};
  return Simulation(analysis, target, progress).run();
}

Result<DropGain> gainOfDropping(const Analysis& analysis, const std::vector<WaitNote>& notes,
                                const TimingTarget& target, const Progress& progress) {
  const auto before = modelTime(analysis, target, progress);
  if (!before) return before.refusal();
  const auto without =
      Analysis::of(std::make_shared<const Schedule>(withoutWaits(analysis.schedule(), notes)), progress);
  if (!without) return without.refusal();
  const auto after = modelTime(**without, target, progress);
  if (!after) return after.refusal();
  return DropGain{target, before->makespan, after->makespan};
}

}  // namespace nuscope::schedule
