#pragma once
// The corpus of schedules with known verdicts (cases/schedules).
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files.h"

namespace nuscope::schedule::testing {

struct Case {
  std::string name;
  std::string text;  ///< of schedule.json
  nlohmann::json meta;
};

/// By name; empty where the corpus is not beside the project.
inline std::vector<Case> cases() {
  std::vector<Case> result;
  const std::filesystem::path folder = std::filesystem::path(NUSCOPE_SHARED_DIR) / "cases/schedules";
  if (!std::filesystem::exists(folder)) return result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    result.push_back({entry.path().filename().string(), readWholeFile(entry.path() / "schedule.json"),
                      nlohmann::json::parse(readWholeFile(entry.path() / "case.json"))});
  }
  std::ranges::sort(result, {}, &Case::name);
  return result;
}

}  // namespace nuscope::schedule::testing
