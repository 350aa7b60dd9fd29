#include "core/sweep/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostics.h"
#include "core/sweep/best_so_far.h"

namespace nuscope::sweep {
namespace {

constexpr double promotionSlack = 1.15;  // slower than this times the best: not measured again
constexpr double slowYardstick = 1;      // seconds; a baseline that takes longer would eat the budget
constexpr double farAhead = 3;           // an incumbent so many times faster becomes the yardstick

MeasureRequest plan(int rung) {
  MeasureRequest request;
  request.warmup = 1;
  request.minSamples = rung == 0 ? 5 : 11;
  request.maxSamples = rung == 0 ? 15 : 60;
  request.seconds = rung == 0 ? 0.12 : 0.4;
  request.width = rung == 0 ? 0.03 : 0.015;
  return request;
}

/// Where everything is measured, for the truth of it, each is measured longer.
MeasureRequest exhaustivePlan() {
  MeasureRequest request = plan(0);
  request.minSamples = 11;
  request.maxSamples = 41;
  request.seconds = 0.3;
  request.width = 0.01;
  return request;
}

/// Adds the wall clock of its scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

bool isTried(CandidateState state) {
  return state != CandidateState::enumerated && state != CandidateState::compiled;
}

}  // namespace

Race::Race(Study& study, Bench& bench, const RaceOptions& options, Progress progress, Callbacks callbacks)
    : study_(study),
      bench_(bench),
      options_(options),
      progress_(std::move(progress)),
      callbacks_(std::move(callbacks)),
      batchSize_(static_cast<std::size_t>(options.batch)) {}

double Race::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.start).count();
}

/// Only the final is left to do, going by the clock.
bool Race::timeIsUp() const {
  return options_.secondsBudget > 0 && elapsed() >= options_.secondsBudget - finalReserve();
}

bool Race::budgetLeft() const {
  if (options_.candidateBudget > 0 && tried_ >= options_.candidateBudget) return false;
  return !timeIsUp() && fitting(2) == 2;
}

/// How many of `want` candidates are likely to be done before the final must begin.
std::size_t Race::fitting(std::size_t want) const {
  if (options_.secondsBudget <= 0 || batchTried_ == 0) return want;
  const double left = options_.secondsBudget - finalReserve() - elapsed();
  const double fits = left * batchTried_ / std::max(batchSeconds_, 1e-9);
  return static_cast<std::size_t>(std::clamp(fits, 0.0, static_cast<double>(want)));
}

/// A budget that ends before anything was measured is stretched, so that there is an answer, but not for
/// ever.
bool Race::spentInVain() const {
  if (options_.candidateBudget > 0 && tried_ >= options_.candidateBudget) return true;
  return options_.secondsBudget > 0 && elapsed() > 3 * options_.secondsBudget;
}

MeasurementKey Race::keyOf(const Entrant& entrant) const {
  return {entrant.record.kernel, options_.extents, options_.device, entrant.toolchain, options_.threads};
}

void Race::fail(Entrant& entrant, const Trial& trial) {
  entrant.record.reason = trial.reason;
  switch (trial.outcome) {
    case Outcome::timedOut:
      entrant.record.state = CandidateState::timedOut;
      break;
    case Outcome::crashed:
    case Outcome::lost:
      entrant.record.state = CandidateState::crashed;
      break;
    default:
      entrant.record.state = CandidateState::failed;
      break;
  }
  study_.updateCandidate(entrant.record);
  callbacks_.onTrial(entrant);
}

