#pragma once
// From work to time: the model of one host core and its memories. Its figures are always called "modelled";
// they order candidates, measurement selects (DESIGN 7). What work a kernel does is counted in
// core/emit/model.h.
#include <map>
#include <string>
#include <vector>

#include "core/machine/target.h"

namespace nuscope::machine {

/// Work of one nest of loops.
struct Work {
  std::string nest;             ///< what it computes, for people
  double flops = 0;             ///< as counted for GFLOP/s
  double fmaVectors = 0;        ///< vector multiply-adds
  double otherVectors = 0;      ///< other vector arithmetic
  double divideVectors = 0;     ///< vector divisions and square roots
  double scalarOperations = 0;  ///< arithmetic that is not vectorised
  double loadVectors = 0;
  double storeVectors = 0;
  std::map<std::string, double> bytes;  ///< moved per memory level: {"L1": .., "L2": .., "memory": ..}
  double regions = 1;                   ///< parallel regions started
  double parallelShare = 1;             ///< share of the work that threads divide, in [0, 1]
};

/// Modelled seconds with `threads` threads: per nest, the slowest of arithmetic, load/store ports and each
/// memory level, plus the start of its regions.
double modelledSeconds(const std::vector<Work>& work, const Target& target, int threads = 1);
double modelledSeconds(const Work& work, const Target& target, int threads = 1);
/// What bounds it: "arithmetic", "loads and stores", or a level's name.
std::string modelledBound(const Work& work, const Target& target, int threads = 1);

}  // namespace nuscope::machine
