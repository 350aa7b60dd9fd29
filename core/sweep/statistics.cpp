#include "core/sweep/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nuscope::sweep {
namespace {

/// P(lower <= B < n - lower) for B ~ Binomial(n, 1/2): coverage of the median by the order statistics
/// x(lower+1) .. x(n-lower).
double coverage(std::size_t n, std::size_t lower) {
  const double logHalf = static_cast<double>(n) * std::log(0.5);
  const auto size = static_cast<double>(n);
  double tail = 0;  // P(B <= lower), one side
  for (std::size_t i = 0; i <= lower; ++i) {
    const auto k = static_cast<double>(i);
    tail += std::exp(std::lgamma(size + 1) - std::lgamma(k + 1) - std::lgamma(size - k + 1) + logHalf);
  }
  return 1 - 2 * tail;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    const double mean = static_cast<double>(i + j - 1) / 2;
    for (std::size_t k = i; k < j; ++k) rank[order[k]] = mean;
    i = j;
  }
  return rank;
}

}  // namespace

MedianInterval medianInterval(std::span<const double> samples, double confidence) {
  MedianInterval result;
  if (samples.empty()) return result;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  result.median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  std::size_t lower = 0;
  while (2 * (lower + 2) <= n && coverage(n, lower + 1) >= confidence) ++lower;
  result.low = sorted[lower];
  result.high = sorted[n - 1 - lower];
  result.confidence = n == 1 ? 0 : coverage(n, lower);
  return result;
}

bool tied(const MedianInterval& a, const MedianInterval& b) {
  return a.low <= b.high && b.low <= a.high;
}

MedianInterval ratioInterval(std::span<const double> samples, std::span<const double> beside,
                             double confidence) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(samples.size(), beside.size()); ++i) {
    if (beside[i] > 0) ratios.push_back(samples[i] / beside[i]);
  }
  return medianInterval(ratios, confidence);
}

double rankCorrelation(std::span<const double> a, std::span<const double> b) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (a.size() != b.size() || a.size() < 3) return none;
  const std::vector<double> ra = ranks(a);
  const std::vector<double> rb = ranks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < ra.size(); ++i) {
    ab += (ra[i] - mean) * (rb[i] - mean);
    aa += (ra[i] - mean) * (ra[i] - mean);
    bb += (rb[i] - mean) * (rb[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : none;
}

}  // namespace nuscope::sweep
