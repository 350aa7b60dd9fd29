#include "app/cancel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

namespace nuscope::app {
namespace {

// The only thing a signal handler may touch. A process has one set of handlers, so this one is global.
std::atomic<int> interrupts{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void onSignal(int /*signal*/) {
  if (interrupts.fetch_add(1) >= 1) _exit(130);
}

}  // namespace

struct CommandProgress::State {
  std::stop_source stop;
  std::mutex mutex;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown;
  bool terminal = isatty(2) != 0;
  bool drawn = false;
  std::jthread watcher;  // a stop_source may not be used in a signal handler
};

CommandProgress::CommandProgress() : state_(new State) {
  interrupts = 0;
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
  State* state = state_;
  state->watcher = std::jthread([state](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (interrupts.load() > 0) state->stop.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  progress_ = Progress(state->stop.get_token(), [state](double fraction, std::string_view message) {
    if (!state->terminal) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(state->mutex);
    if (now - state->start < std::chrono::seconds(1) || now - state->shown < std::chrono::milliseconds(100))
      return;
    state->shown = now;
    state->drawn = true;
    const std::string percent = fraction < 0 ? "     " : fmt::format("{:3.0f} %", 100 * fraction);
    fmt::print(stderr, "\r\x1b[K{}  {}", percent, message.substr(0, 100));
    std::fflush(stderr);
  });
}

CommandProgress::~CommandProgress() {
  state_->watcher.request_stop();
  state_->watcher.join();
  if (state_->drawn) fmt::print(stderr, "\r\x1b[K");
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  delete state_;
}

}  // namespace nuscope::app
