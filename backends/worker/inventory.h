#pragma once
// What is attached to this machine, found by looking at files only: no driver is ever loaded here.
#include <string>
#include <vector>

#include "core/sweep/protocol.h"

namespace nuscope::backends {

/// One entry for each device found, and one for each kind that was not, with the reason. Order: host, nvidia,
/// trainium.
std::vector<sweep::DeviceEntry> inventory();
/// Name of the processor, e.g. "AMD EPYC"; with the number of processors: "AMD EPYC (2 processors)".
std::string hostDeviceName();
/// First line of `PROGRAM --version`; empty when there is no such program.
std::string compilerVersion(const std::string& program);

}  // namespace nuscope::backends
