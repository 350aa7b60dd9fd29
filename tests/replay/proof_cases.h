#pragma once
// The cases beside the project as goals, for the tests of proof records.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/replay/proof_record.h"

namespace nuscope::record {

struct Case {
  std::string name;
  bool provable = false;
  replay::ProofGoal goal;
};

/// "rewrites", "float_traps", "streams", or "data": the dozen that the project carries. NUSCOPE_CASES: only
/// names that contain it. Empty where the cases are not there.
inline std::vector<Case> casesOf(const std::string& corpus) {
  namespace fs = std::filesystem;
  const fs::path root = corpus == "data" ? fs::path(NUSCOPE_SOURCE_DIR) / "tests" / "data" / "rewrites"
                                         : fs::path(NUSCOPE_SHARED_DIR) / "cases" / corpus;
  const char* only = std::getenv("NUSCOPE_CASES");
  std::vector<Case> cases;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(entry.path() / "case.json")) continue;
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    Case c;
    c.name = name;
    c.provable = nlohmann::json::parse(readWholeFile(entry.path() / "case.json")).at("expect") == "proved";
    c.goal.left = readWholeFile(entry.path() / "left.py");
    c.goal.right = readWholeFile(entry.path() / "right.py");
    cases.push_back(std::move(c));
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

}  // namespace nuscope::record
