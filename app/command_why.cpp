// `nuscope why`: why one candidate of a sweep is faster than another; what the machine's ceilings leave to
// each; which parameters matter.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/nugraph/json.h"
#include "core/sweep/statistics.h"
#include "core/sweep/sweep.h"
#include "core/sweep/why.h"

namespace nuscope::app {
namespace {

using nlohmann::json;
using sweep::CandidateRecord;
using sweep::Measurement;
using sweep::Study;

struct Options {
  std::string study;
  std::vector<int> candidates;
  int sweep = 0;
  bool roofline = false, parameters = false, model = false, code = false, asJson = false;
};

/// A sweep with its graph and what was measured in it.
struct Swept {
  std::unique_ptr<Study> study;
  sweep::SweepRecord record;
  std::unique_ptr<nugraph::NuGraph> graph;
  std::vector<std::pair<CandidateRecord, std::optional<Measurement>>> rows;
};

Swept readSweep(const Options& options) {
  Swept swept;
  swept.study = Study::open(options.study, Study::Access::read);
  std::optional<sweep::SweepRecord> found;
  for (const sweep::SweepRecord& record : swept.study->sweeps()) {
    if (options.sweep == 0 ? !found || record.id > found->id : record.id == options.sweep) found = record;
  }
  if (!found) {
    throw UserError(options.sweep == 0 ? fmt::format("{} holds no sweep", options.study)
                                       : fmt::format("{} holds no sweep {}", options.study, options.sweep));
  }
  swept.record = *found;
  const auto text = swept.study->nuGraph(found->revision);
  if (!text) throw UserError(fmt::format("{} holds no variants of this sweep's program", options.study));
  auto graph = nugraph::fromJson(*text);
  if (!graph) throw UserError(fmt::format("{}: {}", options.study, graph.refusal().message));
  swept.graph = std::make_unique<nugraph::NuGraph>(std::move(graph).value());
  for (CandidateRecord& candidate : swept.study->candidates(found->id)) {
    std::optional<Measurement> measurement;
    if (candidate.state == sweep::CandidateState::measured && candidate.measurement)
      measurement = swept.study->measurement(*candidate.measurement);
    swept.rows.emplace_back(std::move(candidate), std::move(measurement));
  }
  return swept;
}

using Row = std::pair<CandidateRecord, std::optional<Measurement>>;

/// Emitted and measured, fastest first.
std::vector<const Row*> measured(const Swept& swept) {
  std::vector<const Row*> rows;
  for (const Row& row : swept.rows) {
    if (row.first.kind == sweep::CandidateKind::emitted && row.second && !row.second->samples.empty())
      rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, {}, [](const Row* row) { return row->second->median; });
  return rows;
}

const Row& rowOf(const Swept& swept, int id) {
  for (const Row& row : swept.rows) {
    if (row.first.id == id) return row;
  }
  throw UserError(fmt::format("sweep {} has no candidate {}", swept.record.id, id));
}

/// The fastest, against the fastest of the program as written, or of another variant, or the next one.
std::pair<const Row*, const Row*> usualPair(const Swept& swept) {
  const auto rows = measured(swept);
  if (rows.size() < 2)
    throw UserError("fewer than two candidates were measured: there is nothing to compare");
  for (const bool written : {true, false}) {
    for (const Row* row : rows) {
      const bool fits = written ? row->first.variant == 0 : row->first.variant != rows[0]->first.variant;
      if (row != rows[0] && fits && (!written || rows[0]->first.variant != 0)) return {rows[0], row};
    }
  }
  return {rows[0], rows[1]};
}

std::string ms(double seconds) {
  return fmt::format("{:.4g} ms", 1e3 * seconds);
}

std::string signedMs(double seconds) {
  return fmt::format("{:+.4g} ms", 1e3 * seconds);
}

std::string bytesText(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes * 1e-9);
  if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes * 1e-6);
  return fmt::format("{:.3g} kB", bytes * 1e-3);
}

std::string nameOf(const CandidateRecord& candidate) {
  return fmt::format("#{} variant {} ({}) {}", candidate.id, candidate.variant, candidate.label,
                     sweep::parametersText(candidate.parameters));
}

void row(const std::string& what, const std::string& a, const std::string& b, const std::string& share = {}) {
  fmt::print("{:<28} {:>14} {:>14} {:>14}\n", what, a, b, share);
}

