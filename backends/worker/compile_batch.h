#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

#include "core/sweep/protocol.h"

namespace nuscope::backends {

/// Compiles all jobs, `parallel` at a time, at nice 5: NAME.cpp to NAME.so in `folder`. `onResult` is called
/// once a job, one call at a time, in the order in which they end. After a stop the rest ends as cancelled.
void compileBatch(const std::vector<sweep::CompileJob>& jobs, const std::filesystem::path& folder,
                  double limitSeconds, int parallel, const std::stop_token& stop,
                  const std::function<void(const sweep::CompileResult&)>& onResult);

}  // namespace nuscope::backends
