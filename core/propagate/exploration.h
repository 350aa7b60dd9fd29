#pragma once
// The driver of explore(), with the prover as an argument.
#include "core/propagate/attempt.h"
#include "core/propagate/explore.h"

namespace nuscope::propagate {

using OnChange = std::function<void(std::shared_ptr<const nugraph::NuGraph>)>;

std::shared_ptr<const nugraph::NuGraph> exploreWith(const Procedures& procedures,
                                                    const tensor::Program& program,
                                                    const ExploreOptions& options, const Progress& progress,
                                                    const OnChange& onChange);

}  // namespace nuscope::propagate
