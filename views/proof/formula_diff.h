#pragma once
// What a reader should look at when two formulas are shown under each other: the pieces that moved (they
// stand under other folds, divisions or functions than before, or in another group of factors), and those
// that only one side has.
#include "core/semantics/formula.h"
#include "views/proof/formula_box.h"

namespace nuscope::views {

struct FormulaDifference {
  FormulaMarks left, right;
  [[nodiscard]] bool empty() const { return left.empty() && right.empty(); }
};

/// Marks only what is worth it: when most of both sides differ, nothing is marked, for everything would be.
FormulaDifference difference(const semantics::Formula& left, const semantics::Formula& right);

}  // namespace nuscope::views
