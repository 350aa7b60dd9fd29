#pragma once
// Proofs of the current study. Three pages: the step that leads to the selected variant; the moves that were
// refused there, each with its counterexample; and all proofs, a list that grows while they run. Follows the
// shared selection.
#include <memory>

#include "views/table_view.h"
#include "views/view.h"

class QStackedWidget;

namespace nuscope::nugraph {
class NuGraph;
struct Refused;
}  // namespace nuscope::nugraph

namespace nuscope::views {

class ProofPanel;
class RowsModel;
class TableView;

class ProofView : public View {
  Q_OBJECT
 public:
  explicit ProofView(const ViewContext& context, QWidget* parent = nullptr);

  enum Page { step, refused, all };
  void showPage(Page page);
  /// "step", "refused", "all".
  bool showPage(const QString& name) override;
  [[nodiscard]] Page page() const { return page_; }
  /// What the visible page says, as lines of text; for tests and readers.
  [[nodiscard]] QString plainText() const;

  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;

 protected:
  void refresh() override;
  [[nodiscard]] int refreshDelay() const override { return 16; }
  void fillContextMenu(QMenu& menu) override;

 private:
  /// A line of the list of all proofs: a step or a refused move, in the order they were decided.
  struct Line {
    bool isStep = true;
    std::size_t index = 0;
    int version = 0;
  };
  /// A line of the refused moves: the name of a group (what was moved past what), or a move.
  struct RefusedLine {
    QString group;          ///< empty: a move
    std::size_t index = 0;  ///< in refused()
  };
  static std::vector<RefusedLine> refusedLines(const nugraph::NuGraph& graph, int variant);
  [[nodiscard]] const nugraph::Refused* refusedAt(int row) const;  ///< null for the name of a group
  std::vector<Column> refusedColumns() const;
  std::vector<Column> allColumns() const;
  void refreshLists();
  void showStep();
  void showRefused();
  void pickRefused(int row);
  void pickLine(int row);
  [[nodiscard]] ProofPanel* panel() const;
  [[nodiscard]] TableView* table() const;

  Page page_ = step;
  std::shared_ptr<const nugraph::NuGraph> graph_;
  std::vector<RefusedLine> refusedRows_;  ///< of the selected variant
  std::vector<Line> lines_;
  int listedVariant_ = -1;
  int shownStep_ = -2, shownRefused_ = -2;
  const void* shownGraph_ = nullptr;
  const void* fittedGraph_ = nullptr;  ///< the graph that the columns of all proofs were last fitted to
  bool selecting_ = false;
  QStackedWidget* pages_;
  ProofPanel *stepPanel_, *refusedPanel_;
  RowsModel *refusedModel_, *allModel_;
  TableView *refusedTable_, *allTable_;
  QToolButton *stepChip_, *refusedChip_, *allChip_;
};

}  // namespace nuscope::views
