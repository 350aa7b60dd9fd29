#pragma once
// Child processes: solvers, workers, compilers, layout. Whatever can crash, hang or eat memory runs in one.
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope {

struct ProcessOptions {
  std::vector<std::string> arguments;    ///< argv; arguments[0] is looked up in PATH
  std::string directory;                 ///< working directory; empty: inherited
  std::vector<std::string> environment;  ///< "NAME=value" added to the inherited environment
  std::size_t memoryLimit = 0;           ///< RLIMIT_AS in bytes; 0: none
  std::chrono::seconds cpuLimit{0};      ///< RLIMIT_CPU; 0: none
  int niceness = 0;                      ///< added to ours
  bool mergeErrors = false;              ///< standard error goes to standard output
};

/// How a child ended, in words for people: "exit code 3", "killed by signal 11 (segmentation fault)".
struct ProcessEnd {
  bool normal = false;  ///< exited by itself
  int code = 0;         ///< exit code, or the signal's number
  [[nodiscard]] bool success() const { return normal && code == 0; }
  [[nodiscard]] std::string text() const;
};

/// One child with pipes to its three standard streams. Started by exec at once, in a process group of its
/// own; the destructor kills the group. A child outlives a killed parent until it reads the end of its input:
/// give what may hang a cpuLimit. Not thread-safe, except `kill`.
class Process {
 public:
  /// Throws EnvironmentError if the program cannot be started.
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  enum class Read { line, timeout, closed, cancelled };
  /// Writes all of it; false when the child has closed its input or takes nothing for `limit`.
  bool write(std::string_view text, std::chrono::milliseconds limit = std::chrono::milliseconds(30000));
  void closeInput();
  /// One line of standard output without its newline. `timeout`: nothing complete within the limit.
  /// Lines longer than 1 GiB end the stream.
  Read readLine(std::string& line, std::chrono::milliseconds limit, const std::stop_token& stop = {});
  /// Standard error so far (the last 256 KiB).
  [[nodiscard]] std::string errors();
  /// SIGKILL to the whole group; safe from any thread.
  void kill();
  /// Waits for the end at most `limit`; empty while it still runs.
  std::optional<ProcessEnd> wait(std::chrono::milliseconds limit);
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void drainErrors();
  bool drainOutput();  ///< false when nothing is there at the moment
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  bool outputClosed_ = false;
  std::string buffer_;
  std::string errors_;
  std::optional<ProcessEnd> end_;
};

struct Finished {
  ProcessEnd end;
  std::string output;
  std::string errors;
  bool timedOut = false;
  bool cancelled = false;
  double seconds = 0;
};

/// Runs a child to its end with `input` on its standard input; kills it at the limit or on a stop request.
Finished runProcess(const ProcessOptions& options, std::string_view input, std::chrono::milliseconds limit,
                    const std::stop_token& stop = {});

/// Absolute path of the running executable, for starting its siblings.
std::string executablePath();

}  // namespace nuscope
