#include "core/export/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/base/diagnostics.h"
#include "core/language/parse.h"
#include "core/language/printer.h"
#include "core/nugraph/json.h"
#include "core/proof/prove.h"
#include "core/propagate/local_goal.h"
#include "core/sweep/sweep.h"

namespace nuscope::exporting {
namespace {

using sweep::CandidateKind;
using sweep::CandidateRecord;
using sweep::CandidateState;
using sweep::Study;
using sweep::SweepRecord;

constexpr double secondsPerStep = 10;

SweepRecord sweepOf(const Study& study, int id) {
  for (SweepRecord& record : study.sweeps()) {
    if (record.id == id) return std::move(record);
  }
  throw UserError(fmt::format("the study is damaged: it has no sweep {}", id));
}

/// One that may be exported, or the reason why not.
void checkCandidate(const CandidateRecord& candidate) {
  if (candidate.kind == CandidateKind::foreign)
    throw UserError(fmt::format("candidate {} is {}: it is yours already, and nothing is proved of it",
                                candidate.id, candidate.label));
  if (candidate.kind == CandidateKind::baseline)
    throw UserError(fmt::format("candidate {} is the baseline \"{}\"", candidate.id, candidate.label));
  switch (candidate.state) {
    case CandidateState::wrong:
    case CandidateState::failed:
    case CandidateState::crashed:
    case CandidateState::timedOut:
    case CandidateState::skipped:
      throw UserError(fmt::format("candidate {} is not exported, for it {}: {}", candidate.id,
                                  candidate.state == CandidateState::wrong
                                      ? "is wrong"
                                      : fmt::format("has {}", text(candidate.state)),
                                  candidate.reason));
    default:
      break;
  }
}

CandidateRecord bestOf(const Study& study, const SweepRecord& record) {
  auto best = sweep::selectBest(study, record.id);
  if (!best)
    throw UserError(
        fmt::format("no candidate of the sweep at {} passed the gate", sweep::extentsText(record.extents)));
  return *std::move(best);
}

std::vector<CandidateRecord> chosenRecords(const Study& study, const Request& request) {
  std::vector<CandidateRecord> chosen;
  for (const int id : request.candidates) {
    auto candidate = study.candidate(id);
    if (!candidate) throw UserError(fmt::format("the study has no candidate {}", id));
    checkCandidate(*candidate);
    chosen.push_back(*std::move(candidate));
  }
  const auto latest = study.latestRevision();
  if (!latest) throw UserError("the study holds no program");
  std::vector<SweepRecord> sweeps = study.sweeps();
  std::erase_if(sweeps, [&](const SweepRecord& record) { return record.revision != latest->id; });
  if (sweeps.empty() && chosen.empty())
    throw UserError("the latest program of the study was not swept yet: nuscope sweep S.nuscope --shape ...");
  for (const tensor::Extents& shape : request.shapes) {
    const auto found = std::find_if(sweeps.rbegin(), sweeps.rend(),
                                    [&](const SweepRecord& record) { return record.extents == shape; });
    if (found == sweeps.rend()) {
      std::set<std::string> known;
      for (const SweepRecord& record : sweeps) known.insert(sweep::extentsText(record.extents));
      throw UserError(fmt::format("there is no sweep at {}; there are: {}", sweep::extentsText(shape),
                                  fmt::join(known, "; ")));
    }
    chosen.push_back(bestOf(study, *found));
  }
  if (chosen.empty()) chosen.push_back(bestOf(study, sweeps.back()));
  return chosen;
}

/// The variants of a study as graphs over its own program, whose text is what counts.
class Variants {
 public:
  Variants(const Study& study, const sweep::Revision& revision) {
    const auto text = study.nuGraph(revision.id);
    if (!text) throw UserError("the study has no variants of this program: it was not explored");
    auto graph = nugraph::fromJson(*text);
    if (!graph)
      throw UserError(fmt::format("the variants of the study cannot be read: {}", graph.refusal().message));
    graph_ = std::make_unique<nugraph::NuGraph>(std::move(graph).value());
    auto parsed = language::parse(revision.program, graph_->root().store);
    if (!parsed.program) throw UserError(render(parsed.diagnostics, revision.file, revision.program));
    program_ = std::move(*parsed.program);
    if (program_.results != graph_->variants()[0].results)
      throw UserError("the study is damaged: its variants are not those of its program");
  }

