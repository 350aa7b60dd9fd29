#include <fmt/format.h>

#include <algorithm>

#include "core/nugraph/json.h"
#include "core/nugraph/json_parts.h"
#include "core/tensor/store_copy.h"

namespace nuscope::nugraph {
namespace {

using tensor::Attributes;
using tensor::NodeRef;
using tensor::Op;

constexpr std::string_view relationTexts[] = {"==", "!=", "<", "<="};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  NuGraph read() {
    if (stringOf(member(json_, "format"), "format") != jsonFormat)
      throw BadText("this is no nu-graph of Nuscope");
    const auto version = integerOf(member(json_, "version"), "version", 1, INT32_MAX);
    if (version > jsonVersion) {
      throw BadText(fmt::format("written by a newer Nuscope (version {} of the format, {} is known)", version,
                                jsonVersion));
    }
    readFacts();
    readNodes();
    NuGraph graph(readProgram());
    readProofs();
    readEvents(graph);
    for (const Json& cut : arrayOf(member(json_, "cuts"), "cuts", 10000))
      graph.addCut(stringOf(cut, "a cut"));
    return graph;
  }

 private:
  /// Asserts about dimensions and the counters of all loops come first: nodes are made under them.
  void readFacts() {
    for (const Json& json :
         arrayOf(member(member(json_, "program"), "preconditions"), "preconditions", 10000)) {
      if (const Json* dims = optionalMember(json, "dims")) facts_.assume(relationOf(*dims));
    }
    std::map<std::string, std::vector<tensor::Dim>> counters;
    for (const Json& json : arrayOf(member(json_, "nodes"), "nodes", maxNodes)) {
      if (stringOf(member(json, "op"), "op") != tensor::name(Op::loop)) continue;
      const Json& attributes = member(json, "attributes");
      const auto shape = shapeOf(member(attributes, "shape"));
      if (shape.size() != 1) throw BadText("a loop needs one extent");
      auto& extents = counters[stringOf(member(attributes, "name"), "name")];
      if (std::ranges::find(extents, shape[0]) == extents.end()) extents.push_back(shape[0]);
    }
    std::size_t alternatives = 1;  // loops side by side share counters' names
    for (const auto& [name, extents] : counters) alternatives = std::max(alternatives, extents.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(alternatives, 32); ++i) {
      draftFacts_.push_back(facts_);
      for (const auto& [name, extents] : counters)
        draftFacts_.back().declareCounter(name, extents[i % extents.size()]);
    }
  }

  static tensor::DimRelation relationOf(const Json& json) {
    if (arrayOf(json, "dims", 3).size() != 3) throw BadText("dims: [left, relation, right] is expected");
    const std::string text = stringOf(json[1], "relation");
    const auto found = std::ranges::find(relationTexts, text);
    if (found == std::end(relationTexts)) throw BadText(fmt::format("the relation '{}' is unknown", text));
    return {dimOf(json[0]), static_cast<tensor::Relation>(found - std::begin(relationTexts)), dimOf(json[2])};
  }

  void readNodes() {
    for (const Json& json : member(json_, "nodes")) {
      const std::string name = stringOf(member(json, "op"), "op");
      const auto op = tensor::parseOp(name);
      if (!op) throw BadText(fmt::format("node {}: the operator '{}' is unknown", drafts_.size(), name));
      std::vector<NodeRef> operands;
      if (const Json* list = optionalMember(json, "operands")) operands = draftRefs(*list, "operands");
      Attributes attributes;
      if (const Json* json2 = optionalMember(json, "attributes")) attributes = attributesOf(*json2);
      checkAttributes(*op, operands, attributes);
      drafts_.push_back(draft(*op, operands, attributes));
      // What lies in a loop's body is checked with the loop; everything else at once.
      const auto made = copy_.copy(drafts_.back());
      nodes_.push_back(made ? *made : nullptr);
      if (!made) refusals_[drafts_.size() - 1] = made.refusal().message;
    }
  }

  /// A node in the drafts' store, under facts that may be too generous inside of loops.
  NodeRef draft(Op op, const std::vector<NodeRef>& operands, const Attributes& attributes) {
    std::string message;
    for (const auto& facts : draftFacts_) {
      auto made = draftStore_.make(op, operands, attributes, facts);
      if (made) return *made;
      message = made.refusal().message;
    }
    throw BadText(fmt::format("node {} ({}): {}", drafts_.size(), tensor::name(op), message));
  }

