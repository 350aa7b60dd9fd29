#include "core/sweep/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostics.h"
#include "core/sweep/arrays.h"

namespace nuscope::sweep {
namespace {

constexpr int mostLosses = 10;

}  // namespace

Bench::Bench(Worker& worker, const tensor::Program& program, const tensor::Extents& extents,
             const BenchOptions& options)
    : worker_(worker), program_(program), extents_(extents), options_(options) {}

std::string Bench::libraryOf(const Entrant& entrant) {
  const std::string& content = entrant.library.empty() ? entrant.text : entrant.record.kernel;
  return "k" + textHash(content + entrant.toolchain).substr(0, 20);
}

void Bench::setReferences(std::vector<Reference> references) {
  references_ = std::move(references);
  sentTo_ = 0;
}

void Bench::sendInputs() {
  if (sentTo_ == worker_.generation()) return;
  for (std::size_t d = 0; d < references_.size(); ++d) {
    for (const auto& parameter : program_.parameters) {
      const semantics::TensorValue& value = references_[d].inputs.at(parameter.name);
      if (!worker_.put(fmt::format("d{}_{}", d, parameter.name), encodeArray(value.values, value.dtype))) {
        throw EnvironmentError("the worker takes no inputs");
      }
    }
  }
  sentTo_ = worker_.generation();
}

std::vector<ArrayFile> Bench::inputsOf(std::size_t draw) const {
  std::vector<ArrayFile> files;
  for (const auto& parameter : program_.parameters) {
    const semantics::TensorValue& value = references_.at(draw).inputs.at(parameter.name);
    files.push_back({fmt::format("d{}_{}", draw, parameter.name), value.dtype, value.count()});
  }
  return files;
}

std::vector<ArrayFile> Bench::outputs() const {
  std::vector<ArrayFile> files;
  for (std::size_t r = 0; r < program_.results.size(); ++r) {
    const tensor::NodeRef node = program_.results[r];
    files.push_back({fmt::format("out{}", r), node->dtype, tensor::product(node->shape).evaluate(extents_)});
  }
  return files;
}

bool Bench::isThere(const std::string& compiled) const {
  const auto found = compiledIn_.find(compiled);
  return found != compiledIn_.end() && found->second == worker_.generation();
}

bool Bench::needsCompiling(const Entrant& entrant) const {
  return !isThere(libraryOf(entrant));
}

void Bench::countLoss(const std::string& reason) {
  if (++losses_ > mostLosses) throw EnvironmentError(fmt::format("workers keep dying: {}", reason));
}

/// False when the worker was lost meanwhile, and has nothing any more.
bool Bench::compileJobs(const std::vector<CompileJob>& jobs,
                        const std::function<void(const CompileResult&)>& onResult) {
  const int processors = worker_.hello().processors;
  const auto results =
      worker_.compile(jobs, options_.compileLimitSeconds, processors, [&](const CompileResult& result) {
        if (result.outcome == Outcome::cancelled) return;
        if (result.outcome == Outcome::ok) compiledIn_[result.name] = worker_.generation();
        onResult(result);
      });
  for (const CompileResult& result : results) {
    if (result.outcome == Outcome::cancelled) throw Cancelled{};
    if (result.outcome != Outcome::lost) continue;
    countLoss(result.message);
    return false;
  }
  return true;
}

/// What the entrants' commands link with; `broken` gets those that cannot be made, and why.
bool Bench::compileObjects(const std::vector<Entrant*>& entrants, std::map<std::string, Trial>& broken) {
  std::map<std::string, CompileJob> wanted;
  for (const Entrant* entrant : entrants) {
    if (entrant->object && needsCompiling(*entrant) && !isThere(entrant->object->name))
      wanted.emplace(entrant->object->name, *entrant->object);
  }
  if (wanted.empty()) return true;
  std::vector<CompileJob> jobs;
  for (const auto& [name, job] : wanted) jobs.push_back(job);
  return compileJobs(jobs, [&](const CompileResult& result) {
    if (result.outcome != Outcome::ok) broken[result.name] = {result.outcome, result.message};
  });
}

/// False when the worker was lost; those that were done by then are not done again.
bool Bench::compileOnce(const std::vector<Entrant*>& entrants, const OnCompiled& onDone) {
  std::map<std::string, Trial> broken;
  if (!compileObjects(entrants, broken)) return false;
  std::vector<CompileJob> jobs;
  std::map<std::string, std::vector<Entrant*>> byLibrary;
  for (Entrant* entrant : entrants) {
    if (!needsCompiling(*entrant)) continue;
    if (!entrant->library.empty()) {
      if (!worker_.put(libraryOf(*entrant) + ".so", entrant->library))
        throw EnvironmentError("the worker takes no library");
      compiledIn_[libraryOf(*entrant)] = worker_.generation();
      onDone(*entrant, {});
    } else if (entrant->object && broken.contains(entrant->object->name)) {
      onDone(*entrant, broken.at(entrant->object->name));
    } else {
      auto& same = byLibrary[libraryOf(*entrant)];
      if (same.empty()) jobs.push_back({libraryOf(*entrant), entrant->text, entrant->command});
      same.push_back(entrant);
    }
  }
  if (jobs.empty()) return true;
  return compileJobs(jobs, [&](const CompileResult& result) {
    for (Entrant* entrant : byLibrary.at(result.name)) onDone(*entrant, {result.outcome, result.message});
  });
}

void Bench::compile(const std::vector<Entrant*>& entrants, const OnCompiled& onDone) {
  if (compileOnce(entrants, onDone) || compileOnce(entrants, onDone)) return;
  throw EnvironmentError("the worker dies while it compiles");
}

Trial Bench::check(Entrant& entrant, double factor, std::size_t draws, int& failing) {
  failing = -1;
  GateRecord& gate = entrant.measurement.gate;
  if (entrant.drawsPassed == 0) {
    gate = {};
    gate.factor = factor;
    gate.accumulation = tensor::text(accumulationOf(program_));
  }
  sendInputs();
  const std::size_t end = std::min(draws, references_.size());
  for (std::size_t d = entrant.drawsPassed; d < end; ++d) {
    RunRequest run;
    run.kernel = {libraryOf(entrant), entrant.function, entrant.ordinal};
    run.inputs = inputsOf(d);
    run.outputs = outputs();
    run.threads = options_.threads;
    run.limitSeconds = options_.runLimitSeconds;
    const RunReply reply = worker_.run(run);
    if (reply.outcome == Outcome::cancelled) throw Cancelled{};
    if (reply.outcome == Outcome::lost) countLoss(reply.message);
    if (reply.outcome != Outcome::ok)
      return {reply.outcome, fmt::format("{} (draw '{}')", reply.message, references_[d].distribution)};
    std::vector<std::vector<double>> actual;
    for (const ArrayFile& output : run.outputs) {
      std::string bytes;
      const auto size =
          static_cast<std::size_t>(output.count) * static_cast<std::size_t>(tensor::byteSize(output.dtype));
      if (!worker_.get(output.file, size, bytes)) return {Outcome::failed, "its result could not be read"};
      actual.push_back(decodeArray(bytes, output.dtype));
    }
    addDraw(gate, compareDraw(references_[d], actual));
    if (!gate.passed && gate.worst >= 0) {
      failing = static_cast<int>(d);
      entrant.drawsPassed = 0;
      return {Outcome::ok, ""};
    }
    entrant.drawsPassed = d + 1;
  }
  if (end < references_.size()) gate.text += fmt::format(" ({} of {} draws run)", end, references_.size());
  return {Outcome::ok, ""};
}

Trial Bench::measure(const std::vector<Entrant*>& entrants, const MeasureRequest& plan,
                     std::vector<std::vector<double>>& samples) {
  sendInputs();
  MeasureRequest request = plan;
  for (const Entrant* entrant : entrants)
    request.kernels.push_back({libraryOf(*entrant), entrant->function, entrant->ordinal});
  request.inputs = inputsOf(0);
  request.outputs = outputs();
  request.threads = options_.threads;
  request.limitSeconds = options_.runLimitSeconds;
  const MeasureReply reply = worker_.measure(request);
  if (reply.outcome == Outcome::cancelled) throw Cancelled{};
  if (reply.outcome == Outcome::lost) countLoss(reply.message);
  if (reply.outcome != Outcome::ok)
    return {reply.outcome, fmt::format("{} (while it was timed)", reply.message)};
  if (reply.samples.size() != entrants.size())
    return {Outcome::failed, "the worker returned other samples than were asked for"};
  pinned_ = reply.pinned;
  samples = reply.samples;
  return {Outcome::ok, ""};
}

void Bench::forget(Entrant& entrant) {
  const std::string library = libraryOf(entrant);
  if (compiledIn_.erase(library) != 0) worker_.forget(library);
}

}  // namespace nuscope::sweep
