#pragma once
// A program at concrete extents: shapes as numbers, and index expressions of dimensions and loop counters.
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/fusion/affine.h"
#include "core/tensor/graph.h"

namespace nuscope::fusion {

using tensor::NodeRef;
using tensor::Op;
using Extent = std::int64_t;
using ConcreteShape = std::vector<Extent>;

/// Unwinds planning and printing when something cannot be emitted; emitHost and planOf turn it into a value.
struct Refused {
  Refusal refusal;
};

/// Not thread-safe (caches shapes).
class Concrete {
 public:
  /// Throws UserError when a dimension that the roots mention has no extent.
  Concrete(const tensor::Program& context, std::span<const NodeRef> roots, tensor::Extents extents);

  /// Throws Refused when it depends on a loop's counter.
  const ConcreteShape& shape(NodeRef node) const;
  [[nodiscard]] Extent count(NodeRef node) const { return countOf(shape(node)); }
  [[nodiscard]] Extent value(const tensor::Dim& dim) const;
  /// With counters as atoms of `space`.
  Affine affine(const tensor::Dim& dim, IndexSpace& space,
                const std::map<std::string, Affine>& counters) const;
  /// Facts under which all nodes were made, counters of all loops included.
  [[nodiscard]] const tensor::DimFacts& facts() const { return facts_; }
  /// Counters (of loops around it) that the value of a node depends on.
  [[nodiscard]] const std::set<std::string>& counters(NodeRef node) const { return counters_.at(node); }
  /// Of every loop: its counter and its extent (the largest, where that depends on another counter).
  [[nodiscard]] const std::map<std::string, Extent>& loopExtents() const { return loopExtents_; }

 private:
  tensor::Extents extents_;
  tensor::DimFacts facts_;
  std::unordered_map<NodeRef, std::set<std::string>> counters_;
  std::map<std::string, Extent> loopExtents_;
  mutable std::unordered_map<NodeRef, ConcreteShape> shapes_;
};

}  // namespace nuscope::fusion
