#pragma once
// From work to time: the model of one host core and its memories. Its figures are always called "modelled";
// they order candidates, measurement selects (DESIGN 7). What work a kernel does is counted in
// core/emit/model.h. There is one sum, the breakdown: whoever shows a modelled time or explains it shows
// parts of that.
#include <map>
#include <string>
#include <vector>

#include "core/machine/target.h"

namespace nuscope::machine {

/// What one nest of loops does with one tensor.
struct TensorUse {
  std::string name;     ///< "x", or the operator that makes it: "matmul (node 7)"
  double bytes = 0;     ///< of the whole tensor
  double reads = 0;     ///< times that the nest reads it as a whole
  double writes = 0;    ///< ... and writes it
  bool packed = false;  ///< copied into panels before it is used
};

/// Work of one nest of loops.
struct Work {
  std::string nest;             ///< what it computes, for people
  double flops = 0;             ///< as counted for GFLOP/s
  double fmaVectors = 0;        ///< vector multiply-adds
  double otherVectors = 0;      ///< other vector arithmetic
  double divideVectors = 0;     ///< vector divisions and square roots
  double scalarOperations = 0;  ///< arithmetic that is not vectorised
  double waitCycles = 0;        ///< in which a chain of dependent operations lets the units idle
  double fetchCycles = 0;       ///< in which lines that lie apart are fetched, beside the arithmetic
  double loadVectors = 0;
  double storeVectors = 0;
  std::map<std::string, double> bytes;  ///< moved per memory level: {"L1": .., "L2": .., "memory": ..}
  std::vector<TensorUse> tensors;
  double packedBytes = 0;    ///< written into panels
  double regions = 1;        ///< parallel regions started
  double parallelShare = 1;  ///< share of the work that threads divide, in [0, 1]
};

/// Modelled seconds of one nest: `bound` is the slowest of its resources, which it waits for.
struct NestTime {
  double seconds = 0;                   ///< of the slowest resource, and the start of its regions
  double dispatch = 0;                  ///< of these, the start of its regions
  std::string bound;                    ///< "arithmetic", "loads and stores", or a level's name
  std::map<std::string, double> alone;  ///< seconds that each resource would take if the others took none
};

/// Modelled seconds of a kernel, and what they consist of.
struct Breakdown {
  std::vector<Work> work;
  std::vector<NestTime> times;  ///< one a nest
  double seconds = 0;           ///< the sum of `times`
  double flops = 0;
  std::map<std::string, double> bytes;  ///< per memory level
  std::map<std::string, double>
      causes;                      ///< seconds by what bounds the nests, and "starting threads"; sum: seconds
  std::vector<TensorUse> tensors;  ///< passes of all nests together, in order of first use
  double vectorShare = 1;          ///< vector instructions of all arithmetic, loads and stores
  double packedBytes = 0;
};

/// With `threads` threads: per nest, the slowest of arithmetic, load/store ports, lines apart and each memory
/// level, plus the start of its regions.
Breakdown breakdown(std::vector<Work> work, const Target& target, int threads = 1);
NestTime nestTime(const Work& work, const Target& target, int threads = 1);

/// `breakdown(...).seconds`.
double modelledSeconds(const std::vector<Work>& work, const Target& target, int threads = 1);
double modelledSeconds(const Work& work, const Target& target, int threads = 1);
/// What bounds it: "arithmetic", "loads and stores", or a level's name.
std::string modelledBound(const Work& work, const Target& target, int threads = 1);

}  // namespace nuscope::machine
