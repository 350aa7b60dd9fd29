#include "backends/worker/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope::backends {
namespace {

namespace fs = std::filesystem;

/// "value" of the first line "key : value" of a file.
std::string fieldOf(const std::string& file, std::string_view key) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || !std::string_view(line).starts_with(key)) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

bool libraryIsThere(const std::string& name) {
  constexpr std::array folders{"/usr/lib/x86_64-linux-gnu",
                               "/usr/lib/aarch64-linux-gnu",
                               "/lib/x86_64-linux-gnu",
                               "/usr/lib64",
                               "/usr/lib",
                               "/usr/local/lib",
                               "/usr/local/nvidia/lib64",
                               "/usr/lib/wsl/lib",
                               "/run/opengl-driver/lib"};
  std::vector<std::string> all(folders.begin(), folders.end());
  const char* path = std::getenv("LD_LIBRARY_PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    if (end != 0) all.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  std::error_code error;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& folder) { return fs::exists(fs::path(folder) / name, error); });
}

std::vector<sweep::DeviceEntry> nvidia() {
  std::vector<sweep::DeviceEntry> found;
  std::error_code error;
  const bool library = libraryIsThere("libcuda.so.1");
  std::vector<std::string> gpus;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    const std::string name = fieldOf(gpu.path() / "information", "Model");
    gpus.push_back(name.empty() ? "NVIDIA GPU" : name);
  }
  std::sort(gpus.begin(), gpus.end());
  if (gpus.empty() && fs::exists("/dev/nvidia0", error)) gpus.emplace_back("NVIDIA GPU");
  // This build has no NVIDIA backend: what is attached is named, but cannot be used.
  for (const std::string& gpu : gpus) {
    found.push_back(
        {"nvidia", gpu, false,
         library ? "this version of Nuscope cannot use it yet"
                 : "the driver library libcuda.so.1 is absent; install the NVIDIA driver's user-space part"});
  }
  if (found.empty()) {
    found.push_back(
        {"nvidia", "", false,
         library
             ? "libcuda.so.1 is there, but no GPU: neither /dev/nvidia0 nor /proc/driver/nvidia/gpus exists"
             : "no GPU (/dev/nvidia0 does not exist) and no driver library (libcuda.so.1 is absent)"});
  }
  return found;
}

std::vector<sweep::DeviceEntry> trainium() {
  std::vector<sweep::DeviceEntry> found;
  std::error_code error;
  for (int i = 0; fs::exists(fmt::format("/dev/neuron{}", i), error); ++i) {
    found.push_back(
        {"trainium", fmt::format("Neuron device {}", i), false, "this version of Nuscope cannot use it yet"});
  }
  if (found.empty())
    found.push_back({"trainium", "", false, "no Neuron device: /dev/neuron0 does not exist"});
  return found;
}

}  // namespace

std::string hostDeviceName() {
  std::string name = fieldOf("/proc/cpuinfo", "model name");
  if (name.empty()) name = "unknown processor";
  const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  return fmt::format("{} ({} processor{})", name, count, count == 1 ? "" : "s");
}

std::string compilerVersion(const std::string& program) {
  try {
    ProcessOptions options;
    options.arguments = {program, "--version"};
    const Finished finished = runProcess(options, "", std::chrono::seconds(10));
    return finished.end.success() ? finished.output.substr(0, finished.output.find('\n')) : std::string();
  } catch (const EnvironmentError&) {
    return {};
  }
}

std::vector<sweep::DeviceEntry> inventory() {
  std::vector<sweep::DeviceEntry> all;
  all.push_back({"host", hostDeviceName(), true, ""});
  for (const auto& entry : nvidia()) all.push_back(entry);
  for (const auto& entry : trainium()) all.push_back(entry);
  return all;
}

}  // namespace nuscope::backends
