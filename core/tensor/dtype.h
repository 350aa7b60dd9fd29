#pragma once
// Element types of tensors. For proofs there are three sorts only: real, integer and condition (DESIGN 4).
#include <cstdint>
#include <optional>
#include <string_view>

namespace nuscope::tensor {

// X(enumerator, text, bytes, unit roundoff; 0: exact)
#define NUSCOPE_DTYPES(X)    \
  X(f64, "f64", 8, 0x1p-53)  \
  X(f32, "f32", 4, 0x1p-24)  \
  X(f16, "f16", 2, 0x1p-11)  \
  X(bf16, "bf16", 2, 0x1p-8) \
  X(i32, "i32", 4, 0.0)      \
  X(i8, "i8", 1, 0.0)        \
  X(boolean, "bool", 1, 0.0)

enum class DType : std::uint8_t {
#define X(name, text, bytes, roundoff) name,
  NUSCOPE_DTYPES(X)
#undef X
};

enum class Sort : std::uint8_t { real, integer, condition };

std::string_view text(DType type);
std::optional<DType> parseDType(std::string_view text);
int byteSize(DType type);
double unitRoundoff(DType type);
Sort sort(DType type);
inline bool isReal(DType type) {
  return sort(type) == Sort::real;
}

/// The type of `a op b` for arithmetic: the wider real of two reals, the real one of a real and an integer,
/// the wider of two integers; f16 and bf16 give f32. A condition counts as i32.
DType promote(DType a, DType b);

}  // namespace nuscope::tensor
