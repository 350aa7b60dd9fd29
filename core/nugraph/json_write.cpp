#include <algorithm>

#include "core/nugraph/json.h"
#include "core/nugraph/json_parts.h"

namespace nuscope::nugraph {
namespace {

using tensor::Attributes;
using tensor::NodeRef;
using tensor::Op;

constexpr std::string_view relationTexts[] = {"==", "!=", "<", "<="};

/// Numbers nodes in the order in which they are first needed; operands come before users.
class Writer {
 public:
  explicit Writer(const NuGraph& graph) : graph_(graph) {}

  Json write() {
    Json json = {{"format", jsonFormat}, {"version", jsonVersion}};
    json["program"] = programJson();
    json["variants"] = Json::array();
    for (const Variant& variant : graph_.variants()) {
      json["variants"].push_back(
          {{"stage", text(variant.stage)}, {"title", variant.title}, {"results", numbers(variant.results)}});
    }
    json["steps"] = Json::array();
    for (const Step& step : graph_.steps()) {
      json["steps"].push_back({{"from", step.from},
                               {"to", step.to},
                               {"version", step.version},
                               {"what", step.what},
                               {"moved", step.moved},
                               {"past", step.past},
                               {"proof", proofNumber(step.proof)}});
      if (step.byHand) json["steps"].back()["byHand"] = true;
    }
    json["refused"] = Json::array();
    for (const Refused& refused : graph_.refused()) {
      json["refused"].push_back({{"from", refused.from},
                                 {"version", refused.version},
                                 {"what", refused.what},
                                 {"moved", refused.moved},
                                 {"past", refused.past},
                                 {"results", numbers(refused.results)},
                                 {"proof", proofNumber(refused.proof)}});
    }
    json["cuts"] = graph_.cuts();
    json["nodes"] = std::move(nodes_);
    json["proofs"] = std::move(proofs_);
    return json;
  }

 private:
  Json programJson() {
    const tensor::Program& program = graph_.root();
    Json parameters = Json::array();
    for (const auto& parameter : program.parameters) {
      parameters.push_back({{"name", parameter.name}, {"node", number(parameter.node)}});
    }
    Json preconditions = Json::array();
    for (const auto& precondition : program.preconditions) {
      Json json = {{"text", precondition.text}, {"range", rangeJson(precondition.range)}};
      if (precondition.dims) {
        json["dims"] = {dimJson(precondition.dims->left),
                        relationTexts[static_cast<std::size_t>(precondition.dims->relation)],
                        dimJson(precondition.dims->right)};
      }
      if (precondition.condition != nullptr) json["condition"] = number(precondition.condition);
      preconditions.push_back(std::move(json));
    }
    Json result = {{"name", program.name},
                   {"parameters", std::move(parameters)},
                   {"preconditions", std::move(preconditions)},
                   {"resultNames", program.resultNames},
                   {"dimensions", program.dimensions}};
    result["results"] = numbers(program.results);
    // Only what the graph uses: names and places of nodes that are written.
    std::vector<std::pair<int, std::string>> names;
    std::vector<std::pair<int, SourceRange>> ranges;
    for (const NodeRef node : tensor::topological(program.results)) {
      if (const auto at = program.variables.find(node); at != program.variables.end()) {
        names.emplace_back(number(node), at->second);
      }
      if (const auto at = program.ranges.find(node); at != program.ranges.end()) {
        ranges.emplace_back(number(node), at->second);
      }
    }
    result["variables"] = Json::array();
    for (const auto& [node, name] : names) result["variables"].push_back(Json::array({node, name}));
    result["ranges"] = Json::array();
    for (const auto& [node, range] : ranges)
      result["ranges"].push_back(Json::array({node, rangeJson(range)}));
    return result;
  }

  static Json rangeJson(const SourceRange& range) {
    return {range.line, range.column, range.endLine, range.endColumn};
  }

  Json attributesJson(const Attributes& at) {
    Json json = Json::object();
    if (!at.name.empty()) json["name"] = at.name;
    if (at.value != 0) json["value"] = at.value.get_str();
    if (at.infinity != 0) json["infinity"] = at.infinity;
    if (at.dtype != tensor::DType::f32) json["dtype"] = tensor::text(at.dtype);
    if (!at.axes.empty()) json["axes"] = at.axes;
    if (at.keepDims) json["keepDims"] = true;
    if (at.index != 0) json["index"] = at.index;
    if (!at.shape.empty()) json["shape"] = shapeJson(at.shape);
    if (!at.starts.empty()) json["starts"] = shapeJson(at.starts);
    if (!at.stops.empty()) json["stops"] = shapeJson(at.stops);
    if (!at.body.empty()) json["body"] = numbers(at.body);
    return json;
  }

  int number(NodeRef root) {
    if (const auto known = ids_.find(root); known != ids_.end()) return known->second;
    const NodeRef roots[] = {root};
    for (const NodeRef node : tensor::topological(roots)) {
      if (ids_.contains(node)) continue;
      Json json = {{"op", tensor::name(node->op)}};
      Json operands = Json::array();
      for (const NodeRef operand : node->operands) operands.push_back(ids_.at(operand));
      if (!operands.empty()) json["operands"] = std::move(operands);
      Json attributes = attributesJson(node->attributes);
      if (!attributes.empty()) json["attributes"] = std::move(attributes);
      ids_.emplace(node, static_cast<int>(nodes_.size()));
      nodes_.push_back(std::move(json));
    }
    return ids_.at(root);
  }

  Json numbers(const std::vector<NodeRef>& nodes) {
    Json result = Json::array();
    for (const NodeRef node : nodes) result.push_back(number(node));
    return result;
  }

  int proofNumber(const ProofRef& proof) {
    const auto [at, isNew] = proofIds_.emplace(proof.get(), static_cast<int>(proofs_.size()));
    if (isNew) proofs_.push_back(proofJson(*proof));
    return at->second;
  }

  const NuGraph& graph_;
  Json nodes_ = Json::array();
  Json proofs_ = Json::array();
  std::unordered_map<NodeRef, int> ids_;
  std::unordered_map<const proof::Proof*, int> proofIds_;
};

}  // namespace

std::string toJson(const NuGraph& graph) {
  return Writer(graph).write().dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nuscope::nugraph