  [[nodiscard]] const tensor::Program& program() const { return program_; }

  [[nodiscard]] const nugraph::Variant& at(int id) const {
    if (id < 0 || id >= std::ssize(graph_->variants()))
      throw UserError(fmt::format("the study is damaged: it has no variant {}", id));
    return graph_->variants()[static_cast<std::size_t>(id)];
  }

  /// The derivation, each step proved again.
  [[nodiscard]] std::vector<StepLine> prove(int id, proof::SolverPool* solvers,
                                            const Progress& progress) const {
    std::vector<StepLine> lines;
    for (const int number : graph_->derivation(id)) {
      progress.check();
      const nugraph::Step& step = graph_->steps().at(static_cast<std::size_t>(number));
      const proof::Proof proof = proveStep(at(step.from).results, at(step.to).results, solvers, progress);
      const bool proved = proof.verdict == proof::Verdict::proved;
      lines.push_back({step.from, step.to, step.what, proved, proof.holdsFor, proved ? "" : proof.reason});
    }
    return lines;
  }

 private:
  [[nodiscard]] proof::Proof proveStep(const std::vector<tensor::NodeRef>& from,
                                       const std::vector<tensor::NodeRef>& to, proof::SolverPool* solvers,
                                       const Progress& progress) const {
    proof::Options options;
    options.mode = proof::Mode::refines;
    options.draws = false;
    options.secondsLimit = secondsPerStep;
    options.solvers = solvers;
    const auto local = propagate::localGoal(program_, from, to);
    proof::Proof proof =
        proof::proveRewrite(local.context, local.before, local.after, local.cut, options, progress);
    if (proof.verdict == proof::Verdict::proved) return proof;
    const auto whole = propagate::wholeGoal(program_, from, to);
    return proof::prove(whole.left, whole.right, options, progress);
  }

  std::unique_ptr<nugraph::NuGraph> graph_;
  tensor::Program program_;
};

machine::Target targetOf(const SweepRecord& record, const Request& request) {
  if (!request.target.empty()) return machine::loadTarget(request.target);
  // A name only: a study must not make us read files of its choice.
  const auto names = machine::targetNames();
  if (std::find(names.begin(), names.end(), record.target) == names.end())
    throw UserError(
        fmt::format("the sweep's target {} is not among those that come with Nuscope; give its description "
                    "with --target FILE",
                    record.target));
  return machine::loadTarget(record.target);
}

sweep::Reference drawOf(const tensor::Program& program, const SweepRecord& record, const Progress& progress) {
  sweep::GateOptions gate;
  gate.seed = record.seed;
  gate.accumulation = sweep::accumulationOf(program);
  gate.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  gate.seeded = 1;
  std::vector<std::string> notes;
  auto references = sweep::makeReferences(program, record.extents, gate, progress, notes);
  return std::move(references.at(0));
}

class Chooser {
 public:
  Chooser(const Study& study, const Request& request, const Progress& progress,
          std::vector<std::string>& notes)
      : study_(study), request_(request), progress_(progress), notes_(notes) {}

  Choice choose() {
    const std::vector<CandidateRecord> records = chosenRecords(study_, request_);
    Choice choice;
    const SweepRecord first = sweepOf(study_, records[0].sweep);
    choice.revision = study_.revision(first.revision);
    const Variants variants(study_, choice.revision);
    choice.program = variants.program();
    choice.target = targetOf(first, request_);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const double share = 1.0 / static_cast<double>(records.size());
      const double from = share * static_cast<double>(i);
      addKernel(choice, variants, records[i], progress_.part(from, from + share));
    }
    return choice;
  }

