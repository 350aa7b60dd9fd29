#pragma once
// What the asserts of both programs say, as the prover uses it: dimensions and integer scalars substituted,
// signs and constants of inputs, integer facts, and templates that are instantiated at elements.
#include "core/proof/symbolic_domain.h"

namespace nuscope::proof {

struct Assumptions {
  tensor::DimFacts dims;
  std::vector<std::string> used;    ///< texts of asserts that were understood
  std::vector<std::string> unused;  ///< and of those that were not
};

/// Joint facts about dimensions; the first step, before a domain exists.
Assumptions dimensionFacts(std::span<const tensor::Precondition> left,
                           std::span<const tensor::Precondition> right);
/// Fills c.facts and binds dimensions in the domain. Call before any other term is built.
void assume(Calculus& c, SymbolicDomain& domain, Assumptions& assumptions,
            std::span<const tensor::Precondition> left, std::span<const tensor::Precondition> right);

}  // namespace nuscope::proof
