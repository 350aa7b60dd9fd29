#include "core/sweep/arrays.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/semantics/evaluate.h"

namespace nuscope::sweep {
namespace {

using tensor::DType;

template <class T, class Convert>
std::string encode(std::span<const double> values, Convert convert) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T, class Convert>
std::vector<double> decode(std::string_view bytes, Convert convert) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(value);
  }
  return values;
}

std::uint16_t bfloat(double value) {  // roundTo has made it representable: the upper half of a float
  return static_cast<std::uint16_t>(
      std::bit_cast<std::uint32_t>(static_cast<float>(semantics::roundTo(value, DType::bf16))) >> 16U);
}

std::uint16_t half(double value) {
  const double rounded = semantics::roundTo(value, DType::f16);
  const auto sign = static_cast<std::uint16_t>(std::signbit(rounded) ? 0x8000 : 0);
  const double magnitude = std::fabs(rounded);
  if (std::isnan(magnitude)) return 0x7e00;
  if (std::isinf(magnitude)) return sign | 0x7c00U;
  if (magnitude < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const auto bits = static_cast<unsigned>((fraction * 2 - 1) * 1024);
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 14) << 10U | bits);
}

double fromHalf(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10U) & 31;
  const int fraction = bits & 1023;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

std::string encodeArray(std::span<const double> values, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return encode<double>(values, [](double v) { return v; });
    case DType::f32:
      return encode<float>(values, [](double v) { return static_cast<float>(v); });
    case DType::f16:
      return encode<std::uint16_t>(values, half);
    case DType::bf16:
      return encode<std::uint16_t>(values, bfloat);
    case DType::i32:
      return encode<std::uint32_t>(
          values, [](double v) { return static_cast<std::uint32_t>(static_cast<std::int64_t>(v)); });
    case DType::i8:
      return encode<std::uint8_t>(
          values, [](double v) { return static_cast<std::uint8_t>(static_cast<std::int64_t>(v)); });
    case DType::boolean:
      return encode<std::uint8_t>(values, [](double v) { return static_cast<std::uint8_t>(v != 0 ? 1 : 0); });
  }
  return {};
}

std::vector<double> decodeArray(std::string_view bytes, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return decode<double>(bytes, [](double v) { return v; });
    case DType::f32:
      return decode<float>(bytes, [](float v) { return static_cast<double>(v); });
    case DType::f16:
      return decode<std::uint16_t>(bytes, fromHalf);
    case DType::bf16:
      return decode<std::uint16_t>(bytes, [](std::uint16_t v) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16U));
      });
    case DType::i32:
      return decode<std::int32_t>(bytes, [](std::int32_t v) { return static_cast<double>(v); });
    case DType::i8:
      return decode<std::int8_t>(bytes, [](std::int8_t v) { return static_cast<double>(v); });
    case DType::boolean:
      return decode<std::uint8_t>(bytes, [](std::uint8_t v) { return static_cast<double>(v); });
  }
  return {};
}

}  // namespace nuscope::sweep
