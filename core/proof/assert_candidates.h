#pragma once
// Simple asserts that could make two programs equal, from their parameters, dimensions, constants, and from
// what their operators need to be defined. Nothing is known of them yet: weakest_assert.h tries them.
#include <string>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::proof {

struct AssertCandidate {
  std::string text;   ///< the expression after `assert`; parses with the programs' parameters and dimensions
  std::string words;  ///< for people: "x is nowhere negative"
  int strength = 0;   ///< how much it asks, roughly: 1 (nowhere zero) ... 9 (one value everywhere)
  bool combines = false;              ///< worth joining with others (signs, bounds, divisibility)
  tensor::Precondition precondition;  ///< as the language reads it, in the store of the programs
};

/// Weakest first. Both programs must share a store. Deterministic.
std::vector<AssertCandidate> assertCandidates(const tensor::Program& left, const tensor::Program& right);

/// "N = x.shape[0]": where the extent of a dimension symbol can be read; empty if no parameter has it as an
/// axis.
std::string shapeLine(const tensor::Program& program, const std::string& dimension);

}  // namespace nuscope::proof
