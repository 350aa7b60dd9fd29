#pragma once
// Small helpers on lists of bound variables, shared by the folds and their lemmas.
#include <initializer_list>

#include "core/replay/kernel.h"

namespace nuscope::replay {

Variables asSet(const std::vector<AtomRef>& variables);
std::vector<AtomRef> without(std::vector<AtomRef> variables, AtomRef variable);
/// The list with `variable` replaced by others, in its place.
std::vector<AtomRef> exchanged(const std::vector<AtomRef>& variables, AtomRef variable,
                               std::initializer_list<AtomRef> by);
/// Does some extent depend on the variable?
bool inExtents(const std::vector<AtomRef>& variables, AtomRef variable);

/// The same term with p * inverse(p) made whole, by its leading term.
PolyRef reduceInverses(Kernel& k, PolyRef body);
/// A hash of how one bound variable of a fold occurs, whatever the variables are called.
std::uint64_t signature(AtomRef fold, std::size_t marked);

}  // namespace nuscope::replay