  /// What the shape rules take for granted, because the language never builds it otherwise.
  void checkAttributes(Op op, const std::vector<NodeRef>& operands, const Attributes& at) const {
    const auto needs = [&](bool ok, const char* what) {
      if (!ok) throw BadText(fmt::format("node {} ({}): {}", drafts_.size(), tensor::name(op), what));
    };
    if (op == Op::input || op == Op::loopState || op == Op::loop)
      needs(!at.name.empty(), "a name is missing");
    if (op == Op::dimValue || op == Op::arange || op == Op::repeat || op == Op::loop)
      needs(at.shape.size() == 1, "one extent is expected");
    if (op == Op::loop) needs(at.body.size() == operands.size(), "as many bodies as states are expected");
    if (op == Op::loopState) needs(at.index >= 0, "the state's number is negative");
    if (tensor::kind(op) == tensor::OpKind::reduce) needs(!at.axes.empty(), "axes are missing");
    if (op == Op::input) {
      for (const auto& extent : at.shape) needs(facts_.positive(extent), "an extent that may be 0");
    }
  }

  NodeRef ref(const Json& value, const char* what) const {
    const auto at = static_cast<std::size_t>(integerOf(value, what, 0, std::ssize(nodes_) - 1));
    if (nodes_[at] == nullptr) throw BadText(fmt::format("node {}: {}", at, refusals_.at(at)));
    return nodes_[at];
  }

  /// A node that carries a name or a place; it may lie in a loop's body.
  NodeRef namedRef(const Json& value, const char* what) const {
    const auto at = static_cast<std::size_t>(integerOf(value, what, 0, std::ssize(drafts_) - 1));
    const NodeRef node = copy_.copied(drafts_[at]);
    if (node == nullptr) throw BadText(fmt::format("{}: node {} belongs to no result", what, at));
    return node;
  }

  std::vector<NodeRef> draftRefs(const Json& value, const char* what) const {
    std::vector<NodeRef> result;
    for (const Json& item : arrayOf(value, what, 10000)) {
      result.push_back(drafts_[static_cast<std::size_t>(integerOf(item, what, 0, std::ssize(drafts_) - 1))]);
    }
    return result;
  }

  std::vector<NodeRef> refs(const Json& value, const char* what) const {
    std::vector<NodeRef> result;
    for (const Json& item : arrayOf(value, what, 10000)) result.push_back(ref(item, what));
    return result;
  }

  Attributes attributesOf(const Json& json) const {
    Attributes at;
    if (const Json* v = optionalMember(json, "name")) at.name = stringOf(*v, "name");
    if (const Json* v = optionalMember(json, "value")) at.value = rationalOf(stringOf(*v, "value"));
    if (const Json* v = optionalMember(json, "infinity"))
      at.infinity = static_cast<int>(integerOf(*v, "infinity", -1, 1));
    if (const Json* v = optionalMember(json, "dtype")) {
      const auto dtype = tensor::parseDType(stringOf(*v, "dtype"));
      if (!dtype) throw BadText("an unknown dtype");
      at.dtype = *dtype;
    }
    if (const Json* v = optionalMember(json, "axes")) {
      for (const Json& axis : arrayOf(*v, "axes", 64))
        at.axes.push_back(static_cast<int>(integerOf(axis, "an axis", 0, 63)));
    }
    if (const Json* v = optionalMember(json, "keepDims")) at.keepDims = booleanOf(*v, "keepDims");
    if (const Json* v = optionalMember(json, "index"))
      at.index = static_cast<int>(integerOf(*v, "index", 0, 1'000'000));
    if (const Json* v = optionalMember(json, "shape")) at.shape = shapeOf(*v);
    if (const Json* v = optionalMember(json, "starts")) at.starts = shapeOf(*v);
    if (const Json* v = optionalMember(json, "stops")) at.stops = shapeOf(*v);
    if (const Json* v = optionalMember(json, "body")) at.body = draftRefs(*v, "body");
    return at;
  }

  static Rational rationalOf(const std::string& text) {
    if (text.size() > 10000 || text.find_first_not_of("-0123456789/") != std::string::npos) {
      throw BadText("value: a rational number is expected");
    }
    Rational value;
    const auto slash = text.find('/');
    const bool zeroBelow =
        slash != std::string::npos && text.find_first_not_of('0', slash + 1) == std::string::npos;
    if (zeroBelow || value.set_str(text, 10) != 0) throw BadText("value: a rational number is expected");
    value.canonicalize();
    return value;
  }

