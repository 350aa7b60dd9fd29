#pragma once
// Copies graphs from one store to another. Every node is made anew by NodeStore::make under the facts of its
// place (inside a loop's body its counter is in range), so that a copy also checks what came from outside.
#include <unordered_map>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::tensor {

/// Copies of one program's nodes, each once. Not thread-safe. The facts must outlive it.
class StoreCopy {
 public:
  StoreCopy(NodeStore& to, const DimFacts& facts) : to_(to), facts_(facts) {}

  /// From now on `node` is copied as `image` (a node of the new store).
  void set(NodeRef node, NodeRef image) { image_[node] = image; }
  /// Refused when a node cannot be made there under its facts.
  Result<NodeRef> copy(NodeRef root);
  /// The copy of a node that was copied before, be it inside of a loop only; null otherwise.
  [[nodiscard]] NodeRef copied(NodeRef node) const;
  /// For nodes that are known to be sound: throws InternalError instead.
  NodeRef operator()(NodeRef root);
  std::vector<NodeRef> operator()(const std::vector<NodeRef>& roots);

 private:
  Result<NodeRef> copyUnder(NodeRef root, const DimFacts& facts);
  void remember(NodeRef node, NodeRef image);
  NodeStore& to_;
  const DimFacts& facts_;
  std::unordered_map<NodeRef, NodeRef> image_;
  std::unordered_map<NodeRef, NodeRef> ever_;  ///< image_ with what was dropped from it
  std::vector<NodeRef> made_;                  ///< keys of image_ in order
};

}  // namespace nuscope::tensor