void Race::compileAll(const std::vector<Entrant*>& batch) {
  for (const Entrant* entrant : batch) {
    if (!entrant->text.empty()) study_.addKernel(entrant->text);  // to show, never to compile
  }
  const double start = elapsed();
  const Stopwatch watch(compileSeconds_);
  bench_.compile(batch, [&](Entrant& entrant, const Trial& trial) {
    if (trial.outcome == Outcome::lost) return;
    if (trial.outcome != Outcome::ok) {
      fail(entrant, trial);
    } else if (!isTried(entrant.record.state)) {
      entrant.record.state = CandidateState::compiled;
      study_.updateCandidate(entrant.record);
      callbacks_.onTrial(entrant);
    }
  });
  // Under a budget of time a batch must not eat it: about a tenth of it, ten seconds at most, goes into one
  // compilation.
  const double taken = elapsed() - start;
  if (options_.secondsBudget <= 0 || batch.size() < 2 || taken <= 0) return;
  const double fits = std::min(10.0, options_.secondsBudget / 10) / taken * static_cast<double>(batch.size());
  batchSize_ = static_cast<std::size_t>(std::clamp(fits, 2.0, static_cast<double>(2 * options_.batch)));
}

bool Race::reuse(Entrant& entrant) {
  auto stored = study_.findMeasurement(keyOf(entrant));
  if (!stored || (stored->gate.passed && stored->samples.empty())) return false;
  entrant.measurement = std::move(*stored);
  entrant.record.state = entrant.measurement.gate.passed ? CandidateState::measured : CandidateState::wrong;
  entrant.record.measurement = entrant.measurement.id;
  entrant.record.reason = entrant.measurement.gate.passed ? "" : entrant.measurement.gate.text;
  entrant.score = entrant.measurement.median;
  ++reused_;
  study_.updateCandidate(entrant.record);
  callbacks_.onTrial(entrant);
  return true;
}

/// True when the first `draws` are passed (the record may hold a later one by then).
bool Race::gate(Entrant& entrant, std::size_t draws) {
  int failing = -1;
  const Stopwatch watch(gateSeconds_);
  const std::size_t passed = entrant.drawsPassed;
  const Trial trial = bench_.check(entrant, options_.gateFactor, draws, failing);
  drawsRun_ += static_cast<int>(entrant.drawsPassed > passed ? entrant.drawsPassed - passed : 1);
  if (trial.outcome != Outcome::ok) {
    fail(entrant, trial);
    return false;
  }
  entrant.measurement.key = keyOf(entrant);
  if (entrant.measurement.gate.passed || (failing < 0 && !bench_.checked(entrant))) return true;
  entrant.record.state = CandidateState::wrong;
  if (failing >= 0) callbacks_.onWrong(entrant, failing);
  entrant.record.reason = entrant.measurement.gate.text;
  entrant.measurement.samples.clear();
  entrant.measurement.median = entrant.measurement.low = entrant.measurement.high = 0;
  entrant.measurement.date = utcNow();
  entrant.measurement.id = study_.putMeasurement(entrant.measurement, &entrant.record);
  callbacks_.onTrial(entrant);
  return false;
}

void Race::store(Entrant& entrant, const std::vector<double>& samples) {
  Measurement& m = entrant.measurement;
  m.samples.insert(m.samples.end(), samples.begin(), samples.end());
  const MedianInterval interval = medianInterval(m.samples);
  m.median = interval.median;
  m.low = interval.low;
  m.high = interval.high;
  m.confidence = interval.confidence;
  m.date = utcNow();
  entrant.record.state = CandidateState::measured;
  entrant.record.reason.clear();
  m.id = study_.putMeasurement(m, &entrant.record);
  callbacks_.onTrial(entrant);
}

/// The fastest baseline; where there is none, or the incumbent is several times faster: the incumbent.
void Race::chooseYardstick() {
  if (yardstick_ == nullptr && baselines_ != nullptr) {
    for (Entrant& baseline : *baselines_) {
      const bool fit = baseline.record.kind == CandidateKind::baseline && baseline.score > 0 &&
                       baseline.record.state == CandidateState::measured && baseline.score < slowYardstick;
      if (!fit || (baseline.text.empty() && baseline.library.empty())) continue;
      if (yardstick_ != nullptr && baseline.score >= reference_) continue;
      yardstick_ = &baseline;
      reference_ = baseline.score;
    }
  }
  if (incumbent_ < 0) return;
  Entrant& incumbent = (*entrants_)[static_cast<std::size_t>(incumbent_)];
  if (yardstick_ != nullptr && reference_ <= farAhead * incumbent.score) return;
  yardstick_ = &incumbent;
  reference_ = incumbent.score;
}

