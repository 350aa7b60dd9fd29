#include "core/nugraph/json_parts.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nuscope::nugraph {

using tensor::Dim;

const Json& member(const Json& object, const char* key) {
  const Json* found = optionalMember(object, key);
  if (found == nullptr) throw BadText(fmt::format("'{}' is missing", key));
  return *found;
}

const Json* optionalMember(const Json& object, const char* key) {
  if (!object.is_object()) throw BadText(fmt::format("an object with '{}' is expected", key));
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string stringOf(const Json& value, const char* what) {
  if (!value.is_string()) throw BadText(fmt::format("{}: a string is expected", what));
  return value.get<std::string>();
}

std::int64_t integerOf(const Json& value, const char* what, std::int64_t low, std::int64_t high) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                        : value.is_number_integer();
  if (!fits) throw BadText(fmt::format("{}: an integer is expected", what));
  const auto number = value.get<std::int64_t>();
  if (number < low || number > high)
    throw BadText(fmt::format("{}: {} is outside [{}, {}]", what, number, low, high));
  return number;
}

double numberOf(const Json& value, const char* what) {
  if (!value.is_number()) throw BadText(fmt::format("{}: a number is expected", what));
  return value.get<double>();
}

bool booleanOf(const Json& value, const char* what) {
  if (!value.is_boolean()) throw BadText(fmt::format("{}: true or false is expected", what));
  return value.get<bool>();
}

const Json& arrayOf(const Json& value, const char* what, std::size_t limit) {
  if (!value.is_array()) throw BadText(fmt::format("{}: an array is expected", what));
  if (value.size() > limit)
    throw BadText(fmt::format("{}: {} entries, at most {} are read", what, value.size(), limit));
  return value;
}

