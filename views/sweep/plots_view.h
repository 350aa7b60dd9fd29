#pragma once
// The plots of a sweep: latency of the best dozen with distributions, and model against measured. A click in
// a plot selects the candidate everywhere.
#include "views/sweep/plot.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/view.h"

class QStackedWidget;

namespace nuscope::views {

class PlotsView : public View {
  Q_OBJECT
 public:
  explicit PlotsView(const ViewContext& context, QWidget* parent = nullptr);
  enum Page { latency, model };
  void showPage(Page page);
  [[nodiscard]] LatencyPlot* latencyPlot() const { return latency_; }
  [[nodiscard]] ModelPlot* modelPlot() const { return model_; }

  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override;

 protected:
  void refresh() override;
  /// A frame after the table.
  [[nodiscard]] int refreshDelay() const override { return 16; }

 private:
  void pick(int candidate);
  std::shared_ptr<const SweepSnapshot> snapshot_;
  Page page_ = latency;
  QStackedWidget* pages_;
  LatencyPlot* latency_;
  ModelPlot* model_;
  QToolButton *latencyChip_, *modelChip_;
};

}  // namespace nuscope::views