  static SourceRange rangeOf(const Json& json) {
    if (arrayOf(json, "range", 4).size() != 4) throw BadText("a range: four numbers are expected");
    int parts[4];
    for (std::size_t i = 0; i < 4; ++i)
      parts[i] = static_cast<int>(integerOf(json[i], "range", 0, INT32_MAX));
    return {parts[0], parts[1], parts[2], parts[3]};
  }

  static std::vector<std::string> strings(const Json& value, const char* what) {
    std::vector<std::string> result;
    for (const Json& item : arrayOf(value, what, 10000)) result.push_back(stringOf(item, what));
    return result;
  }

  tensor::Program readProgram() {
    const Json& json = member(json_, "program");
    tensor::Program program;
    program.name = stringOf(member(json, "name"), "name");
    program.store = store_;
    program.facts = facts_;
    for (const Json& item : arrayOf(member(json, "parameters"), "parameters", 10000)) {
      const NodeRef node = ref(member(item, "node"), "a parameter");
      const std::string name = stringOf(member(item, "name"), "name");
      if (node->op != Op::input || node->attributes.name != name)
        throw BadText("a parameter that is no input of its name");
      program.parameters.push_back({name, node});
    }
    for (const Json& item : member(json, "preconditions")) {
      tensor::Precondition precondition;
      precondition.text = stringOf(member(item, "text"), "text");
      precondition.range = rangeOf(member(item, "range"));
      if (const Json* dims = optionalMember(item, "dims")) precondition.dims = relationOf(*dims);
      if (const Json* condition = optionalMember(item, "condition")) {
        precondition.condition = ref(*condition, "condition");
        if (precondition.condition->dtype != tensor::DType::boolean ||
            !precondition.condition->shape.empty()) {
          throw BadText("an assert that is no condition");
        }
      }
      program.preconditions.push_back(std::move(precondition));
    }
    program.results = refs(member(json, "results"), "results");
    if (program.results.empty()) throw BadText("a program without results");
    program.resultNames = strings(member(json, "resultNames"), "resultNames");
    if (program.resultNames.size() != program.results.size())
      throw BadText("as many names as results are expected");
    program.dimensions = strings(member(json, "dimensions"), "dimensions");
    for (const Json& item : arrayOf(member(json, "variables"), "variables", maxNodes)) {
      if (arrayOf(item, "a variable", 2).size() != 2) throw BadText("a variable: [node, name] is expected");
      program.variables[namedRef(item[0], "a variable")] = stringOf(item[1], "a variable");
    }
    for (const Json& item : arrayOf(member(json, "ranges"), "ranges", maxNodes)) {
      if (arrayOf(item, "a range", 2).size() != 2) throw BadText("a range: [node, range] is expected");
      program.ranges[namedRef(item[0], "a range")] = rangeOf(item[1]);
    }
    checkLeaves(program, program.results);
    return program;
  }

  /// Every input that results use must be a parameter.
  static void checkLeaves(const tensor::Program& program, const std::vector<NodeRef>& results) {
    for (const NodeRef node : tensor::topological(results)) {
      if (node->op != Op::input) continue;
      const bool known =
          std::ranges::any_of(program.parameters, [&](const auto& p) { return p.node == node; });
      if (!known) throw BadText(fmt::format("the input '{}' is no parameter", node->attributes.name));
    }
  }

  void readProofs() {
    for (const Json& json : arrayOf(member(json_, "proofs"), "proofs", maxNodes)) {
      proofs_.push_back(std::make_shared<const proof::Proof>(proofOf(json)));
    }
  }

  ProofRef proofRef(const Json& value, bool proved) const {
    const auto& proof =
        proofs_[static_cast<std::size_t>(integerOf(value, "proof", 0, std::ssize(proofs_) - 1))];
    if ((proof->verdict == proof::Verdict::proved) != proved)
      throw BadText("a proof with the wrong verdict for its place");
    return proof;
  }