/// Times an entrant in turns with the yardstick. The samples of the yardstick serve only this ratio: its
/// stored ones stay those of its own trial, so that one slow minute of the machine does not spoil them.
bool Race::time(Entrant& entrant, int rung) {
  std::vector<Entrant*> pair{&entrant};
  if (entrant.ordinal > 0) chooseYardstick();
  if (entrant.ordinal > 0 && yardstick_ != nullptr && yardstick_ != &entrant) {
    if (bench_.needsCompiling(*yardstick_)) compileAll({yardstick_});
    if (bench_.needsCompiling(*yardstick_)) {
      yardstick_ = nullptr;  // another one, when the next is timed
    } else {
      pair.push_back(yardstick_);
    }
  }
  std::vector<std::vector<double>> samples;
  const Stopwatch watch(timeSeconds_);
  const Trial trial =
      bench_.measure(pair, options_.exhaustive && rung == 0 ? exhaustivePlan() : plan(rung), samples);
  if (trial.outcome != Outcome::ok) {
    fail(entrant, trial);
    return false;
  }
  if (pair.size() > 1) {
    entrant.score = reference_ * ratioInterval(samples[0], samples[1]).median;
  } else {
    entrant.score = yardstick_ == &entrant ? reference_ : medianInterval(samples[0]).median;
  }
  entrant.rung = rung;
  if (rung > 0) entrant.measurement.samples.clear();  // the longer run replaces the short one
  store(entrant, samples[0]);
  return true;
}

void Race::challenge(int index) {
  Entrant& challenger = entrants_->at(static_cast<std::size_t>(index));
  if (challenger.record.state != CandidateState::measured) return;
  if (incumbent_ >= 0 && challenger.score >= entrants_->at(static_cast<std::size_t>(incumbent_)).score)
    return;
  if (incumbent_ == index) return;
  if (challenger.drawsPassed > 0 && !bench_.checked(challenger)) {  // of a reused one the final asks
    if (!gate(challenger, bench_.references().size())) return;
    challenger.measurement.id = study_.putMeasurement(challenger.measurement, &challenger.record);
  }
  incumbent_ = index;
  callbacks_.onBest(challenger);
}

void Race::runBaselines(std::vector<Entrant>& baselines) {
  baselines_ = &baselines;
  std::vector<Entrant*> runnable;
  for (Entrant& baseline : baselines) {
    if (baseline.record.state == CandidateState::enumerated && !reuse(baseline))
      runnable.push_back(&baseline);
  }
  compileAll(runnable);
  for (Entrant* baseline : runnable) {
    progress_.check();
    if (bench_.needsCompiling(*baseline)) continue;
    if (gate(*baseline, bench_.references().size())) time(*baseline, 0);
    if (baseline->record.kind == CandidateKind::foreign) bench_.fresh();
  }
}

std::vector<int> Race::ranked() const {
  std::vector<int> indices;
  for (std::size_t i = 0; i < entrants_->size(); ++i) {
    if ((*entrants_)[i].record.state == CandidateState::measured) indices.push_back(static_cast<int>(i));
  }
  std::stable_sort(indices.begin(), indices.end(), [&](int a, int b) {
    return (*entrants_)[static_cast<std::size_t>(a)].score < (*entrants_)[static_cast<std::size_t>(b)].score;
  });
  return indices;
}

std::vector<int> Race::nextBatch() {
  std::size_t want = batchSize_;
  if (options_.candidateBudget > 0) {
    want = std::min(want, static_cast<std::size_t>(std::max(0, options_.candidateBudget - tried_)));
  }
  return search_->next(std::max<std::size_t>(1, fitting(want)), options_.exhaustive);
}

