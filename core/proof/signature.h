#pragma once
// A hash of a term that does not depend on the names of some variables: how the marked variable occurs in it.
// Bound variables of a fold are ordered by it. Equal terms have equal signatures; the reverse is not relied
// upon.
#include <unordered_map>

#include "core/proof/terms.h"

namespace nuscope::proof {

class Signature {
 public:
  Signature(Variables anonymous, IntAtomRef marked) : anonymous_(std::move(anonymous)), marked_(marked) {}
  std::size_t operator()(PolyRef poly);
  std::size_t operator()(IntRef term);

 private:
  std::size_t of(MonoRef mono);
  std::size_t of(AtomRef atom);
  std::size_t of(IntAtomRef atom);
  Variables anonymous_;
  IntAtomRef marked_;
  std::unordered_map<const Info*, std::size_t> memo_;
};

}  // namespace nuscope::proof
