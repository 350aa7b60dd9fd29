#pragma once
// The plots of a sweep: latency of the best dozen with distributions, model against measured, the roofline,
// and times by parameter. A click in a plot selects the candidate everywhere; dragging over parameters marks
// candidates everywhere.
#include <unordered_map>

#include "core/sweep/why.h"
#include "views/sweep/parameter_plot.h"
#include "views/sweep/plot.h"
#include "views/sweep/roofline_plot.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/view.h"

class QStackedWidget;

namespace nuscope::views {

class PlotsView : public View {
  Q_OBJECT
 public:
  explicit PlotsView(const ViewContext& context, QWidget* parent = nullptr);
  enum Page { latency, model, roofline, parameters, pageCount };
  void showPage(Page page);
  /// "latency", "model", "roofline", "parameters".
  bool showPage(const QString& name) override;
  [[nodiscard]] LatencyPlot* latencyPlot() const { return latency_; }
  [[nodiscard]] ModelPlot* modelPlot() const { return model_; }
  [[nodiscard]] RooflinePlot* rooflinePlot() const { return roofline_; }
  [[nodiscard]] ParameterPlot* parameterPlot() const { return parameters_; }

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
  /// Flops and bytes of the candidates of one sweep, counted in jobs as they are measured.
  struct Counted {
    const void* graph = nullptr;
    int sweep = -1;
    std::unordered_map<int, sweep::RooflinePoint> points;
    machine::Ceiling ceiling;
    std::vector<std::string> levels;  ///< nearest first
    bool calibrated = false;
    QString model;
    QString error;
  };
  void pick(int candidate);
  void followSelection(int candidate);
  void refreshRoofline();
  void count(std::vector<sweep::CandidateRecord> candidates);
  [[nodiscard]] RooflineData rooflineData() const;
  [[nodiscard]] ParameterData parameterData() const;

  std::shared_ptr<const SweepSnapshot> snapshot_;
  Page page_ = latency;
  Counted counted_;
  bool counting_ = false;
  QStackedWidget* pages_;
  LatencyPlot* latency_;
  ModelPlot* model_;
  RooflinePlot* roofline_;
  ParameterPlot* parameters_;
  QToolButton* chips_[pageCount] = {};
};

}  // namespace nuscope::views
