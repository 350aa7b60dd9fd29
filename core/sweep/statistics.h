#pragma once
// Robust statistics of timings: the median with a distribution-free confidence interval.
#include <span>
#include <vector>

namespace nuscope::sweep {

struct MedianInterval {
  double median = 0;
  double low = 0, high = 0;  ///< order statistics around the median
  double confidence = 0;  ///< exact coverage of [low, high] (binomial); below the wanted one for few samples
  /// (high - low) / median.
  [[nodiscard]] double relativeWidth() const { return median > 0 ? (high - low) / median : 0; }
};

/// Median and the narrowest symmetric pair of order statistics that covers it with at least `confidence`, if
/// the samples suffice (6 for 95 %), else minimum and maximum. Empty samples: zeros.
MedianInterval medianInterval(std::span<const double> samples, double confidence = 0.95);

/// True when the intervals overlap: the difference is noise.
bool tied(const MedianInterval& a, const MedianInterval& b);

/// Ratios of samples that were taken in turns, round by round: what drifts meanwhile cancels.
MedianInterval ratioInterval(std::span<const double> samples, std::span<const double> beside,
                             double confidence = 0.95);

/// Spearman's rank correlation with mean ranks for ties; NaN below 3 pairs or when one side is constant.
double rankCorrelation(std::span<const double> a, std::span<const double> b);

}  // namespace nuscope::sweep
