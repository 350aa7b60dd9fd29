// `nuscope solve`: answers solver goals on standard streams (core/proof/solver_pool.h). Started by provers.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/commands.h"
#include "core/proof/solver_pool.h"

namespace nuscope::app {

void addSolve(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("solve", "Answer solver goals on standard streams, as JSON lines");
  command->callback([&action] { action = [] { return proof::serveSolver(std::cin, std::cout); }; });
}

}  // namespace nuscope::app
