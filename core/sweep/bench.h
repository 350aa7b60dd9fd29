#pragma once
// What a sweep does with one kernel, through a worker: compile, check by the numeric gate, time. Nothing is
// decided here.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sweep/gate.h"
#include "core/sweep/statistics.h"
#include "core/sweep/study.h"
#include "core/sweep/worker.h"

namespace nuscope::sweep {

/// One kernel that takes part: an emitted candidate, a baseline, or a foreign one.
struct Entrant {
  CandidateRecord record;
  std::string function;  ///< one name, or several separated by commas: the first that is there
  std::string text;
  std::string library;                   ///< bytes of a shared library, in place of a text to compile
  std::vector<std::string> command;      ///< with {source} and {output}
  std::optional<CompileJob> object;      ///< what the command links with; compiled once for all that name it
  std::string toolchain;                 ///< for MeasurementKey
  std::vector<tensor::NodeRef> results;  ///< of its variant, for tracing a wrong result
  int ordinal = 0;                       ///< order of trial, from 1; 0 for baselines
  bool compiled = false;                 ///< in the worker's present generation
  std::size_t drawsPassed = 0;           ///< of the gate, in this process
  int rung = -1;                         ///< -1: not measured in this process
  double score = 0;                      ///< seconds, by the ratio to the race's yardstick; 0: not timed
  double overBest = 0;  ///< baselines: median over that of the winner, taken in turns; 0: not timed so
  Measurement measurement;
};

struct BenchOptions {
  int threads = 1;
  double compileLimitSeconds = 60;
  double runLimitSeconds = 10;
};

/// What became of an entrant; `reason` for people unless ok.
struct Trial {
  Outcome outcome = Outcome::ok;
  std::string reason;
};

/// Not thread-safe. Throws Cancelled after a stop request, EnvironmentError when workers keep dying.
class Bench {
 public:
  Bench(Worker& worker, const tensor::Program& program, const tensor::Extents& extents,
        const BenchOptions& options);

  /// Inputs of the draws go to the worker (again whenever that was replaced).
  void setReferences(std::vector<Reference> references);
  [[nodiscard]] const std::vector<Reference>& references() const { return references_; }

  using OnCompiled = std::function<void(Entrant&, const Trial&)>;
  /// Compiles those that are not compiled yet, on all cores; `onDone` once an entrant, as they end.
  void compile(const std::vector<Entrant*>& entrants, const OnCompiled& onDone);
  /// Runs the draws from entrant.drawsPassed up to `draws`, stops at the first that fails. They are added to
  /// entrant.measurement.gate, which is begun anew when none passed in this process; its text says so when
  /// draws are left. `failing` is the index of the draw that failed, -1 otherwise. An outcome other than ok:
  /// the kernel did not run to its end.
  Trial check(Entrant& entrant, double factor, std::size_t draws, int& failing);
  [[nodiscard]] bool checked(const Entrant& entrant) const {
    return entrant.drawsPassed >= references_.size();
  }
  /// Times entrants in turn on the first draw. Samples are returned, one list an entrant.
  Trial measure(const std::vector<Entrant*>& entrants, const MeasureRequest& plan,
                std::vector<std::vector<double>>& samples);
  /// A worker that was replaced has lost its libraries; true if entrant must be compiled again.
  [[nodiscard]] bool needsCompiling(const Entrant& entrant) const;
  void forget(Entrant& entrant);
  /// What runs next runs in a process of its own: after a foreign kernel, which may have left anything
  /// behind.
  void fresh() { worker_.fresh(); }
  [[nodiscard]] bool pinned() const { return pinned_; }

 private:
  [[nodiscard]] static std::string libraryOf(const Entrant& entrant);
  [[nodiscard]] std::vector<ArrayFile> inputsOf(std::size_t draw) const;
  [[nodiscard]] std::vector<ArrayFile> outputs() const;
  void sendInputs();
  [[nodiscard]] bool isThere(const std::string& compiled) const;
  bool compileJobs(const std::vector<CompileJob>& jobs,
                   const std::function<void(const CompileResult&)>& onResult);
  bool compileObjects(const std::vector<Entrant*>& entrants, std::map<std::string, Trial>& broken);
  bool compileOnce(const std::vector<Entrant*>& entrants, const OnCompiled& onDone);
  void countLoss(const std::string& reason);

  Worker& worker_;
  const tensor::Program& program_;
  const tensor::Extents& extents_;
  BenchOptions options_;
  std::vector<Reference> references_;
  std::map<std::string, int> compiledIn_;  ///< library or object -> generation
  int sentTo_ = 0;                         ///< generation that has the inputs
  int losses_ = 0;
  bool pinned_ = false;
};

}  // namespace nuscope::sweep
