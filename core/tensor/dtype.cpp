#include "core/tensor/dtype.h"

#include <algorithm>

namespace nuscope::tensor {
namespace {

struct Row {
  DType type;
  std::string_view text;
  int bytes;
  double roundoff;
};

constexpr Row rows[] = {
#define X(name, text, bytes, roundoff) {DType::name, text, bytes, roundoff},
    NUSCOPE_DTYPES(X)
#undef X
};

const Row& row(DType type) {
  return rows[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view text(DType type) {
  return row(type).text;
}

std::optional<DType> parseDType(std::string_view name) {
  for (const Row& r : rows) {
    if (r.text == name) return r.type;
  }
  return std::nullopt;
}

int byteSize(DType type) {
  return row(type).bytes;
}
double unitRoundoff(DType type) {
  return row(type).roundoff;
}

Sort sort(DType type) {
  if (type == DType::boolean) return Sort::condition;
  return row(type).roundoff > 0 ? Sort::real : Sort::integer;
}

DType promote(DType a, DType b) {
  if (a == DType::boolean) a = DType::i32;
  if (b == DType::boolean) b = DType::i32;
  if (a == b) return a;
  if (isReal(a) != isReal(b)) return isReal(a) ? a : b;
  if (isReal(a) && byteSize(a) == 2 && byteSize(b) == 2) return DType::f32;
  return byteSize(a) > byteSize(b) ? a : b;
}

}  // namespace nuscope::tensor
