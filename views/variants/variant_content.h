#pragma once
// A variant's graph as cards, and what changed against its parent. Chains of operators that one expression
// says best
// ("sqrt(· + 1e-05)", "mean of ·²") share a card; constants stand inside it.
#include <unordered_map>
#include <vector>

#include "core/nugraph/nugraph.h"
#include "views/graph/graph_content.h"

namespace nuscope::views {

/// How a node of the variant, or a removed one of its parent, relates to the other side.
enum class Change : std::uint8_t { kept, added, removed, moved };

struct Changes {
  std::unordered_map<tensor::NodeRef, Change> of;  ///< absent: kept (perhaps rebuilt over changed operands)
  int added = 0, removed = 0, moved = 0;
  [[nodiscard]] bool any() const { return added + removed + moved > 0; }
  /// "1 moved, 2 added"
  [[nodiscard]] QString text() const;
};

/// Pairs what the two sides do not share: the same operator with the same attributes and type is only
/// rebuilt, the same operator with another type moved; what is left was added or removed. `movedOperator`:
/// the name of the operator that the step moved, which is marked even where its type stays the same.
Changes compareVariants(const std::vector<tensor::NodeRef>& parent,
                        const std::vector<tensor::NodeRef>& variant, const std::string& movedOperator);

struct VariantOptions {
  bool everyOperator = false;    ///< no card holds more than one operator
  bool ghosts = false;           ///< removed nodes of the parent are shown too, laid out together
  std::size_t mostCards = 2000;  ///< beyond it: the ones nearest to the results, and a notice
};

struct VariantGraph {
  GraphContent content;
  std::unordered_map<tensor::NodeRef, std::uint64_t> cardOf;  ///< every node, absorbed ones too
  std::unordered_map<std::uint64_t, tensor::NodeRef> nodeOf;  ///< the node a card stands for
};

/// Box keys are stable for a node.
VariantGraph variantGraph(const tensor::Program& context, const std::vector<tensor::NodeRef>& results,
                          const std::vector<tensor::NodeRef>& parent, const Changes& changes,
                          const VariantOptions& options);

Tint tintOf(tensor::Op op);
QString signOf(tensor::Op op);
/// "over K", "by row", the variable's name: what tells one card from another; may be empty.
QString detailOf(const tensor::Program& context, tensor::NodeRef node,
                 const std::vector<tensor::NodeRef>& results);
Mark markOf(Change change);
inline std::uint64_t keyOf(tensor::NodeRef node) {
  return reinterpret_cast<std::uint64_t>(node);
}

}  // namespace nuscope::views