 private:
  void addKernel(Choice& choice, const Variants& variants, const CandidateRecord& record,
                 const Progress& progress) {
    Chosen chosen;
    chosen.candidate = record;
    chosen.sweep = sweepOf(study_, record.sweep);
    if (chosen.sweep.revision != choice.revision.id)
      throw UserError(
          fmt::format("candidate {} is of another program than candidate {}: one folder is one program",
                      record.id, choice.kernels[0].candidate.id));
    if (request_.target.empty() && chosen.sweep.target != choice.target.name)
      throw UserError(fmt::format("candidates for {} and {} cannot share a folder", choice.target.name,
                                  chosen.sweep.target));
    for (const Chosen& other : choice.kernels) {
      if (other.sweep.extents == chosen.sweep.extents)
        throw UserError(
            fmt::format("two kernels for the same extents {}", sweep::extentsText(other.sweep.extents)));
    }
    sweep::checkExtents(choice.program, chosen.sweep.extents);
    progress.report(0, fmt::format("proving variant {} anew", record.variant));
    const nugraph::Variant& variant = variants.at(record.variant);
    chosen.steps = variants.prove(record.variant, request_.solvers, progress.part(0, 0.3));
    for (const StepLine& step : chosen.steps) {
      if (!step.proved)
        notes_.push_back(fmt::format("the step \"{}\" is recorded as proved, but was not proved anew: {}",
                                     step.what, step.why));
    }
    emitKernel(choice, variant, chosen);
    chosen.variantText = language::print(choice.program, variant.results).text;
    progress.report(0.4, "evaluating the program on the study's inputs");
    chosen.draw = drawOf(choice.program, chosen.sweep, progress.part(0.4, 1));
    choice.kernels.push_back(std::move(chosen));
  }

  void emitKernel(const Choice& choice, const nugraph::Variant& variant, Chosen& chosen) {
    const auto emitAs = [&](const std::string& name) {
      auto kernel = emit::emitHost(choice.program, variant.results, chosen.sweep.extents, choice.target,
                                   chosen.candidate.parameters, name);
      if (!kernel)
        throw UserError(
            fmt::format("candidate {} cannot be emitted: {}", chosen.candidate.id, kernel.refusal().message));
      return std::move(kernel).value();
    };
    const std::string function =
        request_.function.empty() ? emit::functionName(choice.program) : request_.function;
    const std::size_t number = choice.kernels.size() + 1;
    chosen.kernel = emitAs(number == 1 ? function : fmt::format("{}_{}", function, number));
    takeMeasurements(chosen, sweep::textHash(emitAs("").text));

    sweep::PlainOptions plain;
    plain.threads = chosen.sweep.threads;
    plain.function = fmt::format("plain_{}", number);
    auto loops = sweep::emitPlain(choice.program, chosen.sweep.extents, plain);
    if (loops) {
      chosen.plain = *loops;
    } else {
      notes_.push_back(
          fmt::format("the bench has no plain loops to compare with: {}", loops.refusal().message));
    }
  }

  /// Numbers of the study belong to the text that was measured, and to no other.
  void takeMeasurements(Chosen& chosen, const std::string& hash) {
    const CandidateRecord& record = chosen.candidate;
    if (record.kernel != hash) {
      notes_.push_back(
          fmt::format("candidate {}: this Nuscope emits another text than was measured; sweep again for "
                      "numbers",
                      record.id));
      return;
    }
    if (record.measurement && record.state == CandidateState::measured) {
      auto measurement = study_.measurement(*record.measurement);
      if (measurement && measurement->key.kernel == hash && measurement->gate.passed &&
          !measurement->samples.empty())
        chosen.measurement = std::move(measurement);
    }
    if (!chosen.measurement)
      notes_.push_back(
          fmt::format("candidate {} was not measured: it did not pass the numeric gate yet", record.id));
    for (const CandidateRecord& other : study_.candidates(chosen.sweep.id)) {
      if (other.kind != CandidateKind::baseline || other.state != CandidateState::measured ||
          !other.measurement)
        continue;
      if (auto measurement = study_.measurement(*other.measurement))
        chosen.baselines.emplace_back(other.label, *std::move(measurement));
    }
  }

  const Study& study_;
  const Request& request_;
  const Progress& progress_;
  std::vector<std::string>& notes_;
};

}  // namespace

bool Chosen::proved() const {
  return std::all_of(steps.begin(), steps.end(), [](const StepLine& step) { return step.proved; });
}

Choice choose(const Study& study, const Request& request, const Progress& progress,
              std::vector<std::string>& notes) {
  return Chooser(study, request, progress, notes).choose();
}

}  // namespace nuscope::exporting
