#include "backends/simulated/simulated_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/base/diagnostics.h"

namespace nuscope::backends {
namespace {

constexpr std::array<std::pair<std::string_view, Fault>, 5> names{{{"crash", Fault::crash},
                                                                   {"hang", Fault::hang},
                                                                   {"wrong", Fault::wrong},
                                                                   {"memory", Fault::memory},
                                                                   {"die", Fault::die}}};

[[noreturn]] void hang() {
  while (true) pause();
}

void takeAllMemory() {
  constexpr std::size_t block = std::size_t{64} << 20U;
  while (true) {
    auto* bytes = static_cast<volatile char*>(::operator new(block));  // ends in bad_alloc at the limit
    for (std::size_t i = 0; i < block; i += 4096) bytes[i] = 1;
  }
}

void spoil(const sweep::ArrayFile& output) {
  const auto buffer = readArray(output, false);
  if (output.dtype == tensor::DType::f32) {
    float value = 0;
    std::memcpy(&value, buffer->data(), sizeof value);
    value += 1;
    std::memcpy(buffer->data(), &value, sizeof value);
  } else {
    buffer->data()[0] ^= std::byte{0x21};
  }
  writeArray(output, *buffer);
}

}  // namespace

Faults parseFaults(std::string_view specification) {
  Faults faults;
  const auto colon = specification.find(':');
  std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : specification.substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto at = part.find('@');
    const auto* found = std::find_if(names.begin(), names.end(),
                                     [&](const auto& n) { return n.first == part.substr(0, at); });
    int ordinal = 0;
    const char* end = part.data() + part.size();
    const bool number = at != std::string_view::npos &&
                        std::from_chars(part.data() + at + 1, end, ordinal).ptr == end && ordinal >= 1;
    if (found == names.end() || !number) {
      throw UserError(fmt::format(
          "'{}' is no fault; write crash@N, hang@N, wrong@N, memory@N or die@N with N >= 1", part));
    }
    faults[ordinal] = found->second;
  }
  return faults;
}

double simulatedSeconds(std::string_view library) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (const char c : library) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return 1e-3 * (1 + static_cast<double>(hash >> 11U) * 0x1p-53);
}

sweep::RunReply SimulatedDevice::run(const sweep::RunRequest& request) {
  const auto planted = faults_.find(request.kernel.ordinal);
  if (planted == faults_.end()) return HostDevice::run(request);
  if (planted->second == Fault::crash) std::raise(SIGSEGV);
  if (planted->second == Fault::hang) hang();
  if (planted->second == Fault::memory) takeAllMemory();
  sweep::RunReply reply = HostDevice::run(request);
  if (planted->second == Fault::wrong && reply.outcome == sweep::Outcome::ok && !request.outputs.empty()) {
    spoil(request.outputs[0]);
  }
  return reply;
}

sweep::MeasureReply SimulatedDevice::measure(const sweep::MeasureRequest& request) {
  sweep::MeasureReply reply;
  reply.outcome = sweep::Outcome::ok;
  for (const sweep::KernelRef& kernel : request.kernels) {
    const double base = simulatedSeconds(kernel.library);
    std::vector<double> samples;
    for (int i = 0; i < request.minSamples; ++i) samples.push_back(base * (1 + 1e-4 * ((i * 7) % 5)));
    reply.samples.push_back(std::move(samples));
  }
  return reply;
}

}  // namespace nuscope::backends
