#pragma once
// semantics::Formula as boxes of mathematics: Σ with its range, fractions, roots, subscripts, cases. Knows
// precedence, so that brackets stand where they are needed and nowhere else.
#include <unordered_map>

#include "core/semantics/formula.h"
#include "views/proof/math_box.h"

namespace nuscope::views {

/// What to tint: pieces by identity. A piece of a formula that `marked` says so is tinted as moved.
using FormulaMarks = std::unordered_map<const semantics::Formula*, MathInk>;

/// One piece, unbroken.
MathBox formulaBox(const MathFace& face, const semantics::Formula& formula, const FormulaMarks& marks = {});

/// `prefix` (such as "=" or a name) and the formula, at most `width` wide where that can be: first unbroken,
/// then broken before the signs of a top-level sum or after the factors of a top-level product, then smaller
/// (down to `smallest` of the face's size). What still does not fit is wider than `width`; the caller
/// scrolls.
MathBox fittedFormula(const MathFace& face, const MathBox& prefix, const semantics::Formula& formula,
                      const FormulaMarks& marks, qreal width, qreal smallest = 0.75);

}  // namespace nuscope::views
