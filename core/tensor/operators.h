#pragma once
// The one list of operators. Enum, names, arities, the evaluator's and the prover's dispatch, the printer and
// the explorer's catalogue come from it. Adding an operator: a line here, its shape rule in shapes.cpp, its
// granular form in core/semantics/granular.h, one test.
#include <cstdint>
#include <optional>
#include <string_view>

namespace nuscope::tensor {

enum class OpKind : std::uint8_t {
  leaf,         ///< no operands
  elementwise,  ///< one output element from one element of each operand, NumPy broadcasting
  reduce,       ///< folds `axes` of its operand
  scan,         ///< inclusive prefix folds along axes[0]
  contract,     ///< sums of products: matmul, einsum
  layout,       ///< moves elements, computes nothing
  loop          ///< a fold over a tuple of tensors, and its results
};

// X(enumerator, name, kind, operands (-1: any), symbol shown on cards and in formulas)
#define NUSCOPE_OPERATORS(X)                                 \
  X(input, "input", leaf, 0, "x")                            \
  X(constant, "constant", leaf, 0, "c")                      \
  X(dimValue, "dim_value", leaf, 0, "n")                     \
  X(arange, "arange", leaf, 0, "0..n")                       \
  X(loopState, "loop_state", leaf, 0, "s")                   \
  X(negate, "negate", elementwise, 1, "-")                   \
  X(exp, "exp", elementwise, 1, "exp")                       \
  X(log, "log", elementwise, 1, "log")                       \
  X(sqrt, "sqrt", elementwise, 1, "\u221A")                  \
  X(tanh, "tanh", elementwise, 1, "tanh")                    \
  X(sin, "sin", elementwise, 1, "sin")                       \
  X(cos, "cos", elementwise, 1, "cos")                       \
  X(abs, "abs", elementwise, 1, "|\u00B7|")                  \
  X(sign, "sign", elementwise, 1, "sign")                    \
  X(floor, "floor", elementwise, 1, "\u230A\u00B7\u230B")    \
  X(rint, "rint", elementwise, 1, "rint")                    \
  X(logicalNot, "not", elementwise, 1, "\u00AC")             \
  X(cast, "cast", elementwise, 1, "cast")                    \
  X(power, "power", elementwise, 1, "x\u207F")               \
  X(add, "add", elementwise, 2, "+")                         \
  X(subtract, "subtract", elementwise, 2, "\u2212")          \
  X(multiply, "multiply", elementwise, 2, "\u00B7")          \
  X(divide, "divide", elementwise, 2, "/")                   \
  X(floorDivide, "floor_divide", elementwise, 2, "//")       \
  X(modulo, "modulo", elementwise, 2, "%")                   \
  X(maximum, "maximum", elementwise, 2, "max")               \
  X(minimum, "minimum", elementwise, 2, "min")               \
  X(less, "less", elementwise, 2, "<")                       \
  X(lessEqual, "less_equal", elementwise, 2, "\u2264")       \
  X(greater, "greater", elementwise, 2, ">")                 \
  X(greaterEqual, "greater_equal", elementwise, 2, "\u2265") \
  X(equal, "equal", elementwise, 2, "=")                     \
  X(notEqual, "not_equal", elementwise, 2, "\u2260")         \
  X(logicalAnd, "and", elementwise, 2, "\u2227")             \
  X(logicalOr, "or", elementwise, 2, "\u2228")               \
  X(where, "where", elementwise, 3, "?")                     \
  X(sum, "sum", reduce, 1, "\u03A3")                         \
  X(product, "prod", reduce, 1, "\u03A0")                    \
  X(max, "max", reduce, 1, "max")                            \
  X(min, "min", reduce, 1, "min")                            \
  X(mean, "mean", reduce, 1, "mean")                         \
  X(all, "all", reduce, 1, "\u2200")                         \
  X(cumsum, "cumsum", scan, 1, "\u03A3\u2264")               \
  X(matmul, "matmul", contract, 2, "@")                      \
  X(einsum, "einsum", contract, -1, "@")                     \
  X(transpose, "transpose", layout, 1, "\u1D40")             \
  X(reshape, "reshape", layout, 1, "\u21C4")                 \
  X(broadcastTo, "broadcast_to", layout, 1, "\u21C9")        \
  X(expandDims, "expand_dims", layout, 1, "+1")              \
  X(squeeze, "squeeze", layout, 1, "-1")                     \
  X(slice, "slice", layout, 1, "[:]")                        \
  X(concatenate, "concatenate", layout, -1, "\u2225")        \
  X(repeat, "repeat", layout, 1, "\u00D7n")                  \
  X(take, "take", layout, 2, "[i]")                          \
  X(loop, "loop", loop, -1, "\u21BB")                        \
  X(loopResult, "loop_result", loop, 1, "\u21BB.")

enum class Op : std::uint8_t {
#define X(name, text, kind, arity, symbol) name,
  NUSCOPE_OPERATORS(X)
#undef X
};

std::string_view name(Op op);
std::string_view symbol(Op op);
OpKind kind(Op op);
int arity(Op op);  ///< -1: one or more
std::optional<Op> parseOp(std::string_view name);

inline bool isComparison(Op op) {
  return op >= Op::less && op <= Op::notEqual;
}
inline bool isLogical(Op op) {
  return op == Op::logicalNot || op == Op::logicalAnd || op == Op::logicalOr;
}

}  // namespace nuscope::tensor
