// `nuscope devices`: what is attached, and why what is not found is not found.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "backends/worker/inventory.h"
#include "core/machine/calibration.h"

namespace nuscope::app {
namespace {

/// Of this host, for the description that fits its processor.
std::optional<machine::Calibration> hostCalibration() {
  return machine::keptCalibration(machine::loadTarget(machine::hostTarget().name));
}

void printCalibration() {
  const auto calibration = hostCalibration();
  if (!calibration) {
    fmt::print("          not calibrated: the first sweep does it, or nuscope calibrate\n");
    return;
  }
  fmt::print("          calibrated {}, load {:.2f}:\n", calibration->date, calibration->load);
  for (const machine::Ceiling& ceiling : calibration->ceilings)
    fmt::print("          {}\n", machine::text(ceiling));
}

int printDevices(bool asJson) {
  const auto devices = backends::inventory();
  if (asJson) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& d : devices) {
      list.push_back({{"kind", d.kind}, {"name", d.name}, {"available", d.available}, {"reason", d.reason}});
      if (d.kind != "host") continue;
      const auto calibration = hostCalibration();
      list.back()["calibration"] =
          calibration ? nlohmann::json::parse(machine::toJson(*calibration)) : nlohmann::json(nullptr);
    }
    fmt::print("{}\n",
               nlohmann::json{{"format", "nuscope-devices"}, {"version", 1}, {"devices", list}}.dump(2));
    return yes;
  }
  for (const auto& d : devices) {
    fmt::print("{:<9} {:<3} {}{}{}\n", d.kind, d.available ? "yes" : "no", d.name,
               d.name.empty() || d.reason.empty() ? "" : ": ", d.reason);
    if (d.kind == "host") printCalibration();
  }
  return yes;
}

}  // namespace

void addDevices(CLI::App& app, Action& action) {
  auto asJson = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("devices", "List the devices that are attached, and why others are not found");
  command->add_flag("--json", *asJson, "Print JSON");
  command->callback([&action, asJson] { action = [asJson] { return printDevices(*asJson); }; });
}

}  // namespace nuscope::app
