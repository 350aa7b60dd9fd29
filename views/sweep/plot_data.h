#pragma once
// What the plots of a sweep show, prepared without a widget: which candidates, on which axis, with which
// baselines inside and which at its edge. Times are milliseconds.
#include <QString>
#include <optional>
#include <utility>
#include <vector>

namespace nuscope::views {

/// Why a candidate has no place in the ranking, or that it has one.
enum class PlotState : std::uint8_t { measured, wrong, timedOut, failed };

struct PlotCandidate {
  int id = 0;     ///< of the candidate; what a click selects
  QString label;  ///< for tooltips and accessibility: "gain into w, variant 9"
  PlotState state = PlotState::measured;
  bool chosen = false;  ///< by the sweep's final: it leads, also where another was faster at another time
  QString why;          ///< one sentence for those that are not measured
  double median = 0;
  double low = 0, high = 0;     ///< 95 % confidence interval of the median
  std::vector<double> samples;  ///< every run that is kept
  std::optional<double> modelled;
};

struct PlotBaseline {
  QString label;
  double median = 0;
};

/// Best median found after so many seconds of the sweep.
using BestSoFar = std::vector<std::pair<double, double>>;

struct LatencyData {
  std::vector<PlotCandidate> best;      ///< fastest first, at most `limit`
  std::vector<PlotCandidate> rejected;  ///< wrong, timed out, failed; at most four, the rest counted
  int rejectedMore = 0;
  int measuredMore = 0;
  std::vector<PlotBaseline> inside;  ///< lines on the axis, fastest first
  std::vector<PlotBaseline> above;   ///< too slow for the axis: named at its upper edge
  double low = 0, high = 1;          ///< the axis
};

/// Quantile by linear interpolation; q in [0, 1]. Precondition: not empty. Sorts a copy.
double quantile(std::vector<double> values, double q);

/// The best `limit` candidates on an axis that fits them, not zero-based: differences are what matters. A
/// baseline stretches the axis as long as the candidates keep half of it.
LatencyData latencyData(std::vector<PlotCandidate> candidates, std::vector<PlotBaseline> baselines,
                        int limit = 12);

/// Some runs of it took longer than the upper end of the axis.
bool runsBeyond(const PlotCandidate& candidate, double high);

/// Milliseconds for people, three or four significant digits: "7.84", "0.0312", "41.2".
QString millisecondsText(double milliseconds);

}  // namespace nuscope::views
