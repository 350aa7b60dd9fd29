#include "app/checked_schedule.h"

#include <fmt/format.h>

#include <chrono>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/schedule/explain.h"
#include "core/schedule/json_value.h"
#include "core/schedule/transform.h"

namespace nuscope::app {
namespace {

using schedule::Fault;
using schedule::Finding;
using schedule::Safety;

template <class T>
T need(Result<T> result) {
  if (!result) {
    const Refusal& why = result.refusal();
    throw UserError(why.hint.empty() ? why.message : why.message + "\n" + why.hint);
  }
  return std::move(result).value();
}

void transform(schedule::Schedule& s, const CheckRequest& request) {
  if (request.position) s = need(schedule::atPosition(s, *request.position));
  if (request.asLoaded) s = schedule::sortedAsLoaded(s);
  if (request.passes > 1) s = need(schedule::unroll(s, request.passes, schedule::counterReset(s)));
}

nlohmann::json findingJson(const schedule::Schedule& s, const Finding& f) {
  const auto ids = [&](const std::vector<std::int32_t>& tasks) {
    auto list = nlohmann::json::array();
    for (const std::int32_t t : tasks) list.push_back(s.tasks[static_cast<std::size_t>(t)].id);
    return list;
  };
  nlohmann::json out{{"code", schedule::code(f.rule)}, {"severity", "error"}, {"message", f.message}};
  if (f.task >= 0) out["task"] = s.tasks[static_cast<std::size_t>(f.task)].id;
  if (f.other >= 0) out["other"] = s.tasks[static_cast<std::size_t>(f.other)].id;
  if (f.buffer >= 0) out["buffer"] = s.buffers[static_cast<std::size_t>(f.buffer)].id;
  if (f.otherBuffer >= 0) out["other_buffer"] = s.buffers[static_cast<std::size_t>(f.otherBuffer)].id;
  auto& certificate = out["certificate"] = nlohmann::json::object();
  if (!f.cycle.empty()) certificate["cycle"] = ids(f.cycle);
  if (!f.stuck.empty()) certificate["stuck"] = ids(f.stuck);
  if (!f.firing.empty()) certificate["firing"] = ids(f.firing);
  if (f.element >= 0) certificate["element"] = f.element;
  return out;
}

std::string whereOf(const CheckedSchedule& c, const Fault& f) {
  if (!f.where.empty() || f.place.end == 0 || c.text.empty()) return f.where;
  return schedule::placeText(c.text, f.place.begin);
}

std::vector<std::string> differences(const CheckedSchedule& c) {
  return c.amk ? schedule::whyDifferent(c.read, *c.amk, c.report) : std::vector<std::string>{};
}

void printAmk(const CheckedSchedule& c) {
  if (!c.amk) return;
  const std::string theirs = !c.amk->raises.empty() ? "ends with " + c.amk->raises
                             : c.amk->accepts       ? "accepts it"
                                                    : "refuses it";
  const auto why = differences(c);
  fmt::print("  AutoMegaKernel's own validator {}{}\n", theirs, why.empty() ? ", as we do" : ":");
  if (why.empty() && c.amk->accepts != (c.verdict() == Safety::safe))
    fmt::print("  (for no reason we know)\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(why.size(), 5); ++i) fmt::print("    {}\n", why[i]);
}

}  // namespace

CheckedSchedule checkFile(const std::filesystem::path& path, const CheckRequest& request,
                          const Progress& progress) {
  CheckedSchedule result;
  result.file = path.string();
  result.text = readWholeFile(path);
  const auto start = std::chrono::steady_clock::now();
  result.read = schedule::readSchedule(result.text);
  result.readSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool loaded = result.read.schedule && result.read.faults.empty();
  const schedule::Schedule* seen = result.read.schedule ? &*result.read.schedule : nullptr;
  if (seen == nullptr || seen->format == schedule::Format::amk)
    result.amk = schedule::amkVerdict(result.read);
  if (!loaded) return result;
  transform(*result.read.schedule, request);
  schedule::CheckOptions options;
  options.keepClocks = request.keepClocks;
  result.report = schedule::check(*result.read.schedule, options, progress);
  return result;
}

nlohmann::json reportJson(const CheckedSchedule& c) {
  nlohmann::json out{{"version", 1},
                     {"file", c.file},
                     {"verdict", text(c.verdict())},
                     {"seconds", {{"read", c.readSeconds}, {"check", c.report.seconds}}}};
  auto& findings = out["findings"] = nlohmann::json::array();
  for (const auto* faults : {&c.read.faults, &c.report.faults}) {
    for (const Fault& f : *faults) {
      nlohmann::json fault{{"code", f.code}, {"severity", "error"}, {"message", f.message}};
      if (const std::string where = whereOf(c, f); !where.empty()) fault["where"] = where;
      if (f.place.end > 0) fault["bytes"] = {f.place.begin, f.place.end};
      findings.push_back(std::move(fault));
    }
  }
  for (const Finding& f : c.report.findings) findings.push_back(findingJson(*c.read.schedule, f));
  if (c.read.schedule) {
    auto& rows = out["groups"] = nlohmann::json::array();
    for (const auto& group : schedule::groups(*c.read.schedule, c.report))
      rows.push_back(
          {{"pattern", group.pattern}, {"code", schedule::code(group.rule)}, {"findings", group.findings}});
    out["tasks"] = c.read.schedule->tasks.size();
  }
  std::int64_t unlisted = 0;
  for (const auto& [key, count] : c.report.unlisted) unlisted += count;
  if (unlisted > 0) out["unlisted"] = unlisted;
  if (c.report.position) out["position"] = *c.report.position;
  if (c.verdict() == Safety::safe) out["assumptions"] = schedule::assumptions();
  if (!c.report.undecided.empty()) out["undecided"] = c.report.undecided;
  if (c.amk) {
    out["amk"] = {{"accepts", c.amk->accepts}, {"why_different", differences(c)}};
    if (!c.amk->raises.empty()) out["amk"]["raises"] = c.amk->raises;
  }
  return out;
}

void printReport(const CheckedSchedule& c) {
  const std::size_t tasks = c.read.schedule ? c.read.schedule->tasks.size() : 0;
  fmt::print("{}: {}  ({} tasks; read {:.3f} s, checked {:.3f} s)\n", c.file, text(c.verdict()), tasks,
             c.readSeconds, c.report.seconds);
  for (const auto* faults : {&c.read.faults, &c.report.faults}) {
    for (const Fault& f : *faults) {
      const std::string where = whereOf(c, f);
      fmt::print("  {:<20} {}{}\n", f.code, where.empty() ? "" : where + ": ", f.message);
    }
  }
  if (c.report.position)
    fmt::print("  at pos = {}, the smallest position with a finding:\n", *c.report.position);
  if (c.read.schedule) {
    for (const auto& group : schedule::groups(*c.read.schedule, c.report)) {
      const Finding& first = c.report.findings[group.findings[0]];
      fmt::print("  {:<20} {}{}\n", schedule::code(group.rule), first.message,
                 group.findings.size() == 1
                     ? ""
                     : fmt::format("  ({} like this: {})", group.findings.size(), group.pattern));
      for (const std::string& sentence : schedule::cycleSentences(*c.read.schedule, first))
        fmt::print("    {}\n", sentence);
    }
  }
  for (const auto& [key, count] : c.report.unlisted)
    fmt::print("  {:<20} and at least {} more of the same buffer\n", schedule::code(key.first), count);
  for (const std::string& what : c.report.undecided) fmt::print("  {:<20} {}\n", "not decided", what);
  if (c.verdict() == Safety::safe) fmt::print("  {}\n", schedule::assumptions());
  printAmk(c);
}

std::string codesOf(const CheckedSchedule& c) {
  std::vector<std::string> codes;
  const auto add = [&](std::string_view one) {
    if (std::ranges::find(codes, one) == codes.end()) codes.emplace_back(one);
  };
  for (const Finding& f : c.report.findings) add(schedule::code(f.rule));
  for (const Fault& f : c.read.faults) add(f.code);
  for (const Fault& f : c.report.faults) add(f.code);
  return fmt::format("{}", fmt::join(codes, ", "));
}

}  // namespace nuscope::app
