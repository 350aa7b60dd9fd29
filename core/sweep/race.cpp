#include "core/sweep/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

constexpr double finaleShare = 0.1;      // of the time budget, kept for the final
constexpr double promotionSlack = 1.15;  // slower than this times the best: not measured again
constexpr double finalSlack = 1.25;      // slower than this: not in the final
constexpr int finalRounds = 3;
constexpr double slowBaseline = 4;  // seconds; a baseline that costs the final more comes right after it

MeasureRequest plan(int rung) {
  MeasureRequest request;
  request.warmup = 1;
  if (rung == 0) {
    request.minSamples = 5;
    request.maxSamples = 15;
    request.seconds = 0.12;
    request.width = 0.03;
  } else if (rung == 1) {
    request.minSamples = 11;
    request.maxSamples = 60;
    request.seconds = 0.4;
    request.width = 0.015;
  } else {
    request.minSamples = 21;
    request.maxSamples = 150;
    request.seconds = 2;
    request.width = 0.008;
  }
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

bool Race::budgetLeft() const {
  if (options_.candidateBudget > 0 && tried_ >= options_.candidateBudget) return false;
  return options_.secondsBudget <= 0 || elapsed() < options_.secondsBudget * (1 - finaleShare);
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
  const Trial trial = bench_.check(entrant, options_.gateFactor, draws, failing);
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

/// Times an entrant next to the incumbent. The incumbent's own samples of these rounds only serve as the
/// yardstick: its stored ones stay those of its own trials, so that one slow minute of the machine does not
/// spoil them.
bool Race::time(Entrant& entrant, int rung) {
  Entrant* incumbent = incumbent_ >= 0 ? &entrants_->at(static_cast<std::size_t>(incumbent_)) : nullptr;
  std::vector<Entrant*> pair{&entrant};
  if (incumbent != nullptr && incumbent != &entrant && entrant.ordinal > 0) {
    if (bench_.needsCompiling(*incumbent)) compileAll({incumbent});
    if (!bench_.needsCompiling(*incumbent)) pair.push_back(incumbent);
  }
  std::vector<std::vector<double>> samples;
  const Stopwatch watch(timeSeconds_);
  const Trial trial = bench_.measure(pair, plan(rung), samples);
  if (trial.outcome != Outcome::ok) {
    fail(entrant, trial);
    return false;
  }
  const double own = medianInterval(samples[0]).median;
  const double other = samples.size() > 1 ? medianInterval(samples[1]).median : 0;
  entrant.score = other > 0 ? incumbent->score * own / other : own;
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
  return search_->next(want, options_.exhaustive);
}

void Race::tryBatch(const std::vector<int>& batch) {
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
    if (!budgetLeft() && options_.secondsBudget > 0 && incumbent_ >= 0) break;
  }
  promote(batch);
  if (options_.exhaustive) return;
  for (const int index : batch) {
    const Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (entrant.record.state == CandidateState::measured) search_->tell(index, entrant.score);
  }
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
    if (!budgetLeft() && options_.secondsBudget > 0) return;
    Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    if (bench_.needsCompiling(entrant)) continue;
    if (time(entrant, 1)) challenge(index);
  }
}

/// Who enters the final: the best by the corrected score and the best by the plain median, for either may be
/// misled by a machine that was busy with something else for a while.
std::vector<int> Race::contenders() const {
  const std::vector<int> byScore = ranked();
  std::vector<int> byMedian = byScore;
  const auto entrant = [&](int i) -> const Entrant& { return (*entrants_)[static_cast<std::size_t>(i)]; };
  std::stable_sort(byMedian.begin(), byMedian.end(), [&](int a, int b) {
    return entrant(a).measurement.median < entrant(b).measurement.median;
  });
  std::vector<int> chosen;
  const auto most = static_cast<std::size_t>(options_.finalists);
  for (std::size_t i = 0; i < byScore.size() && chosen.size() < most; ++i) {
    const bool first = i == 0;
    for (const int index : {byScore[i], byMedian[i]}) {
      const bool near =
          first || entrant(index).score <= entrant(byScore[0]).score * finalSlack ||
          entrant(index).measurement.median <= entrant(byMedian[0]).measurement.median * finalSlack;
      if (near && std::find(chosen.begin(), chosen.end(), index) == chosen.end()) chosen.push_back(index);
    }
  }
  return chosen;
}

