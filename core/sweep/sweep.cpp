#include "core/sweep/sweep.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <numeric>
#include <unordered_map>

#include "core/base/diagnostics.h"
#include "core/base/process.h"
#include "core/machine/calibration.h"
#include "core/machine/target.h"
#include "core/nugraph/nugraph.h"
#include "core/semantics/draw.h"
#include "core/sweep/baselines.h"
#include "core/sweep/best_so_far.h"
#include "core/sweep/calibrate.h"
#include "core/sweep/candidates.h"
#include "core/sweep/race.h"
#include "core/sweep/torch_baseline.h"

namespace nuscope::sweep {
namespace {

constexpr int mostTraces = 8;
using Clock = std::chrono::steady_clock;

machine::Target targetFor(const SweepOptions& options, std::string& why) {
  const machine::HostTarget host = machine::hostTarget();
  why = options.target.empty() ? host.why : "chosen by the user";
  machine::Target target = machine::loadTarget(options.target.empty() ? host.name : options.target);
  if (target.kind != "host")
    throw UserError(fmt::format("{} is a {} target; this sweep runs on the host", target.name, target.kind));
  const auto missing = machine::missingFeatures(target);
  if (!missing.empty()) {
    throw EnvironmentError(fmt::format("kernels for {} do not run on this processor: it lacks {}",
                                       target.name, fmt::join(missing, ", ")));
  }
  return target;
}

std::string budgetText(const SweepOptions& options) {
  if (options.exhaustive) return "exhaustive";
  std::string text;
  if (options.secondsBudget > 0) text += fmt::format("{:g}s", options.secondsBudget);
  if (options.candidateBudget > 0)
    text += fmt::format("{}{} candidates", text.empty() ? "" : ", ", options.candidateBudget);
  return text.empty() ? "none" : text;
}

std::string deviceText(const SweepOptions& options, const Hello& hello) {
  if (options.device != "host") return options.device;
  for (const DeviceEntry& device : hello.devices) {
    if (device.kind == "host") return fmt::format("host: {}", device.name);
  }
  return "host";
}

class Sweep {
 public:
  Sweep(Study& study, int revision, const nugraph::NuGraph& graph, const SweepOptions& options,
        const Progress& progress, const std::function<void(const SweepEvent&)>& onEvent)
      : study_(study),
        revision_(revision),
        graph_(graph),
        program_(graph.root()),
        options_(options),
        progress_(progress),
        onEvent_(onEvent),
        start_(Clock::now()),
        target_(targetFor(options, targetReason_)),
        worker_(workerCommand(), progress.stopToken()) {}

  SweepResult run() {
    device_ = deviceText(options_, worker_.hello());
    useCalibration();
    auto referencesReady = std::async(std::launch::async, [this] { return makeReferencesNow(); });
    Candidates candidates =
        enumerateCandidates(graph_, options_.extents, target_, options_.narrowing, options_.threads,
                            options_.maxCandidates, worker_.hello().compiler, progress_.part(0, 0.05));
    for (const std::string& note : candidates.notes) addNote(note);
    if (candidates.entrants.empty()) {
      throw UserError(fmt::format("there is nothing to measure: {}", fmt::join(candidates.notes, "; ")));
    }
    toolchain_ = candidates.entrants[0].toolchain;
    std::vector<Entrant> entrants = std::move(candidates.entrants);
    std::vector<Entrant> baselines;
    if (options_.baselines)
      baselines = makeBaselines(program_, options_.extents, worker_.hello(), options_.threads);
    for (const ForeignKernel& kernel : options_.against)
      baselines.push_back(makeForeign(kernel, program_, target_, worker_.hello().compiler));
    if (options_.baselines && !options_.python.empty()) baselines.push_back(torchBeforeItsRun());
    enter(entrants, baselines);
    try {
      race(entrants, baselines, referencesReady);
    } catch (const Cancelled&) {
      result_.cancelled = true;
    }
    return finish(entrants, baselines);
  }