void Race::tryBatch(const std::vector<int>& batch) {
  const Stopwatch watch(batchSeconds_);
  batchTried_ += static_cast<int>(batch.size());
  std::vector<Entrant*> runnable;
  for (const int index : batch) {
    Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    entrant.ordinal = ++tried_;
    if (reuse(entrant)) {
      challenge(index);
    } else {
      runnable.push_back(&entrant);
    }
  }
  compileAll(runnable);
  for (const int index : batch) {
    Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (entrant.record.state != CandidateState::compiled) continue;
    progress_.check();
    if (bench_.needsCompiling(entrant)) compileAll({&entrant});  // the worker was replaced meanwhile
    if (entrant.record.state != CandidateState::compiled || bench_.needsCompiling(entrant)) continue;
    if (gate(entrant, options_.firstDraws) && time(entrant, 0)) challenge(index);
    const double share = options_.secondsBudget > 0
                             ? elapsed() / options_.secondsBudget
                             : static_cast<double>(tried_) / static_cast<double>(entrants_->size());
    progress_.report(std::min(share, 0.99),
                     fmt::format("{} of {} candidates tried", tried_, entrants_->size()));
    if (timeIsUp() && incumbent_ >= 0) break;
  }
  promote(batch);
  keep();
  if (options_.exhaustive) return;
  for (const int index : batch) {
    const Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (entrant.record.state == CandidateState::measured) search_->tell(index, entrant.score);
  }
}

/// So that whoever resumes the sweep, or looks at it, has times of one scale.
void Race::keep() {
  Scores scores;
  for (const Entrant& entrant : *entrants_) {
    if (entrant.record.state == CandidateState::measured && entrant.score > 0)
      scores[entrant.record.id] = entrant.score;
  }
  if (!entrants_->empty()) keepScores(study_, entrants_->front().record.sweep, scores);
}

void Race::promote(const std::vector<int>& batch) {
  if (incumbent_ < 0) return;
  std::vector<int> promising;
  const double best = (*entrants_)[static_cast<std::size_t>(incumbent_)].score;
  for (const int index : batch) {
    const Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (entrant.record.state == CandidateState::measured && entrant.rung == 0 &&
        entrant.score <= best * promotionSlack) {
      promising.push_back(index);
    }
  }
  std::stable_sort(promising.begin(), promising.end(), [&](int a, int b) {
    return (*entrants_)[static_cast<std::size_t>(a)].score < (*entrants_)[static_cast<std::size_t>(b)].score;
  });
  promising.resize(std::min(promising.size(), (batch.size() + 3) / 4));
  for (const int index : promising) {
    progress_.check();
    if (timeIsUp()) return;
    Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (bench_.needsCompiling(entrant)) continue;
    if (time(entrant, 1)) challenge(index);
  }
}

RaceResult Race::run(std::vector<Entrant>& entrants) {
  RaceResult result;
  entrants_ = &entrants;
  std::vector<SearchPoint> points;
  for (const Entrant& entrant : entrants)
    points.push_back({entrant.record.variant, entrant.record.parameters, entrant.record.modelledSeconds});
  search_.emplace(std::move(points), options_.exploration, options_.seed);
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    if (!isTried(entrants[i].record.state)) continue;
    const auto index = static_cast<int>(i);
    ++tried_;  // by the sweep that is resumed
    search_->remove(index);
    if (entrants[i].record.state != CandidateState::measured) continue;
    if (entrants[i].score <= 0) entrants[i].score = entrants[i].measurement.median;
    search_->tell(index, entrants[i].score);
    challenge(index);
  }
  while (!search_->empty() && (budgetLeft() || incumbent_ < 0) && !spentInVain()) {
    progress_.check();
    tryBatch(nextBatch());
  }
  result.cutByTime = !search_->empty() && options_.secondsBudget > 0 && fitting(2) < 2;
  finale(result);
  keep();
  result.reused = reused_;
  result.tried = tried_;
  result.compileSeconds = compileSeconds_;
  result.gateSeconds = gateSeconds_;
  result.timeSeconds = timeSeconds_;
  return result;
}

}  // namespace nuscope::sweep
