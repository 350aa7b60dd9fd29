#include "core/machine/calibration.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "core/machine/model.h"

namespace nuscope::machine {
namespace {

Ceiling ceiling(int threads, double peak, double near, double far) {
  return {threads, peak, {{"L1", 4 * near}, {"L2", near}, {"L3", near / 2}, {"memory", far}},
          1.5,     2.0,  {{"L2", 5}, {"L3", 12}}};
}

Calibration calibration(const Target& target) {
  Calibration c;
  c.machine = machineKey(target);
  c.date = "2026-11-30T08:00:00Z";
  c.load = 0.5;
  c.seconds = 2;
  c.ceilings = {ceiling(1, 80, 60, 12), ceiling(2, 150, 110, 18)};
  return c;
}

class KeptCalibration : public testing::Test {
 protected:
  KeptCalibration() {
    char pattern[] = "/tmp/nuscope-calibration-XXXXXX";
    folder = mkdtemp(pattern);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~KeptCalibration() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder);
  }
  std::filesystem::path folder;
  Target target = loadTarget("host-avx2");
};

TEST_F(KeptCalibration, isReadBackAndChangesTheModel) {
  EXPECT_FALSE(keptCalibration(target));
  EXPECT_EQ(thisMachine(target, 2).gigahertz, target.gigahertz);
  keepCalibration(calibration(target), target);
  const auto kept = keptCalibration(target);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->date, "2026-11-30T08:00:00Z");
  EXPECT_EQ(kept->ceilings.size(), 2U);
  // 80 GFLOP/s are 2.5 GHz of two multiply-adds of eight floats.
  const Target own = thisMachine(target, 1);
  EXPECT_NEAR(own.gigahertz, 2.5, 1e-9);
  EXPECT_NEAR(own.level("memory").bytesPerCycle, 12 / 2.5, 1e-9);
  EXPECT_NEAR(own.vector.chainCycles, 5, 1e-9);
  EXPECT_EQ(own.vector.fmaLatency, target.vector.fmaLatency);  // what is admitted rests on the description
  EXPECT_NEAR(own.level("L3").lineCycles, 30, 1e-9);
  EXPECT_EQ(own.vector.bits, target.vector.bits);
  EXPECT_EQ(own.memory[1].bytes, target.memory[1].bytes);
}

TEST_F(KeptCalibration, threadsGainWhatWasMeasured) {
  const Target two = calibrated(target, calibration(target), 2);
  Work work;
  work.regions = 0;
  work.bytes["memory"] = 12e9;  // a second for one thread
  EXPECT_NEAR(modelledSeconds(work, two, 1), 1.0, 1e-6);
  EXPECT_NEAR(modelledSeconds(work, two, 2), 12.0 / 18.0, 1e-6);
  Work sums;
  sums.regions = 0;
  sums.fmaVectors = 80e9 / 16;
  EXPECT_NEAR(modelledSeconds(sums, two, 2), 80.0 / 150.0, 1e-6);
}

TEST_F(KeptCalibration, damagedFilesAndThoseOfOtherMachinesAreNone) {
  Calibration other = calibration(target);
  other.machine = "another";
  keepCalibration(other, target);
  EXPECT_FALSE(keptCalibration(target));
  for (const char* text : {"", "{", "[]", "{\"format\":\"nuscope-calibration\",\"version\":1}",
                           "{\"format\":\"nuscope-calibration\",\"version\":99}"}) {
    writeWholeFile(calibrationFile(target), text);
    EXPECT_FALSE(keptCalibration(target)) << text;
  }
  Calibration absurd = calibration(target);
  absurd.ceilings[0].gigaflops = 0;
  EXPECT_FALSE(parseCalibration(toJson(absurd)));
  absurd = calibration(target);
  absurd.ceilings[1].threads = 1;
  EXPECT_FALSE(parseCalibration(toJson(absurd)));
  absurd = calibration(target);
  absurd.ceilings[0].gigabytes.erase("L2");
  keepCalibration(absurd, target);
  EXPECT_FALSE(keptCalibration(target)) << "a level is missing";
}

TEST(Lines, AWideStrideLeavesMostSetsEmpty) {
  const MemoryLevel level{.name = "L1", .bytes = 32768, .lineBytes = 64, .ways = 8};
  EXPECT_EQ(linesHeld(level, 64), 512);
  EXPECT_EQ(linesHeld(level, 4096), 8);
  EXPECT_EQ(linesHeld(level, 2048), 16);
  EXPECT_EQ(linesHeld(level, 4096 + 64), 512);
}

TEST_F(KeptCalibration, betweenTwoThatWereMeasured) {
  Calibration c = calibration(target);
  c.ceilings.push_back(ceiling(4, 250, 200, 20));
  EXPECT_DOUBLE_EQ(c.at(3).gigaflops, 200);
  EXPECT_DOUBLE_EQ(c.at(3).gigabytes.at("memory"), 19);
  EXPECT_DOUBLE_EQ(c.at(9).gigaflops, 250);
  EXPECT_DOUBLE_EQ(c.at(1).gigaflops, 80);
}

TEST(Breakdown, isWhatTheTotalConsistsOf) {
  const Target target = loadTarget("host-avx2");
  Work first;
  first.fmaVectors = 1e7;
  first.bytes["L2"] = 1e6;
  first.tensors = {{"x", 4e6, 1, 0, false}};
  Work second;
  second.otherVectors = 10;
  second.scalarOperations = 100;
  second.bytes["memory"] = 1e8;
  second.tensors = {{"x", 4e6, 2, 0, true}, {"y", 8, 0, 1, false}};
  const Breakdown all = breakdown({first, second}, target, 2);
  EXPECT_DOUBLE_EQ(all.seconds, modelledSeconds({first, second}, target, 2));
  double causes = 0;
  for (const auto& [cause, seconds] : all.causes) causes += seconds;
  EXPECT_NEAR(causes, all.seconds, 1e-15);
  EXPECT_GT(all.causes.at("memory"), all.causes.at("arithmetic"));
  ASSERT_EQ(all.tensors.size(), 2U);
  EXPECT_EQ(all.tensors[0].reads, 3);
  EXPECT_TRUE(all.tensors[0].packed);
  EXPECT_NEAR(all.vectorShare, (1e7 + 10) / (1e7 + 110), 1e-12);
  EXPECT_EQ(all.times[1].bound, "memory");
}

}  // namespace
}  // namespace nuscope::machine
