#include "core/sweep/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

constexpr double grace = 15;  // seconds beyond a request's own limits before the worker itself counts as hung
constexpr std::size_t chunk = std::size_t{4} << 20U;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string lastLines(const std::string& text) {
  const std::string tail = text.substr(text.size() - std::min<std::size_t>(text.size(), 500));
  return tail.substr(0, tail.find_last_not_of("\n ") + 1);
}

}  // namespace

Worker::Worker(std::vector<std::string> command, std::stop_token stop)
    : command_(std::move(command)), stop_(std::move(stop)) {
  start();
}

Worker::~Worker() {
  end();
}

void Worker::start() {
  ProcessOptions options;
  options.arguments = command_;
  process_ = std::make_unique<Process>(options);
  ++generation_;
  shared_ = false;
  const int id = nextId_++;
  const auto failed = exchange(id, helloRequest(id), 15, [&](const Reply& reply) {
    if (!reply.ok) throw EnvironmentError(fmt::format("the worker does not greet: {}", reply.message));
    hello_ = reply.hello;
    return true;
  });
  if (failed == Outcome::cancelled) throw Cancelled{};
  if (failed) {
    throw EnvironmentError(
        fmt::format("the worker '{}' does not start: {}", fmt::join(command_, " "), lostBecause_));
  }
  std::ifstream token(scratchFile("token"));
  std::string found;
  shared_ = !hello_.token.empty() && std::getline(token, found) && found == hello_.token;
}

void Worker::end() {
  if (!process_) return;
  process_->closeInput();
  if (!process_->wait(std::chrono::milliseconds(1500))) process_->kill();
  process_.reset();
  if (!shared_) return;
  std::error_code ignored;  // a worker that was killed could not clean up
  std::filesystem::remove_all(hello_.scratch, ignored);
}

std::string Worker::scratchFile(const std::string& name) const {
  return hello_.scratch + "/" + name;
}

std::optional<Outcome> Worker::exchange(int id, const std::string& line, double limitSeconds,
                                        const std::function<bool(const Reply&)>& onReply) {
  if (stop_.stop_requested()) return Outcome::cancelled;
  if (!process_) start();
  bool sent = process_->write(line);
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(limitSeconds + grace);
  std::string text;
  while (sent) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const Process::Read read = process_->readLine(text, std::max(left, std::chrono::milliseconds(0)), stop_);
    if (read == Process::Read::cancelled) {
      end();
      return Outcome::cancelled;
    }
    if (read == Process::Read::timeout) {
      lostBecause_ = fmt::format("it did not answer within {:g} s", limitSeconds + grace);
      break;
    }
    if (read == Process::Read::closed) {
      const auto ended = process_->wait(std::chrono::seconds(2));
      lostBecause_ = fmt::format("{}{}{}", ended ? ended->text() : "it closed its output",
                                 process_->errors().empty() ? "" : ": ", lastLines(process_->errors()));
      break;
    }
    try {
      const Reply reply = parseReply(text);
      if (reply.id == id && onReply(reply)) return std::nullopt;
    } catch (const UserError& error) {
      lostBecause_ = error.what();
      break;
    }
  }
  if (!sent) lostBecause_ = "it takes no input";
  process_->kill();
  end();
  return Outcome::lost;
}

std::vector<CompileResult> Worker::compile(const std::vector<CompileJob>& jobs, double limitSeconds,
                                           int parallel,
                                           const std::function<void(const CompileResult&)>& onResult) {
  std::vector<CompileResult> results;
  std::unordered_map<std::string, std::size_t> indexOf;
  for (const CompileJob& job : jobs) {
    indexOf[job.name] = results.size();
    results.push_back({job.name, Outcome::lost, "", 0});
  }
  const int id = nextId_++;
  const double rounds = std::ceil(static_cast<double>(jobs.size()) / std::max(parallel, 1));
  std::string refusal;
  const auto failed = exchange(id, compileRequest(id, jobs, limitSeconds, parallel), limitSeconds * rounds,
                               [&](const Reply& reply) {
                                 if (reply.done) return true;
                                 const auto found = indexOf.find(reply.compiled.name);
                                 if (found == indexOf.end()) {  // the whole request was refused
                                   refusal = reply.message;
                                   return true;
                                 }
                                 results[found->second] = reply.compiled;
                                 if (onResult) onResult(reply.compiled);
                                 return false;
                               });
  for (CompileResult& result : results) {
    if (result.outcome != Outcome::lost) continue;
    if (failed) {
      result.outcome = *failed;
      result.message = lostBecause_;
    } else {
      result.outcome = Outcome::failed;
      result.message = refusal;
    }
  }
  return results;
}

RunReply Worker::run(const RunRequest& request) {
  RunReply result;
  const int id = nextId_++;
  const auto failed = exchange(id, runRequest(id, request), request.limitSeconds, [&](const Reply& reply) {
    result = reply.run;
    return true;
  });
  if (failed) result = {*failed, lostBecause_, 0};
  return result;
}

MeasureReply Worker::measure(const MeasureRequest& request) {
  MeasureReply result;
  const int id = nextId_++;
  const double limit = request.seconds + request.limitSeconds * static_cast<double>(request.kernels.size());
  const auto failed = exchange(id, measureRequest(id, request), limit, [&](const Reply& reply) {
    result = reply.measure;
    return true;
  });
  if (failed) {
    result.outcome = *failed;
    result.message = lostBecause_;
  }
  return result;
}

void Worker::forget(const std::string& library) {
  const int id = nextId_++;
  exchange(id, forgetRequest(id, library), 10, [](const Reply&) { return true; });
}

void Worker::fresh() {
  const int id = nextId_++;
  exchange(id, simpleRequest(id, "fresh"), 10, [](const Reply&) { return true; });
}

bool Worker::put(const std::string& file, std::string_view bytes) {
  if (!process_) start();
  if (shared_) {
    std::ofstream stream(scratchFile(file), std::ios::binary | std::ios::trunc);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    if (!stream)
      throw EnvironmentError(fmt::format("{} cannot be written: is the disk full?", scratchFile(file)));
    return true;
  }
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += chunk) {
    const int id = nextId_++;
    bool ok = false;
    const auto failed =
        exchange(id, putRequest(id, file, static_cast<std::int64_t>(at), bytes.substr(at, chunk)), 60,
                 [&](const Reply& reply) {
                   ok = reply.ok;
                   return true;
                 });
    if (failed || !ok) return false;
  }
  return true;
}

bool Worker::get(const std::string& file, std::size_t size, std::string& bytes) {
  bytes.clear();
  if (!process_) return false;
  if (shared_) {
    std::ifstream stream(scratchFile(file), std::ios::binary);
    bytes.resize(size);
    stream.read(bytes.data(), static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(stream.gcount()) == size;
  }
  while (bytes.size() < size) {
    const int id = nextId_++;
    std::string part;
    const std::size_t want = std::min(chunk, size - bytes.size());
    const auto failed = exchange(
        id, getRequest(id, file, static_cast<std::int64_t>(bytes.size()), static_cast<std::int64_t>(want)),
        60, [&](const Reply& reply) {
          part = reply.data;
          return true;
        });
    if (failed || part.size() != want) return false;
    bytes += part;
  }
  return true;
}

}  // namespace nuscope::sweep
