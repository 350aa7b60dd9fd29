#pragma once
// Queues over rounds, or over modelled time: who runs where and when, what waits behind what, where it
// freezes.
#include <map>
#include <memory>
#include <set>

#include "views/graph/graph_content.h"
#include "views/view.h"

namespace nuscope::schedule {
class Rounds;
struct Chart;
struct Timing;
}  // namespace nuscope::schedule

namespace nuscope::views {

class LaneChart;
class ScheduleDocument;
struct ScheduleState;
struct BarLook;

class QueuesView : public View {
  Q_OBJECT
 public:
  explicit QueuesView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] LaneChart& chart() const { return *chart_; }
  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QString csv() const override;
  void fit() override;
  bool showPage(const QString& name) override;  ///< "rounds", "time"
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override;

 protected:
  void refresh() override;

 private:
  void setTimed(bool timed);
  void restate();
  void restateTimed();
  void setLooks(std::map<int, Mark> changed, std::set<int> faults);
  [[nodiscard]] BarLook look(int task) const;
  [[nodiscard]] QString label(int task) const;
  ScheduleDocument& schedule_;
  LaneChart* chart_;
  std::shared_ptr<const ScheduleState> state_;   ///< of the chart
  std::shared_ptr<const schedule::Rounds> run_;  ///< of the chart
  QToolButton *roundsChip_, *timeChip_;
  bool timed_ = false, shownTimed_ = false;
  std::shared_ptr<const schedule::Timing> timing_;  ///< of timingState_; null: refused
  std::shared_ptr<const ScheduleState> timingState_;
  QString timingRefusal_;
  std::vector<Tint> tints_;  ///< per task of the chart: 100,000 bars are asked for at every painting
  std::map<int, Mark> changed_;
  std::set<int> faults_;
  int step_ = -1;  ///< that the looks are of
  int round_ = 0;  ///< of the step shown
};

}  // namespace nuscope::views
