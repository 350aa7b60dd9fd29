#pragma once
// Proves or refutes a rewrite as one types: two programs side by side, below them the verdict with its proof
// or its counterexample, and what remains of left minus right. Proving runs as a job; the latest text wins.
#include <QTimer>
#include <QWidget>
#include <optional>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "views/proof/proof_case.h"
#include "views/view.h"

class QSplitter;

namespace nuscope::views {

class ProofPanel;
class ProveSide;
class StateLabel;

/// The lower half: verdict, proof, counterexample; a chip chooses between "equal" and "refines".
class VerdictView : public View {
  Q_OBJECT
 public:
  explicit VerdictView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] ProofPanel* panel() const { return panel_; }
  [[nodiscard]] StateLabel* state() const { return state_; }
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
  QToolButton *equalChip_, *refinesChip_;
};

class ProveScreen : public QWidget {
  Q_OBJECT
 public:
  explicit ProveScreen(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] ProveSide* left() const { return left_; }
  [[nodiscard]] ProveSide* right() const { return right_; }
  [[nodiscard]] VerdictView* verdict() const { return verdict_; }
  /// The variant that the right side is, by its graph; -1: none of them.
  [[nodiscard]] int rightVariant() const { return rightVariant_; }
  void proveNow();

 Q_SIGNALS:
  void decided();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// The right side shows the selected variant, unless it was written by hand.
  void followSelection();
  struct Outcome {
    std::vector<Diagnostic> left, right;
    std::optional<ProofCase> proofCase;
    QString error;  ///< the sides cannot be compared, and why
    int rightVariant = -1;
  };
  static Outcome decide(const QString& left, const QString& right, bool refines,
                        const std::shared_ptr<const nugraph::NuGraph>& graph, const Document& document,
                        const Progress& progress);
  void schedule();
  void present(Outcome outcome);

  ViewContext context_;
  ProveSide *left_, *right_;
  VerdictView* verdict_;
  QTimer timer_;
  bool filled_ = false;
  int rightVariant_ = -1;
};

}  // namespace nuscope::views
