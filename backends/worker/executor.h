#pragma once
// The child of a worker that loads and runs kernels: "nuscope worker --execute". It may die with any kernel.
#include <string>

namespace nuscope::backends {

/// Serves hello (libraries only), run, measure and forget on standard streams until the input ends. Kernels
/// that print do so on standard error. Returns the exit code.
int runExecutor(const std::string& device);

}  // namespace nuscope::backends
