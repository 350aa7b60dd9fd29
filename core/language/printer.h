#pragma once
// Turns a graph back into a program that people read and NumPy runs.
#include <span>
#include <string>
#include <unordered_map>

#include "core/tensor/graph.h"

namespace nuscope::language {

struct Printed {
  std::string text;                                ///< a complete module, ends in a newline
  std::unordered_map<tensor::NodeRef, int> lines;  ///< 1-based line on which a node is computed
};

/// `results` as a function with the parameters, asserts and name of `context`, whose store holds the nodes.
/// Parsing the text into the same store gives the same nodes (pointers). Variables keep the names that the
/// context knows; others are t1, t2, ... in order. Nodes used once are written in place unless the line would
/// grow too long.
Printed print(const tensor::Program& context, std::span<const tensor::NodeRef> results);

/// One node as an expression over the names of its operands, e.g. "x / np.sqrt(t1 + 1e-5)"; for cards and
/// messages. Operands without a name are written in place down to `depth` levels, then "...".
std::string expressionText(const tensor::Program& context, tensor::NodeRef node, int depth = 2);

}  // namespace nuscope::language
