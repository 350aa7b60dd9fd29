#include "core/sweep/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "core/base/diagnostics.h"
#include "core/emit/kernel.h"
#include "core/sweep/statistics.h"
#include "core/sweep/study.h"

namespace nuscope::sweep {
namespace {

using machine::MemoryLevel;
using machine::Target;

constexpr const char* library = "calibration";
constexpr int rounds = 1'000'000;           // of multiply-adds, a thread
constexpr int emptyRegions = 200;           // started one after the other
constexpr double cacheTraffic = 192 << 20;  // bytes read by a thread per call, from a cache
constexpr int page = 4096;
constexpr double linesTraffic = 1 << 19;  // lines read by a thread per call
constexpr int outputFloats = 1 << 16;     // one cache line and more for each thread's sum

/// Chains of multiply-adds: enough to hide their latency, with two registers left for the operands.
int chains(const Target& target) {
  const auto wanted = static_cast<int>(target.vector.fmaPerCycle * target.vector.fmaLatency) + 2;
  return std::clamp(wanted, 4, target.vector.registers - 2);
}

/// Bytes that a level is measured with, all threads together: half of a cache that each core has; of one that
/// is shared a quarter, for others use it too; of main memory four times the last cache.
std::int64_t footprint(const Target& target, const MemoryLevel& level) {
  if (level.bytes == 0) {
    const MemoryLevel& last = target.memory[target.memory.size() - 2];
    return std::min<std::int64_t>(4 * last.bytes, std::int64_t{256} << 20);
  }
  return level.shared ? level.bytes / 4 : level.bytes / 2;
}

bool isPrivate(const MemoryLevel& level) {
  return level.bytes > 0 && !level.shared;
}

std::string functionOf(const MemoryLevel& level) {
  return "calibrate_read_" + level.name;
}

/// Bytes that each of `threads` threads reads over and over: whole rounds of its inner loop.
std::string ownBytes(const Target& target, const MemoryLevel& level) {
  return fmt::format("{}{}", footprint(target, level), isPrivate(level) ? "" : " / threads");
}

std::string readFunction(const Target& target, const MemoryLevel& level) {
  const auto traffic = level.bytes == 0 ? 0 : static_cast<std::int64_t>(cacheTraffic);
  return fmt::format(
      "extern \"C\" void {}(float* out, int threads) {{ nuscope::readAll(out, threads, {}, {}); }}\n",
      functionOf(level), ownBytes(target, level), traffic);
}

/// Lines, each in another page, that are found in this cache: more than the one before holds. 0: there is no
/// such number.
std::int64_t farLines(const Target& target, std::size_t level) {
  if (level == 0 || target.memory[level].bytes == 0) return 0;
  const double held = machine::linesHeld(target.memory[level], page);
  const double before = machine::linesHeld(target.memory[level - 1], page);
  return before < held ? static_cast<std::int64_t>(std::min(held / 2, 4 * before) / 8) * 8 : 0;
}

std::string lineFunction(const Target& target, std::size_t level) {
  return fmt::format(
      "extern \"C\" void calibrate_lines_{}(float* out, int threads) {{ nuscope::readLines(out, threads, {}, "
      "{}); "
      "}}\n",
      target.memory[level].name, farLines(target, level), static_cast<std::int64_t>(linesTraffic));
}

double linesRead(const Target& target, std::size_t level) {
  const std::int64_t lines = farLines(target, level);
  return static_cast<double>(lines * (static_cast<std::int64_t>(linesTraffic) / lines));
}

/// Bytes that all threads together read in one call; as the source counts them.
double bytesRead(const Target& target, const MemoryLevel& level, int threads) {
  const std::int64_t round = std::int64_t{16} * target.vector.bits / 8;
  const std::int64_t own = footprint(target, level) / (isPrivate(level) ? 1 : threads) / round * round;
  const std::int64_t times =
      level.bytes == 0 ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(cacheTraffic) / own);
  return static_cast<double>(own * times) * threads;
}

/// One run of each kernel with so many threads.
class Measuring {
 public:
  Measuring(Worker& worker, const Target& target, int threads)
      : worker_(worker), target_(target), threads_(threads) {}

