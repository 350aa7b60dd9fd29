#include "backends/worker/scratch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "core/base/diagnostics.h"

namespace nuscope::backends {

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "nuscope-worker-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw EnvironmentError(fmt::format("no folder {} for the worker: {}", pattern, std::strerror(errno)));
  }
  folder_ = pattern;
  std::random_device random;
  token_ = fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
  std::ofstream(folder_ / "token") << token_;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path Scratch::file(std::string_view name) const {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (!plain || name.empty() || name.size() > 200 || name == "." || name == "..") {
    throw UserError(fmt::format("'{}' is no file name for a worker", name.substr(0, 100)));
  }
  return folder_ / name;
}

}  // namespace nuscope::backends
