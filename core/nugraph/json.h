#pragma once
// The nu-graph as text, for studies. Versioned: {"format": "nuscope-nugraph", "version": 1, ...}.
#include <string>
#include <string_view>

#include "core/nugraph/nugraph.h"

namespace nuscope::nugraph {

/// Everything: the root program (parameters, asserts, names), all nodes, variants, steps, refused moves with
/// their proofs and counterexamples, cuts. Deterministic: the same graph gives the same text.
std::string toJson(const NuGraph& graph);

/// Untrusted input: every node is rebuilt by NodeStore::make, every number and reference is checked, sizes
/// are limited (1e6 nodes, 1e5 variants, counterexamples of 1e6 elements). Proofs come back with `recorded`
/// set. Refused with a sentence that says where the text is wrong; never throws for bad text.
Result<NuGraph> fromJson(std::string_view text);

}  // namespace nuscope::nugraph
