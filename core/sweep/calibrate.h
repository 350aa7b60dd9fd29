#pragma once
// Measuring what this machine attains (core/machine/calibration.h): a few small kernels go through a worker
// like any other, so that what is measured is what kernels meet: the same compiler, flags, thread pool,
// pinning and clock. About five seconds.
#include <string>

#include "core/base/progress.h"
#include "core/machine/calibration.h"
#include "core/sweep/worker.h"

namespace nuscope::sweep {

/// Sets date and machine; does not keep it. Each figure is the best of many short runs: a ceiling is what the
/// machine attains when nothing is in its way. EnvironmentError when a kernel does not compile or run;
/// Cancelled.
machine::Calibration calibrate(Worker& worker, const machine::Target& target, const Progress& progress);

/// The source of the kernels, for the curious and for tests.
std::string calibrationSource(const machine::Target& target);

}  // namespace nuscope::sweep
