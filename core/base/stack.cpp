#include "core/base/stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nuscope {

namespace {

/// The lowest address that recursion may reach; 0 where the system does not tell.
std::uintptr_t lowestFrame() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return 0;
  return reinterpret_cast<std::uintptr_t>(low) + std::min<std::size_t>(size / 4, 1U << 20);
}

}  // namespace

bool stackNearlyFull() {
  thread_local const std::uintptr_t lowest = lowestFrame();
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < lowest;
}

}  // namespace nuscope
