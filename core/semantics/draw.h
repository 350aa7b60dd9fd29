#pragma once
// Seeded inputs that satisfy a program's asserts: for refuting, and for the numeric gate of a sweep.
#include <cstdint>
#include <memory>
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
  X(sweep, "consecutive whole numbers")                 \
  X(mixed, "another distribution for each parameter")

enum class Distribution : std::uint8_t {
#define X(name, text) name,
  NUSCOPE_DISTRIBUTIONS(X)
#undef X
};
std::string_view text(Distribution distribution);

/// Draws inputs of one program, or of two with the same parameters whose asserts hold jointly, at fixed
/// extents. Keeps references to the programs. Not thread-safe.
class InputDrawer {
 public:
  InputDrawer(std::vector<const tensor::Program*> programs, tensor::Extents extents);
  ~InputDrawer();
  InputDrawer(const InputDrawer&) = delete;
  InputDrawer& operator=(const InputDrawer&) = delete;

  /// One value for each parameter, exactly representable in its dtype, so that all asserts hold. Bounds,
  /// divisibility, equal values, symmetry and order are met by construction, everything else by drawing
  /// again, for which other distributions may be used. Empty when `tries` draws did not satisfy the asserts:
  /// see `obstacle`. Deterministic in (programs, extents, distribution, seed). With `mixed` and `sweep`
  /// values have at most 8 significant bits, so that exact evaluation stays cheap.
  std::optional<Inputs> draw(Distribution distribution, std::uint64_t seed, int tries = 400,
                             const Progress& progress = {});

  /// All asserts, those about dimensions included, certainly hold.
  bool satisfied(const Inputs& inputs);

  /// Text of the assert that failed most recently.
  [[nodiscard]] const std::string& obstacle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `InputDrawer::draw` for one program. Throws Cancelled.
std::optional<Inputs> tryDrawInputs(const tensor::Program& program, const tensor::Extents& extents,
                                    Distribution distribution, std::uint64_t seed,
                                    const Progress& progress = {});
/// The same; throws UserError that names the assert that could not be satisfied.
Inputs drawInputs(const tensor::Program& program, const tensor::Extents& extents, Distribution distribution,
                  std::uint64_t seed, const Progress& progress = {});

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
