#pragma once
// The derivation of variants as a graph (cards; edges are proved steps) or as a table, with a slider over the
// steps of the exploration. Few variants at first; "expand all" shows every one.
#include <QTimer>
#include <memory>
#include <set>

#include "views/view.h"

class QLabel;
class QSlider;
class QStackedWidget;

namespace nuscope::nugraph {
class NuGraph;
}

namespace nuscope::views {

class GraphWidget;
class RowsModel;
class TableView;
class VariantCosts;

class VariantsView : public View {
  Q_OBJECT
 public:
  explicit VariantsView(const ViewContext& context, QWidget* parent = nullptr);

  [[nodiscard]] GraphWidget& graph() const { return *graph_; }
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] QSlider& slider() const { return *slider_; }
  void setExpandAll(bool all);
  void stepTo(int step);  ///< number of steps shown, 0 .. all
  void stepBy(int by);    ///< and selects the step that was reached, so that its proof is shown
  void play(bool on);     ///< a step each moment, from the start where the end was reached
  [[nodiscard]] bool playing() const { return player_.isActive(); }

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
  void fillContextMenu(QMenu& menu) override;
  void themeChanged() override;

 private:
  void showSelection();
  void chooseVariant(quint64 key);
  void chooseStep(quint64 key);
  [[nodiscard]] QString emptyText() const;
  void buildTable();

  std::shared_ptr<const nugraph::NuGraph> nuGraph_;
  VariantCosts* costs_;
  QStackedWidget* pages_;
  GraphWidget* graph_;
  TableView* table_;
  RowsModel* rows_;
  QLabel* empty_;
  QWidget* footer_;
  QLabel* stepLabel_;
  QToolButton *stepBack_, *stepOn_, *play_;
  QSlider* slider_;
  QTimer player_;
  QLabel* shownLabel_;
  bool all_ = false;
  bool asTable_ = false;
  std::set<int> expanded_;
  int step_ = -1;  ///< -1: follows the newest
  int shownOf_ = 0;
};

}  // namespace nuscope::views
