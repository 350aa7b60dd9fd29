#pragma once
// Hardware descriptions: what hw/*.json says about a target, checked, as plain values. Everything that
// depends on the machine (register blocks, cache blocks, vector width, compile flags, the model's costs) is
// read from here; nothing about a processor is written in C++. DESIGN 7.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"

namespace nuscope::machine {

/// One level of memory, nearest first; the last one is main memory (bytes 0: as large as needed).
struct MemoryLevel {
  std::string name;        ///< "L1", "L2", "L3", "memory"
  std::int64_t bytes = 0;  ///< capacity seen by one core; 0: unbounded
  int lineBytes = 64;
  int ways = 8;              ///< lines that one set holds
  bool shared = false;       ///< between cores
  double bytesPerCycle = 0;  ///< one core reading from it
  double latencyCycles = 0;
  double lineCycles = 0;    ///< a line that lies far from the one before, where nothing fetches it ahead
  double parallelGain = 0;  ///< what all threads get over what one gets; 0: not measured (see calibrated)
};

/// The vector unit and what one core starts per cycle.
struct VectorUnit {
  int bits = 128;  ///< width of one register
  int registers = 16;
  bool fma = false;
  double fmaPerCycle = 1;    ///< vector multiply-adds (or multiplies, without fma) started per cycle
  int fmaLatency = 4;        ///< cycles
  double chainCycles = 4;    ///< between dependent multiply-adds as measured; fmaLatency where nothing was
  double loadsPerCycle = 1;  ///< vector loads
  double storesPerCycle = 1;
  double dividesPerCycle = 0.2;   ///< vector divisions and square roots
  double operationsPerCycle = 2;  ///< other vector arithmetic
  [[nodiscard]] int floats() const { return bits / 32; }
};

/// A register block of the matmul micro-kernel: rows x (vectors * floats per vector).
struct MicroTile {
  int rows = 0;
  int vectors = 0;
};

struct Target {
  std::string name;         ///< "host-avx2"
  std::string description;  ///< one sentence for people
  std::string kind;         ///< "host"
  std::vector<std::string>
      processorFeatures;              ///< cpuid names that the processor must have, e.g. "avx2", "fma"
  std::vector<tensor::DType> dtypes;  ///< those it emits
  std::vector<std::string> compiler;  ///< program and flags, before {source} and {output}
  VectorUnit vector;
  double gigahertz = 0;               ///< nominal; for modelled times only
  std::vector<MicroTile> microTiles;  ///< first one is the preset
  std::vector<MemoryLevel> memory;
  double dispatchMicroseconds = 0;  ///< starting one parallel region
  double parallelGain = 0;          ///< arithmetic of all threads over that of one; 0: not measured
  std::string file;                 ///< where it was read from

  [[nodiscard]] const MemoryLevel& level(
      std::string_view levelName) const;  ///< throws InternalError if absent
  [[nodiscard]] bool emits(tensor::DType type) const;
};

/// By name ("host-avx2", or "host": the one hostTarget() chooses) or by path of a JSON file. Throws UserError
/// that names the file, the key and what is expected there.
Target loadTarget(std::string_view nameOrPath);
/// Parses and checks the text of a description; `file` is used in messages. Throws UserError.
Target parseTarget(std::string_view json, std::string_view file);
/// Names of the descriptions that come with Nuscope, sorted.
std::vector<std::string> targetNames();
/// The folder that holds them: $NUSCOPE_HW, ../share/nuscope/hw beside the executable, or the source tree.
std::string targetFolder();

/// The description for the processor this runs on, and why it was chosen, in words: "the processor (AMD EPYC)
/// has avx2 and fma; it lacks avx512f".
struct HostTarget {
  std::string name;
  std::string why;
};
HostTarget hostTarget();

/// What of `target.processorFeatures` this processor lacks; empty: kernels for it run here.
std::vector<std::string> missingFeatures(const Target& target);
/// Feature names this processor has, among those that descriptions may ask for.
std::vector<std::string> processorFeatures();
/// Name of the processor as it tells it, e.g. "AMD EPYC Processor"; "unknown processor" elsewhere.
std::string processorName();

}  // namespace nuscope::machine
