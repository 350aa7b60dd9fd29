#include "backends/device.h"

#include <fmt/format.h>

#include "backends/host/host_device.h"
#include "backends/simulated/simulated_device.h"
#include "core/base/diagnostics.h"

namespace nuscope::backends {

std::unique_ptr<Device> makeDevice(std::string_view specification) {
  if (specification == "host") return std::make_unique<HostDevice>();
  if (specification == "simulated" || specification.starts_with("simulated:")) {
    return std::make_unique<SimulatedDevice>(parseFaults(specification));
  }
  throw UserError(
      fmt::format("'{}' is no device; there are host and simulated[:crash@N,hang@N,wrong@N,memory@N,die@N]",
                  specification));
}

}  // namespace nuscope::backends
