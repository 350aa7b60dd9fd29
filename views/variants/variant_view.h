#pragma once
// The chosen variant's graph, with what changed against the variant it was derived from; or its nodes as a
// table.
#include <memory>

#include "views/variants/variant_content.h"
#include "views/view.h"

class QStackedWidget;
class QToolButton;

namespace nuscope::views {

class GraphWidget;
class RowsModel;
class TableView;

class VariantView : public View {
  Q_OBJECT
 public:
  /// `alwaysRoot`: shows the program as written, whatever variant is selected.
  explicit VariantView(const ViewContext& context, QWidget* parent = nullptr, bool alwaysRoot = false);

  [[nodiscard]] GraphWidget& graph() const { return *graph_; }
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] const Changes& changes() const { return changes_; }

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
  [[nodiscard]] int refreshDelay() const override { return 8; }
  void fillContextMenu(QMenu& menu) override;
  void themeChanged() override;

 private:
  void buildTable();
  void showSelection();
  void chooseNode(tensor::NodeRef node);
  [[nodiscard]] std::shared_ptr<const tensor::Program> contextProgram() const;

  bool alwaysRoot_;
  std::shared_ptr<const nugraph::NuGraph> nuGraph_;
  std::shared_ptr<const tensor::Program> program_;
  std::vector<tensor::NodeRef> results_;
  std::vector<tensor::NodeRef> listed_;  ///< rows of the table
  std::unordered_map<tensor::NodeRef, int> uses_;
  int parent_ = -1;
  Changes changes_;
  VariantGraph shown_;
  bool asTable_ = false, ghosts_ = false, everyOperator_ = false;
  QStackedWidget* pages_;
  GraphWidget* graph_;
  TableView* table_;
  RowsModel* rows_;
};

}  // namespace nuscope::views