  /// Steps and refused moves in the order of their versions, through the graph's own checks.
  void readEvents(NuGraph& graph) {
    const Json& variants = arrayOf(member(json_, "variants"), "variants", maxVariantsRead);
    const Json& steps = arrayOf(member(json_, "steps"), "steps", maxNodes);
    const Json& refused = arrayOf(member(json_, "refused"), "refused", maxNodes);
    if (variants.empty() || refs(member(variants[0], "results"), "results") != graph.root().results) {
      throw BadText("variant 0 is not the program as written");
    }
    struct Event {
      std::int64_t version;
      const Json* step;
      const Json* refused;
    };
    std::vector<Event> events;
    for (const Json& step : steps)
      events.push_back({integerOf(member(step, "version"), "version", 1, INT32_MAX), &step, nullptr});
    for (const Json& item : refused)
      events.push_back({integerOf(member(item, "version"), "version", 1, INT32_MAX), nullptr, &item});
    std::ranges::stable_sort(events, {}, &Event::version);
    for (const Event& event : events) {
      if (event.step != nullptr) addStep(graph, variants, *event.step);
      if (event.refused != nullptr) addRefused(graph, *event.refused);
    }
    if (graph.variants().size() != variants.size()) throw BadText("a variant that no step leads to");
  }

  void addStep(NuGraph& graph, const Json& variants, const Json& json) {
    Step step;
    step.from =
        static_cast<int>(integerOf(member(json, "from"), "from", 0, std::ssize(graph.variants()) - 1));
    const auto to = integerOf(member(json, "to"), "to", 0, static_cast<std::int64_t>(variants.size()) - 1);
    readWords(json, step);
    step.proof = proofRef(member(json, "proof"), true);
    if (const Json* byHand = optionalMember(json, "byHand")) step.byHand = booleanOf(*byHand, "byHand");
    const Json& variant = variants[static_cast<std::size_t>(to)];
    const auto stage = parseStage(stringOf(member(variant, "stage"), "stage"));
    if (!stage) throw BadText("an unknown stage");
    auto results = checkedResults(graph, member(variant, "results"));
    const auto added =
        graph.add(std::move(step), std::move(results), *stage, stringOf(member(variant, "title"), "title"));
    if (added.variant != to) throw BadText("variants are not numbered in the order of their steps");
  }

  void addRefused(NuGraph& graph, const Json& json) {
    Refused refused;
    refused.from =
        static_cast<int>(integerOf(member(json, "from"), "from", 0, std::ssize(graph.variants()) - 1));
    readWords(json, refused);
    refused.proof = proofRef(member(json, "proof"), false);
    refused.results = checkedResults(graph, member(json, "results"));
    graph.add(std::move(refused));
  }

  std::vector<NodeRef> checkedResults(const NuGraph& graph, const Json& value) const {
    auto results = refs(value, "results");
    const auto& root = graph.root().results;
    if (results.size() != root.size()) throw BadText("a variant with another number of results");
    for (std::size_t i = 0; i < root.size(); ++i) {
      if (results[i]->dtype != root[i]->dtype || !facts_.equal(results[i]->shape, root[i]->shape)) {
        throw BadText("a variant whose results have another type");
      }
    }
    checkLeaves(graph.root(), results);
    return results;
  }

  template <class Item>
  static void readWords(const Json& json, Item& item) {
    item.what = stringOf(member(json, "what"), "what");
    item.moved = stringOf(member(json, "moved"), "moved");
    item.past = stringOf(member(json, "past"), "past");
    item.recorded = true;
  }

  const Json& json_;
  std::shared_ptr<tensor::NodeStore> store_ = std::make_shared<tensor::NodeStore>();
  tensor::DimFacts facts_;
  std::vector<tensor::DimFacts> draftFacts_;
  tensor::NodeStore draftStore_;
  std::vector<NodeRef> drafts_;
  tensor::StoreCopy copy_{*store_, facts_};
  std::vector<NodeRef> nodes_;  ///< checked; null: see refusals_
  std::unordered_map<std::size_t, std::string> refusals_;
  std::vector<ProofRef> proofs_;
};

}  // namespace

Result<NuGraph> fromJson(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return Reader(json).read();
  } catch (const Json::exception& error) {
    return Refusal{fmt::format("the nu-graph is no valid JSON: {}", error.what()), ""};
  } catch (const BadText& error) {
    return Refusal{fmt::format("the nu-graph cannot be read: {}", error.what()), ""};
  } catch (const UserError& error) {  // extents that overflow
    return Refusal{fmt::format("the nu-graph cannot be read: {}", error.what()), ""};
  }
}

}  // namespace nuscope::nugraph
