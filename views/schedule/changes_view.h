#pragma once
// What differs between two schedules: the preview of a repair against what stands, or another file.
#include "views/detail_view.h"

class QLabel;
class QStackedWidget;

namespace nuscope::views {

class RowsModel;
class ScheduleDocument;
class TableView;

class ChangesView : public DetailView {
  Q_OBJECT
 public:
  explicit ChangesView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString summary() const override;
  /// Asks for a file and compares the schedule shown with it.
  void askAndCompare();

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  [[nodiscard]] QVariant cell(int row, int column, int role) const;
  ScheduleDocument& schedule_;
  QStackedWidget* pages_;
  QWidget* empty_;
  QLabel* hint_;
  TableView* table_;
  RowsModel* model_;
};

}  // namespace nuscope::views
