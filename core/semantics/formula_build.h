#pragma once
// Pieces of formulas, simplified a little while they are put together: flat sums and products, no factors of
// 1, x * x as a square. Internal to formula.h.
#include <functional>

#include "core/semantics/formula.h"

namespace nuscope::semantics::piece {

using Kind = Formula::Kind;

FormulaRef make(Kind kind, std::string text, std::vector<FormulaRef> parts = {});
FormulaRef number(std::string text);
FormulaRef symbol(std::string name);
FormulaRef subscript(FormulaRef base, std::vector<FormulaRef> indices);
FormulaRef negate(const FormulaRef& a);
FormulaRef add(const FormulaRef& a, const FormulaRef& b);
FormulaRef multiply(const FormulaRef& a, const FormulaRef& b);
FormulaRef divide(const FormulaRef& a, const FormulaRef& b);
FormulaRef power(const FormulaRef& a, int exponent);
FormulaRef function(std::string name, std::vector<FormulaRef> arguments);
/// max(max(a, b), c) as max(a, b, c).
FormulaRef extremum(const std::string& name, const FormulaRef& a, const FormulaRef& b);
FormulaRef relation(std::string sign, const FormulaRef& a, const FormulaRef& b);
FormulaRef cases(const FormulaRef& condition, const FormulaRef& then, const FormulaRef& otherwise);
FormulaRef bigOperator(std::string sign, FormulaRef body, FormulaRef variable, FormulaRef limit,
                       bool inclusive);
/// An index expression. Symbols that start with '@' are loop counters, written by `counterName`.
FormulaRef fromDim(const tensor::Dim& value,
                   const std::function<std::string(const std::string&)>& counterName);
bool same(const Formula& a, const Formula& b);
bool isNumber(const FormulaRef& a, std::string_view text);

}  // namespace nuscope::semantics::piece
