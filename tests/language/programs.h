#pragma once
// The program files that the tests of the language run over.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"

namespace nuscope::language {

inline std::vector<std::filesystem::path> filesBelow(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> result;
  if (!std::filesystem::exists(folder)) return result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".py") result.push_back(entry.path());
  }
  std::ranges::sort(result);
  return result;
}

inline std::vector<std::filesystem::path> programFiles() {
  return filesBelow(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "resources/programs");
}

/// Both sides of every case beside the project; empty where the corpus is not there.
inline std::vector<std::filesystem::path> corpusFiles() {
  std::vector<std::filesystem::path> result;
  for (const char* kind : {"rewrites", "streams", "float_traps"}) {
    const auto files = filesBelow(std::filesystem::path(NUSCOPE_SHARED_DIR) / "cases" / kind);
    result.insert(result.end(), files.begin(), files.end());
  }
  return result;
}

}  // namespace nuscope::language
