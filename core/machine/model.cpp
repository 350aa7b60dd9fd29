#include "core/machine/model.h"

#include <algorithm>

namespace nuscope::machine {
namespace {

struct Bound {
  double cycles = 0;
  std::string name;
};

Bound slowest(const Work& work, const Target& target, int threads) {
  const VectorUnit& unit = target.vector;
  const double share = work.parallelShare / threads + (1 - work.parallelShare);
  const double fma = work.fmaVectors * (unit.fma ? 1.0 : 2.0) / unit.fmaPerCycle;
  const double arithmetic = fma + work.otherVectors / unit.operationsPerCycle +
                            work.divideVectors / unit.dividesPerCycle +
                            work.scalarOperations / unit.operationsPerCycle;
  Bound bound{arithmetic * share, "arithmetic"};
  const auto consider = [&](double cycles, const std::string& name) {
    if (cycles > bound.cycles) bound = {cycles, name};
  };
  consider((work.loadVectors / unit.loadsPerCycle + work.storeVectors / unit.storesPerCycle) * share,
           "loads and stores");
  for (const MemoryLevel& level : target.memory) {
    const auto found = work.bytes.find(level.name);
    if (found == work.bytes.end()) continue;
    // Main memory serves one core at a given rate and all of them at about 1.5 times that.
    const bool main = level.bytes == 0;
    const double divided = main ? std::max(share, 1 / 1.5) : share;
    consider(found->second / level.bytesPerCycle * divided, level.name);
  }
  return bound;
}

}  // namespace

double modelledSeconds(const Work& work, const Target& target, int threads) {
  const double cycles = slowest(work, target, std::max(threads, 1)).cycles;
  const double dispatch =
      threads > 1 ? work.regions * target.dispatchMicroseconds * 1e-6 : work.regions * 5e-8;
  return cycles / (target.gigahertz * 1e9) + dispatch;
}

double modelledSeconds(const std::vector<Work>& work, const Target& target, int threads) {
  double seconds = 0;
  for (const Work& one : work) seconds += modelledSeconds(one, target, threads);
  return seconds;
}

std::string modelledBound(const Work& work, const Target& target, int threads) {
  return slowest(work, target, std::max(threads, 1)).name;
}

}  // namespace nuscope::machine
