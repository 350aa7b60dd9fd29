#pragma once
// Tensors as raw little-endian bytes of their dtype, the form in which workers take and give them.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"

namespace nuscope::sweep {

/// Values are rounded to nearest (float types) or taken modulo the width (integers must fit).
std::string encodeArray(std::span<const double> values, tensor::DType dtype);
/// The exact values. A trailing part of an element is ignored.
std::vector<double> decodeArray(std::string_view bytes, tensor::DType dtype);

}  // namespace nuscope::sweep
