#pragma once
// Steps of an argument as folded sections: lemma, substitution, before and after with what changed marked,
// and the obligation where a solver was asked.
#include <memory>
#include <vector>

#include "core/proof/verdict.h"
#include "views/marks.h"

class QVBoxLayout;

namespace nuscope::views {

struct Theme;

using Steps = std::shared_ptr<const std::vector<proof::ProofStep>>;

/// `closed`: the mark of a step that closes its goal; the others bear `open`. The sections are built when
/// they are unfolded. Theme: at the time of the call (views are rebuilt when it changes).
void addStepSections(QVBoxLayout& layout, const Steps& steps, Mark closed, Mark open, const Theme& theme);

}  // namespace nuscope::views
