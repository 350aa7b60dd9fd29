#pragma once
// One proof, read from top to bottom: headline, verdict, both sides in mathematical notation, definedness,
// the steps (folded), or the counterexample with every value of both sides; then what one can do with it.
// Used by the proof view and by the prove view.
#include <QPointer>
#include <QScrollArea>
#include <functional>
#include <optional>

#include "core/base/progress.h"
#include "views/proof/parting_view.h"
#include "views/proof/proof_case.h"

class QMenu;
class QVBoxLayout;

namespace nuscope::proof {
class SolverPool;
}

namespace nuscope::views {

class CounterexampleView;
class Jobs;
class RecordSection;
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
  /// Was it last told to show this proof?
  [[nodiscard]] bool isShowing(const std::shared_ptr<const proof::Proof>& proof) const {
    return case_ && given_ == proof;
  }
  /// The values of both sides at the counterexample; null until they are computed, or where there is none.
  [[nodiscard]] PartingView* values() const;
  /// Everything shown, as lines of text; for readers and tests.
  [[nodiscard]] QString plainText() const;
  /// The record of what is proved; null where nothing is.
  [[nodiscard]] RecordSection* record() const;
  void copyCommand() const;
  void copySmt() const;
  /// Copies and exports of what is shown.
  void fillContextMenu(QMenu& menu);
  /// As View::moreExports and View::exportText: shell script, SMT-LIB, record.
  [[nodiscard]] QStringList textExports() const;
  [[nodiscard]] QString exportText(const QString& suffix) const;
  /// For the search of asserts under which what is refuted or unknown is proved; called from jobs.
  void setSolvers(std::function<proof::SolverPool*()> solvers) { solvers_ = std::move(solvers); }
  /// Offers to insert such an assert (`assertWanted`).
  void setInsertable(bool insertable) { insertable_ = insertable; }
  /// Asserts found so far, weakest first.
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  /// The panel's inner widget at its full height, for export.
  [[nodiscard]] QWidget* sheet() const { return widget(); }

 Q_SIGNALS:
  /// The lines of an assert that a person wants in the program: "assert np.all(z != 0)".
  void assertWanted(const QStringList& lines);

 private:
  /// What takes a moment to compute: formulas, and the values of both sides at the counterexample.
  struct Details {
    std::vector<MathLine> math;
    QString mathError;
    std::vector<PartingRow> values;
    std::size_t valuesHidden = 0;
    QString valuesError;
  };
  static Details detailsOf(const ProofCase& proofCase, bool withMath, const Progress& progress);
  void rebuild();
  void addVerdict(QVBoxLayout& layout);
  void addMath(QVBoxLayout& layout);
  void addCounterexample(QVBoxLayout& layout);
  void addRemaining(QVBoxLayout& layout);
  void addDefinedness(QVBoxLayout& layout);
  void addSteps(QVBoxLayout& layout);
  void addRecord(QVBoxLayout& layout);
  void adoptReplayed();
  void addButtons(QVBoxLayout& layout);
  void addObligations(QVBoxLayout& layout);
  void fillMath();
  void fillValues();
  void searchConditions();
  void fillConditions();

  ThemeSource& theme_;
  Jobs& jobs_;
  std::optional<ProofCase> case_;
  std::shared_ptr<const proof::Proof> given_;  ///< with the case; a replay may put its own in its place
  bool withMath_ = true;
  QString emptyHeadline_, emptyText_;
  std::optional<Details> details_;
  std::vector<Condition> conditions_;
  QString conditionsNote_;  ///< while they are sought, or that there are none
  std::function<proof::SolverPool*()> solvers_;
  bool insertable_ = false;
  QPointer<RecordSection> record_;
  QPointer<QWidget> mathPlace_, valuesPlace_, conditionsPlace_;  ///< where they go once they are there
};

}  // namespace nuscope::views
