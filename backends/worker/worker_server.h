#pragma once
// A worker: reads requests, compiles, hands kernels to its executing child and watches over it.
#include <string>

namespace nuscope::backends {

struct WorkerOptions {
  std::string device = "host";  ///< specification for makeDevice
  std::string executable;       ///< what starts the child: ARGUMENT 0 of "... worker --execute"
  std::size_t memoryLimit = 0;  ///< bytes the child may take; 0: three quarters of the machine's memory
};

/// Serves the protocol on standard input and output until "quit" or the end of the input. Returns the exit
/// code. UserError for an unknown device.
int runWorker(const WorkerOptions& options);

}  // namespace nuscope::backends
