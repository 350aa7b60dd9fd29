#pragma once
// Which asserts of a program an exported folder decides, and the code that decides those about elements.
//
// Decided exactly or not at all: an assert about dimensions in integers; one about elements where every value
// that it compares is exact in the arrays' own types (inputs, their maxima, minima, absolute values, choices,
// layouts, and constants). Sums, products and functions round, and rounding must not refuse a call or let a
// wrong one pass.
#include <optional>
#include <string>
#include <vector>

#include "core/sweep/plain.h"
#include "core/tensor/graph.h"

namespace nuscope::exporting {

struct AssertLine {
  enum class When : std::uint8_t { extents, call, never };
  std::string text;
  When when = When::never;
  std::string why;  ///< where never
};

struct Asserts {
  std::vector<AssertLine> lines;
  /// extern "C" void FUNCTION(const int64_t* extents, const T* in..., unsigned char* holds..., int threads):
  /// one result an assert that is decided at the call. Empty: none is.
  std::optional<sweep::PlainKernel> code;
  int decided = 0;  ///< number of results
};

Asserts assertsOf(const tensor::Program& program, const tensor::Extents& typical,
                  const std::string& function);

}  // namespace nuscope::exporting
