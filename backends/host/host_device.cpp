#include "backends/host/host_device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "backends/host/call.h"
#include "core/base/diagnostics.h"
#include "core/sweep/statistics.h"

namespace nuscope::backends {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double shortestSample = 100e-6;  // seconds; shorter kernels are repeated within a sample
constexpr double longRun = 5e-3;           // seconds; one run of so long a kernel warms up enough
constexpr int leastSamples = 3;            // taken even when the budget is over

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double timeOnce(void* function, const std::vector<void*>& pointers, int threads, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) callKernel(function, pointers, threads);
  return seconds(start, Clock::now()) / repeats;
}

bool narrowEnough(const std::vector<std::vector<double>>& samples, const sweep::MeasureRequest& request) {
  return std::all_of(samples.begin(), samples.end(), [&](const auto& own) {
    if (static_cast<int>(own.size()) < request.minSamples) return false;
    return static_cast<int>(own.size()) >= request.maxSamples ||
           sweep::medianInterval(own).relativeWidth() <= request.width;
  });
}

}  // namespace

bool pinToProcessors(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  if (CPU_COUNT(&allowed) < threads) return false;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  int left = threads;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && left > 0;
       --cpu) {  // the last ones: the first serve most interrupts
    if (CPU_ISSET(cpu, &allowed) == 0) continue;
    CPU_SET(cpu, &chosen);
    --left;
  }
  return sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

void* HostDevice::function(const sweep::KernelRef& kernel) {
  void*& library = libraries_[kernel.library];
  if (library == nullptr) {
    library = dlopen(fmt::format("./{}.so", kernel.library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw UserError(fmt::format("the kernel cannot be loaded: {}", dlerror()));
  }
  std::string_view names = kernel.function;
  for (;;) {
    const auto comma = names.find(',');
    void* symbol = dlsym(library, std::string(names.substr(0, comma)).c_str());
    if (symbol != nullptr) return symbol;
    if (comma == std::string_view::npos) break;
    names = names.substr(comma + 1);
  }
  throw UserError(fmt::format("the kernel has no function {} (is it extern \"C\"?)", kernel.function));
}

sweep::RunReply HostDevice::run(const sweep::RunRequest& request) {
  void* kernel = function(request.kernel);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void*> pointers;
  for (const sweep::ArrayFile& input : request.inputs) {
    buffers.push_back(readArray(input, true));
    buffers.back()->protectFromWrites();
    pointers.push_back(buffers.back()->data());
  }
  for (const sweep::ArrayFile& output : request.outputs) {
    buffers.push_back(std::make_unique<Buffer>(bytesOf(output), true));
    buffers.back()->fillUntouched();
    pointers.push_back(buffers.back()->data());
  }
  const auto start = Clock::now();
  callKernel(kernel, pointers, request.threads);
  const double taken = seconds(start, Clock::now());
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const Buffer& buffer = *buffers[request.inputs.size() + i];
    if (!buffer.marginIntact())
      return {sweep::Outcome::failed, "the kernel wrote before the start of a result", taken};
    writeArray(request.outputs[i], buffer);
  }
  return {sweep::Outcome::ok, "", taken};
}

void HostDevice::prepare(const sweep::MeasureRequest& request) {
  std::string wanted;
  for (const auto* list : {&request.inputs, &request.outputs}) {
    for (const sweep::ArrayFile& array : *list) wanted += fmt::format("{}:{} ", array.file, bytesOf(array));
    wanted += '|';
  }
  if (wanted == prepared_) return;
  prepared_.clear();
  buffers_.clear();
  pointers_.clear();
  for (const sweep::ArrayFile& input : request.inputs) buffers_.push_back(readArray(input, false));
  for (const sweep::ArrayFile& output : request.outputs) {
    buffers_.push_back(std::make_unique<Buffer>(bytesOf(output), false));
    buffers_.back()->fillUntouched();
  }
  for (const auto& buffer : buffers_) pointers_.push_back(buffer->data());
  prepared_ = wanted;
}

sweep::MeasureReply HostDevice::measure(const sweep::MeasureRequest& request) {
  sweep::MeasureReply reply;
  prepare(request);
  reply.pinned = pinToProcessors(request.threads);
  const std::size_t count = request.kernels.size();
  std::vector<void*> functions;
  std::vector<int> repeats;
  std::vector<bool>
      again;  // what another kernel has done to the caches is undone by a call that is not timed
  for (const sweep::KernelRef& kernel : request.kernels) {
    functions.push_back(function(kernel));
    double once =
        timeOnce(functions.back(), pointers_, request.threads, 1);  // page faults, first touch of tables
    for (int i = 0; i < request.warmup && once < longRun; ++i)
      once = std::min(once, timeOnce(functions.back(), pointers_, request.threads, 1));
    repeats.push_back(static_cast<int>(std::clamp(shortestSample / std::max(once, 1e-9), 1.0, 10000.0)));
    again.push_back(count > 1 && once < longRun);
  }
  reply.samples.assign(count, {});
  const auto start = Clock::now();
  for (int round = 0; round < request.maxSamples; ++round) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t k =
          round % 2 == 0 ? turn : count - 1 - turn;  // no kernel always follows the same one
      if (again[k]) callKernel(functions[k], pointers_, request.threads);
      reply.samples[k].push_back(timeOnce(functions[k], pointers_, request.threads, repeats[k]));
    }
    if (narrowEnough(reply.samples, request)) break;
    if (round + 1 >= leastSamples && seconds(start, Clock::now()) > request.seconds) break;
  }
  reply.outcome = sweep::Outcome::ok;
  return reply;
}

}  // namespace nuscope::backends
