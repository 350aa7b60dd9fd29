#pragma once
#include <span>

namespace nuscope::backends {

constexpr int mostArguments = 64;

/// Calls `void f(pointer..., int threads)` with 1 to `mostArguments` pointers. UserError for other numbers.
void callKernel(void* function, std::span<void* const> pointers, int threads);

}  // namespace nuscope::backends
