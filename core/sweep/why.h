#pragma once
// Why one candidate is faster than another: what differs between them (steps, parameters, code), the model's
// account of each (flops, bytes per memory level, passes over each tensor, share of vector instructions,
// packing), and what share each cause has in the modelled difference. What the model does not account for is
// "unexplained", and said so. Measured figures come from the study; all others are modelled.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/line_diff.h"
#include "core/machine/calibration.h"
#include "core/machine/model.h"
#include "core/nugraph/nugraph.h"
#include "core/sweep/study.h"

namespace nuscope::sweep {

/// One candidate as the study measured it and as the model sees it.
struct Account {
  CandidateRecord candidate;
  std::optional<Measurement> measurement;  ///< only of those that passed the gate and were timed
  machine::Breakdown model;
  std::string code;
};

struct ParameterDifference {
  std::string name;
  std::optional<std::int64_t> a, b;  ///< empty: the kernel has no such parameter
};

/// Modelled seconds that nests of A and of B wait for one resource; b - a is its share in the difference.
struct Share {
  std::string cause;
  double a = 0, b = 0;
};

/// B against A. Differences are B less A: positive where A needs less.
struct Why {
  Account a, b;
  std::string model;  ///< "calibrated on this machine 2026-..." or "nominal figures of host-avx2"
  std::vector<std::string> onlyA, onlyB;  ///< steps from the program as written that the other has not
  std::vector<ParameterDifference> parameters;
  std::vector<Share> shares;                    ///< largest difference first
  double modelled = 0;                          ///< seconds: the sum of the shares' differences
  std::optional<double> measured, unexplained;  ///< seconds; unexplained = measured - modelled
  bool tie = false;  ///< the intervals of both medians overlap: the difference is noise
  std::vector<DiffLine> code;
  std::string counters;  ///< why there are no hardware counters
};

/// Whether hardware counters could be read here, in words: why not, or that they could.
std::string hardwareCounters();

/// One sweep of a study with what the model needs of it. Holds copies; may be used from any one thread.
class Explainer {
 public:
  /// `graph`: of the sweep's revision. UserError when the target is unknown.
  Explainer(const nugraph::NuGraph& graph, const SweepRecord& sweep);
  /// UserError for a baseline, a kernel of the user, a variant that the graph has not, or one that is
  /// refused.
  [[nodiscard]] Account account(const CandidateRecord& candidate,
                                std::optional<Measurement> measurement) const;
  [[nodiscard]] Why why(const CandidateRecord& a, std::optional<Measurement> ofA, const CandidateRecord& b,
                        std::optional<Measurement> ofB) const;
  /// Flops and bytes alone, without printing the kernel: what a roofline needs of a thousand candidates.
  [[nodiscard]] machine::Breakdown work(const CandidateRecord& candidate) const;

  [[nodiscard]] const machine::Target& target() const { return target_; }
  /// What all threads of the sweep attain: measured on this machine, or nominal.
  [[nodiscard]] const machine::Ceiling& ceiling() const { return ceiling_; }
  [[nodiscard]] bool calibrated() const { return calibrated_; }
  [[nodiscard]] const std::string& model() const { return model_; }

 private:
  [[nodiscard]] const nugraph::Variant& variantOf(const CandidateRecord& candidate) const;
  [[nodiscard]] std::vector<std::string> steps(int variant) const;
  const nugraph::NuGraph& graph_;
  SweepRecord sweep_;
  machine::Target target_;
  machine::Ceiling ceiling_;
  bool calibrated_ = false;
  std::string model_;
};

/// A candidate in a roofline plot: the bytes are those of the level furthest away that it moves any from.
struct RooflinePoint {
  int candidate = 0;
  double flops = 0, bytes = 0;  ///< modelled
  std::string level;
  double seconds = 0;  ///< measured median
  [[nodiscard]] double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  [[nodiscard]] double gigaflops() const { return seconds > 0 ? flops / seconds * 1e-9 : 0; }
};
RooflinePoint rooflinePoint(const CandidateRecord& candidate, double seconds, const machine::Breakdown& work,
                            const machine::Target& target);

/// How times go with one parameter: per value, how many candidates have it, their best and their median time.
struct ParameterEffect {
  struct Value {
    std::int64_t value = 0;
    int count = 0;
    double best = 0, median = 0;  ///< seconds
  };
  std::string name;
  std::vector<Value> values;  ///< ascending
  /// Largest median over smallest: 1 where it does not matter.
  [[nodiscard]] double spread() const;
};
struct TimedPoint {
  Parameters parameters;
  double seconds = 0;
};
/// Of parameters that take at least two values; those that matter most first.
std::vector<ParameterEffect> parameterEffects(const std::vector<TimedPoint>& points);

}  // namespace nuscope::sweep
