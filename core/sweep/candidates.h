#pragma once
// Which candidates a sweep has: every variant with every admitted point of its space, emitted; equal texts
// once.
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/machine/target.h"
#include "core/nugraph/nugraph.h"
#include "core/sweep/bench.h"

namespace nuscope::sweep {

/// Which part of the space a sweep looks at.
struct Narrowing {
  std::vector<int> variants;                              ///< empty: all
  std::map<std::string, std::vector<std::int64_t>> only;  ///< values that parameters may take; others: all
  [[nodiscard]] std::string text() const;                 ///< "variants 0, 9; tile_m = 4, 6"; empty: all
};

struct Candidates {
  std::vector<Entrant> entrants;   ///< in order of variant, then of the space; ids are not set
  std::vector<std::string> notes;  ///< what was cut or refused, in words
  std::int64_t admitted = 0;       ///< points of all spaces together
  int merged = 0;                  ///< points whose kernel is the same text as an earlier one's
};

/// At most about `limit` candidates, as many of each variant. Of a larger space half are spread evenly, and
/// half are the fastest by the model. Deterministic. `toolchain`: name and version of the compiler; flags and
/// the runtime's text are added to it. UserError when a variant, parameter or value of `narrowing` does not
/// exist; it names those that do.
Candidates enumerateCandidates(const nugraph::NuGraph& graph, const tensor::Extents& extents,
                               const machine::Target& target, const Narrowing& narrowing, int threads,
                               int limit, const std::string& toolchain, const Progress& progress);

}  // namespace nuscope::sweep
