#pragma once
// Dimensions and the extents a sweep uses, the acts (explore, sweep), and what exploring found, in one
// sentence.
#include "views/view.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QTableWidget;
class QVBoxLayout;

namespace nuscope::views {

class RowsModel;
class TableView;
class VariantCosts;
class ExtentsModel;

class ExplorePanel : public View {
  Q_OBJECT
 public:
  explicit ExplorePanel(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] TableView& dimensions() const { return *table_; }
  [[nodiscard]] QString headline() const;
  [[nodiscard]] QString summary() const override { return headline(); }
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QWidget* focusTarget() const override;

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;
  void themeChanged() override;

 private:
  VariantCosts* costs_;
  QLabel* target_;
  TableView* table_;
  ExtentsModel* model_;
  QLabel* broken_;  ///< extents that the asserts forbid
  QPushButton* explore_;
  QPushButton* sweep_;
  QLabel* headline_;
  QProgressBar* progress_;
  QLabel* progressText_;
  QLabel* cuts_;
  QWidget* lineAbove_;
  QWidget* lineBelow_;
};

}  // namespace nuscope::views
