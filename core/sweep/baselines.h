#pragma once
// What candidates are compared with: the program as written, by other means, on the same device with the same
// threads.
#include <vector>

#include "core/sweep/bench.h"

namespace nuscope::sweep {

/// Plain C++ loops, and the same with OpenBLAS for its matmuls. One that does not apply or is not there has
/// the state `skipped` and says why. Labels hold versions and the number of threads.
std::vector<Entrant> makeBaselines(const tensor::Program& program, const tensor::Extents& extents,
                                   const Hello& worker, int threads);

}  // namespace nuscope::sweep
