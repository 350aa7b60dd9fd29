#pragma once
// The record of a proof: found and replayed by the independent checker in a job, its lemma instances with
// their substitutions, and its export, as a record for `nuscope replay` and as SMT-LIB for any solver.
#include <QWidget>
#include <optional>

#include "core/record/record.h"
#include "views/proof/proof_case.h"

class QVBoxLayout;

namespace nuscope::views {

class Jobs;
class ThemeSource;

class RecordSection : public QWidget {
  Q_OBJECT
 public:
  RecordSection(ThemeSource& theme, Jobs& jobs, QWidget* parent = nullptr);
  ~RecordSection() override;

  /// A proved case; its record is looked for at once. What was found for the case before is kept where it is
  /// the same proof.
  void show(const ProofCase& proofCase);
  /// Was this question's record confirmed here?
  [[nodiscard]] bool knows(const ProofCase& proofCase) const;
  /// Null until the search has ended.
  [[nodiscard]] const record::Recording* recording() const { return found_ ? &*found_ : nullptr; }
  [[nodiscard]] QString plainText() const;
  /// The record, or the obligations as one text with comments; empty where there are none.
  [[nodiscard]] QString recordText() const;
  [[nodiscard]] QString obligationsText() const;
  /// Ask for a file and write it.
  void exportRecord();
  void exportSmt();

 Q_SIGNALS:
  void replayed(bool confirmed);

 private:
  [[nodiscard]] bool isAbout(const ProofCase& proofCase) const;
  [[nodiscard]] QString headline() const;
  void rebuild();
  void addActs(QVBoxLayout& layout);
  void write(const QString& title, const QString& name, const QString& filter, const QString& text);

  ThemeSource& theme_;
  Jobs& jobs_;
  std::optional<ProofCase> case_;
  std::optional<record::Recording> found_;
  QString failure_;  ///< the search ended by an error, in words
};

}  // namespace nuscope::views
