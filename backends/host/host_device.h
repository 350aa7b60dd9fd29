#pragma once
// The processor that the worker runs on: kernels are shared libraries in the current folder, "./NAME.so".
#include <map>
#include <string>
#include <vector>

#include "backends/device.h"
#include "backends/host/buffers.h"

namespace nuscope::backends {

class HostDevice : public Device {
 public:
  sweep::RunReply run(const sweep::RunRequest& request) override;
  sweep::MeasureReply measure(const sweep::MeasureRequest& request) override;

 private:
  void* function(const sweep::KernelRef& kernel);
  void prepare(const sweep::MeasureRequest& request);
  std::map<std::string, void*> libraries_;
  // Arrays of the last measurement, kept for the next one on the same files.
  std::string prepared_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<void*> pointers_;
};

/// Keeps this process (and the threads it will start) on `threads` processors; false where that is not
/// allowed.
bool pinToProcessors(int threads);

}  // namespace nuscope::backends
