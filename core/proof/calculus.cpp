#include "core/proof/calculus.h"

namespace nuscope::proof {

void Calculus::look() {
  progress_.check();
  if (std::chrono::steady_clock::now() > deadline) throw GaveUp{"the time limit was reached", true};
  if (arena.size() > maxNodes) throw GaveUp{"the terms outgrew the memory limit", false};
}

double Calculus::secondsLeft() const {
  if (deadline == std::chrono::steady_clock::time_point::max()) return 1e9;
  return std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
}

}  // namespace nuscope::proof
