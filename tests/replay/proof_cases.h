#pragma once
// The corpora as goals, for the tests of proof records.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/propagate/explore.h"
#include "core/record/record.h"
#include "tests/proof/pairs.h"

namespace nuscope::record {

struct Case {
  std::string name;
  bool provable = false;
  replay::ProofGoal goal;
};

/// The steps of the nu-graphs of the example programs: each refines.
inline std::vector<Case> stepsOfPrograms() {
  namespace fs = std::filesystem;
  std::vector<Case> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(NUSCOPE_SOURCE_DIR) / "resources" / "programs")) {
    if (entry.path().extension() != ".py") continue;
    const auto parsed = language::parse(readWholeFile(entry.path()));
    const auto graph = propagate::explore(parsed.program.value(), {}, {}, {});
    for (const auto& step : graph->steps()) {
      cases.push_back({entry.path().stem().string() + ", " + step.what, true,
                       goalOf(graph->program(step.from), graph->program(step.to), true)});
    }
  }
  return cases;
}

/// "rewrites", "float_traps" and "streams" lie beside the project (empty where they are not there), ".pairs",
/// ".floats" and ".loops" are in it; ".programs" are the steps above. NUSCOPE_CASES: only names that contain
/// it.
inline std::vector<Case> casesOf(const std::string& corpus) {
  std::vector<Case> cases;
  if (corpus == ".programs") {
    cases = stepsOfPrograms();
  } else {
    for (auto& pair : corpus[0] == '.' ? proof::secondCorpus(corpus) : proof::sharedCorpus(corpus))
      cases.push_back({pair.name, pair.provable, {false, std::move(pair.left), std::move(pair.right)}});
  }
  if (const char* only = std::getenv("NUSCOPE_CASES"))
    std::erase_if(cases, [&](const Case& c) { return c.name.find(only) == std::string::npos; });
  return cases;
}

}  // namespace nuscope::record
