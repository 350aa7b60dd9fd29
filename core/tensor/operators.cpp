#include "core/tensor/operators.h"

#include <iterator>

namespace nuscope::tensor {
namespace {

struct Row {
  std::string_view name;
  OpKind kind;
  int arity;
  std::string_view symbol;
};

constexpr Row rows[] = {
#define X(name, text, kind, arity, symbol) {text, OpKind::kind, arity, symbol},
    NUSCOPE_OPERATORS(X)
#undef X
};

const Row& row(Op op) {
  return rows[static_cast<std::size_t>(op)];
}

}  // namespace

std::string_view name(Op op) {
  return row(op).name;
}
std::string_view symbol(Op op) {
  return row(op).symbol;
}
OpKind kind(Op op) {
  return row(op).kind;
}
int arity(Op op) {
  return row(op).arity;
}

std::optional<Op> parseOp(std::string_view text) {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (rows[i].name == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

}  // namespace nuscope::tensor
