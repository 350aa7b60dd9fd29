#pragma once
// Which loops a node depends on: through the counter in an extent or a bound, or through a loop's state. A
// node is computed once for each round of the innermost loop it depends on. Loops that follow each other may
// share a counter's name; a loop's own counter is bound by it and does not show outside.
#include <string>
#include <unordered_map>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::semantics {

/// Sorted names of free loop counters ("@h").
using Counters = std::vector<std::string>;

/// Memoises over one store. Not thread-safe.
class Dependence {
 public:
  /// Counters of enclosing loops that the node's elements depend on.
  const Counters& of(tensor::NodeRef node);
  /// Those that occur in the node's own shape, bounds and operand shapes; what decides how it is computed.
  const Counters& ofDimensions(tensor::NodeRef node);

 private:
  std::unordered_map<tensor::NodeRef, Counters> whole_;
  std::unordered_map<tensor::NodeRef, Counters> dimensions_;
};

/// Nodes below the roots that are computed in the same scope, operands first: operands are followed, loop
/// bodies are not.
std::vector<tensor::NodeRef> scopeOrder(std::span<const tensor::NodeRef> roots);

}  // namespace nuscope::semantics
