#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace nuscope::app {

void addVersion(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([&action] {
    action = [] {
      fmt::print("nuscope {}\n", NUSCOPE_VERSION);
      return static_cast<int>(yes);
    };
  });
}

}  // namespace nuscope::app
