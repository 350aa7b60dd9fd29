#include "core/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/diagnostics.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace nuscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t errorsKept = 256 * 1024;
constexpr std::size_t longestLine = std::size_t{1} << 30U;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw EnvironmentError(fmt::format("no pipe for a child process: {}", std::strerror(errno)));
    }
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static int release(int& end) { return std::exchange(end, -1); }
};

std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (true) {
    const auto end = rest.find(':');
    const std::string candidate = fmt::format("{}/{}", rest.substr(0, end), name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

std::vector<std::string> childEnvironment(const std::vector<std::string>& added) {
  std::vector<std::string> all(added);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('=') + 1);
    if (std::none_of(added.begin(), added.end(), [&](const auto& a) { return a.starts_with(name); })) {
      all.emplace_back(text);
    }
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void limit(int resource, rlim_t value) {
  const rlimit wanted{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

/// What a child needs to become its program.
struct Start {
  const ProcessOptions& options;
  const char* program;
  char* const* arguments;
  char* const* environment;
  int streams[3];  ///< standard input, output and errors
  int failed;      ///< gets errno when exec fails
};

/// In the child, in the memory of its parent: async-signal-safe calls only, and nothing is changed.
[[noreturn]] void becomeProgram(const Start& start) {
  setpgid(0, 0);
  for (int i = 0; i < 3; ++i) dup2(start.streams[i], i);
  if (start.options.memoryLimit != 0) limit(RLIMIT_AS, start.options.memoryLimit);
  if (start.options.cpuLimit.count() != 0)
    limit(RLIMIT_CPU, static_cast<rlim_t>(start.options.cpuLimit.count()));
  limit(RLIMIT_CORE, 0);
  if (start.options.niceness != 0) setpriority(PRIO_PROCESS, 0, start.options.niceness);
  signal(SIGPIPE, SIG_DFL);
  if (start.options.directory.empty() || chdir(start.options.directory.c_str()) == 0)
    execve(start.program, start.arguments, start.environment);
  const int reason = errno;
  const auto written = ::write(start.failed, &reason, sizeof reason);
  _exit(written > 0 ? 127 : 126);
}

/// vfork: to copy the page tables of a window that holds a large schedule would stop all its threads for
/// tens of milliseconds.
pid_t startChild(const Start& start) {
  const pid_t child = vfork();
  if (child == 0) becomeProgram(start);
  return child;
}

void ignoreBrokenPipes() {
  static const bool once = [] { return std::signal(SIGPIPE, SIG_IGN) != SIG_ERR; }();
  static_cast<void>(once);
}

int millisecondsLeft(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 20));  // short slices, so that a stop is seen
}

}  // namespace

std::string ProcessEnd::text() const {
  if (normal) return fmt::format("exit code {}", code);
  const char* name = strsignal(code);
  return fmt::format("killed by signal {} ({})", code, name != nullptr ? name : "unknown");
}

Process::Process(const ProcessOptions& options) {
  ignoreBrokenPipes();
  if (options.arguments.empty()) throw InternalError("a child process without a program");
  const std::string program = findProgram(options.arguments[0]);
  if (program.empty()) {
    throw EnvironmentError(fmt::format("the program '{}' was not found in PATH", options.arguments[0]));
  }
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = childEnvironment(options.environment);
  const std::vector<char*> argumentPointers = pointers(arguments);
  const std::vector<char*> environmentPointers = pointers(environment);
  Pipe in;
  Pipe out;
  Pipe err;
  Pipe failed;  // carries errno when exec fails; closed by a successful exec
  const Start start{options,
                    program.c_str(),
                    argumentPointers.data(),
                    environmentPointers.data(),
                    {in.read, out.write, options.mergeErrors ? out.write : err.write},
                    failed.write};
  pid_ = startChild(start);
  if (pid_ < 0) throw EnvironmentError(fmt::format("no child process: {}", std::strerror(errno)));
  setpgid(pid_, pid_);
  ::close(Pipe::release(failed.write));
  int reason = 0;
  if (::read(failed.read, &reason, sizeof reason) > 0) {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    throw EnvironmentError(fmt::format("'{}' could not be started: {}", program, std::strerror(reason)));
  }
  input_ = Pipe::release(in.write);
  output_ = Pipe::release(out.read);
  error_ = Pipe::release(err.read);
  for (const int descriptor : {input_, output_, error_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  closeInput();
  if (!end_) {
    kill();
    wait(std::chrono::seconds(10));
  }
  if (output_ >= 0) ::close(output_);
  if (error_ >= 0) ::close(error_);
}

void Process::closeInput() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void Process::kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool Process::write(std::string_view text, std::chrono::milliseconds limitTime) {
  auto deadline = Clock::now() + limitTime;
  while (!text.empty() && input_ >= 0) {
    const auto written = ::write(input_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      deadline = Clock::now() + limitTime;
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) return false;
    if (Clock::now() >= deadline) return false;
    pollfd wait{input_, POLLOUT, 0};
    poll(&wait, 1, 20);
    drainErrors();
    drainOutput();  // a child that answers before it has read everything must not stop us both
  }
  return text.empty();
}

void Process::drainErrors() {
  char chunk[4096];
  while (error_ >= 0) {
    const auto got = ::read(error_, chunk, sizeof chunk);
    if (got > 0) {
      errors_.append(chunk, static_cast<std::size_t>(got));
      if (errors_.size() > 2 * errorsKept) errors_.erase(0, errors_.size() - errorsKept);
    } else if (got == 0) {
      ::close(std::exchange(error_, -1));
    } else {
      return;
    }
  }
}

bool Process::drainOutput() {
  char chunk[65536];
  const auto got = ::read(output_, chunk, sizeof chunk);
  if (got > 0) {
    buffer_.append(chunk, static_cast<std::size_t>(got));
  } else if (got == 0 && !outputClosed_) {
    outputClosed_ = true;
    if (!buffer_.empty()) buffer_ += '\n';  // a last line without an end
  }
  return got >= 0;
}

Process::Read Process::readLine(std::string& line, std::chrono::milliseconds limitTime,
                                const std::stop_token& stop) {
  const auto deadline = Clock::now() + limitTime;
  std::size_t searched = 0;
  while (true) {
    const auto end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line.assign(buffer_, 0, end);
      buffer_.erase(0, end + 1);
      return Read::line;
    }
    searched = buffer_.size();
    drainErrors();
    if (outputClosed_ || buffer_.size() > longestLine) return Read::closed;
    if (stop.stop_requested()) return Read::cancelled;
    if (!drainOutput()) {
      if (Clock::now() >= deadline) return Read::timeout;
      pollfd wait[2] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
      poll(wait, error_ >= 0 ? 2 : 1, millisecondsLeft(deadline));
    }
  }
}

std::string Process::errors() {
  drainErrors();
  return errors_.size() > errorsKept ? errors_.substr(errors_.size() - errorsKept) : errors_;
}

std::optional<ProcessEnd> Process::wait(std::chrono::milliseconds limitTime) {
  const auto deadline = Clock::now() + limitTime;
  while (!end_) {
    int status = 0;
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      end_ = WIFEXITED(status) ? ProcessEnd{true, WEXITSTATUS(status)} : ProcessEnd{false, WTERMSIG(status)};
      break;
    }
    drainErrors();
    if (Clock::now() >= deadline) return std::nullopt;
    usleep(500);
  }
  return end_;
}

Finished runProcess(const ProcessOptions& options, std::string_view input,
                    std::chrono::milliseconds limitTime, const std::stop_token& stop) {
  const auto start = Clock::now();
  const auto deadline = start + limitTime;
  Finished result;
  Process child(options);
  child.write(input, limitTime);
  child.closeInput();
  std::string line;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const Process::Read read = child.readLine(line, std::max(left, std::chrono::milliseconds(0)), stop);
    if (read == Process::Read::line) {
      result.output += line;
      result.output += '\n';
      continue;
    }
    result.timedOut = read == Process::Read::timeout;
    result.cancelled = read == Process::Read::cancelled;
    break;
  }
  if (result.timedOut || result.cancelled) child.kill();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  auto end = child.wait(std::max(left, std::chrono::milliseconds(1000)));
  if (!end) {
    result.timedOut = true;
    child.kill();
    end = child.wait(std::chrono::seconds(10));
  }
  if (end) result.end = *end;
  result.errors = child.errors();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::string executablePath() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace nuscope
