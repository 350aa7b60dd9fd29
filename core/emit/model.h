#pragma once
// What work a kernel does, counted nest by nest from the same plan that is printed, and the time modelled for
// it.
#include <span>
#include <vector>

#include "core/machine/model.h"
#include "core/tensor/graph.h"
#include "core/tiling/space.h"

namespace nuscope::emit {

/// Work per nest. Throws UserError when an extent is missing; empty where emitHost would refuse.
std::vector<machine::Work> workOf(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                                  const tensor::Extents& extents, const machine::Target& target,
                                  const tiling::Parameters& parameters);

/// Always to be shown as "modelled". Infinite where emitHost would refuse.
double modelledSeconds(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                       const tensor::Extents& extents, const machine::Target& target,
                       const tiling::Parameters& parameters, int threads = 1);

}  // namespace nuscope::emit
