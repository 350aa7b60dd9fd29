#pragma once
// A sweep: candidates are compiled, checked and timed by a worker, and the fastest one that is not wrong is
// chosen (DESIGN 8).
//
// A candidate is a variant with every parameter given a number. Equal kernel texts are one candidate. The
// model orders them, measurement selects: batches are compiled on all cores, then measured while nothing of
// ours compiles, each in turns with one yardstick; successive halving gives the better ones more samples, and a
// share of every batch is drawn at random so that a wrong model cannot hide a good candidate. Everything
// lands in the study as it happens, so a killed sweep continues with `resume` and repeats no measurement.
// Determinism: for a seed, a budget in candidates and given measurements the order of trials and the choice
// are fixed.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/sweep/candidates.h"
#include "core/sweep/foreign.h"
#include "core/sweep/gate.h"
#include "core/sweep/study.h"
#include "core/tensor/graph.h"

namespace nuscope::nugraph {
class NuGraph;
}

namespace nuscope::sweep {

struct SweepOptions {
  tensor::Extents extents;          ///< every dimension of the program
  std::string target;               ///< name or path of a hardware description; empty: that of the device
  std::string device = "host";      ///< "host", "simulated:crash@7,hang@9,wrong@11"
  std::vector<std::string> worker;  ///< command that starts a worker; empty: ours, on this machine
  double secondsBudget = 0;         ///< wall clock of the whole sweep; 0: no such limit
  int candidateBudget = 0;  ///< emitted candidates measured (or found wrong or failing); 0: no such limit
  bool exhaustive = false;  ///< every candidate, whatever the model says
  int threads = 1;
  std::uint64_t seed = 1;
  bool resume = false;  ///< continue the latest sweep of the same revision and settings
  std::string python;   ///< a Python that may have torch; empty: no torch baseline
  bool baselines = true;
  int maxCandidates = 1200;     ///< enumerated in all; what is cut is said in SweepResult::notes
  double exploration = 0.2;     ///< share of each batch drawn at random
  double runLimitSeconds = 10;  ///< one run of one kernel; longer: timed out
  double compileLimitSeconds = 60;
  Narrowing narrowing;
  std::vector<GivenDraw> given;        ///< the user's own inputs: further draws of the gate
  std::vector<ForeignKernel> against;  ///< kernels of the user, timed beside the winner, never chosen
};

/// What happened, for live views and the command line. Called from the sweep's thread, one at a time.
struct SweepEvent {
  enum class Kind : std::uint8_t {
    started,     ///< the sweep's record exists; `sweep`
    enumerated,  ///< all candidates are in the study; `counts`
    candidate,   ///< `candidate` changed its state; `measurement` if it was timed
    baseline,    ///< same, for a baseline or a foreign kernel
    best,        ///< `candidate` is the new incumbent
    note,        ///< `text`, e.g. a cut, or a worker that was restarted
    finished
  };
  Kind kind = Kind::note;
  int sweep = 0;
  CandidateRecord candidate;
  std::optional<Measurement> measurement;
  CandidateCounts counts;
  std::string text;
  double seconds = 0;  ///< since the sweep began
};

struct SweepResult {
  int sweep = 0;
  CandidateCounts counts;
  std::optional<CandidateRecord> best;  ///< fastest that passed the gate
  std::optional<Measurement> bestMeasurement;
  std::vector<int> ties;  ///< candidates whose interval overlaps the best one's
  std::vector<std::pair<CandidateRecord, std::optional<Measurement>>> baselines;
  /// For each of `baselines` (foreign kernels among them, see CandidateRecord::kind): its median over the
  /// best one's, both taken in turns in the final (torch, in a process of its own: between two bursts of the
  /// best). 0: not timed so, and then no ratio is to be shown.
  std::vector<double> baselinesOverBest;
  std::vector<std::string> notes;  ///< what was cut, restarted, reused
  double rankCorrelation = 0;      ///< Spearman, modelled against measured; NaN below 3 measured
  int reused = 0;                  ///< measurements taken from the study
  double seconds = 0;
  double compileSeconds = 0, gateSeconds = 0, timeSeconds = 0;  ///< what the budget went into
  bool cancelled = false;
  bool cutByTime = false;
};

/// Throws UserError unless `extents` has every dimension of the program, no other, and satisfies its asserts.
void checkExtents(const tensor::Program& program, const tensor::Extents& extents);

/// Runs (or continues) a sweep of `revision` of the study. Throws UserError (extents missing, unknown target,
/// wrong revision), EnvironmentError (no compiler, no worker, a full disk). A stop request ends it within a
/// second with `cancelled`; everything measured so far is in the study.
SweepResult runSweep(Study& study, int revision, const nugraph::NuGraph& graph, const SweepOptions& options,
                     const Progress& progress, const std::function<void(const SweepEvent&)>& onEvent);

/// The best of a finished or running sweep from the study alone: the choice `runSweep` made or would make.
std::optional<CandidateRecord> selectBest(const Study& study, int sweep);

}  // namespace nuscope::sweep
