// Which description fits the processor this runs on.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "core/base/diagnostics.h"
#include "core/machine/target.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define NUSCOPE_X86 1
#endif

namespace nuscope::machine {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(" \0");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

std::vector<std::string> processorFeatures() {
  std::vector<std::string> features;
#ifdef NUSCOPE_X86
  __builtin_cpu_init();
  // __builtin_cpu_supports also asks the operating system whether it saves the registers.
#define NUSCOPE_FEATURE(name) \
  if (__builtin_cpu_supports(name)) features.emplace_back(name);
  NUSCOPE_FEATURE("sse4.2")
  NUSCOPE_FEATURE("avx")
  NUSCOPE_FEATURE("avx2")
  NUSCOPE_FEATURE("fma")
  NUSCOPE_FEATURE("avx512f")
  NUSCOPE_FEATURE("avx512bw")
  NUSCOPE_FEATURE("avx512dq")
  NUSCOPE_FEATURE("avx512vl")
#undef NUSCOPE_FEATURE
#endif
  return features;
}

std::string processorName() {
#ifdef NUSCOPE_X86
  unsigned words[12] = {};
  unsigned most = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000000U, &most, &b, &c, &d) != 0 && most >= 0x80000004U) {
    for (unsigned i = 0; i < 3; ++i) {
      __get_cpuid(0x80000002U + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    }
    const std::string name = trimmed(std::string(reinterpret_cast<const char*>(words), sizeof words).c_str());
    if (!name.empty()) return name;
  }
#endif
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name") || line.starts_with("Model") || line.starts_with("Hardware")) {
      const auto colon = line.find(':');
      if (colon != std::string::npos) return trimmed(line.substr(colon + 1));
    }
  }
  return "unknown processor";
}

std::vector<std::string> missingFeatures(const Target& target) {
  const auto have = processorFeatures();
  std::vector<std::string> missing;
  for (const std::string& feature : target.processorFeatures) {
    if (std::ranges::find(have, feature) == have.end()) missing.push_back(feature);
  }
  return missing;
}

HostTarget hostTarget() {
  // The widest vectors among those that run here.
  std::string lacks;
  std::optional<Target> best;
  for (const std::string& name : targetNames()) {
    Target target = loadTarget(name);
    if (target.kind != "host") continue;
    const auto missing = missingFeatures(target);
    if (!missing.empty()) {
      lacks += fmt::format("; it lacks {} for {}", joined(missing), name);
    } else if (!best || target.vector.bits > best->vector.bits) {
      best = std::move(target);
    }
  }
  if (!best) throw EnvironmentError(fmt::format("no host target in {}", targetFolder()));
  const std::string has = best->processorFeatures.empty() ? "runs what every processor of its kind runs"
                                                          : "has " + joined(best->processorFeatures);
  return {best->name, fmt::format("the processor ({}) {}{}", processorName(), has, lacks)};
}

}  // namespace nuscope::machine
