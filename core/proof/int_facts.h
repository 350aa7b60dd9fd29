#pragma once
// Signs of integer terms: almost every side condition of the prover. Sound and incomplete: true is a promise.
#include "core/proof/calculus.h"

namespace nuscope::proof {

/// e >= 0 for all dimensions >= 1, all variables in their ranges and all integer elements that satisfy the
/// facts.
bool nonNegative(Calculus& c, IntRef e);
/// e >= 1.
bool positive(Calculus& c, IntRef e);
/// a <= b.
bool atMost(Calculus& c, IntRef a, IntRef b);

}  // namespace nuscope::proof
