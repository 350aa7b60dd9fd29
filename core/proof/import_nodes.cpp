#include "core/proof/import_nodes.h"

#include "core/tensor/store_copy.h"

namespace nuscope::proof {

Imported importNodes(const tensor::Program& left, const tensor::Program& right) {
  Imported result;
  result.preconditions = right.preconditions;
  result.results = right.results;
  if (left.store == right.store) return result;
  tensor::StoreCopy copy(*left.store, right.facts);
  const auto bring = [&](tensor::NodeRef& node) {
    if (node == nullptr || !result.refusal.empty()) return;
    const auto made = copy.copy(node);
    if (made) {
      node = *made;
    } else {
      result.refusal = "the right side could not be read beside the left one: " + made.refusal().message;
    }
  };
  for (tensor::NodeRef& root : result.results) bring(root);
  for (auto& precondition : result.preconditions) bring(precondition.condition);
  return result;
}

}  // namespace nuscope::proof
