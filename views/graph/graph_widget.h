#pragma once
// Draws one GraphContent: cards, splines, chips on edges. Pan by dragging or scrolling, zoom by Ctrl+wheel or
// pinch, arrow keys along edges, Enter opens, F fits. The whole graph is one picture with a grid index and
// levels of detail: below 0.15 rectangles and straight lines, below 0.5 no small text; no antialiasing while
// it moves.
//
// Layout runs in a job: up to 400 boxes by dot (nuscope-layout, 2 s), beyond or past the deadline by
// layeredLayout. The picture before stays until the new one is there. What is painted on the screen is what
// is exported.
#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <optional>
#include <set>
#include <unordered_map>

#include "views/graph/graph_content.h"
#include "views/graph/graph_layout.h"
#include "views/graph/graph_paint.h"

class QPainter;

namespace nuscope::views {

class ThemeSource;
class Jobs;
class GraphIndex;
struct Theme;

class GraphWidget : public QWidget {
  Q_OBJECT
 public:
  GraphWidget(ThemeSource& theme, Jobs& jobs, const QString& name, QWidget* parent = nullptr);
  ~GraphWidget() override;

  /// Shows other content; keeps the view when most keys stay, else fits. The same content again costs
  /// nothing.
  void setContent(GraphContent content);
  [[nodiscard]] const GraphContent& content() const { return content_; }
  [[nodiscard]] const GraphLayout& placed() const { return layout_; }
  /// No layout is under way.
  [[nodiscard]] bool settled() const { return settled_; }
  /// "dot", "layered", or why dot was not used, in words.
  [[nodiscard]] const QString& layoutNote() const { return layoutNote_; }

  // Selection is the view's: it sets what is shown as selected and reacts to the signals.
  void setSelectedBox(std::optional<std::uint64_t> key);
  void setSelectedEdge(std::uint64_t key);  ///< 0: none
  [[nodiscard]] std::optional<std::uint64_t> selectedBox() const { return selectedBox_; }
  void setHovered(std::optional<std::uint64_t> key);
  void setHits(std::set<std::uint64_t> hits);  ///< boxes that a search found
  void ensureVisible(std::uint64_t key);

  void fit();
  /// As `fit`, but never smaller than is readable: then the selected box is in the middle.
  void frame();
  [[nodiscard]] double zoom() const { return zoom_; }
  void setZoom(double zoom, QPointF around);

  /// Where a box or an edge's chip is, in widget coordinates; for tests and menus.
  [[nodiscard]] QRectF boxOnScreen(std::uint64_t key) const;
  [[nodiscard]] QPointF edgeOnScreen(std::uint64_t key) const;

  [[nodiscard]] QSizeF pictureSize() const;
  void paintPicture(QPainter& painter) const;  ///< all of it at scale 1, top left corner at (0, 0)
  [[nodiscard]] QString dot() const;           ///< for Graphviz users

  [[nodiscard]] QSize sizeHint() const override { return {480, 320}; }

 Q_SIGNALS:
  void boxChosen(quint64 key);  ///< clicked, or reached by arrow keys
  void boxOpened(quint64 key);  ///< double-clicked, or Enter
  void edgeChosen(quint64 key);
  void stubClicked(quint64 key);
  void boxHovered(bool any, quint64 key);
  void laidOut();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Hit {
    int box = -1;
    int edge = -1;
    bool stub = false;
  };
  void startLayout();
  struct LaidOut;
  void adopt(LaidOut done);
  void display(GraphContent content);
  [[nodiscard]] bool sameShape(const GraphContent& content) const;
  [[nodiscard]] QRectF visibleScene() const;
  [[nodiscard]] QPointF toScene(QPointF widget) const;
  [[nodiscard]] QPointF toWidget(QPointF scene) const;
  [[nodiscard]] Hit hitTest(QPointF widget) const;
  [[nodiscard]] int indexOf(std::uint64_t key) const;
  void moving();
  void step(int key);
  void describeSelected();
  void paintScene(QPainter& painter, const QRectF& clip, double scale, bool interactive) const;

  ThemeSource& theme_;
  Jobs& jobs_;
  GraphContent content_;
  std::optional<GraphContent> waiting_;  ///< newest content that has to be laid out
  GraphContent underWay_;                ///< the one that is being laid out
  bool layingOut_ = false;
  std::unordered_map<std::uint64_t, int> byKey_;
  GraphLayout layout_;
  Measure measure_;             ///< what the sizes of `layout_` were measured with
  std::vector<QRectF> before_;  ///< positions that boxes move from, while easing
  QTimer easing_;
  QElapsedTimer easingClock_;
  std::shared_ptr<const GraphIndex> index_;
  bool settled_ = true;
  bool fitted_ = true;  ///< the user has not zoomed or panned since the last fit
  QString layoutNote_;
  QPointF origin_;  ///< scene point at the widget's top left
  double zoom_ = 1;
  std::optional<std::uint64_t> selectedBox_, hoveredBox_;
  std::uint64_t selectedEdge_ = 0;
  int hoveredEdge_ = -1;
  std::set<std::uint64_t> hits_;
  std::optional<QPointF> pressed_;
  QPointF originWhenPressed_;
  bool dragging_ = false;
  bool moving_ = false;
  QTimer still_;
};

}  // namespace nuscope::views
