#include "core/sweep/best_so_far.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>

namespace nuscope::sweep {
namespace {

constexpr std::size_t mostSteps = 100'000;  // a file may come from anybody

bool isFigure(double value) {
  return std::isfinite(value) && value >= 0;
}

std::string scoresName(int sweep) {
  return fmt::format("scores of sweep {}", sweep);
}

}  // namespace

std::string text(const BestSoFar& best) {
  std::string text;
  for (const auto& [seconds, median] : best)
    text += fmt::format("{}{:.6g} ms after {:.4g} s", text.empty() ? "" : "; ", 1e3 * median, seconds);
  return text;
}

BestSoFar bestSoFar(const SweepRecord& record) {
  const auto found = record.environment.find(bestSoFarKey);
  BestSoFar best;
  if (found == record.environment.end()) return best;
  const char* at = found->second.c_str();
  double median = 0;
  double seconds = 0;
  int used = 0;
  while (best.size() < mostSteps && std::sscanf(at, "%lf ms after %lf s%n", &median, &seconds, &used) == 2) {
    if (!isFigure(median) || !isFigure(seconds)) return {};
    best.emplace_back(seconds, median * 1e-3);
    at += used;
    if (at[0] != ';' || at[1] != ' ') break;
    at += 2;
  }
  return *at == '\0' ? best : BestSoFar();
}

int chosenBest(const SweepRecord& record) {
  const auto found = record.environment.find(bestKey);
  if (record.state == SweepState::running || found == record.environment.end()) return -1;
  int id = -1;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? id : -1;
}

double secondsOf(const SweepRecord& record) {
  const auto found = record.environment.find(secondsKey);
  double seconds = 0;
  if (found == record.environment.end() || std::sscanf(found->second.c_str(), "%lf", &seconds) != 1) return 0;
  return isFigure(seconds) ? seconds : 0;
}

void keepScores(Study& study, int sweep, const Scores& scores) {
  std::string text;
  for (const auto& [candidate, seconds] : scores) text += fmt::format("#{} {:.6g} s\n", candidate, seconds);
  study.setViewState(scoresName(sweep), text);
}

Scores keptScores(const Study& study, int sweep) {
  const auto text = study.viewState(scoresName(sweep));
  Scores scores;
  if (!text) return scores;
  const char* at = text->c_str();
  int candidate = 0;
  double seconds = 0;
  int used = 0;
  while (scores.size() < mostSteps && std::sscanf(at, "#%d %lf s%n", &candidate, &seconds, &used) == 2) {
    if (!isFigure(seconds) || seconds == 0 || at[used] != '\n') return {};
    scores[candidate] = seconds;
    at += used + 1;
  }
  return *at == '\0' ? scores : Scores();
}

}  // namespace nuscope::sweep
