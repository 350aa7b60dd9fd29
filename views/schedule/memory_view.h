#pragma once
// Buffers and pages over rounds: from the first access to the last, who shares a page with whom.
#include <memory>

#include "views/detail_view.h"

namespace nuscope::schedule {
class Rounds;
struct Chart;
}  // namespace nuscope::schedule

namespace nuscope::views {

class LaneChart;
class ScheduleDocument;
struct ScheduleState;

class MemoryView : public DetailView {
  Q_OBJECT
 public:
  explicit MemoryView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] LaneChart& chart() const { return *chart_; }
  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  void fit() override;
  bool showPage(const QString& name) override;  ///< "buffers", "pages"
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString summary() const override;

 protected:
  void refresh() override;

 private:
  void showPages(bool pages);
  ScheduleDocument& schedule_;
  LaneChart* chart_;
  QToolButton *buffersChip_, *pagesChip_;
  bool pages_ = false, shownPages_ = false;
  std::shared_ptr<const ScheduleState> state_;
};

}  // namespace nuscope::views
