#include "core/schedule/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/base/text.h"

namespace nuscope::schedule {
namespace {

constexpr std::string_view integerParams[] = {
    "K",       "N",          "M",        "N_tile", "M_tile", "n_off",  "m_off", "hidden", "vocab", "head_dim",
    "n_heads", "n_kv_heads", "kv_start", "kv_len", "pos",    "qdtype", "flags", "group",  "dim"};
constexpr std::size_t faultsListed = 10'000;

constexpr std::string_view realParams[] = {"eps", "scale", "theta"};

class Structure {
 public:
  Structure(const Schedule& schedule, const Ids& ids) : schedule_(schedule), ids_(ids) {}

  std::vector<Fault> run() {
    unique(schedule_.buffers, "buffers", &Ids::buffer);
    unique(schedule_.counters, "counters", &Ids::counter);
    unique(schedule_.tasks, "tasks", &Ids::task);
    for (const Buffer& buffer : schedule_.buffers) {
      if (buffer.shape.size() > maxRank) {
        add(Rule::rank,
            fmt::format("buffer {} has {} dimensions; at most {} are allowed", buffer.id, buffer.shape.size(),
                        maxRank),
            buffer.place);
      }
    }
    for (const Counter& counter : schedule_.counters) {
      if (counter.init != 0) {
        add(Rule::counterInit,
            fmt::format("counter {} starts at {}; a launch zeroes its counters", counter.id, counter.init),
            counter.place, true);
      }
    }
    for (const Task& task : schedule_.tasks) {
      if (faults_.size() > faultsListed) break;
      check(task);
    }
    if (schedule_.pages) pages(*schedule_.pages);
    if (faults_.size() > faultsListed) {
      faults_.resize(faultsListed);
      add(Rule::danglingReference, "", {});
      faults_.back().code = faults_[faultsListed - 1].code;
      faults_.back().message = "and more faults; what follows was not looked at";
    }
    return std::move(faults_);
  }

