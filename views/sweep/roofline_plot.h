#pragma once
// Each measured candidate by its flops per byte (modelled) and its attained GFLOP/s, below what the machine
// can do: the peak of multiply-adds, and for each memory level the line bandwidth times flops per byte
// (Williams, Waterman and Patterson, Roofline, 2009). Ceilings that were measured here are drawn through,
// nominal ones dashed.
#include <set>

#include "views/sweep/plot.h"

namespace nuscope::views {

struct RooflineMark {
  int id = 0;
  QString label;
  double intensity = 0;  ///< flops per byte of `level`
  double gigaflops = 0;  ///< attained
  QString level;         ///< the furthest one that the kernel moves bytes from
};

struct RooflineCeiling {
  QString level;
  double gigabytes = 0;  ///< per second
};

struct RooflineData {
  std::vector<RooflineMark> marks;        ///< fastest first
  std::vector<RooflineCeiling> ceilings;  ///< nearest level first
  double peak = 0;                        ///< GFLOP/s
  bool measured = false;                  ///< the ceilings
  QString model;                          ///< where they are from, in words
  /// GFLOP/s that the ceilings allow at so many flops per byte of `level`; 0: no such level.
  [[nodiscard]] double allowed(double intensity, const QString& level) const;
};

class RooflinePlot : public QCustomPlot {
  Q_OBJECT

 public:
  explicit RooflinePlot(QWidget* parent = nullptr);
  void setStyle(const PlotStyle& style);
  void show(RooflineData data);
  void setSelected(int candidate);
  void setBrushed(const std::set<std::int64_t>& candidates);
  [[nodiscard]] const RooflineData& data() const { return data_; }
  [[nodiscard]] std::optional<QPointF> positionOf(int candidate) const;
  /// What a tooltip and a reader say: "8.1 GFLOP/s at 0.25 flops per byte of L3: 61 % of what L3 allows".
  [[nodiscard]] QString summaryOf(const RooflineMark& mark) const;

 Q_SIGNALS:
  void candidatePicked(int candidate);

 protected:
  bool event(QEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void rebuild();
  void fitAxes();
  void addCeilings();
  void addMarks();
  void turnLabels();
  [[nodiscard]] const RooflineMark* nearest(const QPointF& position) const;
  PlotStyle style_;
  RooflineData data_;
  int selected_ = -1;
  std::set<std::int64_t> brushed_;
  std::vector<QCPItemText*> along_;  ///< names of the bandwidths, along their lines
};

}  // namespace nuscope::views
