#include "backends/worker/compile_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope::backends {
namespace {

constexpr std::size_t longestMessage = 16 * 1024;

std::string compilerSays(const Finished& finished, double limitSeconds) {
  if (finished.timedOut) return fmt::format("the compiler was stopped after {} s", limitSeconds);
  std::string message = finished.errors.empty() ? finished.output : finished.errors;
  if (message.size() > longestMessage) {
    message.resize(longestMessage);
    message += "\n...";
  }
  return fmt::format("the compiler ended with {}{}{}", finished.end.text(), message.empty() ? "" : ":\n",
                     message);
}

sweep::CompileResult compile(const sweep::CompileJob& job, const std::filesystem::path& folder,
                             double limitSeconds, const std::stop_token& stop) {
  sweep::CompileResult result;
  result.name = job.name;
  const std::filesystem::path source = folder / (job.name + ".cpp");
  const std::filesystem::path output = folder / (job.output.empty() ? job.name + ".so" : job.output);
  try {
    std::ofstream file(source, std::ios::binary);
    file << job.source;
    file.close();
    if (!file)
      throw EnvironmentError(fmt::format("{} cannot be written: is the disk full?", source.string()));
    ProcessOptions options;
    for (const std::string& argument : job.command) {
      options.arguments.push_back(argument == "{source}"   ? source.string()
                                  : argument == "{output}" ? output.string()
                                                           : argument);
    }
    if (options.arguments.empty()) throw UserError("a compile job has no command");
    options.directory = folder.string();
    options.niceness = 5;  // gives way to a window, but not to everything
    options.cpuLimit = std::chrono::seconds(static_cast<int>(limitSeconds) + 5);
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(limitSeconds * 1000));
    const Finished finished = runProcess(options, "", limit, stop);
    result.seconds = finished.seconds;
    if (finished.cancelled) {
      result.outcome = sweep::Outcome::cancelled;
    } else if (finished.end.success() && std::filesystem::exists(output)) {
      result.outcome = sweep::Outcome::ok;
    } else {
      result.outcome = finished.timedOut ? sweep::Outcome::timedOut : sweep::Outcome::failed;
      result.message = compilerSays(finished, limitSeconds);
    }
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  return result;
}

}  // namespace

void compileBatch(const std::vector<sweep::CompileJob>& jobs, const std::filesystem::path& folder,
                  double limitSeconds, int parallel, const std::stop_token& stop,
                  const std::function<void(const sweep::CompileResult&)>& onResult) {
  std::atomic<std::size_t> next{0};
  std::mutex reporting;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      sweep::CompileResult result{jobs[i].name, sweep::Outcome::cancelled, "", 0};
      if (!stop.stop_requested()) result = compile(jobs[i], folder, limitSeconds, stop);
      const std::lock_guard lock(reporting);
      onResult(result);
    }
  };
  std::vector<std::jthread> threads;
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(parallel, 1)), 1,
                                             std::max<std::size_t>(jobs.size(), 1));
  for (std::size_t t = 1; t < count; ++t) threads.emplace_back(work);
  work();
}

}  // namespace nuscope::backends
