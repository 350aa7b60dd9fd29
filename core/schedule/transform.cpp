#include "core/schedule/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/schedule/footprint.h"
#include "core/schedule/model.h"
#include "core/schedule/positions.h"
#include "core/schedule/structure.h"

namespace nuscope::schedule {
namespace {

constexpr int mostPasses = 64;
constexpr std::size_t mostTasks = 4'000'000;
constexpr std::int64_t largestId = std::int64_t{1} << 50U;

template <class Records>
std::int64_t idsSpan(const Records& records) {
  std::int64_t most = 0;
  for (const auto& record : records) most = std::max(most, record.id + 1);
  return most;
}

void setInteger(Task& task, std::string_view name, std::int64_t value) {
  for (auto& [key, text] : task.params) {
    if (key == name) text = std::to_string(value);
  }
}

/// Copies of one pass, shifted to a later one.
class Unroller {
 public:
  Unroller(const Schedule& schedule, CounterReset reset) : s_(schedule), reset_(reset), made_(schedule) {
    taskStride_ = idsSpan(s_.tasks);
    counterStride_ = idsSpan(s_.counters) + 1;
    const Ids ids(s_);
    for (const Task& task : s_.tasks) {
      if (task.op == Opcode::kvAppend && !task.declared())
        appended_ = std::max(appended_, *task.integer("pos"));
    }
  }

  Schedule run(int passes) {
    for (int pass = 1; pass < passes; ++pass) add(pass);
    return std::move(made_);
  }

 private:
  void add(int pass) {
    const std::int64_t counterShift = reset_ == CounterReset::reset ? pass * counterStride_ : 0;
    if (reset_ == CounterReset::reset) {
      for (Counter counter : s_.counters) {
        counter.id += counterShift;
        made_.counters.push_back(std::move(counter));
      }
      barrier(pass);
    }
    for (const Task& first : s_.tasks) {
      Task task = first;
      task.id += pass * taskStride_;
      if (!task.label.empty()) task.label += fmt::format(" (pass {})", pass + 1);
      for (std::int64_t& signal : task.signals) signal += counterShift;
      for (Wait& wait : task.waits) {
        wait.counter += counterShift;
        if (reset_ == CounterReset::kept) wait.threshold += pass * wait.perPass;
      }
      if (reset_ == CounterReset::reset) {
        task.waits.push_back({barrierId(pass), static_cast<std::int64_t>(s_.tasks.size())});
        task.signals.push_back(barrierId(pass + 1));
      }
      advance(task, pass);
      made_.tasks.push_back(std::move(task));
    }
  }
  [[nodiscard]] std::int64_t barrierId(int pass) const { return pass * counterStride_ - 1; }
  /// The launch between two passes: all of one before any of the next.
  void barrier(int pass) {
    const auto counter = [&](int which) {
      made_.counters.push_back({barrierId(which), 0, fmt::format("pass {} has completed", which), {}, {}});
    };
    if (pass == 1) {
      counter(1);
      for (Task& task : made_.tasks) task.signals.push_back(barrierId(1));
    }
    counter(pass + 1);
  }
  /// A pass later: one position further.
  void advance(Task& task, int pass) const {
    if (!task.declared() && task.op == Opcode::kvAppend) setInteger(task, "pos", *task.integer("pos") + pass);
    if (!task.declared() && task.op == Opcode::attentionTile && appended_ >= 0) {
      const std::int64_t start = *task.integer("kv_start");
      const std::int64_t length = *task.integer("kv_len");
      if (start + length == appended_ + 1) setInteger(task, "kv_len", length + pass);
    }
    for (auto* list : {&task.reads, &task.writes}) {
      if (!*list) continue;
      for (Access& access : **list) {
        for (auto& [from, to] : access.symbolic) {
          for (Bound* bound : {&from, &to}) {
            for (Affine& term : bound->terms) term.offset += pass * term.slope;
          }
        }
      }
    }
  }

  const Schedule& s_;
  CounterReset reset_;
  Schedule made_;
  std::int64_t taskStride_ = 1, counterStride_ = 1;
  std::int64_t appended_ = -1;  ///< the position that this pass appends
};

}  // namespace

CounterReset counterReset(const Schedule& schedule) {
  for (const auto& [key, text] : schedule.rest) {
    if ((key != "config" && key != "meta" && key != "passes") || text.size() > (1U << 20U)) continue;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) continue;
    const auto at = json.find("counters");
    if (at != json.end() && at->is_string() && *at == "kept") return CounterReset::kept;
  }
  return CounterReset::reset;
}

Result<Schedule> unroll(const Schedule& schedule, int passes, CounterReset reset) {
  if (passes < 1 || passes > mostPasses)
    return Refusal{fmt::format("{} passes; 1 to {} can be unrolled", passes, mostPasses), ""};
  if (schedule.tasks.size() * static_cast<std::size_t>(passes) > mostTasks)
    return Refusal{
        fmt::format("{} passes of {} tasks are more than {} tasks", passes, schedule.tasks.size(), mostTasks),
        ""};
  if (const auto faults = malformations(schedule, Ids(schedule)); !faults.empty())
    return Refusal{faults[0].message, "correct the file first"};
  const auto outside = [](const auto& records) {
    return std::ranges::any_of(records, [](const auto& r) { return r.id < 0 || largestId < r.id; });
  };
  if (outside(schedule.tasks) || outside(schedule.counters))
    return Refusal{"ids must lie in 0 .. 2^50 for passes to be unrolled", ""};
  if (passes == 1) return schedule;
  Schedule made = Unroller(schedule, reset).run(passes);
  if (made.positions) {
    made.positions->to = std::max(made.positions->from + 1, made.positions->to - (passes - 1));
    setPosition(made, made.positions->from);
  }
  // Several signals a task and more than eight waits: only our own form has them.
  made.format = Format::nuscope;
  return made;
}

Schedule sortedAsLoaded(const Schedule& schedule) {
  const Ids ids(schedule);
  const Model model = modelOf(schedule, ids);
  const auto n = static_cast<std::size_t>(model.tasks);
  std::vector<std::vector<std::int32_t>> after(n);
  std::vector<std::size_t> open(n, 0);
  for (std::size_t t = 0; t < n; ++t) {
    for (const Model::Need& need : model.needs[t]) {
      for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
        after[static_cast<std::size_t>(p)].push_back(static_cast<std::int32_t>(t));
        ++open[t];
      }
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < n; ++t) {
    if (open[t] == 0) order.push_back(t);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::int32_t t : after[order[i]]) {
      if (--open[static_cast<std::size_t>(t)] == 0) order.push_back(static_cast<std::size_t>(t));
    }
  }
  for (std::size_t t = 0; t < n; ++t) {
    if (open[t] > 0) order.push_back(t);
  }
  Schedule result = schedule;
  for (std::size_t i = 0; i < n; ++i) result.tasks[i] = schedule.tasks[order[i]];
  return result;
}

Result<Schedule> atPosition(const Schedule& schedule, std::int64_t position) {
  if (!schedule.positions) return schedule;
  if (position < schedule.positions->from || position >= schedule.positions->to)
    return Refusal{fmt::format("pos is {}; the schedule is for {} .. {}", position, schedule.positions->from,
                               schedule.positions->to - 1),
                   ""};
  Schedule result = schedule;
  setPosition(result, position);
  result.positions.reset();
  for (Task& task : result.tasks) {
    for (auto* list : {&task.reads, &task.writes}) {
      if (!*list) continue;
      for (Access& access : **list) access.symbolic.clear();
    }
  }
  return result;
}

}  // namespace nuscope::schedule
