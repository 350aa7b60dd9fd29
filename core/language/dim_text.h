#pragma once
// Extents as Python text that parses back. Private to core/language.
#include <string>

#include "core/tensor/graph.h"

namespace nuscope::language {

/// How tightly Python's operators bind.
enum Precedence {
  comparison = 4,
  disjunction = 5,
  conjunction = 7,
  sum = 9,
  term = 10,
  sign = 11,
  powers = 12,
  atom = 13
};

struct DimText {
  std::string text;
  int precedence = atom;
};

DimText textOfDim(const tensor::Dim& dim);

/// "N % 4 == 0", "K >= 2".
std::string relationText(const tensor::DimRelation& relation);

/// How a body reads a dimension: "x.shape[1]", "x.shape[0] // 2". Empty if no parameter's shape shows it.
std::string readDimension(const tensor::Program& program, const std::string& symbol);

}  // namespace nuscope::language
