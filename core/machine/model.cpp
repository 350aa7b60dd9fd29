#include "core/machine/model.h"

#include <algorithm>

namespace nuscope::machine {
namespace {

constexpr double oneThreadStart = 5e-8;  // seconds to enter a region that one thread runs

/// How many times as much all threads together get done as one, given what was measured (0: nothing was).
double gainOf(double measured, double preset) {
  return std::max(1.0, measured > 0 ? measured : preset);
}

/// The time of work that takes `cycles` on one thread.
double shared(double cycles, double parallelShare, double gain) {
  return cycles * (parallelShare / gain + (1 - parallelShare));
}

double arithmeticCycles(const Work& work, const VectorUnit& unit) {
  const double fma = work.fmaVectors * (unit.fma ? 1.0 : 2.0) / unit.fmaPerCycle;
  return fma + work.otherVectors / unit.operationsPerCycle + work.divideVectors / unit.dividesPerCycle +
         work.scalarOperations / unit.operationsPerCycle + work.waitCycles;
}

double vectorShareOf(const std::vector<Work>& work) {
  double vectors = 0;
  double scalars = 0;
  for (const Work& one : work) {
    vectors += one.fmaVectors + one.otherVectors + one.divideVectors + one.loadVectors + one.storeVectors;
    scalars += one.scalarOperations;
  }
  return vectors + scalars > 0 ? vectors / (vectors + scalars) : 1;
}

void addUse(std::vector<TensorUse>& all, const TensorUse& use) {
  const auto found = std::ranges::find(all, use.name, &TensorUse::name);
  if (found == all.end()) {
    all.push_back(use);
    return;
  }
  found->reads += use.reads;
  found->writes += use.writes;
  found->packed = found->packed || use.packed;
}

}  // namespace

NestTime nestTime(const Work& work, const Target& target, int threads) {
  threads = std::max(threads, 1);
  const double perSecond = 1 / (target.gigahertz * 1e9);
  NestTime time;
  const auto consider = [&](const std::string& name, double cycles) {
    const double seconds = cycles * perSecond;
    time.alone[name] = seconds;
    if (time.bound.empty() || seconds > time.seconds) {
      time.seconds = seconds;
      time.bound = name;
    }
  };
  const VectorUnit& unit = target.vector;
  const double cores = threads > 1 ? gainOf(target.parallelGain, threads) : 1;
  consider("arithmetic", shared(arithmeticCycles(work, unit), work.parallelShare, cores));
  consider("loads and stores",
           shared(work.loadVectors / unit.loadsPerCycle + work.storeVectors / unit.storesPerCycle,
                  work.parallelShare, cores));
  if (work.fetchCycles > 0) consider("lines apart", shared(work.fetchCycles, work.parallelShare, cores));
  for (const MemoryLevel& level : target.memory) {
    const auto found = work.bytes.find(level.name);
    if (found == work.bytes.end()) continue;
    // Main memory serves one core at a given rate and all of them at about 1.5 times that.
    const double preset = level.bytes == 0 ? 1.5 : threads;
    const double gain = threads > 1 ? std::min(gainOf(level.parallelGain, preset), double(threads)) : 1;
    consider(level.name, shared(found->second / level.bytesPerCycle, work.parallelShare, gain));
  }
  time.dispatch = work.regions * (threads > 1 ? target.dispatchMicroseconds * 1e-6 : oneThreadStart);
  time.seconds += time.dispatch;
  return time;
}

Breakdown breakdown(std::vector<Work> work, const Target& target, int threads) {
  Breakdown all;
  for (const Work& one : work) {
    const NestTime time = nestTime(one, target, threads);
    all.seconds += time.seconds;
    all.flops += one.flops;
    all.packedBytes += one.packedBytes;
    all.causes[time.bound] += time.seconds - time.dispatch;
    all.causes["starting threads"] += time.dispatch;
    for (const auto& [level, bytes] : one.bytes) all.bytes[level] += bytes;
    for (const TensorUse& use : one.tensors) addUse(all.tensors, use);
    all.times.push_back(time);
  }
  all.vectorShare = vectorShareOf(work);
  all.work = std::move(work);
  return all;
}

double modelledSeconds(const Work& work, const Target& target, int threads) {
  return nestTime(work, target, threads).seconds;
}

double modelledSeconds(const std::vector<Work>& work, const Target& target, int threads) {
  double seconds = 0;
  for (const Work& one : work) seconds += modelledSeconds(one, target, threads);
  return seconds;
}

std::string modelledBound(const Work& work, const Target& target, int threads) {
  return nestTime(work, target, threads).bound;
}

}  // namespace nuscope::machine
