#include "backends/worker/worker_server.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "backends/device.h"
#include "backends/simulated/simulated_device.h"
#include "backends/worker/compile_batch.h"
#include "backends/worker/inventory.h"
#include "backends/worker/scratch.h"
#include "core/base/diagnostics.h"
#include "core/base/process.h"
#include "core/sweep/protocol.h"

#ifndef NUSCOPE_VERSION
#define NUSCOPE_VERSION "0.1.0"
#endif

namespace nuscope::backends {
namespace {

using sweep::Outcome;
using sweep::Request;

constexpr std::int64_t largestChunk = std::int64_t{64} << 20U;
constexpr double grace = 2;  // seconds beyond a limit, for loading and files

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limitsMemory = false;  // the sanitizers reserve terabytes of address space
#else
constexpr bool limitsMemory = true;
#endif

std::size_t memoryLimitOf(const WorkerOptions& options) {
  if (!limitsMemory) return 0;
  if (options.memoryLimit != 0) return options.memoryLimit;
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::size_t>(info.totalram) * info.mem_unit / 4 * 3;
}

/// Requests as they arrive, read by a thread of its own so that a cancel or the end of the input is seen
/// while something runs.
class Inbox {
 public:
  Inbox() : reader_([this] { read(); }) { reader_.detach(); }

