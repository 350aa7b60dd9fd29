#include "backends/worker/executor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <new>

#include "backends/device.h"
#include "core/base/diagnostics.h"

namespace nuscope::backends {
namespace {

bool writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto put = write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

sweep::Library openBlas() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {false, "libopenblas.so.0 is not installed (Debian: libopenblas0-pthread)"};
  using Text = char* (*)();
  const auto config = reinterpret_cast<Text>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<Text>(dlsym(library, "openblas_get_corename"));
  if (dlsym(library, "cblas_sgemm") == nullptr) return {false, "libopenblas.so.0 has no cblas_sgemm"};
  std::string text = config != nullptr ? config() : "OpenBLAS";
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." -> name and version
  const auto second = text.find(' ', text.find(' ') + 1);
  text = text.substr(0, second);
  if (core != nullptr) text += fmt::format(" ({})", core());
  return {true, text};
}

std::string answer(Device& device, const sweep::Request& request) {
  try {
    if (request.verb == "hello") {
      sweep::Hello hello;
      hello.libraries["openblas"] = openBlas();
      return sweep::helloReply(request.id, hello);
    }
    if (request.verb == "run") return sweep::runReply(request.id, device.run(request.run));
    if (request.verb == "measure") return sweep::measureReply(request.id, device.measure(request.measure));
    return sweep::errorReply(request.id, sweep::Outcome::failed, "unknown request " + request.verb);
  } catch (const std::bad_alloc&) {
    return sweep::errorReply(request.id, sweep::Outcome::failed,
                             "out of memory: the kernel takes more than the worker's limit");
  } catch (const std::exception& error) {
    return sweep::errorReply(request.id, sweep::Outcome::failed, error.what());
  }
}

}  // namespace

/// Threads of OpenMP and OpenBLAS wait for more work with a busy processor, for up to 20 ms: in a race where
/// kernels take turns they would take it from the next one. They wait some 100 us here, which bridges the
/// loops of one kernel. What the user has set stays.
static void shortenSpinning() {
  setenv("GOMP_SPINCOUNT", "10000", 0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "18", 0);  // 2^18 cycles
}

int runExecutor(const std::string& device) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == 1) return 1;  // the worker died before the line above
  const int replies = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  shortenSpinning();
  const auto target = makeDevice(device);
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!writeAll(replies, answer(*target, sweep::parseRequest(line)))) break;
  }
  // Kernels' threads may still be parked in their libraries: no destructors.
  _exit(0);
}

}  // namespace nuscope::backends
