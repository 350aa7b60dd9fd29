#pragma once
// Which parameters matter: one scatter a parameter (its values against measured time), and below them
// parallel coordinates (one line a candidate through its value of each parameter and its time). Dragging over
// either marks the candidates inside, in all views; Escape or a click beside them lets go.
#include <QWidget>
#include <map>
#include <set>
#include <vector>

#include "views/sweep/plot.h"

namespace nuscope::views {

/// Prepared without a widget. Times are milliseconds.
struct ParameterData {
  struct Axis {
    QString name;                      ///< "tile m"
    std::vector<std::int64_t> values;  ///< that candidates have, ascending: evenly spaced on the axis
    double spread = 1;                 ///< of the medians over its values: 1 does not matter
  };
  struct Point {
    int id = 0;
    QString label;
    double milliseconds = 0;
    std::vector<int> at;  ///< per axis, the index of its value; -1: the kernel has no such parameter
  };
  std::vector<Axis> axes;     ///< those that matter most first; at most `most`
  int axesMore = 0;           ///< not shown
  std::vector<Point> points;  ///< fastest first
  double low = 0, high = 1;   ///< of the times
};
/// One candidate's parameters and time.
struct ParameterCandidate {
  int id = 0;
  QString label;
  double milliseconds = 0;
  std::map<std::string, std::int64_t> parameters;
};
ParameterData parameterData(const std::vector<ParameterCandidate>& candidates, int most = 6);

class ParameterPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ParameterPlot(QWidget* parent = nullptr);
  void setStyle(const PlotStyle& style);
  void show(ParameterData data);
  void setSelected(int candidate);
  void setBrushed(const std::set<std::int64_t>& candidates);
  [[nodiscard]] const ParameterData& data() const { return data_; }

  /// Where a candidate's dot is in the scatter of an axis; empty when it has none.
  [[nodiscard]] std::optional<QPointF> dotOf(int candidate, int axis) const;
  /// The x of a vertical axis of the parallel coordinates (axes().size(): time), and the y of a place on it.
  [[nodiscard]] QPointF onAxis(int axis, double fraction) const;
  [[nodiscard]] QRectF scatterOf(int axis) const;
  /// The whole picture at a size: on screen, in PNG and SVG.
  void paintAt(QPainter& painter, const QSizeF& size) const;

 Q_SIGNALS:
  void candidatePicked(int candidate);
  void brushed(const std::vector<std::int64_t>& candidates);  ///< empty: let go

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Layout;
  [[nodiscard]] Layout layoutAt(const QSizeF& size) const;
  [[nodiscard]] bool isBright(const ParameterData::Point& point) const;
  void paintScatters(QPainter& painter, const Layout& layout) const;
  void paintLines(QPainter& painter, const Layout& layout) const;
  void mark(const std::vector<std::int64_t>& candidates);
  [[nodiscard]] std::vector<std::int64_t> inside(const QRectF& box) const;
  [[nodiscard]] const ParameterData::Point* nearest(const QPointF& position) const;
  void describe();

  PlotStyle style_;
  ParameterData data_;
  int selected_ = -1;
  std::set<std::int64_t> brushed_;
  QPixmap picture_;  ///< without the rubber band
  std::optional<QPointF> from_, to_;
};

}  // namespace nuscope::views