/// Compiled, and checked in this process. False when one of them turned out not to be fit (its state says
/// why).
bool Race::makeReady(const std::vector<int>& indices) {
  bool ready = true;
  for (const int index : indices) {
    Entrant& entrant = (*entrants_)[static_cast<std::size_t>(index)];
    progress_.check();
    if (entrant.ordinal == 0) entrant.ordinal = ++tried_;
    if (bench_.needsCompiling(entrant)) compileAll({&entrant});
    if (entrant.record.state == CandidateState::measured && !bench_.checked(entrant))
      gate(entrant, bench_.references().size());
    ready = ready && entrant.record.state == CandidateState::measured;
  }
  return ready;
}

/// Candidates that were measured with a lower median than the winner of the final, but at another time, when
/// the machine may have been faster. They are asked to show it beside the winner.
std::vector<int> Race::missed(const std::vector<int>& timed, int best) const {
  const auto median = [&](int i) { return (*entrants_)[static_cast<std::size_t>(i)].measurement.median; };
  std::vector<int> found;
  for (const int index : ranked()) {
    const bool was = std::find(timed.begin(), timed.end(), index) != timed.end();
    if (!was && median(index) < median(best)) found.push_back(index);
  }
  std::stable_sort(found.begin(), found.end(), [&](int a, int b) { return median(a) < median(b); });
  found.resize(std::min(found.size(), static_cast<std::size_t>(options_.finalists)));
  return found;
}

/// Rounds of the best few, until nobody who was not in the last round looks faster than its winner. A study
/// may come from anybody: reused ones are checked anew first.
void Race::finale(RaceResult& result) {
  std::vector<int> indices = contenders();
  while (!makeReady(indices)) indices = contenders();  // one that fails now leaves room for others
  std::vector<int> timed;
  std::vector<Entrant*> late;
  for (int round = 1; !indices.empty(); ++round) {
    if (!finalRound(indices, late, result)) return;
    timed.insert(timed.end(), indices.begin(), indices.end());
    std::vector<int> next = missed(timed, result.best);
    const bool timeIsUp = options_.secondsBudget > 0 && elapsed() > options_.secondsBudget;
    if (next.empty() || round == finalRounds || timeIsUp) {
      if (!next.empty())
        callbacks_.onNote(
            "some candidates have a lower median than the best; they were measured when the machine was "
            "faster, "
            "and there was no time to repeat it beside the best");
      break;
    }
    makeReady(next);
    std::erase_if(next, [&](int i) {
      return (*entrants_)[static_cast<std::size_t>(i)].record.state != CandidateState::measured;
    });
    indices = {result.best};
    indices.insert(indices.end(), result.ties.begin(), result.ties.end());
    indices.insert(indices.end(), next.begin(), next.end());
  }
  if (result.best < 0) return;
  for (Entrant* baseline : late) timeBeside((*entrants_)[static_cast<std::size_t>(result.best)], *baseline);
}