// A Dim is a number, or an array of terms [coefficient, atom, ...]; an atom is a symbol or [numerator,
// denominator].
Json dimJson(const Dim& dim) {
  if (const auto constant = dim.constant()) return *constant;
  Json terms = Json::array();
  for (const auto& [monomial, coefficient] : dim.terms()) {
    Json term = Json::array({coefficient});
    for (const auto& atom : monomial) {
      if (atom.quotient) {
        term.push_back(Json::array({dimJson(atom.quotient->numerator), dimJson(atom.quotient->denominator)}));
      } else {
        term.push_back(atom.symbol);
      }
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

Dim dimOf(const Json& value, int depth) {
  if (depth > maxQuotientDepth) throw BadText("an extent: quotients nested too deep");
  if (value.is_number()) return integerOf(value, "an extent", INT64_MIN, INT64_MAX);
  Dim sum(0);
  for (const Json& term : arrayOf(value, "an extent", 1000)) {
    if (arrayOf(term, "a term of an extent", 64).empty()) throw BadText("a term of an extent: empty");
    Dim product(integerOf(term[0], "a coefficient", INT64_MIN, INT64_MAX));
    for (std::size_t i = 1; i < term.size(); ++i) {
      if (term[i].is_string()) {
        const auto symbol = term[i].get<std::string>();
        if (symbol.empty() || symbol.size() > 100)
          throw BadText("an extent: a symbol of 1 to 100 characters is expected");
        product = product * Dim::symbol(symbol);
      } else {
        if (arrayOf(term[i], "a quotient", 2).size() != 2)
          throw BadText("a quotient: two extents are expected");
        product = product * tensor::floorDiv(dimOf(term[i][0], depth + 1), dimOf(term[i][1], depth + 1));
      }
    }
    sum = sum + product;
  }
  return sum;
}

Json shapeJson(const tensor::Shape& shape) {
  Json result = Json::array();
  for (const Dim& extent : shape) result.push_back(dimJson(extent));
  return result;
}

tensor::Shape shapeOf(const Json& value) {
  tensor::Shape shape;
  for (const Json& extent : arrayOf(value, "a shape", 64)) shape.push_back(dimOf(extent));
  return shape;
}

namespace {

constexpr std::string_view verdictTexts[] = {"proved", "refuted", "unknown"};
constexpr std::string_view modeTexts[] = {"equal", "refines"};
constexpr std::string_view kindTexts[] = {"values", "left undefined", "right undefined"};

template <class Enum, std::size_t n>
Enum choiceOf(const Json& value, const std::string_view (&texts)[n], const char* what) {
  const std::string text = stringOf(value, what);
  for (std::size_t i = 0; i < n; ++i) {
    if (texts[i] == text) return static_cast<Enum>(i);
  }
  throw BadText(fmt::format("{}: '{}' is unknown", what, text));
}

Json elementJson(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

double elementOf(const Json& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return numberOf(value, "an element");
}

Json tensorJson(const semantics::TensorValue& tensor) {
  Json values = Json::array();
  for (const double value : tensor.values) values.push_back(elementJson(value));
  return {{"dtype", tensor::text(tensor.dtype)}, {"shape", tensor.shape}, {"values", std::move(values)}};
}

semantics::TensorValue tensorOf(const Json& value) {
  semantics::TensorValue tensor;
  const auto dtype = tensor::parseDType(stringOf(member(value, "dtype"), "dtype"));
  if (!dtype) throw BadText("an unknown dtype");
  tensor.dtype = *dtype;
  std::int64_t count = 1;
  for (const Json& extent : arrayOf(member(value, "shape"), "shape", 64)) {
    tensor.shape.push_back(integerOf(extent, "an extent", 1, static_cast<std::int64_t>(maxElements)));
    count *= tensor.shape.back();
    if (count > static_cast<std::int64_t>(maxElements)) throw BadText("a tensor of more than 1e6 elements");
  }
  for (const Json& element : arrayOf(member(value, "values"), "values", maxElements)) {
    tensor.values.push_back(elementOf(element));
  }
  if (static_cast<std::int64_t>(tensor.values.size()) != count)
    throw BadText("a tensor with another number of values");
  return tensor;
}

Json counterexampleJson(const proof::Counterexample& example) {
  Json inputs = Json::object();
  for (const auto& [name, tensor] : example.inputs) inputs[name] = tensorJson(tensor);
  return {{"kind", kindTexts[static_cast<std::size_t>(example.kind)]},
          {"extents", example.extents},
          {"inputs", std::move(inputs)},
          {"result", example.result},
          {"index", example.index},
          {"left", tensorJson(example.left)},
          {"right", tensorJson(example.right)},
          {"leftText", example.leftText},
          {"rightText", example.rightText},
          {"seed", example.seed},
          {"draw", example.draw}};
}

proof::Counterexample counterexampleOf(const Json& value) {
  proof::Counterexample example;
  example.kind = choiceOf<proof::Counterexample::Kind>(member(value, "kind"), kindTexts, "kind");
  for (const auto& [name, extent] : member(value, "extents").items()) {
    example.extents[name] = integerOf(extent, "an extent", 1, INT64_MAX);
  }
  for (const auto& [name, tensor] : member(value, "inputs").items()) example.inputs[name] = tensorOf(tensor);
  example.result = static_cast<std::size_t>(integerOf(member(value, "result"), "result", 0, 1000));
  for (const Json& index : arrayOf(member(value, "index"), "index", 64)) {
    example.index.push_back(integerOf(index, "an index", 0, INT64_MAX));
  }
  example.left = tensorOf(member(value, "left"));
  example.right = tensorOf(member(value, "right"));
  example.leftText = stringOf(member(value, "leftText"), "leftText");
  example.rightText = stringOf(member(value, "rightText"), "rightText");
  if (!member(value, "seed").is_number_integer()) throw BadText("seed: an integer is expected");
  example.seed = member(value, "seed").get<std::uint64_t>();
  example.draw = static_cast<int>(integerOf(member(value, "draw"), "draw", 0, INT32_MAX));
  return example;
}

Json stepJson(const proof::ProofStep& step) {
  Json json = {
      {"depth", step.depth}, {"lemma", step.lemma}, {"text", step.text}, {"milliseconds", step.milliseconds}};
  if (!step.before.empty()) json["before"] = step.before;
  if (!step.after.empty()) json["after"] = step.after;
  if (!step.smt.empty()) json["smt"] = step.smt;
  return json;
}

std::string optionalText(const Json& value, const char* key) {
  const Json* found = optionalMember(value, key);
  return found == nullptr ? std::string() : stringOf(*found, key);
}

proof::ProofStep proofStepOf(const Json& value) {
  proof::ProofStep step;
  step.depth = static_cast<int>(integerOf(member(value, "depth"), "depth", 0, 1000));
  step.lemma = stringOf(member(value, "lemma"), "lemma");
  step.text = stringOf(member(value, "text"), "text");
  step.milliseconds = numberOf(member(value, "milliseconds"), "milliseconds");
  step.before = optionalText(value, "before");
  step.after = optionalText(value, "after");
  step.smt = optionalText(value, "smt");
  return step;
}

std::vector<std::string> textsOf(const Json& value, const char* what) {
  std::vector<std::string> texts;
  for (const Json& text : arrayOf(value, what, 10000)) texts.push_back(stringOf(text, what));
  return texts;
}

}  // namespace

Json proofJson(const proof::Proof& proof) {
  Json steps = Json::array();
  for (const auto& step : proof.steps) steps.push_back(stepJson(step));
  Json json = {{"verdict", verdictTexts[static_cast<std::size_t>(proof.verdict)]},
               {"mode", modeTexts[static_cast<std::size_t>(proof.mode)]},
               {"reason", proof.reason},
               {"decidedBy", proof.decidedBy},
               {"holdsFor", proof.holdsFor},
               {"remaining", proof.remaining},
               {"steps", std::move(steps)},
               {"definedness", proof.definedness},
               {"unusedAsserts", proof.unusedAsserts},
               {"seconds", proof.seconds},
               {"cutByTime", proof.cutByTime}};
  if (proof.counterexample) json["counterexample"] = counterexampleJson(*proof.counterexample);
  return json;
}

proof::Proof proofOf(const Json& value) {
  proof::Proof proof;
  proof.verdict = choiceOf<proof::Verdict>(member(value, "verdict"), verdictTexts, "verdict");
  proof.mode = choiceOf<proof::Mode>(member(value, "mode"), modeTexts, "mode");
  proof.reason = stringOf(member(value, "reason"), "reason");
  proof.decidedBy = stringOf(member(value, "decidedBy"), "decidedBy");
  proof.holdsFor = stringOf(member(value, "holdsFor"), "holdsFor");
  proof.remaining = stringOf(member(value, "remaining"), "remaining");
  for (const Json& step : arrayOf(member(value, "steps"), "steps", 100000))
    proof.steps.push_back(proofStepOf(step));
  proof.definedness = textsOf(member(value, "definedness"), "definedness");
  proof.unusedAsserts = textsOf(member(value, "unusedAsserts"), "unusedAsserts");
  proof.seconds = numberOf(member(value, "seconds"), "seconds");
  proof.cutByTime = booleanOf(member(value, "cutByTime"), "cutByTime");
  if (const Json* example = optionalMember(value, "counterexample"))
    proof.counterexample = counterexampleOf(*example);
  if (proof.counterexample.has_value() != (proof.verdict == proof::Verdict::refuted)) {
    throw BadText("a proof has a counterexample exactly if it is refuted");
  }
  return proof;
}

}  // namespace nuscope::nugraph
