#pragma once
// Formulas as MathML Core: browsers set them themselves, light or dark, and readers speak them.
#include <string>

#include "core/semantics/formula.h"

namespace nuscope::sweep {

/// The content of a <math> element.
std::string mathml(const semantics::Formula& formula);
/// `<math display="block">left relation right</math>`; left may be null.
std::string mathmlLine(const semantics::Formula* left, const std::string& relation,
                       const semantics::Formula& right);

}  // namespace nuscope::sweep