 private:
  [[nodiscard]] std::vector<std::string> workerCommand() const {
    std::vector<std::string> command = options_.worker;
    if (command.empty()) {
      const std::filesystem::path own = executablePath();
      command = {(own.parent_path() / "nuscope").string(), "worker"};
    }
    command.insert(command.end(), {"--device", options_.device});
    return command;
  }

  /// The model takes what this machine attained when it was measured; the first sweep on it measures that,
  /// before anything else runs.
  void useCalibration() {
    if (!options_.worker.empty() || options_.device != "host") {
      calibration_ = "none: the model takes the nominal figures of the description";
      return;
    }
    auto kept = machine::keptCalibration(target_);
    if (!kept) {
      try {
        kept = calibrate(worker_, target_, progress_.part(0, 0.02));
        machine::keepCalibration(*kept, target_);
        addNote(fmt::format("this machine was calibrated in {:.1f} s, and that is kept: {}", kept->seconds,
                            machine::text(kept->at(options_.threads))));
      } catch (const EnvironmentError& error) {
        addNote(error.what());
      }
    }
    if (!kept) return;
    target_ = machine::calibrated(target_, *kept, options_.threads);
    calibration_ = fmt::format("{}, measured {}", machine::text(kept->at(options_.threads)), kept->date);
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void emitEvent(SweepEvent event) {
    event.sweep = result_.sweep;
    event.seconds = seconds();
    if (onEvent_) onEvent_(event);
  }

  void addNote(const std::string& text) {
    result_.notes.push_back(text);
    SweepEvent event;
    event.kind = SweepEvent::Kind::note;
    event.text = text;
    emitEvent(event);
  }

  std::vector<Reference> makeReferencesNow() {
    GateOptions gate;
    gate.seed = options_.seed;
    gate.accumulation = accumulationOf(program_);
    gate.threads = worker_.hello().processors;
    gate.given = options_.given;
    return makeReferences(program_, options_.extents, gate, Progress(progress_.stopToken()), referenceNotes_);
  }

  /// The latest sweep of the same revision and settings, if it is to be resumed.
  [[nodiscard]] std::optional<SweepRecord> earlier() const {
    if (!options_.resume) return std::nullopt;
    std::optional<SweepRecord> found;
    for (const SweepRecord& sweep : study_.sweeps()) {
      if (sweep.revision == revision_ && sweep.extents == options_.extents && sweep.target == target_.name &&
          sweep.device == device_ && sweep.threads == options_.threads) {
        found = sweep;
      }
    }
    return found;
  }

  /// Sweep and candidates into the study; what an earlier run left is taken over.
  void enter(std::vector<Entrant>& entrants, std::vector<Entrant>& baselines) {
    const auto before = earlier();
    if (before) {
      result_.sweep = before->id;
      study_.resumeSweep(before->id);
      bestSoFar_ = bestSoFar(*before);
      earlierSeconds_ = secondsOf(*before);
      if (!options_.against.empty()) study_.noteSweep(before->id, "against (not proved)", againstNames());
      takeOver(entrants, baselines);
    } else {
      result_.sweep = study_.addSweep(describe());
    }
    SweepEvent started;
    started.kind = SweepEvent::Kind::started;
    emitEvent(started);
    if (before) addNote(fmt::format("sweep {} of {} continues", before->id, before->started));
    std::vector<CandidateRecord> added;
    std::vector<Entrant*> owners;
    for (auto* list : {&baselines, &entrants}) {
      for (Entrant& entrant : *list) {
        if (entrant.record.id != 0) continue;
        entrant.record.sweep = result_.sweep;
        added.push_back(entrant.record);
        owners.push_back(&entrant);
      }
    }
    study_.addCandidates(added);
    for (std::size_t i = 0; i < added.size(); ++i) owners[i]->record.id = added[i].id;
    SweepEvent event;
    event.kind = SweepEvent::Kind::enumerated;
    event.counts = counts_ = study_.counts(result_.sweep);
    emitEvent(event);
  }

  static std::string keyOf(const CandidateRecord& record) {
    if (record.kind == CandidateKind::emitted) return record.kernel;
    return fmt::format("{} {}", text(record.kind), record.kernel.empty() ? record.label : record.kernel);
  }

  void takeOver(std::vector<Entrant>& entrants, std::vector<Entrant>& baselines) {
    std::unordered_map<std::string, CandidateRecord> known;
    for (const CandidateRecord& record : study_.candidates(result_.sweep)) {
      known[keyOf(record)] = record;
    }
    const Scores scores = keptScores(study_, result_.sweep);
    const auto adopt = [&](Entrant& entrant, const std::string& key) {
      const auto found = known.find(key);
      if (found == known.end()) return;
      const double modelled = entrant.record.modelledSeconds;
      entrant.record = found->second;
      entrant.record.modelledSeconds = modelled;
      if (entrant.record.state == CandidateState::compiled) entrant.record.state = CandidateState::enumerated;
      if (!entrant.record.measurement) return;
      if (auto measurement = study_.measurement(*entrant.record.measurement)) {
        entrant.measurement = std::move(*measurement);
        const auto score = scores.find(entrant.record.id);
        entrant.score = score == scores.end() ? entrant.measurement.median : score->second;
      }
    };
    for (Entrant& entrant : entrants) adopt(entrant, keyOf(entrant.record));
    for (Entrant& baseline : baselines) adopt(baseline, keyOf(baseline.record));
  }

  /// The record of torch until runTorchBaseline has timed it (in a Python of its own, not in the worker), or
  /// why it cannot be: it is listed either way.
  [[nodiscard]] Entrant torchBeforeItsRun() const {
    Entrant entrant;
    entrant.record.kind = CandidateKind::baseline;
    entrant.record.label = "torch";
    entrant.record.state = CandidateState::skipped;
    if (!options_.worker.empty()) {
      entrant.record.reason = "torch is measured on this machine only, and the worker is elsewhere";
    } else {
      const auto text = torchProgram(program_, options_.extents);
      entrant.record.reason = text ? "not run yet" : text.refusal().message;
      if (text) entrant.record.kernel = textHash(*text);
    }
    return entrant;
  }

  /// torch is timed between two bursts of the winner, so that their ratio comes from one session too.
  void runTorchBaseline(std::vector<Entrant>& baselines, Entrant* winner, Bench& bench) {
    if (baselines.empty() || baselines.back().record.label != "torch" ||
        baselines.back().record.kernel.empty())
      return;
    const CandidateRecord record = baselines.back().record;
    const double before = burst(winner, bench);
    Entrant ran = runTorch(options_.python, program_, options_.extents, bench.references(), options_.threads,
                           GateOptions().factor, 120, Progress(progress_.stopToken()));
    const double after = burst(winner, bench);
    ran.record.id = record.id;
    ran.record.sweep = record.sweep;
    if (ran.measurement.samples.empty()) {
      study_.updateCandidate(ran.record);
    } else {
      if (before > 0 && after > 0) ran.overBest = ran.measurement.median / std::midpoint(before, after);
      ran.measurement.key = {ran.record.kernel, extentsText(options_.extents), device_, ran.toolchain,
                             options_.threads};
      ran.measurement.id = study_.putMeasurement(ran.measurement, &ran.record);
    }
    baselines.back() = std::move(ran);
    onTrial(baselines.back());
  }

  /// The winner's median in seconds now; 0 if there is none or it could not be timed.
  static double burst(Entrant* winner, Bench& bench) {
    MeasureRequest request;
    request.seconds = 0.5;
    std::vector<std::vector<double>> samples;
    if (winner == nullptr || bench.measure({winner}, request, samples).outcome != Outcome::ok) return 0;
    return medianInterval(samples[0]).median;
  }

  [[nodiscard]] std::string againstNames() const {
    std::string names;
    for (const ForeignKernel& kernel : options_.against) names += (names.empty() ? "" : ", ") + kernel.name;
    return names;
  }

  [[nodiscard]] SweepRecord describe() const {
    SweepRecord record;
    record.revision = revision_;
    record.extents = options_.extents;
    record.target = target_.name;
    record.device = device_;
    record.toolchain = toolchain_;
    record.threads = options_.threads;
    record.seed = options_.seed;
    record.budget = budgetText(options_);
    const Hello& hello = worker_.hello();
    record.environment = {{"nuscope", hello.version},
                          {"host", hello.host},
                          {"compiler", hello.compiler},
                          {"target", targetReason_},
                          {"calibration", calibration_}};
    for (const auto& [name, library] : hello.libraries) record.environment[name] = library.text;
    utsname system{};
    if (uname(&system) == 0)
      record.environment["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
    if (const std::string narrowed = options_.narrowing.text(); !narrowed.empty())
      record.environment["narrowed to"] = narrowed;
    for (const GivenDraw& draw : options_.given) record.environment["inputs"] = draw.name;
    if (!options_.against.empty()) record.environment["against (not proved)"] = againstNames();
    double load = 0;
    if (getloadavg(&load, 1) == 1) record.environment["load when started"] = fmt::format("{:.2f}", load);
    return record;
  }

  void onTrial(const Entrant& entrant) {
    SweepEvent event;
    const bool isBaseline = entrant.record.kind != CandidateKind::emitted;
    event.kind = isBaseline ? SweepEvent::Kind::baseline : SweepEvent::Kind::candidate;
    event.candidate = entrant.record;
    if (entrant.record.measurement) event.measurement = entrant.measurement;
    if (!isBaseline) count(entrant.record);
    event.counts = counts_;
    emitEvent(event);
  }

  void noteBest(double median) {
    if (!bestSoFar_.empty() && bestSoFar_.back().second <= median) return;
    bestSoFar_.emplace_back(earlierSeconds_ + seconds(), median);
    study_.noteSweep(result_.sweep, bestSoFarKey, text(bestSoFar_));
  }

  /// Counts follow the states without asking the study each time.
  void count(const CandidateRecord& record) {
    const auto bump = [this](CandidateState state, int by) {
      if (state == CandidateState::measured) counts_.measured += by;
      if (state == CandidateState::wrong) counts_.wrong += by;
      if (state == CandidateState::failed || state == CandidateState::crashed) counts_.failed += by;
      if (state == CandidateState::timedOut) counts_.timedOut += by;
    };
    const auto known = states_.find(record.id);
    if (known != states_.end()) bump(known->second, -1);
    states_[record.id] = record.state;
    bump(record.state, 1);
  }

  void onWrong(Entrant& entrant, int failing, const Bench& bench) {
    if (entrant.record.kind == CandidateKind::foreign) {
      entrant.measurement.gate.text += ". It computes something else than the program";
      return;
    }
    if (++traces_ > mostTraces) {
      entrant.measurement.gate.text += fmt::format("; not traced: {} others were", mostTraces);
      return;
    }
    const Reference& reference = bench.references().at(static_cast<std::size_t>(failing));
    GateRecord& gate = entrant.measurement.gate;
    traceWrong(gate, program_, entrant.results, options_.extents, reference, accumulationOf(program_),
               Progress(progress_.stopToken()));
    if (gate.verdict != "fault") return;
    try {
      entrant.record.savedCase = saveCase(study_.filesDirectory(), study_.revision(revision_).program,
                                          entrant.text, options_.extents, reference, gate);
      gate.text += fmt::format("; the case was saved in {}", entrant.record.savedCase);
    } catch (const EnvironmentError& error) {
      gate.text += fmt::format("; the case could not be saved: {}", error.what());
    }
  }

  /// Figures taken on a busy machine are worth less; that is said, for nothing else shows it.
  void noteLoad() {
    double load = 0;
    const int processors = worker_.hello().processors;
    if (!options_.worker.empty() || getloadavg(&load, 1) != 1 || load <= processors + 1.0) return;
    addNote(fmt::format("this machine is busy (load {:.1f} on {} processors): times vary more than usual",
                        load, processors));
  }

  void race(std::vector<Entrant>& entrants, std::vector<Entrant>& baselines,
            std::future<std::vector<Reference>>& references) {
    for (const auto* list : {&entrants, &baselines}) {
      for (const Entrant& entrant : *list) {
        if (entrant.record.kind == CandidateKind::emitted) states_[entrant.record.id] = entrant.record.state;
      }
    }
    Bench bench(worker_, program_, options_.extents,
                {options_.threads, options_.compileLimitSeconds, options_.runLimitSeconds});
    bench.setReferences(references.get());
    for (const std::string& note : referenceNotes_) addNote(note);
    noteLoad();
    RaceOptions race;
    race.secondsBudget = options_.exhaustive ? 0 : options_.secondsBudget;
    race.candidateBudget = options_.exhaustive ? 0 : options_.candidateBudget;
    race.exhaustive = options_.exhaustive;
    if (options_.exhaustive) race.finalists = 2 * race.finalists;
    race.exploration = options_.exploration;
    race.seed = options_.seed;
    race.batch = std::max(8, 4 * worker_.hello().processors);
    race.extents = extentsText(options_.extents);
    race.device = device_;
    race.threads = options_.threads;
    race.start = start_;
    Race::Callbacks callbacks;
    callbacks.onTrial = [this](const Entrant& entrant) { onTrial(entrant); };
    callbacks.onBest = [this](const Entrant& entrant) {
      noteBest(entrant.measurement.median);
      SweepEvent event;
      event.kind = SweepEvent::Kind::best;
      event.candidate = entrant.record;
      event.measurement = entrant.measurement;
      event.counts = counts_;
      emitEvent(event);
    };
    callbacks.onWrong = [&](Entrant& entrant, int failing) { onWrong(entrant, failing, bench); };
    callbacks.onNote = [this](const std::string& note) { addNote(note); };
    Race search(study_, bench, race, progress_.part(0.05, 1), callbacks);
    search.runBaselines(baselines);
    const RaceResult raced = search.run(entrants);
    result_.reused = raced.reused;
    result_.cutByTime = raced.cutByTime;
    best_ = raced.best;
    result_.compileSeconds = raced.compileSeconds;
    result_.gateSeconds = raced.gateSeconds;
    result_.timeSeconds = raced.timeSeconds;
    study_.noteSweep(result_.sweep, "seconds spent",
                     fmt::format("{:.1f} compiling, {:.1f} in the gate, {:.1f} timing", raced.compileSeconds,
                                 raced.gateSeconds, raced.timeSeconds));
    runTorchBaseline(baselines, best_ < 0 ? nullptr : &entrants[static_cast<std::size_t>(best_)], bench);
    for (const int index : raced.ties)
      result_.ties.push_back(entrants[static_cast<std::size_t>(index)].record.id);
  }

  /// A foreign kernel that wins is said to, for it is not the choice.
  void noteFaster(const Entrant& other) {
    if (other.record.kind != CandidateKind::foreign || other.overBest <= 0 || other.overBest >= 1) return;
    addNote(fmt::format(
        "{} takes {:.2f} of the time of the best proved candidate; nothing is proved of it, so it is "
        "not chosen",
        other.record.label, other.overBest));
  }

  SweepResult finish(const std::vector<Entrant>& entrants, const std::vector<Entrant>& baselines) {
    if (best_ < 0 && result_.cancelled) best_ = fastest(entrants);
    if (best_ >= 0) {
      result_.best = entrants[static_cast<std::size_t>(best_)].record;
      result_.bestMeasurement = entrants[static_cast<std::size_t>(best_)].measurement;
      study_.noteSweep(result_.sweep, bestKey, std::to_string(result_.best->id));
    }
    for (const Entrant& baseline : baselines) {
      std::optional<Measurement> measurement;
      if (baseline.record.measurement) measurement = baseline.measurement;
      result_.baselines.emplace_back(baseline.record, measurement);
      result_.baselinesOverBest.push_back(baseline.overBest);
      noteFaster(baseline);
    }
    std::vector<double> modelled;
    std::vector<double> measured;
    for (const Entrant& entrant : entrants) {
      if (entrant.record.state != CandidateState::measured || entrant.record.modelledSeconds <= 0) continue;
      modelled.push_back(entrant.record.modelledSeconds);
      measured.push_back(entrant.score);
    }
    result_.rankCorrelation = rankCorrelation(modelled, measured);
    if (std::isfinite(result_.rankCorrelation)) {
      study_.noteSweep(result_.sweep, "rank correlation", fmt::format("{:.3f}", result_.rankCorrelation));
    }
    study_.noteSweep(result_.sweep, secondsKey, fmt::format("{:.1f}", earlierSeconds_ + seconds()));
    study_.endSweep(result_.sweep, result_.cancelled ? SweepState::cancelled : SweepState::finished);
    result_.counts = study_.counts(result_.sweep);
    result_.seconds = seconds();
    SweepEvent event;
    event.kind = SweepEvent::Kind::finished;
    event.counts = result_.counts;
    emitEvent(event);
    return result_;
  }

  [[nodiscard]] static int fastest(const std::vector<Entrant>& entrants) {
    int best = -1;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      if (entrants[i].record.state != CandidateState::measured) continue;
      if (best < 0 || entrants[i].score < entrants[static_cast<std::size_t>(best)].score)
        best = static_cast<int>(i);
    }
    return best;
  }

  Study& study_;
  int revision_;
  const nugraph::NuGraph& graph_;
  const tensor::Program& program_;
  const SweepOptions& options_;
  const Progress& progress_;
  const std::function<void(const SweepEvent&)>& onEvent_;
  Clock::time_point start_;
  std::string targetReason_;
  std::string calibration_ = "none: it failed, and the model takes the nominal figures of the description";
  machine::Target target_;
  Worker worker_;
  std::string device_;
  std::string toolchain_;
  std::vector<std::string> referenceNotes_;
  CandidateCounts counts_;
  std::unordered_map<int, CandidateState> states_;
  BestSoFar bestSoFar_;
  double earlierSeconds_ = 0;  ///< of the sweep that is resumed
  int traces_ = 0;
  int best_ = -1;
  SweepResult result_;
};

}  // namespace

void checkExtents(const tensor::Program& program, const tensor::Extents& extents) {
  std::string missing;
  for (const std::string& dimension : program.dimensions) {
    if (!extents.contains(dimension)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", dimension);
  }
  if (!missing.empty()) {
    throw UserError(fmt::format("no extent for {}; give every dimension, as in --shape {}=512", missing,
                                missing.substr(0, missing.find(','))));
  }
  for (const auto& [name, extent] : extents) {
    if (std::find(program.dimensions.begin(), program.dimensions.end(), name) == program.dimensions.end()) {
      throw UserError(fmt::format("the program has no dimension {}", name));
    }
  }
  for (const tensor::DimRelation& relation : program.facts.relations()) {
    if (!relation.holds(extents))
      throw UserError(fmt::format("these extents violate an assert of the program: {}", relation.text()));
  }
}

SweepResult runSweep(Study& study, int revision, const nugraph::NuGraph& graph, const SweepOptions& options,
                     const Progress& progress, const std::function<void(const SweepEvent&)>& onEvent) {
  static_cast<void>(study.revision(revision));
  checkExtents(graph.root(), options.extents);
  if (options.threads < 1) throw UserError("a sweep needs at least one thread");
  return Sweep(study, revision, graph, options, progress, onEvent).run();
}

std::optional<CandidateRecord> selectBest(const Study& study, int sweep) {
  const auto candidates = study.candidates(sweep);
  for (const SweepRecord& record : study.sweeps()) {
    if (record.id != sweep) continue;
    const int chosen = chosenBest(record);
    for (const CandidateRecord& candidate : candidates) {
      if (candidate.id == chosen && candidate.kind == CandidateKind::emitted &&
          candidate.state == CandidateState::measured)
        return candidate;
    }
  }
  std::optional<CandidateRecord> best;
  double fastest = 0;
  for (const CandidateRecord& candidate : candidates) {
    if (candidate.kind != CandidateKind::emitted || candidate.state != CandidateState::measured ||
        !candidate.measurement)
      continue;
    const auto measurement = study.measurement(*candidate.measurement);
    if (!measurement || !measurement->gate.passed || measurement->samples.empty()) continue;
    if (!best || measurement->median < fastest) {
      best = candidate;
      fastest = measurement->median;
    }
  }
  return best;
}

}  // namespace nuscope::sweep
