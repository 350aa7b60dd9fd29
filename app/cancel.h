#pragma once
// Ctrl-C on the command line: the first asks the running stage to stop, the second ends the process.
#include "core/base/progress.h"

namespace nuscope::app {

/// Progress for commands: stops at Ctrl-C (SIGINT) or SIGTERM, and, once a stage takes over a second and
/// standard error is a terminal, shows "42 %  proving step 12" there on one line. Call from the main thread;
/// one at a time.
class CommandProgress {
 public:
  CommandProgress();
  ~CommandProgress();
  CommandProgress(const CommandProgress&) = delete;
  CommandProgress& operator=(const CommandProgress&) = delete;
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  struct State;
  State* state_;
  Progress progress_;
};

}  // namespace nuscope::app
