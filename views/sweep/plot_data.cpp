#include "views/sweep/plot_data.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

namespace nuscope::views {

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t next = std::min(below + 1, values.size() - 1);
  const double part = at - static_cast<double>(below);
  return values[below] * (1 - part) + values[next] * part;
}

namespace {

/// What the axis must hold of a candidate: the runs between its 5th and 95th percentile, but those within
/// Tukey's fences and half the median above it: one run that the system held up for long must not press
/// everything else into a line.
std::pair<double, double> reach(const PlotCandidate& candidate) {
  double low = std::min(candidate.low > 0 ? candidate.low : candidate.median, candidate.median);
  double high = std::max(candidate.high, candidate.median);
  if (!candidate.samples.empty()) {
    const double q1 = quantile(candidate.samples, 0.25);
    const double q3 = quantile(candidate.samples, 0.75);
    const double fence = 1.5 * (q3 - q1);
    low = std::min(low, std::max(quantile(candidate.samples, 0.05), q1 - fence));
    high = std::max(high, std::min(quantile(candidate.samples, 0.95), q3 + fence));
  }
  return {std::max(low, candidate.median / 1.5), std::min(high, candidate.median * 1.5)};
}

void fitAxis(LatencyData& data, std::vector<PlotBaseline> baselines) {
  std::sort(baselines.begin(), baselines.end(),
            [](const auto& a, const auto& b) { return a.median < b.median; });
  double low = INFINITY;
  double high = -INFINITY;
  for (const PlotCandidate& candidate : data.best) {
    const auto [least, most] = reach(candidate);
    low = std::min(low, least);
    high = std::max(high, most);
  }
  if (data.best.empty() && !baselines.empty()) low = high = baselines.front().median;
  if (!std::isfinite(low)) return;
  const double own = std::max(high - low, std::abs(high) * 0.02);
  double top = high;
  double bottom = low;
  for (const PlotBaseline& baseline : baselines) {
    const double from = std::min(bottom, baseline.median);
    const double to = std::max(top, baseline.median);
    if (to - from <= 2 * own || data.best.empty()) {
      bottom = from;
      top = to;
      data.inside.push_back(baseline);
    } else {
      data.above.push_back(baseline);
    }
  }
  const double margin = std::max(top - bottom, std::abs(top) * 0.02) * 0.08;
  data.low = std::max(0.0, bottom - margin);
  data.high = top + margin;
}

}  // namespace

bool runsBeyond(const PlotCandidate& candidate, double high) {
  return std::any_of(candidate.samples.begin(), candidate.samples.end(), [&](double s) { return s > high; });
}

LatencyData latencyData(std::vector<PlotCandidate> candidates, std::vector<PlotBaseline> baselines,
                        int limit) {
  LatencyData data;
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.chosen, a.median) < std::pair(!b.chosen, b.median);
  });
  constexpr std::size_t rejectedLimit = 4;
  for (PlotCandidate& candidate : candidates) {
    if (candidate.state == PlotState::measured) {
      if (data.best.size() < static_cast<std::size_t>(limit)) {
        data.best.push_back(std::move(candidate));
      } else {
        ++data.measuredMore;
      }
    } else if (data.rejected.size() < rejectedLimit) {
      data.rejected.push_back(std::move(candidate));
    } else {
      ++data.rejectedMore;
    }
  }
  fitAxis(data, std::move(baselines));
  return data;
}

QString millisecondsText(double milliseconds) {
  if (!std::isfinite(milliseconds)) return QStringLiteral("?");
  if (milliseconds == 0) return QStringLiteral("0");
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(milliseconds))));
  const int decimals = std::clamp(2 - magnitude, 0, 6);
  return QLocale::c().toString(milliseconds, 'f', decimals);
}

}  // namespace nuscope::views
