#pragma once
// Seeded inputs that satisfy a program's asserts: for refuting, and for the numeric gate of a sweep.
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include "core/base/progress.h"
#include "core/semantics/tensor_value.h"
#include "core/tensor/graph.h"

namespace nuscope::semantics {

// X(enumerator, text for people)
#define NUSCOPE_DISTRIBUTIONS(X)                        \
  X(normal, "normal, scale 1")                          \
  X(small, "normal, scale 1e-3")                        \
  X(large, "normal, scale 30")                          \
  X(positive, "positive")                               \
  X(negative, "negative")                               \
  X(ties, "small integers, with ties and zeros")        \
  X(halves, "halves")                                   \
  X(zeroOne, "zeros and ones")                          \
  X(constant, "one value")                              \
  X(equalRows, "equal rows")                            \
  X(oneLarge, "normal, one element 1e4 times as large") \
  X(mixed, "another distribution for each parameter")

enum class Distribution : std::uint8_t {
#define X(name, text) name,
  NUSCOPE_DISTRIBUTIONS(X)
#undef X
};
std::string_view text(Distribution distribution);

/// One value for each parameter, exactly representable in its dtype, so that the asserts hold. Bounds,
/// divisibility, equal values, symmetry and order are met by construction, everything else by drawing again
/// (for which the distribution of the parameters concerned may be changed). Empty when 400 tries did not
/// satisfy the asserts. Deterministic in (program, extents, distribution, seed).
std::optional<Inputs> tryDrawInputs(const tensor::Program& program, const tensor::Extents& extents,
                                    Distribution distribution, std::uint64_t seed);
/// The same; throws UserError that names the assert that could not be satisfied.
Inputs drawInputs(const tensor::Program& program, const tensor::Extents& extents, Distribution distribution,
                  std::uint64_t seed);

/// All asserts hold at these inputs, decided in float64 (and by exact evaluation where that is undecided and
/// the tensors are small).
bool satisfiesPreconditions(const tensor::Program& program, const tensor::Extents& extents,
                            const Inputs& inputs);

/// Small extents that satisfy `facts`: number 0 the smallest possible (all ones where allowed), then distinct
/// small ones, then random ones. Empty if none was found. `dimensions`: the symbols that need a value.
std::optional<tensor::Extents> drawExtents(const std::vector<std::string>& dimensions,
                                           const tensor::DimFacts& facts, int number,
                                           std::mt19937_64& random);

}  // namespace nuscope::semantics
