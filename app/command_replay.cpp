// `nuscope replay`: confirms certificates with code that shares nothing with what made them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/replay/schedule_certificate.h"

namespace nuscope::app {
namespace {

int run(const std::vector<std::string>& files) {
  int worst = yes;
  for (const std::string& file : files) {
    const replay::Outcome outcome = replay::replaySchedule(readWholeFile(file));
    fmt::print("{}: {}: {}\n", file, outcome.confirmed ? "confirmed" : "refused", outcome.why);
    if (!outcome.confirmed) worst = no;
  }
  return worst;
}

}  // namespace

void addReplay(CLI::App& app, Action& action) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "replay", "Confirm schedule certificates independently: exit 0 confirmed, 1 refused");
  command->add_option("FILE", *files, "Certificates written by `nuscope check --certificates`")->required();
  command->callback([&action, files] { action = [files] { return run(*files); }; });
}

}  // namespace nuscope::app