  machine::Ceiling run() {
    machine::Ceiling ceiling;
    ceiling.threads = threads_;
    const double flops =
        2.0 * target_.vector.floats() * chains(target_) * static_cast<double>(rounds) * threads_;
    ceiling.gigaflops = flops / best("calibrate_fma") * 1e-9;
    for (const MemoryLevel& level : target_.memory)
      ceiling.gigabytes[level.name] = bytesRead(target_, level, threads_) / best(functionOf(level)) * 1e-9;
    ceiling.dispatchMicroseconds =
        std::max(1e-3, medianInterval(samples("calibrate_start")).median / emptyRegions * 1e6);
    ceiling.chainNanoseconds = best("calibrate_chain") / rounds * 1e9;
    for (std::size_t level = 1; level < target_.memory.size(); ++level) {
      if (farLines(target_, level) == 0) continue;
      const std::string& name = target_.memory[level].name;
      ceiling.lineNanoseconds[name] = best("calibrate_lines_" + name) / linesRead(target_, level) * 1e9;
    }
    return ceiling;
  }

 private:
  /// Seconds of the fastest run.
  double best(const std::string& function) {
    const std::vector<double> all = samples(function);
    return std::max(1e-9, *std::ranges::min_element(all));
  }

  std::vector<double> samples(const std::string& function) {
    MeasureRequest request;
    request.kernels = {{library, function, 0}};
    request.outputs = {{"calibrated", tensor::DType::f32, outputFloats}};
    request.threads = threads_;
    request.minSamples = 7;
    request.maxSamples = 60;
    request.seconds = 0.15;
    request.width = 0.005;
    const MeasureReply reply = worker_.measure(request);
    if (reply.outcome == Outcome::cancelled) throw Cancelled{};
    if (reply.outcome != Outcome::ok || reply.samples.empty() || reply.samples[0].empty()) {
      throw EnvironmentError(fmt::format("this machine could not be calibrated: {} {}: {}", function,
                                         text(reply.outcome), reply.message));
    }
    return reply.samples[0];
  }

  Worker& worker_;
  const Target& target_;
  int threads_;
};

/// All threads attain what one of them does by itself, also when the others found no free processor.
void atLeast(machine::Ceiling& all, const machine::Ceiling& one) {
  all.gigaflops = std::max(all.gigaflops, one.gigaflops);
  for (auto& [level, value] : all.gigabytes) value = std::max(value, one.gigabytes.at(level));
}

std::vector<std::string> compileCommand(const Target& target) {
  std::vector<std::string> command = target.compiler;
  for (const std::string& flag :
       {std::string("-shared"), std::string("-fPIC"), "-I" + emit::runtimeFolder(), std::string("{source}"),
        std::string("-o"), std::string("{output}"), std::string("-pthread")})
    command.push_back(flag);
  return command;
}

}  // namespace

