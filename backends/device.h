#pragma once
// The worker side: one interface for whatever runs kernels. A device lives in the executing child of a
// worker, which may die at any moment; it decides nothing (what is tried, what is right, what wins is the
// coordinator's business).
#include <memory>
#include <string_view>

#include "core/sweep/protocol.h"

namespace nuscope::backends {

class Device {
 public:
  virtual ~Device() = default;
  /// One run on inputs and into outputs that lie in files of the current folder. Outputs are written even if
  /// the kernel left elements untouched (those hold a pattern that is NaN in float types).
  virtual sweep::RunReply run(const sweep::RunRequest& request) = 0;
  /// Timed runs of one or several kernels in turn. What they compute is not looked at.
  virtual sweep::MeasureReply measure(const sweep::MeasureRequest& request) = 0;
};

/// "host", "simulated:crash@7,hang@9". UserError for anything else.
std::unique_ptr<Device> makeDevice(std::string_view specification);

}  // namespace nuscope::backends
