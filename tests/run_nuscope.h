#pragma once
// The program itself, run as a user would; NUSCOPE_BINARY_DIR says which.
#include <chrono>
#include <string>
#include <vector>

#include "core/base/process.h"

namespace nuscope {

inline Finished runNuscope(std::vector<std::string> arguments,
                           std::chrono::minutes limit = std::chrono::minutes(4)) {
  arguments.insert(arguments.begin(), std::string(NUSCOPE_BINARY_DIR) + "/bin/nuscope");
  ProcessOptions options;
  options.arguments = std::move(arguments);
  return runProcess(options, "", limit);
}

}  // namespace nuscope