/// All of `indices` in turn, with the baselines that are fast enough: their samples of this round replace
/// what was measured before, for only these were taken under the same conditions. Sets the best and its ties,
/// and `late`, the baselines that did not take part. False when the round could not be timed.
bool Race::finalRound(const std::vector<int>& indices, std::vector<Entrant*>& late, RaceResult& result) {
  std::vector<Entrant*> finalists;
  for (const int index : indices) finalists.push_back(&(*entrants_)[static_cast<std::size_t>(index)]);
  late.clear();
  std::vector<Entrant*> together = finalists;
  MeasureRequest request = plan(2);
  for (Entrant* baseline : readyBaselines()) {
    // What the user brought may still crash: it does so beside the winner, when the final is over.
    const double cost = baseline->measurement.median * request.minSamples;
    const bool joins = cost <= slowBaseline && baseline->record.kind != CandidateKind::foreign;
    if (joins) request.seconds += cost;
    (joins ? together : late).push_back(baseline);
  }
  std::vector<std::vector<double>> samples;
  const double before = elapsed();
  const Trial trial = bench_.measure(together, request, samples);
  timeSeconds_ += elapsed() - before;
  if (trial.outcome != Outcome::ok) {
    callbacks_.onNote(fmt::format("the final could not be timed ({}); the choice rests on the earlier rounds",
                                  trial.reason));
    if (result.best < 0) result.best = indices[0];
    return false;
  }
  std::vector<MedianInterval> intervals;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    replaceSamples(*finalists[i], samples[i]);
    intervals.push_back(medianInterval(samples[i]));
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].median < intervals[best].median) best = i;
  }
  result.best = indices[best];
  result.ties.clear();
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (i != best && tied(intervals[i], intervals[best])) result.ties.push_back(indices[i]);
  }
  if (incumbent_ != result.best) callbacks_.onBest(*finalists[best]);
  incumbent_ = result.best;
  for (std::size_t i = finalists.size(); i < together.size(); ++i) {
    together[i]->overBest = medianInterval(samples[i]).median / intervals[best].median;
    replaceSamples(*together[i], samples[i]);
  }
  return true;
}

void Race::replaceSamples(Entrant& entrant, const std::vector<double>& samples) {
  entrant.measurement.samples.clear();
  entrant.rung = 2;
  store(entrant, samples);
  entrant.score = entrant.measurement.median;
}

/// Those that can be timed beside the finalists: compiled and checked in this process, whatever an earlier
/// run said of them.
std::vector<Entrant*> Race::readyBaselines() {
  std::vector<Entrant*> ready;
  if (baselines_ == nullptr) return ready;
  for (Entrant& baseline : *baselines_) {
    if (baseline.record.state != CandidateState::measured ||
        (baseline.text.empty() && baseline.library.empty()))
      continue;
    progress_.check();
    if (bench_.needsCompiling(baseline)) compileAll({&baseline});
    if (bench_.needsCompiling(baseline) || baseline.record.state != CandidateState::measured) continue;
    if (bench_.checked(baseline) || gate(baseline, bench_.references().size())) ready.push_back(&baseline);
  }
  return ready;
}

/// A slow baseline in turns with the winner alone, whose stored samples stay those of the final.
void Race::timeBeside(Entrant& winner, Entrant& baseline) {
  MeasureRequest request = plan(1);
  request.seconds = 1.5;
  std::vector<std::vector<double>> samples;
  const Stopwatch watch(timeSeconds_);
  const Trial trial = bench_.measure({&winner, &baseline}, request, samples);
  if (baseline.record.kind == CandidateKind::foreign) bench_.fresh();
  if (trial.outcome != Outcome::ok) {
    callbacks_.onNote(
        fmt::format("\"{}\" could not be timed beside the best: {}", baseline.record.label, trial.reason));
    if (baseline.record.kind == CandidateKind::foreign) fail(baseline, trial);
    return;
  }
  const double own = medianInterval(samples[0]).median;
  baseline.overBest = medianInterval(samples[1]).median / own;
  replaceSamples(baseline, samples[1]);
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
    entrants[i].score = entrants[i].measurement.median;
    search_->tell(index, entrants[i].score);
    challenge(index);
  }
  while (!search_->empty() && (budgetLeft() || incumbent_ < 0) && !spentInVain()) {
    progress_.check();
    tryBatch(nextBatch());
  }
  result.cutByTime = !search_->empty() && options_.secondsBudget > 0 &&
                     elapsed() >= options_.secondsBudget * (1 - finaleShare);
  finale(result);
  result.reused = reused_;
  result.tried = tried_;
  result.compileSeconds = compileSeconds_;
  result.gateSeconds = gateSeconds_;
  result.timeSeconds = timeSeconds_;
  return result;
}

}  // namespace nuscope::sweep
