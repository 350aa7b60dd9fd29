#pragma once
// The tasks of the schedule as a graph (around the finding; by layer and operator, opened on demand; all of
// them while they are few) or as a table.
#include <memory>
#include <set>

#include "views/schedule/task_boxes.h"
#include "views/view.h"

class QStackedWidget;

namespace nuscope::views {

class GraphWidget;
class RowsModel;
class ScheduleDocument;
class TableView;
struct ScheduleState;

class TasksView : public View {
  Q_OBJECT
 public:
  enum class Mode { around, layers, all };
  explicit TasksView(const ViewContext& context, QWidget* parent = nullptr);

  [[nodiscard]] GraphWidget& graph() const { return *graph_; }
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] Mode mode() const { return mode_; }
  void setMode(Mode mode);
  /// Opens or closes a group of the outline.
  void toggleGroup(int group);
  /// Opens a group by its name ("L0", "L0.q_proj") and those around it. False: there is none.
  bool openGroup(const QString& name);
  bool showPage(const QString& name) override;  ///< "around", "layers", "all", "table"

  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  void fit() override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override;

 protected:
  void refresh() override;
  [[nodiscard]] int refreshDelay() const override { return 20; }  // many boxes: after what was clicked
  void fillContextMenu(QMenu& menu) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void buildTable();
  void reload();
  void show(GraphContent content);
  void restate();
  void followSelection();
  void revealFault();
  void chosen(quint64 key);
  void opened(quint64 key);

  ScheduleDocument& schedule_;
  QStackedWidget* pages_;
  GraphWidget* graph_;
  TableView* table_;
  RowsModel* rows_;
  QToolButton *aroundChip_, *layersChip_, *allChip_, *asTable_;
  Mode mode_ = Mode::layers;
  bool chosenByHand_ = false;
  std::set<std::int32_t> openGroups_;
  std::shared_ptr<const ScheduleState> state_;  ///< of the graph below
  std::shared_ptr<const schedule::TaskGraph> tasks_;
  TaskBoxes shownNow_;  ///< another task that is chosen changes none of them
};

}  // namespace nuscope::views
