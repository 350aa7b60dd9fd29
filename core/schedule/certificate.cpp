#include "core/schedule/certificate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/schedule/explain.h"

namespace nuscope::schedule {
namespace {

std::string idList(const Schedule& schedule, const std::vector<std::int32_t>& tasks) {
  std::string out = "[";
  for (const std::int32_t t : tasks) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(schedule.tasks[static_cast<std::size_t>(t)].id);
  }
  return out + "]";
}

std::string findingText(const Schedule& schedule, const Finding& f) {
  std::string out = fmt::format("{{\"code\": \"{}\"", code(f.rule));
  const auto task = [&](std::string_view key, std::int32_t t) {
    if (t >= 0) out += fmt::format(", \"{}\": {}", key, schedule.tasks[static_cast<std::size_t>(t)].id);
  };
  const auto buffer = [&](std::string_view key, std::int32_t b) {
    if (b >= 0) out += fmt::format(", \"{}\": {}", key, schedule.buffers[static_cast<std::size_t>(b)].id);
  };
  task("task", f.task);
  task("other", f.other);
  buffer("buffer", f.buffer);
  buffer("other_buffer", f.otherBuffer);
  if (f.element >= 0) out += fmt::format(", \"element\": {}", f.element);
  if (f.unordered) out += ", \"unordered\": true";
  const bool run = f.rule == Rule::deadlock || f.rule == Rule::race || f.rule == Rule::uninitialisedRead ||
                   f.rule == Rule::pageClobber;
  if (run) out += ", \"firing\": " + idList(schedule, f.firing);
  if (f.rule == Rule::deadlock)
    out += ", \"cycle\": " + idList(schedule, f.cycle) + ", \"stuck\": " + idList(schedule, f.stuck);
  return out + ", \"message\": " + nlohmann::json(f.message).dump() + "}";
}

std::string clocksText(const Schedule& schedule, const Clocks& clocks) {
  std::vector<std::vector<std::int32_t>> chains(static_cast<std::size_t>(clocks.chains()));
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) {
    const auto task = static_cast<std::int32_t>(t);
    auto& chain = chains[static_cast<std::size_t>(clocks.chain(task))];
    chain.resize(std::max(chain.size(), static_cast<std::size_t>(clocks.position(task)) + 1));
    chain[static_cast<std::size_t>(clocks.position(task))] = task;
  }
  std::string out = "\"chains\": [";
  for (std::size_t c = 0; c < chains.size(); ++c)
    out += (c == 0 ? "" : ",\n  ") + idList(schedule, chains[c]);
  out += "],\n\"clocks\": {";
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) {
    std::string row;
    clocks.forEach(static_cast<std::int32_t>(t), [&](std::int32_t chain, std::int32_t position) {
      row += fmt::format("{}[{}, {}]", row.empty() ? "" : ", ", chain, position);
    });
    out += fmt::format("{}\"{}\": [{}]", t == 0 ? "" : ",\n  ", schedule.tasks[t].id, row);
  }
  return out + "}";
}

}  // namespace

std::string certificate(const Schedule& schedule, const Report& report) {
  std::string out =
      fmt::format("{{\"format\": \"nuscope-schedule-certificate\", \"version\": 1, \"verdict\": \"{}\",\n",
                  text(report.verdict));
  if (report.verdict == Safety::safe) {
    out +=
        "\"order\": " + idList(schedule, report.order) + ",\n" + clocksText(schedule, *report.clocks) + ",\n";
  } else {
    out += "\"findings\": [";
    for (std::size_t i = 0; i < report.findings.size(); ++i)
      out += (i == 0 ? "" : ",\n  ") + findingText(schedule, withRun(schedule, report.findings[i]));
    out += "],\n";
  }
  return out + "\"schedule\": " + writeSchedule(schedule) + "}\n";
}

}  // namespace nuscope::schedule
