#pragma once
// Left top: what is wrong, findings of one kind in one row; then every rule with its verdict.
#include <memory>
#include <set>

#include "views/view.h"

namespace nuscope::views {

class RowsModel;
class ScheduleDocument;
class TableView;
struct ScheduleState;

class FindingsView : public View {
  Q_OBJECT
 public:
  explicit FindingsView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] TableView& table() const { return *table_; }

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  struct Row {
    enum class Kind { group, member, more, fault, follows, gap, rule, theirs, differs };
    Kind kind = Kind::gap;
    int index = -1;  ///< of the group, finding, fault, rule, or reason why the verdicts differ
    int group = -1;
  };
  [[nodiscard]] QVariant cell(int row, int column, int role) const;
  [[nodiscard]] QString text(const Row& row, int column) const;
  [[nodiscard]] QString theirVerdict() const;
  void build();
  void choose(int row);
  void toggle(int row);
  void followSelection();
  ScheduleDocument& schedule_;
  TableView* table_;
  RowsModel* model_;
  std::shared_ptr<const ScheduleState> state_;  ///< that the rows are of: paints may come before a refresh
  std::vector<Row> rows_;
  std::set<int> opened_;  ///< groups whose findings are listed
};

}  // namespace nuscope::views
