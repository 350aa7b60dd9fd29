#include "core/sweep/study_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// JSON has no infinities and NaN; a gate's numbers may be both.
json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double parseNumber(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto& text = value.get_ref<const std::string&>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

template <class Read>
auto guarded(std::string_view text, const char* what, Read read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    throw UserError(std::string("the study is damaged: ") + what + " is malformed (" + error.what() + ")");
  }
}

json drawJson(const GateDraw& d) {
  return {{"distribution", d.distribution},
          {"seed", d.seed},
          {"result", d.result},
          {"index", d.index},
          {"expected", number(d.expected)},
          {"actual", number(d.actual)},
          {"error", number(d.error)},
          {"bound", number(d.bound)},
          {"ratio", number(d.ratio)},
          {"checked", d.checked},
          {"undefined", d.undefined},
          {"undecided", d.undecided}};
}

GateDraw parseDraw(const json& j) {
  GateDraw d;
  d.distribution = j.at("distribution").get<std::string>();
  d.seed = j.at("seed").get<std::uint64_t>();
  d.result = j.at("result").get<int>();
  d.index = j.at("index").get<std::vector<std::int64_t>>();
  d.expected = parseNumber(j.at("expected"));
  d.actual = parseNumber(j.at("actual"));
  d.error = parseNumber(j.at("error"));
  d.bound = parseNumber(j.at("bound"));
  d.ratio = parseNumber(j.at("ratio"));
  d.checked = j.at("checked").get<std::int64_t>();
  d.undefined = j.at("undefined").get<std::int64_t>();
  d.undecided = j.at("undecided").get<std::int64_t>();
  return d;
}

}  // namespace

std::string gateJson(const GateRecord& gate) {
  json draws = json::array();
  for (const GateDraw& draw : gate.draws) draws.push_back(drawJson(draw));
  return dump({{"passed", gate.passed},
               {"factor", number(gate.factor)},
               {"accumulation", gate.accumulation},
               {"draws", draws},
               {"worst", gate.worst},
               {"verdict", gate.verdict},
               {"text", gate.text}});
}

GateRecord parseGate(std::string_view text) {
  return guarded(text, "the record of a numeric gate", [](const json& j) {
    GateRecord gate;
    gate.passed = j.at("passed").get<bool>();
    gate.factor = parseNumber(j.at("factor"));
    gate.accumulation = j.at("accumulation").get<std::string>();
    for (const json& draw : j.at("draws")) gate.draws.push_back(parseDraw(draw));
    gate.worst = j.at("worst").get<int>();
    if (gate.worst < -1 || gate.worst >= static_cast<int>(gate.draws.size())) gate.worst = -1;
    gate.verdict = j.at("verdict").get<std::string>();
    gate.text = j.at("text").get<std::string>();
    return gate;
  });
}

std::string parametersJson(const Parameters& parameters) {
  return dump(json(parameters));
}

Parameters parseParameters(std::string_view text) {
  return guarded(text, "a list of parameters", [](const json& j) { return j.get<Parameters>(); });
}

std::string textMapJson(const std::map<std::string, std::string>& map) {
  return dump(json(map));
}

std::map<std::string, std::string> parseTextMap(std::string_view text) {
  return guarded(text, "a list of texts",
                 [](const json& j) { return j.get<std::map<std::string, std::string>>(); });
}

}  // namespace nuscope::sweep
