#pragma once
#include <cstddef>
#include <cstdint>

namespace nuscope {

/// Folds `value` into a structural hash: the same on every machine, sensitive to order.
inline std::size_t mixHash(std::size_t seed, std::size_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace nuscope