std::string usesText(const std::vector<machine::TensorUse>& uses, const std::string& name) {
  for (const machine::TensorUse& use : uses) {
    if (use.name == name)
      return fmt::format("{:.3g} / {:.3g}{}", use.reads, use.writes, use.packed ? " packed" : "");
  }
  return "-";
}

void printTensors(const sweep::Why& why) {
  std::vector<std::string> names;
  for (const auto* model : {&why.a.model, &why.b.model}) {
    for (const machine::TensorUse& use : model->tensors) {
      if (std::ranges::find(names, use.name) == names.end()) names.push_back(use.name);
    }
  }
  for (const std::string& name : names)
    row(name + ", reads / writes", usesText(why.a.model.tensors, name), usesText(why.b.model.tensors, name));
}

std::string valueText(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

void printWhy(const sweep::Why& why, bool code) {
  const std::string a = fmt::format("A = {}", nameOf(why.a.candidate));
  const std::string b = fmt::format("B = {}", nameOf(why.b.candidate));
  fmt::print("{}\n{}\n", a, b);
  if (why.measured) {
    const double ratio = why.b.measurement->median / why.a.measurement->median;
    fmt::print(
        "measured: A {}, B {}: {}\n\n", ms(why.a.measurement->median), ms(why.b.measurement->median),
        why.tie ? "a tie, the difference is noise" : fmt::format("B takes {:.3g} times as long", ratio));
  } else {
    fmt::print("not both were measured: the difference is modelled only\n\n");
  }
  for (const std::string& step : why.onlyA) fmt::print("only A: {}\n", step);
  for (const std::string& step : why.onlyB) fmt::print("only B: {}\n", step);
  row("", "A", "B", "B less A");
  for (const auto& parameter : why.parameters)
    row(parameter.name, valueText(parameter.a), valueText(parameter.b));
  fmt::print("\nmodelled, {}\n", why.model);
  row("Mflop", fmt::format("{:.4g}", why.a.model.flops * 1e-6),
      fmt::format("{:.4g}", why.b.model.flops * 1e-6));
  std::map<std::string, std::pair<double, double>> bytes;
  for (const auto& [level, moved] : why.a.model.bytes) bytes[level].first = moved;
  for (const auto& [level, moved] : why.b.model.bytes) bytes[level].second = moved;
  for (const auto& [level, pair] : bytes) row("from " + level, bytesText(pair.first), bytesText(pair.second));
  printTensors(why);
  row("vector instructions", fmt::format("{:.0f} %", 100 * why.a.model.vectorShare),
      fmt::format("{:.0f} %", 100 * why.b.model.vectorShare));
  row("packed", bytesText(why.a.model.packedBytes), bytesText(why.b.model.packedBytes));
  fmt::print("\ntime that nests wait for (modelled), and its share in the difference\n");
  for (const sweep::Share& share : why.shares)
    row(share.cause, ms(share.a), ms(share.b), signedMs(share.b - share.a));
  row("modelled in all", ms(why.a.model.seconds), ms(why.b.model.seconds), signedMs(why.modelled));
  if (why.measured) {
    row("measured", ms(why.a.measurement->median), ms(why.b.measurement->median), signedMs(*why.measured));
    row("unexplained", "", "", signedMs(*why.unexplained));
  }
  fmt::print("\n{}\n", why.counters);
  const auto lines = nearDifferences(why.code);
  const auto changed =
      std::ranges::count_if(why.code, [](const DiffLine& line) { return line.kind != DiffLine::Kind::both; });
  fmt::print("code: {} of {} lines differ{}\n", changed, why.code.size(),
             code || changed == 0 ? "" : "; --code prints them");
  if (!code) return;
  for (const DiffLine& line : lines) fmt::print("{} {}\n", static_cast<char>(line.kind), line.text);
}

json accountJson(const sweep::Account& account) {
  json tensors = json::array();
  for (const auto& use : account.model.tensors) {
    tensors.push_back({{"name", use.name},
                       {"bytes", use.bytes},
                       {"reads", use.reads},
                       {"writes", use.writes},
                       {"packed", use.packed}});
  }
  json j{{"candidate", account.candidate.id},
         {"variant", account.candidate.variant},
         {"parameters", account.candidate.parameters},
         {"modelled_s", account.model.seconds},
         {"flops", account.model.flops},
         {"bytes", account.model.bytes},
         {"causes_s", account.model.causes},
         {"tensors", std::move(tensors)},
         {"vector_share", account.model.vectorShare},
         {"packed_bytes", account.model.packedBytes}};
  j["median_s"] = account.measurement ? json(account.measurement->median) : json(nullptr);
  return j;
}

json whyJson(const sweep::Why& why) {
  json shares = json::array();
  for (const auto& share : why.shares)
    shares.push_back({{"cause", share.cause}, {"a_s", share.a}, {"b_s", share.b}});
  json parameters = json::object();
  for (const auto& one : why.parameters) {
    parameters[one.name] = {one.a ? json(*one.a) : json(nullptr), one.b ? json(*one.b) : json(nullptr)};
  }
  json code = json::array();
  for (const DiffLine& line : why.code)
    code.push_back(std::string(1, static_cast<char>(line.kind)) + line.text);
  json j{{"format", "nuscope-why"},
         {"version", 1},
         {"model", why.model},
         {"a", accountJson(why.a)},
         {"b", accountJson(why.b)},
         {"only_a", why.onlyA},
         {"only_b", why.onlyB},
         {"parameters", std::move(parameters)},
         {"shares", std::move(shares)},
         {"modelled_s", why.modelled},
         {"tie", why.tie},
         {"counters", why.counters},
         {"code", std::move(code)}};
  j["measured_s"] = why.measured ? json(*why.measured) : json(nullptr);
  j["unexplained_s"] = why.unexplained ? json(*why.unexplained) : json(nullptr);
  return j;
}

int explainPair(const Swept& swept, const Options& options) {
  std::pair<const Row*, const Row*> pair;
  if (options.candidates.empty()) {
    pair = usualPair(swept);
  } else if (options.candidates.size() == 2) {
    pair = {&rowOf(swept, options.candidates[0]), &rowOf(swept, options.candidates[1])};
  } else {
    throw UserError("give two candidates, or none: then the fastest is compared with the program as written");
  }
  const sweep::Explainer explainer(*swept.graph, swept.record);
  const sweep::Why why =
      explainer.why(pair.first->first, pair.first->second, pair.second->first, pair.second->second);
  if (options.asJson) {
    fmt::print("{}\n", whyJson(why).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    printWhy(why, options.code);
  }
  return yes;
}

int printRoofline(const Swept& swept, bool asJson) {
  constexpr std::size_t shown = 40;
  const sweep::Explainer explainer(*swept.graph, swept.record);
  const machine::Ceiling& ceiling = explainer.ceiling();
  const auto rows = measured(swept);
  json points = json::array();
  if (!asJson) {
    fmt::print("ceilings ({}): {}\n\n{:>9} {:>11} {:>9} {:>10} {:>8} {:>9}  candidate\n", explainer.model(),
               machine::text(ceiling), "median ms", "flop/byte", "of", "GFLOP/s", "of peak", "of level");
  }
  for (std::size_t i = 0; i < rows.size() && (asJson || i < shown); ++i) {
    const CandidateRecord& candidate = rows[i]->first;
    const auto point = sweep::rooflinePoint(candidate, rows[i]->second->median, explainer.work(candidate),
                                            explainer.target());
    const double rate = point.bytes / point.seconds * 1e-9;
    const auto level = ceiling.gigabytes.find(point.level);
    const double ofLevel = level == ceiling.gigabytes.end() ? 0 : rate / level->second;
    if (asJson) {
      points.push_back({{"candidate", candidate.id},
                        {"median_s", point.seconds},
                        {"flops", point.flops},
                        {"bytes", point.bytes},
                        {"level", point.level}});
      continue;
    }
    fmt::print("{:>9.4g} {:>11.3g} {:>9} {:>10.3g} {:>6.0f} % {:>7.0f} %  {}\n", 1e3 * point.seconds,
               point.intensity(), point.level, point.gigaflops(), 100 * point.gigaflops() / ceiling.gigaflops,
               100 * ofLevel, nameOf(candidate));
  }
  if (asJson) {
    fmt::print("{}\n", json{{"format", "nuscope-roofline"},
                            {"version", 1},
                            {"calibrated", explainer.calibrated()},
                            {"peak_gigaflops", ceiling.gigaflops},
                            {"gigabytes", ceiling.gigabytes},
                            {"points", std::move(points)}}
                           .dump(2));
  } else {
    if (rows.size() > shown) fmt::print("not shown: {} slower\n", rows.size() - shown);
    fmt::print("\nflops and bytes are modelled, times measured\n");
  }
  return yes;
}

int printParameters(const Swept& swept, bool asJson) {
  std::vector<sweep::TimedPoint> points;
  for (const Row* row : measured(swept)) points.push_back({row->first.parameters, row->second->median});
  const auto effects = sweep::parameterEffects(points);
  if (asJson) {
    json list = json::array();
    for (const auto& effect : effects) {
      json values = json::array();
      for (const auto& value : effect.values) {
        values.push_back({{"value", value.value},
                          {"candidates", value.count},
                          {"best_s", value.best},
                          {"median_s", value.median}});
      }
      list.push_back({{"name", effect.name}, {"spread", effect.spread()}, {"values", std::move(values)}});
    }
    fmt::print(
        "{}\n",
        json{{"format", "nuscope-parameters"}, {"version", 1}, {"parameters", std::move(list)}}.dump(2));
    return yes;
  }
  fmt::print("measured times of {} candidates by parameter; those that matter most first\n\n", points.size());
  for (const auto& effect : effects) {
    fmt::print("{:<10} medians differ by a factor of {:.3g}\n", effect.name, effect.spread());
    for (const auto& value : effect.values) {
      fmt::print("{:>12} {:>6} candidates, best {:>10}, median {:>10}\n", value.value, value.count,
                 ms(value.best), ms(value.median));
    }
  }
  if (effects.empty()) fmt::print("no parameter took two values\n");
  return yes;
}

/// The model as it is now, against what was measured.
int printModel(const Swept& swept, bool asJson) {
  constexpr std::size_t shown = 40;
  const sweep::Explainer explainer(*swept.graph, swept.record);
  const auto rows = measured(swept);
  std::vector<double> modelled;
  std::vector<double> seconds;
  json points = json::array();
  if (!asJson)
    fmt::print("modelled: {}\n\n{:>11} {:>11} {:>8}  waits for, candidate\n", explainer.model(),
               "measured ms", "modelled ms", "ratio");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto account = explainer.account(rows[i]->first, rows[i]->second);
    modelled.push_back(account.model.seconds);
    seconds.push_back(rows[i]->second->median);
    const auto bound =
        std::ranges::max_element(account.model.causes, {}, [](const auto& cause) { return cause.second; });
    const std::string cause = bound == account.model.causes.end() ? "" : bound->first;
    if (asJson) {
      points.push_back({{"candidate", rows[i]->first.id},
                        {"median_s", seconds.back()},
                        {"modelled_s", modelled.back()},
                        {"waits_for", cause}});
    } else if (i < shown) {
      fmt::print("{:>11.4g} {:>11.4g} {:>8.2f}  {}, {}\n", 1e3 * seconds.back(), 1e3 * modelled.back(),
                 seconds.back() / modelled.back(), cause, nameOf(rows[i]->first));
    }
  }
  const double correlation = sweep::rankCorrelation(modelled, seconds);
  if (asJson) {
    json report{{"format", "nuscope-model"}, {"version", 1}, {"points", std::move(points)}};
    report["rank_correlation"] = std::isfinite(correlation) ? json(correlation) : json(nullptr);
    fmt::print("{}\n", report.dump(2));
    return yes;
  }
  if (rows.size() > shown) fmt::print("not shown: {} slower\n", rows.size() - shown);
  if (std::isfinite(correlation))
    fmt::print("\nrank correlation of modelled and measured times of {} candidates: {:.2f}\n", rows.size(),
               correlation);
  return yes;
}

int run(const Options& options) {
  const Swept swept = readSweep(options);
  if (options.model) return printModel(swept, options.asJson);
  if (options.roofline) return printRoofline(swept, options.asJson);
  if (options.parameters) return printParameters(swept, options.asJson);
  return explainPair(swept, options);
}

}  // namespace

void addWhy(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "why", "Why one candidate of a sweep is faster than another: what differs, and each cause's share");
  command->add_option("STUDY", options->study, "A study with a sweep")->required();
  command->add_option(
      "CANDIDATES", options->candidates,
      "A B: two candidates (default: the fastest, and the fastest of the program as written)");
  command->add_option("--sweep", options->sweep, "Which sweep (default: the latest)");
  command->add_flag("--code", options->code, "Print the difference of the two kernels too");
  auto* roofline =
      command->add_flag("--roofline", options->roofline,
                        "Instead: each candidate's flops per byte and GFLOP/s below the ceilings");
  auto* parameters = command->add_flag("--parameters", options->parameters,
                                       "Instead: how measured times go with each parameter");
  auto* model = command->add_flag("--model", options->model,
                                  "Instead: modelled times, as of now, beside the measured ones");
  parameters->excludes(roofline);
  model->excludes(roofline)->excludes(parameters);
  command->add_flag("--json", options->asJson, "Print JSON");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
