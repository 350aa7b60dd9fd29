#pragma once
// What a long stage gets from its caller: a way to tell how far it is, and to be told to stop.
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace nuscope {

/// Thrown by `Progress::check` after a cancel; unwinds a stage. Exit code 130 on the command line.
struct Cancelled {};

/// Cheap to copy. Thread-safe as far as the callback is; the callback may be called from any thread.
class Progress {
 public:
  /// fraction in [0, 1], or negative when unknown; message: what is being done, e.g. "proving step 12".
  using Callback = std::function<void(double fraction, std::string_view message)>;

  Progress() = default;
  explicit Progress(std::stop_token stop, Callback callback = {});

  void report(double fraction, std::string_view message) const;
  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }
  /// Throws Cancelled when a stop was requested. Call at least every 20 ms of work.
  void check() const;
  /// Progress of a part: its [0, 1] is [from, to] of this one.
  [[nodiscard]] Progress part(double from, double to) const;
  [[nodiscard]] const std::stop_token& stopToken() const { return stop_; }

 private:
  std::stop_token stop_;
  Callback callback_;
};

}  // namespace nuscope