  /// Blocks; empty at the end of the input.
  std::optional<Request> next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !requests_.empty() || ended_; });
    if (requests_.empty()) return std::nullopt;
    Request request = std::move(requests_.front());
    requests_.pop_front();
    current_ = std::stop_source();
    return request;
  }
  std::stop_token stopToken() {
    const std::lock_guard lock(mutex_);
    if (ended_) current_.request_stop();
    return current_.get_token();
  }

  void say(std::string_view text) {
    const std::lock_guard lock(output_);
    while (!text.empty()) {
      const auto put = write(STDOUT_FILENO, text.data(), text.size());
      if (put <= 0) return;  // nobody listens any more; the end of the input follows
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

 private:
  void read() {
    std::string line;
    while (std::getline(std::cin, line)) {
      if (line.empty()) continue;
      try {
        Request request = sweep::parseRequest(line);
        if (request.verb == "cancel") {
          {
            const std::lock_guard lock(mutex_);
            current_.request_stop();
          }
          say(sweep::okReply(request.id));
          continue;
        }
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(request));
        arrived_.notify_one();
      } catch (const std::exception& error) {
        say(sweep::errorReply(0, Outcome::failed, error.what()));
      }
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    requests_.clear();
    current_.request_stop();
    arrived_.notify_one();
  }

  std::mutex mutex_;
  std::mutex output_;
  std::condition_variable arrived_;
  std::deque<Request> requests_;
  std::stop_source current_;
  bool ended_ = false;
  std::thread reader_;
};

class Server {
 public:
  Server(const WorkerOptions& options, Inbox& inbox)
      : options_(options), inbox_(inbox), memoryLimit_(memoryLimitOf(options)) {
    if (options.device.starts_with("simulated")) faults_ = parseFaults(options.device);
  }

  void serve() {
    while (auto request = inbox_.next()) {
      if (request->verb == "quit") {
        inbox_.say(sweep::okReply(request->id));
        return;
      }
      try {
        handle(*request);
      } catch (const std::exception& error) {
        inbox_.say(sweep::errorReply(request->id, Outcome::failed, error.what()));
      }
    }
  }

 private:
  void handle(const Request& request) {
    if (request.verb == "hello") return hello(request.id);
    if (request.verb == "ping") return inbox_.say(sweep::okReply(request.id));
    if (request.verb == "compile") return compile(request);
    if (request.verb == "run") return run(request);
    if (request.verb == "measure") return measure(request);
    if (request.verb == "put") return put(request);
    if (request.verb == "get") return get(request);
    if (request.verb == "forget") return forget(request);
    if (request.verb == "fresh") {
      child_.reset();
      return inbox_.say(sweep::okReply(request.id));
    }
    throw UserError(fmt::format("'{}' is no request of this protocol", request.verb));
  }

  void hello(int id) {
    sweep::Hello hello;
    hello.version = NUSCOPE_VERSION;
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    hello.host = name;
    hello.scratch = scratch_.folder().string();
    hello.token = scratch_.token();
    hello.compiler = compilerVersion("g++");
    hello.processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    hello.devices = inventory();
    if (options_.device != "host")
      hello.devices.insert(hello.devices.begin(), {"simulated", options_.device, true, ""});
    const std::string reply = ask(sweep::helloRequest(id), 10);
    if (const sweep::Reply own = sweep::parseReply(reply); own.ok) hello.libraries = own.hello.libraries;
    inbox_.say(sweep::helloReply(id, hello));
  }

  void compile(const Request& request) {
    for (const sweep::CompileJob& job : request.jobs) {
      static_cast<void>(scratch_.file(job.name));  // a plain name
      if (!job.output.empty()) static_cast<void>(scratch_.file(job.output));
    }
    compileBatch(
        request.jobs, scratch_.folder(), request.limitSeconds, request.parallel, inbox_.stopToken(),
        [&](const sweep::CompileResult& result) { inbox_.say(sweep::compileReply(request.id, result)); });
    inbox_.say(sweep::doneReply(request.id));
  }

  void checkNames(const std::vector<sweep::ArrayFile>& arrays) const {
    for (const sweep::ArrayFile& array : arrays) static_cast<void>(scratch_.file(array.file));
  }

  void run(const Request& request) {
    const auto planted = faults_.find(request.run.kernel.ordinal);
    if (planted != faults_.end() && planted->second == Fault::die) std::raise(SIGKILL);
    static_cast<void>(scratch_.file(request.run.kernel.library));
    checkNames(request.run.inputs);
    checkNames(request.run.outputs);
    inbox_.say(ask(sweep::runRequest(request.id, request.run), request.run.limitSeconds));
  }

  void measure(const Request& request) {
    const sweep::MeasureRequest& m = request.measure;
    for (const sweep::KernelRef& kernel : m.kernels) static_cast<void>(scratch_.file(kernel.library));
    checkNames(m.inputs);
    checkNames(m.outputs);
    const auto kernels = static_cast<double>(m.kernels.size());
    inbox_.say(ask(sweep::measureRequest(request.id, m), m.seconds + m.limitSeconds * kernels));
  }

  void put(const Request& request) {
    std::fstream file(scratch_.file(request.file), std::ios::binary | std::ios::in | std::ios::out);
    if (!file.is_open() || request.offset == 0) {
      file.close();
      file.open(scratch_.file(request.file), std::ios::binary | std::ios::out | std::ios::trunc);
    }
    file.seekp(request.offset);
    file.write(request.data.data(), static_cast<std::streamsize>(request.data.size()));
    file.close();
    if (!file)
      throw EnvironmentError(fmt::format("{} cannot be written: is the worker's disk full?", request.file));
    inbox_.say(sweep::okReply(request.id));
  }

  void get(const Request& request) {
    if (request.size < 0 || request.size > largestChunk)
      throw UserError("at most 64 MiB can be read at once");
    std::ifstream file(scratch_.file(request.file), std::ios::binary);
    file.seekg(request.offset);
    std::string bytes(static_cast<std::size_t>(request.size), '\0');
    file.read(bytes.data(), request.size);
    if (file.gcount() != request.size)
      throw UserError(fmt::format("{} has no {} bytes at {}", request.file, request.size, request.offset));
    inbox_.say(sweep::dataReply(request.id, bytes));
  }

  void forget(const Request& request) {
    std::error_code ignored;
    std::filesystem::remove(scratch_.file(request.file + ".so"), ignored);
    std::filesystem::remove(scratch_.file(request.file + ".cpp"), ignored);
    inbox_.say(sweep::okReply(request.id));
  }

  void startChild() {
    ProcessOptions options;
    options.arguments = {options_.executable, "worker", "--execute", "--device", options_.device};
    options.directory = scratch_.folder().string();
    options.memoryLimit = memoryLimit_;
    child_ = std::make_unique<Process>(options);
  }

  /// One request to the child, one line back; what became of it otherwise, as a reply.
  std::string ask(const std::string& line, double limitSeconds) {
    const sweep::Request request = sweep::parseRequest(line);
    if (!child_) startChild();
    std::string reply;
    Process::Read read = Process::Read::closed;
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>((limitSeconds + grace) * 1000));
    if (child_->write(line)) read = child_->readLine(reply, limit, inbox_.stopToken());
    if (read == Process::Read::line) return reply + '\n';
    if (read == Process::Read::cancelled) {
      child_.reset();
      return sweep::errorReply(request.id, Outcome::cancelled, "cancelled");
    }
    if (read == Process::Read::timeout) {
      child_.reset();
      return sweep::errorReply(request.id, Outcome::timedOut,
                               fmt::format("it did not end within {:g} s and was killed", limitSeconds));
    }
    const auto end = child_->wait(std::chrono::seconds(2));
    std::string why = end ? end->text() : "closed its output";
    const std::string errors = child_->errors();
    if (!errors.empty())
      why += ": " + errors.substr(errors.size() - std::min<std::size_t>(errors.size(), 2000));
    child_.reset();
    return sweep::errorReply(request.id, Outcome::crashed, why);
  }

  const WorkerOptions& options_;
  Inbox& inbox_;
  std::size_t memoryLimit_;
  Faults faults_;
  Scratch scratch_;
  std::unique_ptr<Process> child_;
};

}  // namespace

int runWorker(const WorkerOptions& options) {
  static_cast<void>(makeDevice(options.device));  // refuses an unknown one before anything is said
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole terminal; the coordinator decides when we end
  // The reader thread may sit in a read that never returns: the inbox is not destroyed.
  auto* inbox = new Inbox;  // NOLINT(cppcoreguidelines-owning-memory)
  {
    Server server(options, *inbox);
    server.serve();
  }
  std::_Exit(0);
}

}  // namespace nuscope::backends
