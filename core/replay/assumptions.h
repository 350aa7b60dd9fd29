#pragma once
// What the asserts of a goal say, in the forms that the checker uses.
#include <span>

#include "core/replay/forms.h"

namespace nuscope::replay {

/// The relations between dimensions, divisibilities first: later bounds must not take their symbols.
tensor::DimFacts dimensionFacts(const std::vector<const tensor::Precondition*>& asserts);
/// Distinct asserts of both sides, by their text.
std::vector<const tensor::Precondition*> distinctAsserts(const tensor::Program& left,
                                                         const tensor::Program& right);
/// Fills kernel.facts. `program` tells the shapes of the inputs.
void assume(Kernel& kernel, Forms& forms, const tensor::DimFacts& dims,
            const std::vector<const tensor::Precondition*>& asserts, const tensor::Program& program);

}  // namespace nuscope::replay
