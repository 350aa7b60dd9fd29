#pragma once
// The corpora as goals, for the tests of proof records.
#include <cstdlib>
#include <string>
#include <vector>

#include "core/replay/proof_record.h"
#include "tests/proof/pairs.h"

namespace nuscope::record {

struct Case {
  std::string name;
  bool provable = false;
  replay::ProofGoal goal;
};

/// "rewrites", "float_traps" and "streams" lie beside the project (empty where they are not there), ".pairs",
/// ".floats" and ".loops" are in it. NUSCOPE_CASES: only names that contain it.
inline std::vector<Case> casesOf(const std::string& corpus) {
  const char* only = std::getenv("NUSCOPE_CASES");
  std::vector<Case> cases;
  for (auto& pair : corpus[0] == '.' ? proof::secondCorpus(corpus) : proof::sharedCorpus(corpus)) {
    if (only != nullptr && pair.name.find(only) == std::string::npos) continue;
    cases.push_back({pair.name, pair.provable, {false, std::move(pair.left), std::move(pair.right)}});
  }
  return cases;
}

}  // namespace nuscope::record
