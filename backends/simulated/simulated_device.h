#pragma once
// A host device with planted faults, for tests of everything around it. Kernels really run; times are made up
// from the kernel's name, so that choices can be predicted.
#include <map>
#include <string>
#include <string_view>

#include "backends/host/host_device.h"

namespace nuscope::backends {

enum class Fault : std::uint8_t {
  crash,   ///< a segmentation fault
  hang,    ///< never returns
  wrong,   ///< adds 1 to one element of the first result
  memory,  ///< takes memory without end
  die      ///< the whole worker is gone (done by the worker itself)
};

/// Faults by ordinal of the candidate.
using Faults = std::map<int, Fault>;

/// Of "simulated:crash@7,hang@9"; UserError names what is wrong.
Faults parseFaults(std::string_view specification);

class SimulatedDevice : public HostDevice {
 public:
  explicit SimulatedDevice(Faults faults) : faults_(std::move(faults)) {}
  sweep::RunReply run(const sweep::RunRequest& request) override;
  sweep::MeasureReply measure(const sweep::MeasureRequest& request) override;

 private:
  Faults faults_;
};

/// The made-up time of a kernel in seconds: between 1 and 2 ms, fixed by the name.
double simulatedSeconds(std::string_view library);

}  // namespace nuscope::backends
