#pragma once
// The search of a sweep over entrants that are given: which to try next, which to measure longer, which is
// best. It knows nothing of how kernels are emitted, so tests race kernels written by hand.
//
// Machines drift: within minutes all times grow or shrink by a quarter. So nothing is compared across time.
// Each timing takes turns with one yardstick, the fastest baseline unless it is slow, and a score is the
// median of the ratios of neighbouring samples. The yardstick stays, so scores never compound (where
// candidates turn out to be several times faster, the incumbent takes its place, by one more ratio).
//
// Batches are chosen by Search (search.h), as large as the time that is left allows. Each candidate that
// passes the gate is timed shortly (rung 0), the best quarter of a batch again and longer (rung 1). The final
// (race_final.cpp) takes those with the best scores, drops in a first session of turns who is clearly behind,
// and chooses in a second one among the rest; whoever has a lower score or median than its winner is then
// asked to show it beside it. Baselines take turns with them there, or with the winner right after it where
// they are so slow that they would eat its time: a ratio to a baseline always comes from one session.
//
// The gate: the first draws before anything is timed, all of them before a candidate may become the incumbent
// or enter the final. So whoever wins has passed them all; the record of the others says which they passed.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/sweep/bench.h"
#include "core/sweep/search.h"
#include "core/sweep/sweep.h"

namespace nuscope::sweep {

struct RaceOptions {
  double secondsBudget = 0;  ///< 0: none
  int candidateBudget = 0;   ///< 0: none
  bool exhaustive = false;
  double exploration = 0.2;
  std::uint64_t seed = 1;
  int batch = 8;
  int finalists = 10;
  double gateFactor = 4;
  std::size_t firstDraws = 2;  ///< of the gate, before a candidate is timed
  std::string extents;         ///< extentsText, for keys
  std::string device;
  int threads = 1;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();  ///< of secondsBudget
};

struct RaceResult {
  int best = -1;          ///< index of the chosen entrant; -1: none passed
  std::vector<int> ties;  ///< indices
  int reused = 0;
  int tried = 0;
  bool cutByTime = false;
  double compileSeconds = 0, gateSeconds = 0, timeSeconds = 0;  ///< what the wall clock went into
};

class Race {
 public:
  /// `onTrial` after every change of an entrant's record (it is in the study by then), `onBest` for a new
  /// incumbent, `onWrong` traces a failed gate and may add to the record.
  struct Callbacks {
    std::function<void(const Entrant&)> onTrial;
    std::function<void(const Entrant&)> onBest;
    std::function<void(Entrant&, int failingDraw)> onWrong;
    std::function<void(const std::string&)> onNote;
  };
  Race(Study& study, Bench& bench, const RaceOptions& options, Progress progress, Callbacks callbacks);

  /// Baselines: each compiled, checked by all draws and timed shortly; they never win. `run` times them again
  /// beside the winner and sets overBest, also those whose measurement was reused.
  void runBaselines(std::vector<Entrant>& baselines);
  /// Entrants whose record says that they were tried already (a resumed sweep) keep their state.
  RaceResult run(std::vector<Entrant>& entrants);

 private:
  [[nodiscard]] std::vector<int> nextBatch();
  [[nodiscard]] bool budgetLeft() const;
  [[nodiscard]] bool spentInVain() const;
  void tryBatch(const std::vector<int>& batch);
  void compileAll(const std::vector<Entrant*>& batch);
  bool reuse(Entrant& entrant);
  bool gate(Entrant& entrant, std::size_t draws);
  bool time(Entrant& entrant, int rung);
  void keep();
  void promote(const std::vector<int>& batch);
  void chooseYardstick();
  [[nodiscard]] std::size_t fitting(std::size_t want) const;
  [[nodiscard]] double finalReserve() const;
  [[nodiscard]] bool timeIsUp() const;
  void finale(RaceResult& result);
  bool finalRound(std::vector<int> indices, std::vector<Entrant*>& late, RaceResult& result);
  bool turns(const std::vector<Entrant*>& entrants, MeasureRequest request,
             std::vector<std::vector<double>>& samples, const RaceResult& result);
  [[nodiscard]] std::vector<int> keepNear(const std::vector<int>& indices,
                                          const std::vector<std::vector<double>>& samples) const;
  [[nodiscard]] std::vector<int> missed(const std::vector<int>& timed, int best) const;
  void replaceSamples(Entrant& entrant, const std::vector<double>& samples);
  [[nodiscard]] std::vector<Entrant*> readyBaselines();
  void timeBeside(Entrant& winner, Entrant& baseline);
  void fail(Entrant& entrant, const Trial& trial);
  void store(Entrant& entrant, const std::vector<double>& samples);
  void challenge(int index);
  [[nodiscard]] MeasurementKey keyOf(const Entrant& entrant) const;
  [[nodiscard]] std::vector<int> ranked() const;
  [[nodiscard]] std::vector<Entrant*> pointers(const std::vector<int>& indices) const;
  [[nodiscard]] std::vector<int> contenders() const;
  bool makeReady(const std::vector<int>& indices);
  [[nodiscard]] double elapsed() const;

  Study& study_;
  Bench& bench_;
  RaceOptions options_;
  Progress progress_;
  Callbacks callbacks_;
  std::vector<Entrant>* entrants_ = nullptr;
  std::vector<Entrant>* baselines_ = nullptr;
  std::optional<Search> search_;
  std::size_t batchSize_;
  int incumbent_ = -1;
  Entrant* yardstick_ = nullptr;
  double reference_ = 0;  ///< seconds that scores count for one run of the yardstick
  int tried_ = 0;
  int reused_ = 0;
  double compileSeconds_ = 0, gateSeconds_ = 0, timeSeconds_ = 0;
  double batchSeconds_ = 0;  ///< of all batches so far, and how many candidates they tried
  int batchTried_ = 0;
  int drawsRun_ = 0;  ///< in gateSeconds_
};

}  // namespace nuscope::sweep
