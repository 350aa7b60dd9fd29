// `nuscope lower`: a Llama-family config.json -> the schedule of one decode step, checked before it is
// written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "app/cancel.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/schedule/check.h"
#include "core/schedule/lower.h"
#include "core/schedule/read.h"
#include "core/schedule/timing.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model;
  std::string output;
  std::vector<std::string> set;
  std::string target;
};

constexpr std::string_view knobs =
    "sms, pos (N or all), n_tile, max_tiles, partitions, policy, weights, max_positions, fuse (none, "
    "residual, gate-up, all), "
    "pages (none, linear, rotate), pipelining";

std::int64_t number(const std::string& knob, const std::string& value) {
  std::int64_t result = 0;
  const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || at != value.data() + value.size())
    throw UserError(fmt::format("--set {}: '{}' is no integer", knob, value));
  return result;
}

schedule::LowerOptions optionsOf(const std::vector<std::string>& settings, const std::string& target) {
  schedule::LowerOptions o;
  if (!target.empty()) {
    const auto known = schedule::timingTarget(target, {});
    if (!known) throw UserError(known.refusal().message + "; " + known.refusal().hint);
    o.sms = known->sms;
  }
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    const std::string knob = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (knob == "policy") {
      const auto policy = schedule::parsePolicy(value);
      if (!policy)
        throw UserError(fmt::format(
            "--set policy: '{}' is none of none, round-robin, least-loaded, locality, critical-path", value));
      o.policy = *policy;
    } else if (knob == "weights") {
      const auto type = schedule::parseElementType(value);
      if (!type)
        throw UserError(fmt::format("--set weights: '{}' is no element type such as BF16 or F32", value));
      o.weights = *type;
    } else if (knob == "sms") {
      o.sms = number(knob, value);
    } else if (knob == "fuse") {
      const auto fusion = schedule::parseFusion(value);
      if (!fusion)
        throw UserError(fmt::format("--set fuse: '{}' is none of none, residual, gate-up, all", value));
      o.fusion = *fusion;
    } else if (knob == "pages") {
      const auto pages = schedule::parsePageUse(value);
      if (!pages) throw UserError(fmt::format("--set pages: '{}' is none of none, linear, rotate", value));
      o.pages = *pages;
    } else if (knob == "pipelining") {
      o.pipelining = number(knob, value);
    } else if (knob == "pos" && value == "all") {
      o.everyPosition = true;
    } else if (knob == "pos") {
      o.position = number(knob, value);
    } else if (knob == "n_tile") {
      o.tileWidth = number(knob, value);
    } else if (knob == "max_tiles") {
      o.mostTiles = number(knob, value);
    } else if (knob == "partitions") {
      o.partitions = number(knob, value);
    } else if (knob == "max_positions") {
      o.maxPositions = number(knob, value);
    } else {
      throw UserError(fmt::format("--set: there is no knob '{}'; the knobs are {}", knob, knobs));
    }
  }
  return o;
}

int run(const Options& options) {
  const CommandProgress progress;
  fs::path path = options.model;
  if (fs::is_directory(path)) path /= "config.json";
  const auto config = model::parseLlamaConfig(readWholeFile(path));
  if (!config)
    throw UserError(
        fmt::format("{}: {}\n{}", path.string(), config.refusal().message, config.refusal().hint));
  const auto made = schedule::lower(*config, optionsOf(options.set, options.target));
  if (!made) throw UserError(made.refusal().message);
  const schedule::Report report = schedule::check(*made, {}, progress.progress());
  if (report.verdict != schedule::Safety::safe) {
    throw InternalError(
        fmt::format("the lowering is {}: {}", schedule::text(report.verdict),
                    report.findings.empty() ? report.faults[0].message : report.findings[0].message));
  }
  const std::string json = schedule::writeSchedule(*made);
  if (options.output.empty()) {
    fmt::print("{}", json);
  } else {
    writeWholeFile(options.output, json);
  }
  fmt::print(stderr, "{} tasks, {} buffers, {} counters: safe, checked in {:.3f} s\n", made->tasks.size(),
             made->buffers.size(), made->counters.size(), report.seconds);
  return yes;
}

}  // namespace

void addLower(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("lower", "Lower a Llama-family config.json to a checked megakernel schedule");
  command->add_option("MODEL", options->model, "A model's folder or its config.json")->required();
  command->add_option("--set", options->set, fmt::format("knob=value; knobs: {}", knobs));
  command->add_option(
      "--target", options->target,
      fmt::format("Take the number of SMs from: {}", fmt::join(schedule::timingTargetNames(), ", ")));
  command->add_option(
      "-o,--output", options->output,
      "The schedule: AutoMegaKernel JSON; our own form with pos=all or fuse. Standard output otherwise");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
