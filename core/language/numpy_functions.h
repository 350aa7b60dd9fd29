#pragma once
// The functions of np that the language has. Private to core/language.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/language/builder.h"

namespace nuscope::language {

bool isNumpyFunction(std::string_view name);
/// All functions, and inf, in alphabetical order.
std::vector<std::string_view> numpyNames();
/// np.float32 and the like; int64 counts as i32, for integers are unbounded in proofs.
std::optional<tensor::DType> numpyType(std::string_view name);

Value transposed(Builder& builder, const Value& value, const Place& place);

}  // namespace nuscope::language
