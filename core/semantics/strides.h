#pragma once
// Walking row-major tensors: what the kernels of the float engine share.
#include <array>
#include <cstdint>
#include <vector>

#include "core/semantics/float_arithmetic.h"

namespace nuscope::semantics {

using Extent = std::vector<std::int64_t>;

inline constexpr std::size_t kLargestRank = 16;
inline constexpr std::int64_t kParallelGrain = 1 << 14;  ///< elements between two looks at a stop request

inline Extent stridesOf(const Extent& shape) {
  Extent strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls f(flat output position, offsets) for positions [begin, end) of `shape`, where offsets[o] follows
/// strides[o] (one stride per axis).
template <std::size_t N, class F>
void walk(const Extent& shape, const std::array<Extent, N>& strides, std::int64_t begin, std::int64_t end,
          F f) {
  const std::size_t rank = shape.size();
  if (rank > kLargestRank) throw UserError("tensors of rank above 16 are not evaluated");
  std::array<std::int64_t, kLargestRank> index{};
  std::array<std::int64_t, N> offsets{};
  std::int64_t rest = begin;
  for (std::size_t i = rank; i-- > 0;) {
    index[i] = rest % shape[i];
    rest /= shape[i];
    for (std::size_t o = 0; o < N; ++o) offsets[o] += index[i] * strides[o][i];
  }
  for (std::int64_t at = begin; at < end; ++at) {
    f(at, offsets);
    for (std::size_t i = rank; i-- > 0;) {
      for (std::size_t o = 0; o < N; ++o) offsets[o] += strides[o][i];
      if (++index[i] < shape[i]) break;
      for (std::size_t o = 0; o < N; ++o) offsets[o] -= index[i] * strides[o][i];
      index[i] = 0;
    }
  }
}

/// Strides of an operand under NumPy broadcasting to `shape`.
inline Extent broadcastStrides(const Extent& operand, const Extent& shape) {
  const Extent own = stridesOf(operand);
  Extent strides(shape.size(), 0);
  const std::size_t offset = shape.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i) strides[offset + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

/// Nested folds over axes with the given extents, one offset per operand, outermost axis first;
/// body(offsets).
template <std::size_t N, class Body>
Number foldAxes(const FloatArithmetic& arithmetic, const Node& node, const Extent& extents,
                const std::array<Extent, N>& strides, std::size_t level, std::array<std::int64_t, N> offsets,
                const Body& body) {
  if (level == extents.size()) return body(offsets);
  auto accumulator = arithmetic.accumulator(detail::foldOf(node.op), node);
  for (std::int64_t k = 0; k < extents[level]; ++k) {
    accumulator.add(foldAxes(arithmetic, node, extents, strides, level + 1, offsets, body));
    for (std::size_t o = 0; o < N; ++o) offsets[o] += strides[o][level];
  }
  return accumulator.finish();
}

}  // namespace nuscope::semantics
