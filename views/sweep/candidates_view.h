#pragma once
// The candidates of a sweep as a table: filters by state, sorting by any column, tens of thousands of rows.
// Choosing a row selects the candidate everywhere.
#include <memory>
#include <unordered_map>
#include <vector>

#include "views/sweep/sweep_snapshot.h"
#include "views/table_view.h"
#include "views/view.h"

namespace nuscope::views {

class CandidatesView : public View {
  Q_OBJECT
 public:
  explicit CandidatesView(const ViewContext& context, QWidget* parent = nullptr);
  enum Filter { all, passed, wrong, timedOut, failed, marked, filterCount };
  void setFilter(Filter filter);
  [[nodiscard]] Filter filter() const { return filter_; }
  [[nodiscard]] TableView* table() const { return table_; }
  [[nodiscard]] const RowsModel* model() const { return model_; }
  [[nodiscard]] std::size_t shownRows() const { return shown_.size(); }

  [[nodiscard]] QString csv() const override { return table_->csv(); }
  [[nodiscard]] QSizeF exportSize() const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override { return table_; }
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  enum ColumnId { rank, variant, tile, block, strip, other, modelled, median, interval, gate, state };
  std::vector<Column> columns() const;
  [[nodiscard]] const SweepRow& at(int row) const { return *shown_[static_cast<std::size_t>(row)]; }
  void filterAndSort();
  void pick(int row);
  void followSelection();
  void followBrush();
  [[nodiscard]] bool belongs(const SweepRow& row, Filter filter) const;

  std::shared_ptr<const SweepSnapshot> snapshot_;
  std::vector<SweepRowRef> shown_;
  SweepRowRef best_;
  std::unordered_map<int, int> ranks_;  ///< candidate -> place among those that passed
  std::unordered_map<std::string, std::int64_t>
      usual_;  ///< the commonest value of each parameter: shown muted
  Filter filter_ = all;
  int sortColumn_ = rank;
  bool descending_ = false;
  bool following_ = false;
  bool fitted_ = false;
  QToolButton* chips_[filterCount] = {};
  RowsModel* model_;
  TableView* table_;
};

}  // namespace nuscope::views
