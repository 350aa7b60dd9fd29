#include "core/proof/import_nodes.h"

namespace nuscope::proof {

using tensor::DimFacts;
using tensor::NodeRef;
using tensor::Op;

Imported importNodes(const tensor::Program& left, const tensor::Program& right) {
  Imported result;
  result.preconditions = right.preconditions;
  result.results = right.results;
  if (left.store == right.store) return result;
  DimFacts facts = right.facts;
  std::vector<NodeRef> roots = right.results;
  for (const auto& precondition : right.preconditions) {
    if (precondition.condition != nullptr) roots.push_back(precondition.condition);
  }
  std::unordered_map<NodeRef, NodeRef> image;
  const auto order = tensor::topological(roots);
  for (const NodeRef node : order) {
    if (node->op == Op::loop) facts.declareCounter(node->attributes.name, node->attributes.shape[0]);
  }
  for (const NodeRef node : order) {
    std::vector<NodeRef> operands;
    for (const NodeRef operand : node->operands) operands.push_back(image.at(operand));
    tensor::Attributes attributes = node->attributes;
    for (NodeRef& body : attributes.body) body = image.at(body);
    auto made = left.store->make(node->op, std::move(operands), std::move(attributes), facts);
    if (!made) {
      result.refusal = "the right side could not be read beside the left one: " + made.refusal().message;
      return result;
    }
    image.emplace(node, *made);
  }
  for (NodeRef& root : result.results) root = image.at(root);
  for (auto& precondition : result.preconditions) {
    if (precondition.condition != nullptr) precondition.condition = image.at(precondition.condition);
  }
  return result;
}

}  // namespace nuscope::proof
