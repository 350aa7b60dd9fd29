#pragma once
// Makes a counterexample small and plain: smaller extents, then zeros, ones and small whole numbers, as long
// as the difference remains certain and of the same kind and the asserts hold.
#include "core/proof/screen.h"

namespace nuscope::proof {

/// Deterministic; at most a few hundred evaluations. `facts`: of both programs.
Case shrink(const tensor::Program& left, const tensor::Program& right, const tensor::DimFacts& facts,
            Mode mode, Case found, const Progress& progress);

}  // namespace nuscope::proof
