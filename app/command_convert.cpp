// `nuscope convert`: schedules between formats, and for graph and trace viewers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cancel.h"
#include "app/checked_schedule.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/schedule/export.h"
#include "core/schedule/transform.h"

namespace nuscope::app {
namespace {

struct Options {
  std::string input, output;
  std::string to = "nuscope";
  std::string target = "h100";
  std::optional<std::int64_t> position;
};

template <class T>
T orThrow(Result<T> result) {
  if (!result) {
    const Refusal& why = result.refusal();
    throw UserError(why.hint.empty() ? why.message : why.message + "\n" + why.hint);
  }
  return std::move(result).value();
}

/// What AutoMegaKernel's format cannot say is refused, not dropped.
std::string amkText(schedule::Schedule s) {
  if (s.positions)
    throw UserError("AutoMegaKernel's format has no positions as parameters: fix one with --pos N");
  for (const schedule::Task& t : s.tasks) {
    if (t.declared() || t.op == schedule::Opcode::custom)
      throw UserError(fmt::format(
          "task {} declares what it touches; AutoMegaKernel's format knows its own operations only", t.id));
    if (t.signals.size() != 1)
      throw UserError(fmt::format("task {} raises {} counters; in AutoMegaKernel's format a task raises one",
                                  t.id, t.signals.size()));
    for (const schedule::Wait& w : t.waits) {
      if (w.perPass != 0)
        throw UserError(
            fmt::format("task {} waits with a step per pass, which AutoMegaKernel's format has not", t.id));
    }
  }
  s.format = schedule::Format::amk;
  s.absent = 0;
  return schedule::writeAmk(s);
}

std::string traceText(const schedule::Schedule& s, const std::string& name, const Progress& progress) {
  const auto analysis =
      orThrow(schedule::Analysis::of(std::make_shared<const schedule::Schedule>(s), progress));
  const auto timing =
      orThrow(schedule::modelTime(*analysis, orThrow(schedule::timingTarget(name, s)), progress));
  return schedule::chromeTrace(s, timing);
}

int run(const Options& options) {
  const CommandProgress progress;
  const auto read = schedule::readSchedule(readWholeFile(options.input));
  if (!read.schedule || !read.faults.empty())
    throw UserError(
        fmt::format("{}: {}", options.input, read.faults.empty() ? "unreadable" : read.faults[0].message));
  schedule::Schedule s = *read.schedule;
  if (options.position) s = orThrow(schedule::atPosition(s, *options.position));
  const std::string text = options.to == "amk"       ? amkText(std::move(s))
                           : options.to == "nuscope" ? schedule::writeNuscope(s)
                           : options.to == "dot"     ? schedule::dotText(s)
                                                     : traceText(s, options.target, progress.progress());
  writeWholeFile(options.output, text);
  fmt::print(stderr, "{}: {} bytes\n", options.output, text.size());
  return yes;
}

}  // namespace

void addConvert(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "convert",
      "Convert a schedule to another format, a graph (dot) or a trace of its modelled run (chrome)");
  command->add_option("IN", options->input, "A schedule in any format that `nuscope check` reads")
      ->required();
  command->add_option("OUT", options->output, "The file to write")->required();
  command->add_option("--to", options->to, "amk, nuscope, dot or chrome")
      ->check(CLI::IsMember({"amk", "nuscope", "dot", "chrome"}));
  command->add_option("--pos", options->position, "Fix the position of a schedule that holds for a range");
  command->add_option("--target", options->target,
                      "Target of the modelled run for --to chrome (see check --time)");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
