#pragma once
// What work a kernel does, counted nest by nest from the same plan that is printed, and the time modelled for
// it.
#include <optional>
#include <span>
#include <vector>

#include "core/machine/model.h"
#include "core/tensor/graph.h"
#include "core/tiling/space.h"

namespace nuscope::emit {

/// Work per nest. Throws UserError when an extent is missing; empty where emitHost would refuse.
/// `withoutVectors`: of the emitted kernel (kernel.h).
std::vector<machine::Work> workOf(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                                  const tensor::Extents& extents, const machine::Target& target,
                                  const tiling::Parameters& parameters,
                                  const std::vector<tensor::NodeRef>& withoutVectors = {});

/// The account of one candidate; emits its kernel. Empty where emitHost refuses. Always to be shown as
/// "modelled".
std::optional<machine::Breakdown> modelled(const tensor::Program& context,
                                           std::span<const tensor::NodeRef> results,
                                           const tensor::Extents& extents, const machine::Target& target,
                                           const tiling::Parameters& parameters, int threads = 1);

/// Its seconds; infinite where emitHost refuses.
double modelledSeconds(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                       const tensor::Extents& extents, const machine::Target& target,
                       const tiling::Parameters& parameters, int threads = 1);

}  // namespace nuscope::emit
