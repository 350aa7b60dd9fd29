// `nuscope calibrate`: measures what this machine attains, and keeps it for the model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cancel.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/process.h"
#include "core/machine/calibration.h"
#include "core/sweep/calibrate.h"

namespace nuscope::app {
namespace {

struct Options {
  std::string target;
  bool source = false;
  bool asJson = false;
};

void print(const machine::Calibration& calibration, const machine::Target& target) {
  fmt::print("{}\nmeasured {} in {:.1f} s, load {:.2f}\n\n{:<8} {:>13}", calibration.machine,
             calibration.date, calibration.seconds, calibration.load, "threads", "peak GFLOP/s");
  for (const auto& level : target.memory) fmt::print(" {:>11}", level.name + " GB/s");
  fmt::print(" {:>9}\n", "start us");
  for (const machine::Ceiling& ceiling : calibration.ceilings) {
    fmt::print("{:<8} {:>13.1f}", ceiling.threads, ceiling.gigaflops);
    for (const auto& level : target.memory) fmt::print(" {:>11.1f}", ceiling.gigabytes.at(level.name));
    fmt::print(" {:>9.2f}\n", ceiling.dispatchMicroseconds);
  }
  const machine::Ceiling one = calibration.at(1);
  fmt::print("\nnanoseconds: {:.2f} from a multiply-add to the next that needs its result",
             one.chainNanoseconds);
  for (const auto& [level, value] : one.lineNanoseconds)
    fmt::print("; {:.2f} a line of another page from {}", value, level);
  fmt::print(" (1 thread)\n\nkept in {}; modelled times take it from there\n",
             machine::calibrationFile(target).string());
}

int run(const Options& options) {
  const machine::Target target =
      machine::loadTarget(options.target.empty() ? machine::hostTarget().name : options.target);
  if (target.kind != "host")
    throw UserError(fmt::format("{} is a {} target, not this host", target.name, target.kind));
  if (options.source) {
    fmt::print("{}", sweep::calibrationSource(target));
    return yes;
  }
  if (const auto missing = machine::missingFeatures(target); !missing.empty()) {
    throw EnvironmentError(fmt::format("kernels for {} do not run on this processor: it lacks {}",
                                       target.name, fmt::join(missing, ", ")));
  }
  const CommandProgress progress;
  sweep::Worker worker({executablePath(), "worker", "--device", "host"}, progress.progress().stopToken());
  const machine::Calibration calibration = sweep::calibrate(worker, target, progress.progress());
  machine::keepCalibration(calibration, target);
  if (options.asJson) {
    fmt::print("{}\n", machine::toJson(calibration));
  } else {
    print(calibration, target);
  }
  return yes;
}

}  // namespace

void addCalibrate(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure what this machine attains (a few seconds), and keep it for the model");
  command->add_option("--target", options->target, "Hardware description (default: what fits the processor)");
  command->add_flag("--source", options->source, "Print the kernels that measure, and measure nothing");
  command->add_flag("--json", options->asJson, "Print JSON");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
