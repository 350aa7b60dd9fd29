// `nuscope sweep`: compiles, checks and times candidates on a device, and says which wins.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "app/cancel.h"
#include "app/commands.h"
#include "app/program_argument.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/nugraph/json.h"
#include "core/proof/solver_pool.h"
#include "core/propagate/explore.h"
#include "core/sweep/npz.h"
#include "core/sweep/sweep.h"
#include "core/tiling/space.h"

namespace nuscope::app {
namespace {

using nlohmann::json;
using sweep::CandidateRecord;
using sweep::Measurement;
using sweep::Study;

struct SweepArguments {
  std::string program;
  std::string shape;
  std::string budget = "60s";
  std::string worker;
  std::string output;
  std::vector<std::string> settings;
  std::string inputs;
  std::vector<std::string> against;
  std::string againstFlags;
  bool asJson = false;
  bool noBaselines = false;
  sweep::SweepOptions options;
};

void parseBudget(const std::string& text, sweep::SweepOptions& options) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (count < 1) throw UserError("a budget must be at least one candidate");
    options.candidateBudget = count;
  } else {
    options.secondsBudget = parseSeconds(text);
  }
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// The study that the sweep writes into.
std::unique_ptr<Study> openStudy(const SweepArguments& arguments, bool programIsStudy) {
  if (arguments.output.empty() && !programIsStudy) {
    if (arguments.options.resume)
      throw UserError("--resume needs the study of the earlier sweep: give it with -o");
    return Study::temporary();
  }
  const std::string path = arguments.output.empty() ? arguments.program : arguments.output;
  const bool copied = programIsStudy && !arguments.output.empty() && !std::filesystem::exists(path);
  if (copied) Study::open(arguments.program, Study::Access::read)->saveCopy(path);
  auto study = Study::openOrCreate(path);
  if (study->readOnly())
    throw UserError(fmt::format("{} cannot be written: {}", path, study->readOnlyReason()));
  return study;
}

std::shared_ptr<const nugraph::NuGraph> graphOf(Study& study, int revision, const ProgramArgument& source,
                                                std::uint64_t seed, const Progress& progress) {
  if (const auto stored = study.nuGraph(revision)) {
    auto graph = nugraph::fromJson(*stored);
    if (graph) return std::make_shared<const nugraph::NuGraph>(std::move(graph).value());
    fmt::print(stderr, "the stored nu-graph is not used: {}\n", graph.refusal().message);
  }
  propagate::ExploreOptions options;
  options.seed = seed;
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  proof::SolverPool solvers(executablePath(), options.threads);
  options.solvers = &solvers;
  const auto graph = propagate::explore(source.program, options, progress, {});
  study.setNuGraph(revision, nugraph::toJson(*graph));
  fmt::print(stderr, "explored: {} variants, every step proved over the reals\n", graph->variants().size());
  return graph;
}

std::string timeText(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string candidateText(const CandidateRecord& candidate) {
  return fmt::format("#{} variant {} ({}) {}", candidate.id, candidate.variant, candidate.label,
                     sweep::parametersText(candidate.parameters));
}

void onEvent(const sweep::SweepEvent& event) {
  using Kind = sweep::SweepEvent::Kind;
  switch (event.kind) {
    case Kind::enumerated:
      fmt::print(stderr, "{:6.1f} s  {} candidates\n", event.seconds, event.counts.enumerated);
      break;
    case Kind::best:
      fmt::print(stderr, "{:6.1f} s  best {:>10}  {}\n", event.seconds,
                 timeText(event.measurement ? event.measurement->median : 0), candidateText(event.candidate));
      break;
    case Kind::baseline:
      if (event.candidate.state == sweep::CandidateState::measured && event.measurement) {
        fmt::print(stderr, "{:6.1f} s       {:>10}  {}\n", event.seconds, timeText(event.measurement->median),
                   event.candidate.label);
      }
      break;
    case Kind::note:
      fmt::print(stderr, "{:6.1f} s  {}\n", event.seconds, event.text);
      break;
    default:
      break;
  }
}

json measurementJson(const CandidateRecord& candidate, const std::optional<Measurement>& measurement) {
  json j{{"label", candidate.label},
         {"state", sweep::text(candidate.state)},
         {"standing", sweep::standingText(candidate)},
         {"reason", candidate.reason}};
  if (!measurement || measurement->samples.empty()) return j;
  j["median_s"] = measurement->median;
  j["low_s"] = measurement->low;
  j["high_s"] = measurement->high;
  j["confidence"] = measurement->confidence;
  j["samples"] = measurement->samples.size();
  j["date"] = measurement->date;
  const auto& gate = measurement->gate;
  j["worst_error_over_bound"] =
      gate.worst >= 0 ? json(gate.draws[static_cast<std::size_t>(gate.worst)].ratio) : json(nullptr);
  return j;
}

/// The fastest baseline, when the best candidate does not beat it beyond noise.
std::optional<std::string> unbeaten(const sweep::SweepResult& result) {
  if (!result.bestMeasurement) return std::nullopt;
  const CandidateRecord* fastest = nullptr;
  const Measurement* least = nullptr;
  for (const auto& [candidate, measurement] : result.baselines) {
    const bool timed =
        candidate.kind == sweep::CandidateKind::baseline && measurement && !measurement->samples.empty();
    if (!timed || (least != nullptr && least->median <= measurement->median)) continue;
    fastest = &candidate;
    least = &*measurement;
  }
  if (least == nullptr || result.bestMeasurement->high < least->low) return std::nullopt;
  return fastest->label;
}

json resultJson(const Study& study, const sweep::SweepRecord& record, const sweep::SweepResult& result) {
  json report{
      {"format", "nuscope-sweep"},
      {"version", 1},
      {"sweep", result.sweep},
      {"study", study.path()},
      {"extents", record.extents},
      {"target", record.target},
      {"device", record.device},
      {"toolchain", record.toolchain},
      {"threads", record.threads},
      {"seed", record.seed},
      {"environment", record.environment},
      {"candidates",
       {{"enumerated", result.counts.enumerated},
        {"measured", result.counts.measured},
        {"wrong", result.counts.wrong},
        {"failed", result.counts.failed},
        {"timed_out", result.counts.timedOut}}},
      {"reused", result.reused},
      {"ties", result.ties},
      {"notes", result.notes},
      {"seconds", result.seconds},
      {"seconds_spent",
       {{"compile", result.compileSeconds}, {"gate", result.gateSeconds}, {"time", result.timeSeconds}}},
      {"cancelled", result.cancelled},
      {"cut_by_time", result.cutByTime}};
  report["rank_correlation"] =
      std::isfinite(result.rankCorrelation) ? json(result.rankCorrelation) : json(nullptr);
  report["best"] = nullptr;
  if (result.best) {
    json best = measurementJson(*result.best, result.bestMeasurement);
    best.update({{"candidate", result.best->id},
                 {"variant", result.best->variant},
                 {"parameters", result.best->parameters},
                 {"modelled_s", result.best->modelledSeconds},
                 {"device", record.device}});
    report["best"] = std::move(best);
  }
  json baselines = json::array();
  json against = json::array();
  for (std::size_t i = 0; i < result.baselines.size(); ++i) {
    const bool foreign = result.baselines[i].first.kind == sweep::CandidateKind::foreign;
    json baseline = measurementJson(result.baselines[i].first, result.baselines[i].second);
    const double ratio = result.baselinesOverBest[i];
    baseline["over_best"] = ratio > 0 ? json(ratio) : json(nullptr);
    if (foreign) baseline.update({{"candidate", result.baselines[i].first.id}, {"proved", false}});
    (foreign ? against : baselines).push_back(std::move(baseline));
  }
  const auto baseline = unbeaten(result);
  report["unbeaten_baseline"] = baseline ? json(*baseline) : json(nullptr);
  report["against"] = std::move(against);
  report["baselines"] = std::move(baselines);
  return report;
}

struct Row {
  CandidateRecord candidate;
  Measurement measurement;
};

std::vector<Row> rowsOf(const Study& study, int sweepId) {
  std::vector<Row> rows;
  for (const CandidateRecord& candidate : study.candidates(sweepId)) {
    if (candidate.state != sweep::CandidateState::measured || !candidate.measurement) continue;
    if (auto measurement = study.measurement(*candidate.measurement))
      rows.push_back({candidate, std::move(*measurement)});
  }
  return rows;
}

/// `ratio`: to the best one's median; 0: none is shown.
void printRow(const Row& row, double ratio, const std::string& name, const std::string& mark) {
  const Measurement& m = row.measurement;
  const auto& gate = m.gate;
  const double error = gate.worst >= 0 ? gate.draws[static_cast<std::size_t>(gate.worst)].ratio : 0;
  fmt::print("{:<5} {:>11}  {:>11} .. {:<11} {:>7}  {:>7.2g}  {}\n", mark, timeText(m.median),
             timeText(m.low), timeText(m.high), ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-", error, name);
}

double overBest(const sweep::SweepResult& result, int baseline) {
  for (std::size_t i = 0; i < result.baselines.size(); ++i) {
    if (result.baselines[i].first.id == baseline) return result.baselinesOverBest[i];
  }
  return 0;
}

void printTable(const Study& study, const sweep::SweepRecord& record, const sweep::SweepResult& result) {
  constexpr std::size_t shown = 12;
  const auto& c = result.counts;
  fmt::print("{} at {}: {}, {} thread{}, measured on {}\n", study.revision(record.revision).name,
             sweep::extentsText(record.extents), record.target, record.threads,
             record.threads == 1 ? "" : "s", record.device);
  fmt::print(
      "{} candidates: {} measured, {} wrong, {} failed, {} timed out; {} measurements reused; {:.1f} s\n\n",
      c.enumerated, c.measured, c.wrong, c.failed, c.timedOut, result.reused, result.seconds);
  auto rows = rowsOf(study, result.sweep);
  const double best = result.bestMeasurement ? result.bestMeasurement->median : 0;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.measurement.median < b.measurement.median; });
  if (!rows.empty())
    fmt::print("{:<5} {:>11}  {:^26} {:>7}  {:>7}  candidate\n", "", "median", "interval", "of best",
               "error");
  std::size_t printed = 0;
  for (const Row& row : rows) {
    const bool foreign = row.candidate.kind == sweep::CandidateKind::foreign;
    const bool baseline = row.candidate.kind != sweep::CandidateKind::emitted;
    const bool isBest = result.best && row.candidate.id == result.best->id;
    const bool tie = std::find(result.ties.begin(), result.ties.end(), row.candidate.id) != result.ties.end();
    if (!baseline && !isBest && !tie && printed >= shown) continue;
    if (!baseline) ++printed;
    const double ratio = baseline   ? overBest(result, row.candidate.id)
                         : best > 0 ? row.measurement.median / best
                                    : 0;
    const std::string name = foreign    ? fmt::format("#{} {}", row.candidate.id, row.candidate.label)
                             : baseline ? row.candidate.label
                                        : candidateText(row.candidate);
    printRow(row, ratio, name, isBest ? "best" : foreign ? "yours" : tie ? "tie" : baseline ? "base" : "");
  }
  fmt::print("\nerror: of the worst element, in bounds of rounding; the gate allows 4\n");
  fmt::print("{:.1f} s went into compiling, {:.1f} s into the gate, {:.1f} s into timing\n",
             result.compileSeconds, result.gateSeconds, result.timeSeconds);
  for (const auto& [candidate, measurement] : result.baselines) {
    if (!measurement || measurement->samples.empty()) {
      const bool foreign = candidate.kind == sweep::CandidateKind::foreign;
      fmt::print("{} \"{}\": {}{}\n", foreign ? "not in the race:" : "no baseline", candidate.label,
                 foreign ? fmt::format("{}: ", sweep::text(candidate.state)) : "",
                 foreign ? candidate.reason : candidate.reason.substr(0, candidate.reason.find('\n')));
    } else if (candidate.kind == sweep::CandidateKind::foreign) {
      fmt::print("{}: {}\n", candidate.label, sweep::standingText(candidate));
    }
  }
  for (const CandidateRecord& candidate : study.candidates(result.sweep)) {
    if (candidate.state == sweep::CandidateState::wrong && candidate.kind != sweep::CandidateKind::foreign)
      fmt::print("wrong: {}: {}\n", candidateText(candidate), candidate.reason);
  }
  if (std::isfinite(result.rankCorrelation)) {
    fmt::print("rank correlation of modelled and measured times: {:.2f}\n", result.rankCorrelation);
  }
  if (const auto baseline = unbeaten(result))
    fmt::print("no candidate beats \"{}\" beyond noise\n", *baseline);
  if (!result.best) fmt::print("no candidate passed the gate\n");
  if (study.path().empty()) {
    fmt::print("nothing was saved; -o S.nuscope keeps programs, proofs and measurements\n");
  } else {
    fmt::print("saved in {}\n", study.path());
  }
}

sweep::SweepRecord recordOf(const Study& study, int id) {
  for (const auto& record : study.sweeps()) {
    if (record.id == id) return record;
  }
  throw InternalError("the sweep is not in its study");
}

/// Extents: of --shape, of the arrays of --inputs, or those of the study's latest sweep.
tensor::Extents extentsOf(const SweepArguments& arguments, const tensor::Program& program,
                          const std::vector<sweep::NpyArray>& arrays, const Study& study, int revision) {
  if (!arguments.shape.empty()) return sweep::parseExtents(arguments.shape);
  if (!arguments.inputs.empty()) return sweep::extentsOf(arrays, program, arguments.inputs);
  tensor::Extents extents;
  for (const auto& record : study.sweeps()) {
    if (record.revision == revision) extents = record.extents;
  }
  return extents;
}

/// The user's data becomes a draw of the gate.
void takeInputs(SweepArguments& arguments, const tensor::Program& program,
                const std::vector<sweep::NpyArray>& arrays) {
  sweep::checkExtents(program, arguments.options.extents);
  std::vector<std::string> notes;
  const std::string name = std::filesystem::path(arguments.inputs).filename().string();
  arguments.options.given.push_back(
      {name, sweep::inputsOf(arrays, program, arguments.options.extents, arguments.inputs, notes)});
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
}

int runSweepCommand(SweepArguments arguments) {
  sweep::SweepOptions& options = arguments.options;
  parseBudget(arguments.budget, options);
  options.worker = words(arguments.worker);
  for (const std::string& setting : arguments.settings) tiling::allow(options.narrowing.only, setting);
  for (const std::string& file : arguments.against) {
    options.against.push_back(sweep::readForeign(file));
    options.against.back().flags = words(arguments.againstFlags);
  }
  options.baselines = !arguments.noBaselines;
  const ProgramArgument source = readProgramArgument(arguments.program);
  const auto study = openStudy(arguments, source.study);
  const auto known = study->findRevision(source.text);
  const int revision = known ? known->id : study->addRevision(source.program.name, source.text, source.file);
  std::vector<sweep::NpyArray> arrays;
  if (!arguments.inputs.empty()) arrays = sweep::parseNpz(readWholeFile(arguments.inputs), arguments.inputs);
  options.extents = extentsOf(arguments, source.program, arrays, *study, revision);
  if (!arguments.inputs.empty()) takeInputs(arguments, source.program, arrays);
  const CommandProgress progress;
  const auto graph = graphOf(*study, revision, source, options.seed, progress.progress());
  const sweep::SweepResult result =
      sweep::runSweep(*study, revision, *graph, options, progress.progress(), onEvent);
  const sweep::SweepRecord record = recordOf(*study, result.sweep);
  if (arguments.asJson) {
    fmt::print("{}\n",
               resultJson(*study, record, result).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    printTable(*study, record, result);
  }
  if (result.cancelled) return cancelled;
  return result.best ? yes : no;
}

}  // namespace

void addSweep(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<SweepArguments>();
  auto& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "sweep", "Compile, check and time candidates on a device; the fastest right one wins");
  command->add_option("PROGRAM", arguments->program, "A NumPy program, or a study (its latest program)")
      ->required();
  command->add_option("--device", options.device, "host, or simulated:FAULT@N,...")->capture_default_str();
  command->add_option("--target", options.target, "Hardware description (default: what fits the processor)");
  command->add_option("--shape", arguments->shape,
                      "Extents: M=512,K=1024 (default: those of the study's latest sweep)");
  command->add_option("--budget", arguments->budget, "Time (60s, 5m) or number of candidates (200)")
      ->capture_default_str();
  command->add_flag("--exhaustive", options.exhaustive, "Measure every candidate, whatever the model says");
  command->add_option("--threads", options.threads, "Threads of each kernel")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--variants", options.narrowing.variants, "Only these variants, e.g. 0,9")
      ->delimiter(',');
  command->add_option(
      "--set", arguments->settings,
      "Only these values of a parameter, e.g. tile_m=6 or unroll=2,4 (repeatable); nuscope emit "
      "--space lists them");
  command->add_option(
      "--inputs", arguments->inputs,
      "FILE.npz with an array for every input: one more draw of the gate; gives the extents too");
  command->add_option(
      "--against", arguments->against,
      "FILE.cpp, FILE.so or FILE:FUNCTION with the kernel's signature: compiled in the worker, gated, "
      "timed in turns with the winner, labelled not proved, never chosen (repeatable)");
  command->add_option("--against-flags", arguments->againstFlags,
                      "More flags for compiling --against sources, e.g. \"-fopenmp -lopenblas\"");
  command->add_option("--worker", arguments->worker,
                      "Command that starts the worker: \"ssh HOST nuscope worker\"");
  command->add_flag("--resume", options.resume, "Continue the study's latest sweep of these settings");
  command->add_option("--python", options.python, "A Python that has torch, for one more baseline");
  command->add_flag("--no-baselines", arguments->noBaselines, "Do not time baselines");
  command->add_option("--seed", options.seed, "Of draws and of the search")->capture_default_str();
  command->add_option("--run-limit", options.runLimitSeconds, "Seconds that one run may take")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "Write into this study (S.nuscope)");
  command->add_flag("--json", arguments->asJson, "Print JSON");
  command->callback([&action, arguments] { action = [arguments] { return runSweepCommand(*arguments); }; });
}

}  // namespace nuscope::app
