#include "core/sweep/search.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace nuscope::sweep {
namespace {

// Standard deviations of the prior, in logarithms of time (0.1: about a tenth).
constexpr double unknownScale = 3;      // all times together
constexpr double trustInModel = 0.6;    // expected slope of measured over modelled logarithms
constexpr double slopeSpread = 0.5;     // ... and how far it may be off
constexpr double variantSpread = 0.15;  // what a variant costs, whatever the parameters
constexpr double valueSpread = 0.12;    // what a value of one parameter costs, whatever the others
constexpr double pointSpread = 0.15;    // what is special about one combination and those near it
constexpr double noise = 0.02;
constexpr double otherVariant = 0.6;  // correlation of the same parameters in two variants
constexpr double boundFactor = 1.5;   // standard deviations below the mean

double squared(double x) {
  return x * x;
}

bool isModelled(const SearchPoint& point) {
  return point.modelledSeconds > 0 && std::isfinite(point.modelledSeconds);
}

/// Ranks of the values of each parameter that any point has; a missing one is -1.
std::vector<std::vector<int>> ranks(const std::vector<SearchPoint>& points) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const SearchPoint& point : points) {
    for (const auto& [name, value] : point.parameters) values[name].insert(value);
  }
  std::vector<std::vector<int>> all;
  for (const SearchPoint& point : points) {
    std::vector<int> own;
    for (const auto& [name, known] : values) {
      const auto found = point.parameters.find(name);
      own.push_back(found == point.parameters.end()
                        ? -1
                        : static_cast<int>(std::distance(known.begin(), known.find(found->second))));
    }
    all.push_back(std::move(own));
  }
  return all;
}

}  // namespace

Search::Search(std::vector<SearchPoint> points, double exploration, std::uint64_t seed)
    : points_(std::move(points)),
      levels_(ranks(points_)),
      open_(points_.size(), true),
      left_(points_.size()),
      exploration_(exploration),
      random_(seed) {
  double sum = 0;
  double slowest = 0;
  std::size_t modelled = 0;
  for (const SearchPoint& point : points_) {
    if (!isModelled(point)) continue;
    const double log = std::log(point.modelledSeconds);
    slowest = modelled == 0 ? log : std::max(slowest, log);
    sum += log;
    ++modelled;
  }
  const double centre = modelled > 0 ? sum / static_cast<double>(modelled) : 0;
  for (const SearchPoint& point : points_) {
    const double log = isModelled(point) ? std::log(point.modelledSeconds) : slowest;
    slope_.push_back(log - centre);
    expected_.push_back(trustInModel * (log - centre));
  }
  mean_ = expected_;
  for (std::size_t i = 0; i < points_.size(); ++i) variance_.push_back(kernel(i, i));
}

double Search::kernel(std::size_t a, std::size_t b) const {
  const bool sameVariant = points_[a].variant == points_[b].variant;
  double sum = squared(unknownScale) + squared(slopeSpread) * slope_[a] * slope_[b];
  if (sameVariant) sum += squared(variantSpread);
  double near = sameVariant ? 1 : otherVariant;
  for (std::size_t p = 0; p < levels_[a].size(); ++p) {
    const double likeness = std::exp(-0.5 * std::abs(levels_[a][p] - levels_[b][p]));
    sum += squared(valueSpread) * likeness;
    near *= likeness;
  }
  return sum + squared(pointSpread) * near;
}

/// Adds one observation to the posterior. `onlySpread`: its value is what was predicted, so that only the
/// uncertainty around it shrinks (a point that is being measured at the moment).
void Search::observe(std::size_t index, double residual, bool onlySpread) {
  const double deviation = std::sqrt(variance_[index] + squared(noise));
  const double surprise = onlySpread ? 0 : (residual - mean_[index]) / deviation;
  std::vector<double> row(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    double covariance = kernel(i, index);
    for (const auto& earlier : rows_) covariance -= earlier[i] * earlier[index];
    row[i] = covariance / deviation;
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    mean_[i] += row[i] * surprise;
    variance_[i] = std::max(0.0, variance_[i] - squared(row[i]));
  }
  rows_.push_back(std::move(row));
}

/// Takes back the latest ones, which were `onlySpread`.
void Search::forget(std::size_t observations) {
  for (; observations > 0; --observations) {
    for (std::size_t i = 0; i < points_.size(); ++i) variance_[i] += squared(rows_.back()[i]);
    rows_.pop_back();
  }
}

int Search::mostPromising() const {
  int best = -1;
  double lowest = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (!open_[i]) continue;
    const double bound = mean_[i] - boundFactor * std::sqrt(variance_[i]);
    if (best >= 0 && bound >= lowest) continue;
    best = static_cast<int>(i);
    lowest = bound;
  }
  return best;
}

int Search::randomOne() {
  std::size_t skip = random_() % left_;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (open_[i] && skip-- == 0) return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> Search::next(std::size_t most, bool inOrder) {
  most = std::min(most, left_);
  std::vector<int> chosen;
  if (inOrder) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]) chosen.push_back(static_cast<int>(i));
    }
    std::ranges::stable_sort(chosen, {}, [&](int i) { return slope_[static_cast<std::size_t>(i)]; });
    chosen.resize(most);
    for (const int index : chosen) remove(index);
    return chosen;
  }
  const auto atRandom = static_cast<std::size_t>(std::lround(exploration_ * static_cast<double>(most)));
  while (chosen.size() < most) {
    const int index = chosen.size() + atRandom < most ? mostPromising() : randomOne();
    chosen.push_back(index);
    remove(index);
    observe(static_cast<std::size_t>(index), 0, true);
  }
  forget(chosen.size());
  return chosen;
}

void Search::remove(int index) {
  const auto i = static_cast<std::size_t>(index);
  if (!open_[i]) return;
  open_[i] = false;
  --left_;
}

void Search::tell(int index, double seconds) {
  const auto i = static_cast<std::size_t>(index);
  remove(index);
  if (!(seconds > 0) || !std::isfinite(seconds)) return;
  const double log = std::log(seconds);
  if (rows_.empty()) origin_ = log - expected_[i];
  observe(i, log - origin_, false);
}

Rehearsal rehearse(const std::vector<SearchPoint>& points, std::span<const double> seconds, double share,
                   std::size_t batch, double exploration, std::uint64_t seed) {
  Search search(points, exploration, seed);
  const auto most = static_cast<std::size_t>(std::ceil(share * static_cast<double>(points.size())));
  Rehearsal result;
  double best = 0;
  while (result.measured < most && !search.empty()) {
    for (const int index : search.next(std::min(batch, most - result.measured))) {
      const double time = seconds[static_cast<std::size_t>(index)];
      ++result.measured;
      search.tell(index, time);
      if (time > 0 && (best == 0 || time < best)) best = time;
    }
  }
  double fastest = 0;
  for (const double time : seconds) {
    if (time > 0 && (fastest == 0 || time < fastest)) fastest = time;
  }
  result.reached = best > 0 ? fastest / best : 0;
  return result;
}

}  // namespace nuscope::sweep
