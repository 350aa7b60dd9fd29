#pragma once
// Proves or refutes a rewrite as one types: two programs side by side, below them the verdict with its proof
// or its counterexample, what remains of left minus right, and the difference of the two graphs. Proving runs
// as a job; the latest text wins.
#include <QTimer>
#include <QWidget>
#include <optional>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "views/proof/proof_case.h"
#include "views/view.h"

class QSplitter;

namespace nuscope::views {

class DifferenceView;
struct GraphDifference;
class ProofPanel;
class ProveSide;
class StandingBar;
class StateLabel;

/// The lower half: verdict, proof, counterexample; a chip chooses between "equal" and "refines".
class VerdictView : public View {
  Q_OBJECT
 public:
  explicit VerdictView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] ProofPanel* panel() const { return panel_; }
  [[nodiscard]] StateLabel* state() const { return state_; }
  [[nodiscard]] StandingBar* standing() const { return standing_; }
  [[nodiscard]] bool refines() const;
  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override;

 Q_SIGNALS:
  void modeChanged();

 protected:
  void fillContextMenu(QMenu& menu) override;

 private:
  ProofPanel* panel_;
  StateLabel* state_;
  StandingBar* standing_;
  QToolButton *equalChip_, *refinesChip_;
};

class ProveScreen : public QWidget {
  Q_OBJECT
 public:
  explicit ProveScreen(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] ProveSide* left() const { return left_; }
  [[nodiscard]] ProveSide* right() const { return right_; }
  [[nodiscard]] VerdictView* verdict() const { return verdict_; }
  [[nodiscard]] DifferenceView* difference() const { return difference_; }
  /// A text was changed and its verdict is not there yet.
  [[nodiscard]] bool deciding() const;
  /// The variant that the right side is, by its graph; -1: none of them.
  [[nodiscard]] int rightVariant() const { return rightVariant_; }
  void proveNow();
  /// Is the right side among the variants? By hash, else by proof, as a job.
  void askStanding();
  /// The right side becomes a variant of the open study, if it is proved to refine the program.
  void addAsVariant();
  /// Why that is not possible now, in words; empty: it is.
  [[nodiscard]] QString whyNotAdded() const;
  /// A question about the variants is open.
  [[nodiscard]] bool placing() const;
  /// The variant added or found last; -1: none.
  [[nodiscard]] int placedVariant() const { return placed_; }
  void swapSides();

 Q_SIGNALS:
  void decided();
  void placed();  ///< a question about the variants was answered

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  /// The right side shows the selected variant, unless it was written by hand.
  void followSelection();
  struct Outcome {
    std::vector<Diagnostic> left, right;
    std::optional<ProofCase> proofCase;
    QString error;                                      ///< the sides cannot be compared, and why
    std::shared_ptr<const GraphDifference> difference;  ///< null while a side has errors
    int rightVariant = -1;
  };
  static Outcome decide(const QString& left, const QString& right, bool refines,
                        const std::shared_ptr<const nugraph::NuGraph>& graph, const Document& document,
                        const Progress& progress);
  void schedule();
  void present(Outcome outcome);
  void place(bool add);
  void updateActs();

  ViewContext context_;
  ProveSide *left_, *right_;
  VerdictView* verdict_;
  DifferenceView* difference_;
  QTimer timer_;
  bool filled_ = false;
  int rightVariant_ = -1;
  int placed_ = -1;
  std::optional<tensor::Program> rightProgram_;  ///< of the last verdict; none while a side has errors
};

}  // namespace nuscope::views
