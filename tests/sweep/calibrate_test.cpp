// What this machine attains, measured through a worker.
#include "core/sweep/calibrate.h"

#include <gtest/gtest.h>

#include "core/base/diagnostics.h"
#include "tests/sweep/kernels.h"

namespace nuscope::sweep {
namespace {

TEST(Calibrate, measuresWhatAMachineCanHave) {
  const machine::Target target = machine::loadTarget("host");
  Worker worker({test::executable, "worker", "--device", "host"}, {});
  const machine::Calibration calibration = calibrate(worker, target, Progress());
  EXPECT_EQ(calibration.machine, machine::machineKey(target));
  EXPECT_LT(calibration.seconds, 30);
  ASSERT_FALSE(calibration.ceilings.empty());
  EXPECT_EQ(calibration.ceilings[0].threads, 1);
  for (const machine::Ceiling& ceiling : calibration.ceilings) {
    EXPECT_GT(ceiling.gigaflops, 1) << ceiling.threads;
    EXPECT_LT(ceiling.gigaflops, 400.0 * ceiling.threads);
    const double near = ceiling.gigabytes.at(target.memory.front().name);
    const double far = ceiling.gigabytes.at(target.memory.back().name);
    EXPECT_GT(near, far) << "the nearest memory is the fastest";
    EXPECT_GT(far, 0.5);
    EXPECT_LT(far, 2000);
    EXPECT_GT(ceiling.chainNanoseconds, 0.1);
    EXPECT_LT(ceiling.chainNanoseconds, 100);
    for (const auto& [level, nanoseconds] : ceiling.lineNanoseconds) {
      EXPECT_GT(nanoseconds, 0.1) << level;
      EXPECT_LT(nanoseconds, 1000) << level;
    }
  }
  EXPECT_TRUE(machine::parseCalibration(machine::toJson(calibration)));
}

TEST(Calibrate, aCompilerThatIsNotThereIsSaid) {
  machine::Target target = machine::loadTarget("host");
  target.compiler[0] = "/nonexistent/compiler";
  Worker worker({test::executable, "worker", "--device", "host"}, {});
  EXPECT_THROW(calibrate(worker, target, Progress()), EnvironmentError);
}

}  // namespace
}  // namespace nuscope::sweep
