#pragma once
// What this machine attained when it was measured: peak of multiply-adds, bandwidth of each memory level,
// start of a parallel region, with one thread and with more. The descriptions in hw/ say what a kind of
// processor can do; this says what the one at hand did, on a day, beside whatever else it was doing. The
// model takes it in place of the nominal figures, plots draw it as ceilings; nothing is proved or admitted by
// it.
//
// Kept in the user's cache folder, one file a machine (processor, number of processors, description); whoever
// deletes it loses a few seconds. Measuring is core/sweep/calibrate.h.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/target.h"

namespace nuscope::machine {

/// What `threads` threads together attained.
struct Ceiling {
  int threads = 1;
  double gigaflops = 0;                     ///< multiply-adds on registers, counted as two
  std::map<std::string, double> gigabytes;  ///< read per second from each memory level
  double dispatchMicroseconds = 0;          ///< an empty parallel region
  double chainNanoseconds = 0;              ///< from one multiply-add to the next that needs its result
  /// Reading a line whose predecessor lies in another page, from each cache beyond the first: nothing fetches
  /// it ahead, and few sets of the cache take part.
  std::map<std::string, double> lineNanoseconds;
};

struct Calibration {
  std::string machine;            ///< machineKey
  std::string date;               ///< UTC
  double load = 0;                ///< of the machine when it was measured (runnable processes, one minute)
  double seconds = 0;             ///< that it took
  std::vector<Ceiling> ceilings;  ///< by ascending number of threads; the first is of one
  /// For any number of threads: measured, or in proportion between two that were; beyond the last: the last.
  [[nodiscard]] Ceiling at(int threads) const;
};

/// How many lines `strideBytes` apart the cache holds: a stride that is a multiple of many lines leaves most
/// of its sets empty.
double linesHeld(const MemoryLevel& level, std::int64_t strideBytes);

/// "AMD EPYC 7763, 2 processors, host-avx2": a calibration is of that.
std::string machineKey(const Target& target);

/// The description with the calibration's figures in it, for kernels that run with `threads` threads. Only
/// what modelled times depend on changes: the same kernels are emitted.
Target calibrated(Target target, const Calibration& calibration, int threads);
/// The same by this machine's kept calibration; the description as it is where there is none.
Target thisMachine(Target target, int threads);

std::string toJson(const Calibration& calibration);
/// Empty for anything but what toJson writes, with figures that a machine can have.
std::optional<Calibration> parseCalibration(std::string_view json);

/// The file in the user's cache folder; empty where there is no home.
std::filesystem::path calibrationFile(const Target& target);
/// Empty when this machine has not been calibrated, or the file is damaged or another machine's.
std::optional<Calibration> keptCalibration(const Target& target);
/// Throws EnvironmentError when it cannot be written.
void keepCalibration(const Calibration& calibration, const Target& target);

/// "peak 88.1 GFLOP/s; reads L1 170, L2 60, L3 25, memory 12.4 GB/s (1 thread)": for notes and tables.
std::string text(const Ceiling& ceiling);

}  // namespace nuscope::machine
