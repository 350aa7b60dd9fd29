#pragma once
// Counters with their values at the step shown, who raises them and who waits for them.
#include "views/detail_view.h"

namespace nuscope::views {

class RowsModel;
class ScheduleDocument;
class TableView;

class CountersView : public DetailView {
  Q_OBJECT
 public:
  explicit CountersView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] TableView& table() const { return *table_; }
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  [[nodiscard]] QString summary() const override;

 protected:
  void refresh() override;

 private:
  [[nodiscard]] QVariant cell(int row, int column, int role) const;
  [[nodiscard]] int counterAt(int row) const;
  void setAround(bool around);
  void followSelection();
  ScheduleDocument& schedule_;
  TableView* table_;
  RowsModel* model_;
  QToolButton *aroundChip_, *allChip_;
  bool around_ = true;
  std::vector<int> rows_;  ///< counters listed; empty: all
  std::set<int> certificate_;
};

}  // namespace nuscope::views
