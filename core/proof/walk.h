#pragma once
// Visits every atom inside a term once, folds' bodies and extents included.
#include <functional>
#include <unordered_set>

#include "core/proof/terms.h"

namespace nuscope::proof {

struct Walker {
  IntAtomRef only = nullptr;  ///< visit only nodes in which this variable is free; null: all
  std::function<void(AtomRef)> onAtom;
  std::function<void(IntAtomRef)> onIntAtom;
  std::function<void(MonoRef)> onMono;
  bool intoFolds = true;

  void walk(PolyRef poly);
  void walk(MonoRef mono);
  void walk(AtomRef atom);
  void walk(IntRef term);
  void walk(IntAtomRef atom);

 private:
  bool enter(const Info* node);
  std::unordered_set<const Info*> seen_;
};

/// Does the atom occur anywhere inside?
bool occurs(PolyRef poly, AtomRef atom);

}  // namespace nuscope::proof
