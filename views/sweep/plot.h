#pragma once
// The plots of a sweep on QCustomPlot. QCustomPlot knows no palette: everything visible gets its colour from
// one function, `stylePlot`. A plot shows prepared data (plot_data.h), computes nothing, and is painted by
// one code on screen, into SVG and into PNG.
#include <QColor>
#include <QFont>
#include <set>
#include <vector>

#include "views/plot_library.h"
#include "views/sweep/plot_data.h"

namespace nuscope::views {

struct PlotStyle {
  QColor surface, text, muted, line;
  QColor series;    ///< measured values (blue of Okabe and Ito)
  QColor baseline;  ///< baselines (vermilion of Okabe and Ito)
  QColor selection, proved, refuted, unknown;
  QFont labels, numbers;
  bool operator==(const PlotStyle&) const = default;
};

/// Pens, fonts and brushes of axes, grids and background.
void stylePlot(QCustomPlot& plot, const PlotStyle& style);

/// The dozen fastest candidates with every run, baselines as lines, rejected ones in columns of their own;
/// below it, best so far against time on the same style. A click or the arrow keys choose a candidate.
class LatencyPlot : public QCustomPlot {
  Q_OBJECT

 public:
  explicit LatencyPlot(QWidget* parent = nullptr);
  void setStyle(const PlotStyle& style);
  /// `device` goes to the axis label: "this host, 2 threads".
  void show(LatencyData data, BestSoFar bestSoFar, double elapsedSeconds, const QString& device);
  void setSelected(int candidate);  ///< -1: none
  /// Those that are marked keep their colour, all others are muted; empty: none is.
  void setBrushed(const std::set<std::int64_t>& candidates);
  [[nodiscard]] int selected() const { return selected_; }
  /// Centre of a candidate's column in widget coordinates; empty when it is not shown.
  [[nodiscard]] std::optional<QPointF> positionOf(int candidate) const;
  [[nodiscard]] const LatencyData& data() const { return data_; }

 Q_SIGNALS:
  void candidatePicked(int candidate);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void rebuild();
  void addCandidate(const PlotCandidate& candidate, double x);
  void addRejected(const PlotCandidate& candidate, double x);
  void addBaselines();
  [[nodiscard]] bool emptierRight(double value) const;
  void addBestSoFar();
  void placeLower(bool shown);
  [[nodiscard]] std::vector<const PlotCandidate*> columns() const;  ///< left to right
  [[nodiscard]] const PlotCandidate* columnAt(const QPointF& position) const;
  void describe();

  PlotStyle style_;
  LatencyData data_;
  BestSoFar bestSoFar_;
  double elapsed_ = 0;
  QString device_;
  int selected_ = -1;
  std::set<std::int64_t> brushed_;
  QCPAxisRect* upper_ = nullptr;
  QCPAxisRect* lower_ = nullptr;
};

/// Modelled against measured milliseconds, one point a measured candidate, with the line where both agree.
class ModelPlot : public QCustomPlot {
  Q_OBJECT

 public:
  explicit ModelPlot(QWidget* parent = nullptr);
  void setStyle(const PlotStyle& style);
  void show(std::vector<PlotCandidate> candidates);
  void setSelected(int candidate);
  void setBrushed(const std::set<std::int64_t>& candidates);
  [[nodiscard]] std::optional<QPointF> positionOf(int candidate) const;

 Q_SIGNALS:
  void candidatePicked(int candidate);

 protected:
  bool event(QEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void rebuild();
  void addDots(bool bright);
  [[nodiscard]] const PlotCandidate* nearest(const QPointF& position) const;
  PlotStyle style_;
  std::vector<PlotCandidate> candidates_;  ///< measured and modelled only, fastest first
  int selected_ = -1;
  std::set<std::int64_t> brushed_;
};

/// Spearman's rank correlation of modelled and measured times; empty below three candidates with both.
std::optional<double> rankCorrelation(const std::vector<PlotCandidate>& candidates);

/// "7.84 ms (median of 31 runs, 5 % to 95 %: 7.80 to 7.95), modelled 7.80": what a tooltip and a reader say.
QString candidateSummary(const PlotCandidate& candidate);

/// The plot as SVG text, width x height in pixels.
QByteArray plotSvg(QCustomPlot& plot, int width, int height);

}  // namespace nuscope::views
