#include "core/propagate/explore.h"

#include "core/propagate/exploration.h"

namespace nuscope::propagate {

std::shared_ptr<const nugraph::NuGraph> explore(const tensor::Program& program, const ExploreOptions& options,
                                                const Progress& progress, const OnChange& onChange) {
  return exploreWith(provers(), program, options, progress, onChange);
}

}  // namespace nuscope::propagate
