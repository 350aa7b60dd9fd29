// The final of a race: sessions in which the best few take turns with one another, with the yardstick and
// with the baselines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/sweep/race.h"

namespace nuscope::sweep {
namespace {

constexpr double finalSlack = 1.15;     // a score above this times the best: not in the final
constexpr double clearlyBehind = 1.01;  // this times the leader's samples, and beyond noise: out of the final
constexpr std::size_t mostChosenFrom = 6;  // in the second session
constexpr int finalRounds = 3;
constexpr double slowBaseline = 4;  // seconds; a baseline that costs the final more comes right after it

MeasureRequest firstSession() {
  MeasureRequest request;
  request.warmup = 1;
  request.minSamples = 7;
  request.maxSamples = 21;
  request.seconds = 1.2;
  request.width = 0.01;
  return request;
}

constexpr int leastChosenBy = 21;  // samples of each in the second session

/// What it decides stays, so that it gets a tenth of a budget of time, within bounds.
MeasureRequest secondSession(double budget) {
  MeasureRequest request;
  request.warmup = 1;
  request.minSamples = leastChosenBy;
  request.maxSamples = 300;
  request.seconds = std::clamp(0.1 * budget, 2.0, 10.0);
  request.width = 0.008;
  return request;
}

/// Seconds that the second session takes longer for a baseline's sake.
double costOf(const Entrant& baseline) {
  return baseline.measurement.median * leastChosenBy;
}

bool joinsSession(const Entrant& baseline) {
  // What the user brought may still crash: it does so beside the winner, when the final is over.
  return costOf(baseline) <= slowBaseline && baseline.record.kind != CandidateKind::foreign;
}

}  // namespace

/// What the final is likely to take: the draws of the gate that its entrants have not passed yet, and two
/// sessions.
double Race::finalReserve() const {
  double seconds = firstSession().seconds + secondSession(options_.secondsBudget).seconds;
  if (baselines_ != nullptr) {
    for (const Entrant& baseline : *baselines_) {
      const bool timed = baseline.record.state == CandidateState::measured;
      if (timed && joinsSession(baseline)) seconds += costOf(baseline);
    }
  }
  const std::size_t draws = bench_.references().size();
  const std::size_t left = draws - std::min(draws, options_.firstDraws);
  if (drawsRun_ > 0) seconds += gateSeconds_ / drawsRun_ * options_.finalists * static_cast<double>(left);
  return std::clamp(seconds, 0.05 * options_.secondsBudget, 0.25 * options_.secondsBudget);
}

/// Who enters the final: the best scores.
std::vector<int> Race::contenders() const {
  std::vector<int> chosen = ranked();
  if (chosen.empty()) return chosen;
  const auto score = [&](int i) { return (*entrants_)[static_cast<std::size_t>(i)].score; };
  const double most = finalSlack * score(chosen[0]);
  std::erase_if(chosen, [&](int i) { return score(i) > most; });
  chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(options_.finalists)));
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

/// Candidates that look faster than the winner of the final, by their score or by a median of another time,
/// when the machine may have been faster. They are asked to show it beside the winner.
std::vector<int> Race::missed(const std::vector<int>& timed, int best) const {
  const auto entrant = [&](int i) -> const Entrant& { return (*entrants_)[static_cast<std::size_t>(i)]; };
  const Entrant& winner = entrant(best);
  std::vector<int> found;
  for (const int index : ranked()) {
    const bool was = std::find(timed.begin(), timed.end(), index) != timed.end();
    const bool lower =
        entrant(index).score < winner.score || entrant(index).measurement.median < winner.measurement.median;
    if (!was && lower) found.push_back(index);
  }
  found.resize(std::min(found.size(), static_cast<std::size_t>(options_.finalists)));
  return found;
}

