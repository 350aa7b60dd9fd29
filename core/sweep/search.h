#pragma once
// Which candidate to measure next. A Gaussian process over the points of the space predicts the logarithm of
// each one's time from what was measured so far: it starts from the model's order, learns how far that order
// can be trusted, what each variant and each parameter's value costs, and how near points resemble each
// other. The next point is the one that may be fastest (lower confidence bound); a share is drawn at random,
// so that no part of the space stays unseen. Deterministic for a seed and a sequence of times. (Rasmussen and
// Williams, Gaussian Processes for Machine Learning, 2006, sections 2.2 and A.4; lower confidence bound:
// Srinivas et al. 2010.)
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace nuscope::sweep {

/// What the search knows of a candidate before it runs.
struct SearchPoint {
  int variant = 0;
  std::map<std::string, std::int64_t> parameters;
  double modelledSeconds = 0;  ///< 0 or not finite: not modelled
};

/// Memory grows with points times told ones: 1,200 x 1,200 doubles is 12 MB. Not thread-safe.
class Search {
 public:
  /// `exploration`: share of random points in a batch, in [0, 1].
  Search(std::vector<SearchPoint> points, double exploration, std::uint64_t seed);

  /// The next points to try, at most `most`, each handed out once. `inOrder`: by the model alone, for a
  /// search that measures everything anyway.
  std::vector<int> next(std::size_t most, bool inOrder = false);
  /// This one was tried outside of `next` (or before, in a sweep that is resumed).
  void remove(int index);
  /// Seconds that were measured; those that failed are not told.
  void tell(int index, double seconds);
  [[nodiscard]] bool empty() const { return left_ == 0; }

 private:
  [[nodiscard]] double kernel(std::size_t a, std::size_t b) const;
  void observe(std::size_t index, double residual, bool onlySpread);
  void forget(std::size_t observations);
  [[nodiscard]] int mostPromising() const;
  [[nodiscard]] int randomOne();

  std::vector<SearchPoint> points_;
  std::vector<double> expected_;          ///< log seconds by the model, shrunk towards their mean
  std::vector<double> slope_;             ///< log of the modelled seconds, centred: the model may be wrong
  std::vector<std::vector<int>> levels_;  ///< per point, the rank of each parameter's value
  std::vector<bool> open_;
  std::size_t left_ = 0;
  double exploration_;
  std::mt19937_64 random_;
  double origin_ = 0;  ///< log seconds of the first that was told, less what was expected of it
  // The posterior, kept up to date observation by observation: rows of the inverse Cholesky factor times the
  // covariances with each point.
  std::vector<std::vector<double>> rows_;  ///< one an observation, over all points
  std::vector<double> mean_, variance_;
};

/// How near a search comes to the best of a space whose times are all known (an exhaustive sweep).
struct Rehearsal {
  std::size_t measured = 0;
  double reached = 0;  ///< best of all / best of those measured, in (0, 1]
};
/// Searches with batches of `batch` until `share` of the points are measured. `seconds` 0: failed when
/// measured.
Rehearsal rehearse(const std::vector<SearchPoint>& points, std::span<const double> seconds, double share,
                   std::size_t batch, double exploration, std::uint64_t seed);

}  // namespace nuscope::sweep