std::string calibrationSource(const Target& target) {
  std::string sums;
  std::string steps;
  std::string total;
  for (int i = 0; i < chains(target); ++i) {
    sums += fmt::format("    F s{0} = splat(float(part + {0}));\n", i);
    steps += fmt::format(" s{0} = s{0} * a + b;", i);
    total += fmt::format("{}s{}", i == 0 ? "" : " + ", i);
  }
  std::string source = fmt::format(R"(// What this machine attains: written by Nuscope for {0}.
#define NUSCOPE_LANES {1}
#include "nuscope_runtime.h"

namespace nuscope {{
namespace {{

/// Multiply-adds in {2} chains that do not wait for each other.
void multiplyAdd(float* out, int threads) {{
  parallel(threads, [=](int part, int) {{
    const F a = splat(0.999f), b = splat(0.001f);
{3}    for (int i = 0; i < {4}; ++i) {{{5} }}
    store(out + 1024 * part, {6}, All{{}});
  }});
}}

/// Every thread reads `bytes` of its own until it has read `traffic`, but all of them once.
void readAll(float* out, int threads, long bytes, long traffic) {{
  static char* data = nullptr;
  static long had = 0;
  constexpr long round = 16 * sizeof(F);
  const long stride = bytes + 4096;
  if (had < stride * threads) {{
    if (had > 0) munmap(data, had);
    had = stride * threads;
    data = (char*)mmap(nullptr, had, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) abort();
    for (long i = 0; i < had; i += 64) data[i] = 1;  // pages that were never written are all the same one
  }}
  parallel(threads, [=](int part, int) {{
    const float* own = (const float*)(data + part * stride);
    const long count = bytes / round * round / sizeof(float);
    const long times = max(1L, traffic / (count * long(sizeof(float))));
    F s[8] = {{}};
    for (long t = 0; t < times; ++t) {{
      for (long i = 0; i < count; i += 16 * W) {{
        for (int u = 0; u < 16; ++u) s[u % 8] = s[u % 8] + load(own + i + u * W, All{{}});
      }}
      asm volatile("" ::: "memory");
    }}
    store(out + 1024 * part, ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])), All{{}});
  }});
}}

/// Each multiply-add needs the one before.
void chain(float* out, int threads) {{
  parallel(threads, [=](int part, int) {{
    const F a = splat(0.999f), b = splat(0.001f);
    F s = splat(float(part));
    for (int i = 0; i < {4}; ++i) s = s * a + b;
    store(out + 1024 * part, s, All{{}});
  }});
}}

/// Lines of which each lies in another page.
void readLines(float* out, int threads, long lines, long traffic) {{
  static char* data = nullptr;
  static long had = 0;
  const long bytes = lines * {8};
  if (had < bytes * threads) {{
    if (had > 0) munmap(data, had);
    had = bytes * threads;
    data = (char*)mmap(nullptr, had, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) abort();
    for (long i = 0; i < had; i += 64) data[i] = 1;
  }}
  parallel(threads, [=](int part, int) {{
    const char* own = data + part * bytes;
    F s[4] = {{}};
    for (long t = 0; t < traffic / lines; ++t) {{
      for (long i = 0; i < lines; i += 4) {{
        for (int u = 0; u < 4; ++u) s[u] = s[u] + load((const float*)(own + (i + u) * {8}), All{{}});
      }}
      asm volatile("" ::: "memory");
    }}
    store(out + 1024 * part, (s[0] + s[1]) + (s[2] + s[3]), All{{}});
  }});
}}

void start(float* out, int threads) {{
  for (int i = 0; i < {7}; ++i)
    parallel(threads, [=](int part, int) {{ out[1024 * part] = 1; }});
}}

}}  // namespace
}}  // namespace nuscope

extern "C" void calibrate_fma(float* out, int threads) {{ nuscope::multiplyAdd(out, threads); }}
extern "C" void calibrate_start(float* out, int threads) {{ nuscope::start(out, threads); }}
extern "C" void calibrate_chain(float* out, int threads) {{ nuscope::chain(out, threads); }}
)",
                                   target.name, target.vector.floats(), chains(target), sums, rounds, steps,
                                   total, emptyRegions, page);
  for (const MemoryLevel& level : target.memory) source += readFunction(target, level);
  for (std::size_t level = 1; level < target.memory.size(); ++level) {
    if (farLines(target, level) > 0) source += lineFunction(target, level);
  }
  return source;
}

machine::Calibration calibrate(Worker& worker, const Target& target, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  progress.report(0, "compiling the calibration");
  const CompileJob job{library, calibrationSource(target), compileCommand(target)};
  const auto compiled = worker.compile({job}, 60, 1, {});
  progress.check();
  if (compiled.empty() || compiled[0].outcome != Outcome::ok) {
    throw EnvironmentError(fmt::format("the calibration did not compile: {}",
                                       compiled.empty() ? std::string("no answer") : compiled[0].message));
  }
  machine::Calibration calibration;
  calibration.machine = machine::machineKey(target);
  double load = 0;
  if (getloadavg(&load, 1) == 1) calibration.load = load;
  const int processors = std::max(1, worker.hello().processors);
  const std::set<int> counts{1, std::min(2, processors), std::min(processors, 60)};
  for (const int threads : counts) {
    progress.check();
    progress.report(0.3 + 0.7 * static_cast<double>(calibration.ceilings.size()) / 3,
                    fmt::format("measuring {} thread{}", threads, threads == 1 ? "" : "s"));
    calibration.ceilings.push_back(Measuring(worker, target, threads).run());
    if (threads > 1) atLeast(calibration.ceilings.back(), calibration.ceilings.front());
  }
  worker.forget(library);
  calibration.date = utcNow();
  calibration.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return calibration;
}

}  // namespace nuscope::sweep
