#pragma once
// Definedness of a result element as a set of 0/1 terms in normal form, each of which must be 1. Two sides
// are defined at the same inputs if their sets are equal, or each implies the other.
#include "core/proof/symbolic_domain.h"

namespace nuscope::proof {

/// Sorted by id, without those that are proved; {zero} if never defined.
std::vector<PolyRef> definednessOf(Calculus& c, const Scalar& value);
/// A requirement as one 0/1 term: for all binders, guard implies holds.
PolyRef closed(Calculus& c, const Requirement& requirement);

}  // namespace nuscope::proof