 private:
  void add(Rule rule, std::string message, const Place& place, bool amkAccepts = false) {
    faults_.push_back({std::string(code(rule)), std::move(message), place, "", amkAccepts});
  }
  static std::string nameOf(const Task& task) {
    return task.label.empty() ? fmt::format("task {}", task.id)
                              : fmt::format("task {} ({})", task.id, shortened(task.label, 80));
  }
  /// The table of ids holds the first record of each.
  template <class Records>
  void unique(const Records& records, std::string_view what, std::int32_t (Ids::*find)(std::int64_t) const) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      if ((ids_.*find)(records[i].id) != static_cast<std::int32_t>(i))
        add(Rule::duplicateId, fmt::format("two {} have id {}", what, records[i].id), records[i].place, true);
    }
  }
  void check(const Task& task) {
    const auto dangling = [&](std::string_view what, std::int64_t id) {
      add(Rule::danglingReference,
          fmt::format("{} names {} {}, which is not in the table", nameOf(task), what, id), task.place);
    };
    for (const auto* list : {&task.inputs, &task.outputs}) {
      for (const std::int64_t id : *list) {
        if (ids_.buffer(id) < 0) dangling("buffer", id);
      }
    }
    for (const auto* accesses : {&task.reads, &task.writes}) {
      if (!*accesses) continue;
      for (const Access& access : **accesses) declared(task, access);
    }
    for (const std::int64_t id : task.signals) {
      if (ids_.counter(id) < 0) dangling("counter", id);
    }
    for (const Wait& wait : task.waits) {
      if (ids_.counter(wait.counter) < 0) dangling("counter", wait.counter);
    }
    if (schedule_.format == Format::amk) capacities(task);
    if (task.op != Opcode::custom && !task.declared()) operation(task);
  }
  void declared(const Task& task, const Access& access) {
    const std::int32_t index = ids_.buffer(access.buffer);
    if (index < 0) {
      return add(Rule::danglingReference,
                 fmt::format("{} names buffer {}, which is not in the table", nameOf(task), access.buffer),
                 task.place);
    }
    const auto& shape = schedule_.buffers[static_cast<std::size_t>(index)].shape;
    const auto& ranges = access.region.ranges;
    if (access.strided && shape.size() != 1) {
      add(Rule::rank,
          fmt::format("{} names intervals of buffer {}, which has {} axes; they need one", nameOf(task),
                      access.buffer, shape.size()),
          task.place);
    }
    if (!ranges.empty() && ranges.size() != shape.size()) {
      add(Rule::rank,
          fmt::format("{} names a region of {} axes in buffer {}, which has {}", nameOf(task), ranges.size(),
                      access.buffer, shape.size()),
          task.place);
    } else if (!ranges.empty() && regionParts(shape, access.region) > mostRegionParts) {
      add(Rule::capacity,
          fmt::format("{} names a region of buffer {} that falls into more than {} pieces", nameOf(task),
                      access.buffer, mostRegionParts),
          task.place);
    }
  }
  void capacities(const Task& task) {
    const auto over = [&](std::size_t count, int most, std::string_view what) {
      if (count > static_cast<std::size_t>(most)) {
        add(Rule::capacity,
            fmt::format("{} has {} {}; at most {} fit an instruction", nameOf(task), count, what, most),
            task.place);
      }
    };
    over(task.inputs.size(), maxInputs, "inputs");
    over(task.outputs.size(), maxOutputs, "outputs");
    over(task.waits.size(), maxWaits, "waits");
  }
  void operation(const Task& task) {
    const Arity wanted = arity(task.op);
    const auto inputs = static_cast<int>(task.inputs.size());
    if (inputs < wanted.inputsMin || inputs > wanted.inputsMax) {
      const std::string range = wanted.inputsMin == wanted.inputsMax
                                    ? std::to_string(wanted.inputsMin)
                                    : fmt::format("{} to {}", wanted.inputsMin, wanted.inputsMax);
      add(Rule::arity,
          fmt::format("{}: {} takes {} inputs, not {}", nameOf(task), text(task.op), range, inputs),
          task.place);
    }
    if (static_cast<int>(task.outputs.size()) != wanted.outputs) {
      add(Rule::arity,
          fmt::format("{}: {} has {} outputs, not {}", nameOf(task), text(task.op), wanted.outputs,
                      task.outputs.size()),
          task.place);
    }
    std::string_view required = wanted.required;
    while (!required.empty()) {
      const std::string_view one = required.substr(0, required.find(' '));
      required.remove_prefix(std::min(required.size(), one.size() + 1));
      if (task.param(one) == nullptr) {
        add(Rule::missingParameter,
            fmt::format("{}: {} needs the parameter '{}'", nameOf(task), text(task.op), one), task.place);
      }
    }
    for (const auto& [key, value] : task.params) {
      if (std::ranges::find(integerParams, key) != std::end(integerParams) && !task.integer(key)) {
        add(Rule::parameterType,
            fmt::format("{}: '{}' is {}, not an int32", nameOf(task), key, shortened(value, 40)), task.place);
      } else if (std::ranges::find(realParams, key) != std::end(realParams) && !isNumber(value)) {
        add(Rule::parameterType,
            fmt::format("{}: '{}' is {}, not a number", nameOf(task), key, shortened(value, 40)), task.place);
      } else if (key == "recipe" && task.op == Opcode::fused && !isRecipe(value)) {
        add(Rule::parameterType,
            fmt::format("{}: the recipe of FUSED is no object with a non-empty list 'steps'", nameOf(task)),
            task.place, true);
      }
    }
  }
  static bool isNumber(const std::string& value) {
    return !value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
  }
  static bool isRecipe(const std::string& value) {
    const auto recipe = nlohmann::json::parse(value, nullptr, false);
    return recipe.is_object() && recipe.contains("steps") && recipe["steps"].is_array() &&
           !recipe["steps"].empty();
  }
  void pages(const Pages& pages) {
    std::unordered_set<std::int64_t> known;
    for (const Page& page : pages.pages) {
      if (!known.insert(page.id).second)
        add(Rule::duplicateId, fmt::format("two pages have id {}", page.id), {}, true);
    }
    for (const auto& [buffer, page] : pages.ofBuffer) {
      if (ids_.buffer(buffer) < 0) {
        add(Rule::danglingReference,
            fmt::format("the page map names buffer {}, which is not in the table", buffer), {}, true);
      }
      if (!known.contains(page)) {
        add(Rule::danglingReference,
            fmt::format("the page map puts buffer {} on page {}, which is not in the table", buffer, page),
            {}, true);
      }
    }
  }

  const Schedule& schedule_;
  const Ids& ids_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> malformations(const Schedule& schedule, const Ids& ids) {
  return Structure(schedule, ids).run();
}

}  // namespace nuscope::schedule
