#pragma once
// What views and explanations ask of a schedule again and again, computed once: model, footprints, complete
// run, clocks. Immutable and thread-safe once made; share it by pointer.
#include <memory>
#include <optional>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/schedule/clocks.h"
#include "core/schedule/footprint.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

class Analysis {
 public:
  /// Refused for a malformed schedule, with its first fault. Throws Cancelled.
  static Result<std::shared_ptr<const Analysis>> of(std::shared_ptr<const Schedule> schedule,
                                                    const Progress& progress);

  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] const Ids& ids() const { return ids_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Footprints& footprints() const { return footprints_; }
  /// The maximal run: complete iff the schedule cannot deadlock.
  [[nodiscard]] const Closure& run() const { return run_; }
  [[nodiscard]] bool live() const { return clocks_ != nullptr; }
  /// Null where the schedule deadlocks.
  [[nodiscard]] const Clocks* clocks() const { return clocks_.get(); }
  /// Position of each task in run().order; INT32_MAX for tasks that never start.
  [[nodiscard]] const std::vector<std::int32_t>& rank() const { return rank_; }
  /// Footprints().touches of a task: [first, last).
  [[nodiscard]] std::span<const Touch> touchesOf(std::int32_t task) const;

 private:
  explicit Analysis(std::shared_ptr<const Schedule> schedule);
  std::shared_ptr<const Schedule> schedule_;
  Ids ids_;
  Model model_;
  Footprints footprints_;
  Closure run_;
  std::shared_ptr<const Clocks> clocks_;
  std::vector<std::int32_t> rank_;
  std::vector<std::size_t> firstTouch_;
};

}  // namespace nuscope::schedule
