#pragma once
// One proof, read from top to bottom: headline, verdict, both sides in mathematical notation, definedness,
// the steps (folded), or the counterexample; then what one can do with it. Used by the proof view and by the
// prove view.
#include <QPointer>
#include <QScrollArea>
#include <optional>

#include "views/proof/proof_case.h"

class QLabel;
class QVBoxLayout;

namespace nuscope::views {

class CounterexampleView;
class Jobs;
class ThemeSource;

class ProofPanel : public QScrollArea {
  Q_OBJECT
 public:
  ProofPanel(ThemeSource& theme, Jobs& jobs, QWidget* parent = nullptr);

  /// `withMath`: both sides in notation (off where the caller shows them itself).
  void show(const ProofCase& proofCase, bool withMath = true);
  /// A sentence instead of a proof, e.g. how to get one.
  void showEmpty(const QString& headline, const QString& text);
  [[nodiscard]] const std::optional<ProofCase>& current() const { return case_; }
  /// Everything shown, as lines of text; for readers and tests.
  [[nodiscard]] QString plainText() const;
  void copyCommand() const;
  void copySmt() const;
  /// The panel's inner widget at its full height, for export.
  [[nodiscard]] QWidget* sheet() const { return widget(); }

 private:
  class Section;
  void rebuild();
  void addVerdict(QVBoxLayout& layout);
  void addMath(QVBoxLayout& layout);
  void addCounterexample(QVBoxLayout& layout);
  void addRemaining(QVBoxLayout& layout);
  void addDefinedness(QVBoxLayout& layout);
  void addSteps(QVBoxLayout& layout);
  void addButtons(QVBoxLayout& layout);
  void fillMath();
  void buildStep(const proof::ProofStep& step, QVBoxLayout& body);
  QLabel* label(const QString& text, const QFont& font, const QColor& color) const;
  QLabel* smallMath(const QString& html) const;

  ThemeSource& theme_;
  Jobs& jobs_;
  std::optional<ProofCase> case_;
  bool withMath_ = true;
  QString emptyHeadline_, emptyText_;
  std::vector<MathLine> math_;
  bool mathReady_ = false;
  QString mathError_;
  QPointer<QWidget> mathPlace_;  ///< where the formulas go once they are written
};

}  // namespace nuscope::views
