#pragma once
// Bars on rows over a common axis: queues by round or time, buffers and pages over their lives. Draws only
// what is visible; bars narrower than two pixels are joined to runs, so that 100,000 of them cost no more
// than the pixels they cover. Pan by dragging or scrolling, zoom by Ctrl+wheel (Shift as well: height of
// rows), arrow keys go from bar to bar, F fits.
#include <QAbstractScrollArea>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "core/schedule/chart.h"
#include "views/graph/graph_content.h"

namespace nuscope::views {

class ThemeSource;

struct BarLook {
  enum class State : std::uint8_t {
    plain,    ///< done, or nothing is being stepped
    ready,    ///< could start now
    waiting,  ///< dashed, muted
    unused,   ///< takes no part in the run
    fault     ///< red
  };
  State state = State::plain;
  Tint tint = Tint::elementwise;
  Mark badge = Mark::none;
};

class LaneChart : public QAbstractScrollArea {
  Q_OBJECT
 public:
  /// What the owner tells of a bar. `look` is asked often and must be quick; the others only for bars that
  /// are wide enough, or pointed at.
  struct Source {
    std::function<BarLook(const schedule::Bar&)> look;
    std::function<QString(const schedule::Bar&)> label;
    std::function<QString(const schedule::Bar&)> tip;
    std::function<QString(double)> axis;  ///< text of a tick
    bool wholeTicks = true;               ///< ticks at whole numbers only
  };
  LaneChart(ThemeSource& theme, const QString& name, QWidget* parent = nullptr);

  void setSource(Source source) { source_ = std::move(source); }
  void setWholeTicks(bool whole) { source_.wholeTicks = whole; }
  /// Null: nothing. Keeps the view when rows and axis are as before, else shows what is readable.
  void setChart(std::shared_ptr<const schedule::Chart> chart);
  [[nodiscard]] const schedule::Chart* chart() const { return chart_.get(); }
  void setSelected(int item);
  void setMarked(std::set<int> items);
  /// What `Source` tells of bars has changed.
  void repaintBars() { viewport()->update(); }
  /// A line at a place of the axis with its words; negative: none.
  void setLine(double at, const QString& words, bool fault);
  void reveal(int item);
  void fit();

  [[nodiscard]] QRect barOnScreen(int item) const;  ///< in the viewport; empty: not placed
  [[nodiscard]] QSizeF pictureSize() const;
  void paintPicture(QPainter& painter) const;
  [[nodiscard]] QSize sizeHint() const override { return {480, 220}; }

 Q_SIGNALS:
  void chosen(int item);
  void rowChosen(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct At {
    int row = -1;
    const schedule::Bar* bar = nullptr;
  };
  struct Frame;  ///< what one painting needs
  void paint(QPainter& painter, const Frame& frame) const;
  void paintRow(QPainter& painter, const Frame& frame, std::size_t row, double top) const;
  void paintBar(QPainter& painter, const Frame& frame, const schedule::Bar& bar, const QRectF& where) const;
  void paintAxis(QPainter& painter, const Frame& frame) const;
  void paintLine(QPainter& painter, const Frame& frame) const;
  void frameAll();
  void placeBars();
  void zoomAround(double factor, double x);
  [[nodiscard]] double nameWidth() const { return nameWidth_; }
  void measureNames();
  [[nodiscard]] double axisHeight() const;
  [[nodiscard]] At hit(QPointF where) const;
  using Place = std::pair<int, std::size_t>;  ///< row, and bar of it
  [[nodiscard]] std::optional<Place> find(int item) const;
  [[nodiscard]] QRect onScreen(const Place& at) const;
  void moveTo(int row, std::size_t bar);

  ThemeSource& theme_;
  Source source_;
  std::shared_ptr<const schedule::Chart> chart_;
  double perUnit_ = 40;    ///< pixels
  double rowHeight_ = 24;  ///< pixels at scale 1
  double nameWidth_ = 0;
  bool fitted_ = true;
  int selected_ = -1;
  std::set<int> marked_;
  double line_ = -1;
  QString lineWords_;
  bool lineFault_ = false;
  std::optional<QPointF> pressed_;
  QPoint valuesWhenPressed_;
  bool dragging_ = false;
};

}  // namespace nuscope::views
