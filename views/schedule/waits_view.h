#pragma once
// Waits of a safe schedule that could go: implied by others, or asked for by no conflict; with the modelled
// gain.
#include "views/detail_view.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace nuscope::views {

class RowsModel;
class ScheduleDocument;
class TableView;

class WaitsView : public DetailView {
  Q_OBJECT
 public:
  explicit WaitsView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString summary() const override;

 protected:
  void refresh() override;

 private:
  [[nodiscard]] QVariant cell(int row, int column, int role) const;
  [[nodiscard]] QString hint() const;
  ScheduleDocument& schedule_;
  QStackedWidget* pages_;
  QWidget* empty_;
  QLabel* hint_;
  QPushButton* look_;
  QPushButton* drop_;
  TableView* table_;
  RowsModel* model_;
};

}  // namespace nuscope::views
