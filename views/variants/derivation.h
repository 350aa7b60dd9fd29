#pragma once
// Which variants of a nu-graph are shown, and as what: few at first (the way to the selected variant, what
// leads on from it, the best ones), everything on demand, and always how much is hidden.
#include <set>
#include <unordered_map>

#include "core/nugraph/nugraph.h"
#include "views/graph/graph_content.h"

namespace nuscope::views {

struct DerivationOptions {
  int version = -1;  ///< as of this version; -1: now
  bool all = false;
  int selected = 0;
  int selectedStep = -1;
  std::set<int> expanded;                           ///< variants whose children are all shown
  int childrenShown = 3;                            ///< of the selected variant and the root, before "+n"
  std::unordered_map<int, double> modelledSeconds;  ///< per variant, where known
  std::set<nugraph::Stage> stages;                  ///< empty: all
};

struct Derivation {
  GraphContent content;       ///< box keys: variant id; edge keys: step id + 1
  std::vector<int> variants;  ///< shown, ascending
  int total = 0;              ///< at that version, of these stages
};

Derivation derivation(const nugraph::NuGraph& graph, const DerivationOptions& options);

/// Title as a sentence: "Divide moved past matmul".
QString titleOf(const nugraph::Variant& variant);

}  // namespace nuscope::views
