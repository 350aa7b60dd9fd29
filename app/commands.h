#pragma once
// The commands of `nuscope`. Each has one file, command_NAME.cpp, which adds its options to the parser and
// runs.
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace nuscope::app {

/// Exit codes of every command (DESIGN 11).
enum Exit : int { yes = 0, no = 1, undecided = 2, badInput = 3, environment = 4, cancelled = 130 };

/// What the chosen command does, set by its callback; run by main, which turns exceptions into exit codes.
using Action = std::function<int()>;

// One line a command, in the order of the help text.
// clang-format off
#define NUSCOPE_COMMANDS(X) \
  X(Calibrate) \
  X(Check) \
  X(Convert) \
  X(Devices) \
  X(Diff) \
  X(Emit) \
  X(Explore) \
  X(Export) \
  X(Lower) \
  X(Prove) \
  X(Rehearse) \
  X(Replay) \
  X(Report) \
  X(Solve) \
  X(Sweep) \
  X(Worker) \
  X(Version) \
  X(Why)
// clang-format on

#define X(name) void add##name(CLI::App& app, Action& action);
NUSCOPE_COMMANDS(X)
#undef X

}  // namespace nuscope::app