/// Rounds of the best few, until nobody who was not in one looks faster than the winner, or the time is over.
/// A study may come from anybody: reused ones are checked anew first.
void Race::finale(RaceResult& result) {
  std::vector<int> indices = contenders();
  while (!makeReady(indices)) indices = contenders();  // one that fails now leaves room for others
  std::vector<int> timed;
  std::vector<Entrant*> late;
  for (int round = 1; !indices.empty(); ++round) {
    const double start = elapsed();
    if (!finalRound(indices, late, result)) return;
    timed.insert(timed.end(), indices.begin(), indices.end());
    std::vector<int> next = missed(timed, result.best);
    if (next.empty()) break;
    const bool noTime = options_.secondsBudget > 0 && 2 * elapsed() - start > options_.secondsBudget;
    if (round == finalRounds || noTime) {
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

std::vector<Entrant*> Race::pointers(const std::vector<int>& indices) const {
  std::vector<Entrant*> entrants;
  for (const int index : indices) entrants.push_back(&(*entrants_)[static_cast<std::size_t>(index)]);
  return entrants;
}

/// One session: all take turns, the yardstick among them. Their samples replace what was measured before, for
/// only these were taken under the same conditions. False when the session could not be timed.
bool Race::turns(const std::vector<Entrant*>& entrants, MeasureRequest request,
                 std::vector<std::vector<double>>& samples, const RaceResult& result) {
  std::vector<Entrant*> together = entrants;
  auto at = std::ranges::find(together, yardstick_);
  const bool usable = yardstick_ != nullptr && !bench_.needsCompiling(*yardstick_);
  if (at == together.end() && usable) at = together.insert(together.end(), yardstick_);
  const auto yardstick = static_cast<std::size_t>(at - together.begin());
  const double before = elapsed();
  const Trial trial = bench_.measure(together, std::move(request), samples);
  timeSeconds_ += elapsed() - before;
  if (trial.outcome != Outcome::ok) {
    callbacks_.onNote(fmt::format("the final could not be timed ({}); the choice rests on {}", trial.reason,
                                  result.best < 0 ? "the earlier rounds" : "its earlier sessions"));
    return false;
  }
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    replaceSamples(*entrants[i], samples[i]);
    if (yardstick < together.size())
      entrants[i]->score = reference_ * ratioInterval(samples[i], samples[yardstick]).median;
  }
  return true;
}

/// Those that are not clearly behind the fastest of a session, by ratios of neighbouring samples; of many the
/// fastest few.
std::vector<int> Race::keepNear(const std::vector<int>& indices,
                                const std::vector<std::vector<double>>& samples) const {
  const auto median = [&](std::size_t i) { return medianInterval(samples[i]).median; };
  std::vector<std::size_t> order(indices.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, median);
  std::vector<int> kept;
  for (const std::size_t i : order) {
    const MedianInterval behind = ratioInterval(samples[i], samples[order[0]]);
    const bool out = behind.low > 1 && behind.median > clearlyBehind;
    if (!out && kept.size() < mostChosenFrom) kept.push_back(indices[i]);
  }
  return kept;
}

/// Drops who is clearly behind in a short session, then has the others take turns with the baselines that are
/// fast enough, and chooses. Sets the best and its ties, and `late`, the baselines that did not take part.
/// False when that could not be timed.
bool Race::finalRound(std::vector<int> indices, std::vector<Entrant*>& late, RaceResult& result) {
  std::vector<std::vector<double>> samples;
  const int fallback = result.best < 0 ? indices[0] : result.best;
  if (indices.size() > 2) {
    if (!turns(pointers(indices), firstSession(), samples, result)) {
      result.best = fallback;
      return false;
    }
    indices = keepNear(indices, samples);
  }
  const std::vector<Entrant*> finalists = pointers(indices);
  late.clear();
  std::vector<Entrant*> together = finalists;
  MeasureRequest request = secondSession(options_.secondsBudget);
  for (Entrant* baseline : readyBaselines()) {
    if (joinsSession(*baseline)) request.seconds += costOf(*baseline);
    (joinsSession(*baseline) ? together : late).push_back(baseline);
  }
  if (!turns(together, request, samples, result)) {
    result.best = fallback;
    return false;
  }
  std::vector<MedianInterval> intervals;
  for (std::size_t i = 0; i < together.size(); ++i) intervals.push_back(medianInterval(samples[i]));
  std::size_t best = 0;
  for (std::size_t i = 1; i < finalists.size(); ++i) {
    if (intervals[i].median < intervals[best].median) best = i;
  }
  result.best = indices[best];
  result.ties.clear();
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (i != best && tied(intervals[i], intervals[best])) result.ties.push_back(indices[i]);
  }
  if (incumbent_ != result.best) callbacks_.onBest(*finalists[best]);
  incumbent_ = result.best;
  for (std::size_t i = finalists.size(); i < together.size(); ++i)
    together[i]->overBest = intervals[i].median / intervals[best].median;
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
  MeasureRequest request;
  request.minSamples = 11;
  request.maxSamples = 60;
  request.seconds = 1.5;
  request.width = 0.015;
  std::vector<std::vector<double>> samples;
  const double before = elapsed();
  const Trial trial = bench_.measure({&winner, &baseline}, request, samples);
  timeSeconds_ += elapsed() - before;
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

}  // namespace nuscope::sweep
