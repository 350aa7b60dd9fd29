#pragma once
// Concrete tensors: what programs are evaluated on, what counterexamples show, what workers receive and
// return.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"

namespace nuscope::semantics {

/// Row-major. Values are doubles whatever the dtype: integers up to 2^53 exactly, conditions as 0 and 1, NaN
/// where an element is undefined.
struct TensorValue {
  tensor::DType dtype = tensor::DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  [[nodiscard]] std::int64_t count() const {
    std::int64_t n = 1;
    for (const auto extent : shape) n *= extent;
    return n;
  }
  bool operator==(const TensorValue&) const = default;
};

/// By parameter name.
using Inputs = std::map<std::string, TensorValue>;

}  // namespace nuscope::semantics
