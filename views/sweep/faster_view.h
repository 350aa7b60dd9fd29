#pragma once
// Why faster: the selected candidate beside another, the quicker one first. What differs (steps, parameters),
// the model's account of both, each cause's share in the difference, what stays unexplained, and the
// difference of the two kernels (core/sweep/why.h). Everything is computed in a job.
#include <optional>

#include "core/sweep/why.h"
#include "views/detail_view.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/table_view.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QSplitter;

namespace nuscope::views {

/// A line of the comparison.
struct FasterRow {
  QString what = {}, a = {}, b = {}, share = {};
  bool heading = false;  ///< a section's name, alone in its row
  bool strong = false;
};
/// What the table shows of a comparison, in order.
std::vector<FasterRow> fasterRows(const sweep::Why& why);
/// "1.10 ms against 1.78 ms: 1.62 times as fast", "a tie: ...", "not both were measured".
QString fasterHeadline(const sweep::Why& why);

class FasterView : public DetailView {
  Q_OBJECT
 public:
  explicit FasterView(const ViewContext& context, QWidget* parent = nullptr);
  /// Candidate to compare the selected one with; empty: the fastest, or for the fastest itself the best of
  /// the program as written, of another variant, or the next one.
  void compareWith(std::optional<int> candidate);
  /// Of the two that are shown now; null while there is none.
  [[nodiscard]] std::shared_ptr<const sweep::Why> why() const { return why_; }
  [[nodiscard]] TableView* table() const { return table_; }
  [[nodiscard]] QComboBox* other() const { return other_; }

  [[nodiscard]] QString csv() const override { return table_->csv(); }
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;

 protected:
  void refresh() override;
  /// After the kernel.
  [[nodiscard]] int refreshDelay() const override { return 48; }

 private:
  /// What is shown; equal keys need no new comparison.
  struct Key {
    const void* graph = nullptr;
    int sweep = -1, first = -1, second = -1;
    double firstMedian = 0, secondMedian = 0;
    bool operator==(const Key&) const = default;
  };
  void fillOthers();
  [[nodiscard]] SweepRowRef reference(const SweepRow& chosen) const;
  void compare(SweepRowRef a, SweepRowRef b);
  void adopt(std::shared_ptr<const sweep::Why> why);
  void message(const QString& text);
  void showCode();

  std::shared_ptr<const SweepSnapshot> snapshot_;
  std::shared_ptr<const sweep::Why> why_;
  std::vector<FasterRow> rows_;
  std::optional<int> wanted_;
  std::vector<int> listed_;  ///< candidates of the list, in its order
  Key key_;
  QLabel* headline_;
  QComboBox* other_;
  QHBoxLayout* choice_;  ///< of other_
  QSplitter* parts_;
  TableView* table_;
  RowsModel* model_;
  QPlainTextEdit* code_;
};

}  // namespace nuscope::views
