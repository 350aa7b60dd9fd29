// `nuscope`: the command line. Parses, runs one command, turns every failure into words and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/progress.h"

namespace nuscope::app {
namespace {

int runAction(const Action& action) {
  try {
    return action();
  } catch (const Cancelled&) {
    fmt::print(stderr, "cancelled\n");
    return cancelled;
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return badInput;
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return environment;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "out of memory\n");
    return environment;
  } catch (const std::exception& error) {
    fmt::print(stderr, "a fault of nuscope, please report it: {}\n", error.what());
    return 70;
  }
}

/// "nuscope exlore" names the commands there are, where CLI11 would only call the word unexpected.
bool isUnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return false;
  std::sort(names.begin(), names.end());
  fmt::print(stderr, "there is no command \"{}\"; there are: {}. Help: nuscope --help\n", argv[1],
             fmt::join(names, ", "));
  return true;
}

int runMain(int argc, char** argv) {
  CLI::App app{"nuscope: proved variants of tensor programs, raced on real devices"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("nuscope {}", NUSCOPE_VERSION));
  Action action;
#define X(name) add##name(app, action);
  NUSCOPE_COMMANDS(X)
#undef X
  if (isUnknownCommand(app, argc, argv)) return badInput;
  if (argc < 2) {
    fmt::print("{}", app.help());
    return badInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(badInput);
  }
  return runAction(action);
}

}  // namespace
}  // namespace nuscope::app

int main(int argc, char** argv) {
  return nuscope::app::runMain(argc, argv);
}
