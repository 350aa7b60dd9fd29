#pragma once
// The open schedule: its versions (open, edits, repairs) with undo, what is selected, the step that is shown,
// the repairs that are offered and their preview. Lives in the window's thread beside the Document;
// everything is computed in jobs and arrives as immutable snapshots.
//
// A text that cannot be read or is malformed is a version like any other: `state()` tells its faults, and
// `shown()` keeps the last version that is well formed, so that the pictures stay.
#include <QObject>
#include <QTextDocument>
#include <QTimer>
#include <memory>
#include <vector>

#include "core/schedule/diff.h"
#include "core/schedule/hang.h"
#include "core/schedule/timing.h"
#include "views/schedule/schedule_state.h"

namespace nuscope::views {

class Document;
class Jobs;

/// Positions in the lists of the schedule shown; -1: none.
struct SchedulePlace {
  int finding = -1;  ///< in Report::findings
  int fault = -1;    ///< in ScheduleState::faults
  int task = -1, counter = -1, buffer = -1;
  std::vector<std::pair<std::int64_t, std::int64_t>> region{};  ///< of the buffer; empty: all of it

  bool operator==(const SchedulePlace&) const = default;
};

/// Waits of a safe schedule that could go.
struct WaitAdvice {
  std::shared_ptr<const ScheduleState> of;
  schedule::WaitNotes notes;
  std::int64_t redundant = 0;              ///< of the notes: those that can go at once
  std::optional<schedule::DropGain> gain;  ///< of dropping the redundant ones
  QString refusal;                         ///< why there is no gain, where there are redundant ones
};

/// A hang dump and what it tells.
struct Hang {
  std::shared_ptr<const ScheduleState> of;
  QString path;
  schedule::HangDump dump;
  schedule::HangExplanation why;
};

/// Whole files, for jobs. Throw UserError.
std::shared_ptr<const std::string> readFile(const QString& path);
void writeFile(const QString& path, const std::string& text);

class ScheduleDocument : public QObject {
  Q_OBJECT
 public:
  /// The one of a document, made on first use.
  static ScheduleDocument* of(Document& document);

  // File
  [[nodiscard]] static bool isSchedulePath(const QString& path);
  /// Reads and checks in a job; then `opened` or `openFailed`.
  void open(const QString& path);
  /// Writes in a job; then `saved` or `saveFailed`.
  void save(const QString& path);
  [[nodiscard]] const QString& path() const { return path_; }
  [[nodiscard]] QString displayName() const;
  [[nodiscard]] bool isOpen() const { return !versions_.empty(); }
  [[nodiscard]] bool dirty() const { return isOpen() && versions_[at_] != saved_; }

  // Versions
  using State = std::shared_ptr<const ScheduleState>;
  [[nodiscard]] State state() const;  ///< the version that stands; or the preview. Null: nothing is open
  [[nodiscard]] State shown() const;  ///< the same, or the last one that is well formed; null: there is none
  [[nodiscard]] bool upToDate() const { return state() == shown() && !checking_; }
  [[nodiscard]] bool checking() const { return checking_; }
  [[nodiscard]] bool canUndo() const { return isOpen() && at_ > 0; }
  [[nodiscard]] bool canRedo() const { return isOpen() && at_ + 1 < versions_.size(); }
  void undo();
  void redo();
  /// The text for editors; empty while the schedule is too large for that.
  [[nodiscard]] QTextDocument* source() const { return source_; }

  // Selection and step
  [[nodiscard]] const SchedulePlace& place() const { return place_; }
  void selectFinding(int finding);
  void selectFault(int fault);
  void selectTask(int task);
  /// A task that others are explained against: which comes first, and why; -1: none.
  void setAnchor(int task);
  [[nodiscard]] int anchor() const { return anchor_; }
  void selectCounter(int counter);
  void selectBuffer(int buffer);
  void selectRegion(int buffer, const schedule::Region& region);
  [[nodiscard]] const FindingDetail* detail() const { return detail_ ? &*detail_ : nullptr; }
  /// The run that is stepped through: of the finding, else the whole; null: none.
  [[nodiscard]] std::shared_ptr<const schedule::Rounds> run() const;
  [[nodiscard]] int step() const { return step_; }
  void setStep(int step);

  // Repairs of the chosen finding
  [[nodiscard]] const std::vector<schedule::Repair>& repairs() const { return repairs_; }
  [[nodiscard]] bool seekingRepairs() const { return seeking_; }
  /// Repair only the chosen finding instead of all of its kind.
  void setOnlyThis(bool only);
  [[nodiscard]] bool onlyThis() const { return onlyThis_; }
  /// Shows the repaired schedule, checked, without adopting it.
  void preview(int repair);
  void apply(int repair);
  void dropPreview();
  [[nodiscard]] int previewed() const { return preview_ ? previewed_ : -1; }
  [[nodiscard]] QString jsonPatch(int repair) const;

  // Comparison: of the preview with the version that stands, or with another file
  void compareWith(const QString& path);
  void dropComparison();
  [[nodiscard]] std::shared_ptr<const schedule::Difference> difference() const { return difference_; }
  [[nodiscard]] State differenceBase() const { return base_; }  ///< the first of the two; null: none
  [[nodiscard]] QString differenceName() const { return baseName_; }

  // Further questions (schedule_questions.cpp); an answer is of one version
  /// Looks for waits of a safe schedule that could go; then `waitsChanged`.
  void seekWaits();
  [[nodiscard]] bool seekingWaits() const;
  [[nodiscard]] const WaitAdvice* waitAdvice() const;  ///< of the version shown; null: not asked
  /// A version without the redundant waits, checked.
  void dropRedundantWaits();
  /// Explains a hang dump of the schedule shown; then `hangChanged` or `openFailed`.
  void openDump(const QString& path);
  void closeDump();
  [[nodiscard]] const Hang* hang() const { return hang_ ? &*hang_ : nullptr; }
  /// Writes the modelled run as a Chrome trace; then `traceWritten` or `saveFailed`.
  void exportTrace(const QString& path);

  [[nodiscard]] Jobs& jobs() const { return jobs_; }

 Q_SIGNALS:
  void opened();
  void openFailed(const QString& message);
  void saved();
  void saveFailed(const QString& message);
  void nameChanged();
  void stateChanged();      ///< another version is shown, or its check began
  void selectionChanged();  ///< place, or the detail of the finding arrived
  void stepChanged();
  void repairsChanged();
  void differenceChanged();
  void waitsChanged();
  void hangChanged();
  void traceWritten(const QString& words);

 private:
  ScheduleDocument(Document& document, Jobs& jobs);
  void adopt(State state, bool push);
  void adoptEdits(std::vector<schedule::Edit> edits, const QString& what);
  void showVersion();
  void textEdited();
  void check(std::shared_ptr<const std::string> text, const QString& what);
  void putText(const QString& text);
  void select(const SchedulePlace& place);
  void loadDetail();
  void seekRepairs();
  void compare(State base, const QString& name);
  void trim();

  Jobs& jobs_;
  QTextDocument* source_;
  QTimer editTimer_;
  QString path_;
  std::vector<State> versions_;
  std::size_t at_ = 0;
  State saved_, lastGood_, preview_;
  int previewed_ = -1;
  bool checking_ = false, adopting_ = false;
  SchedulePlace place_;
  std::optional<FindingDetail> detail_;
  int step_ = 0, anchor_ = -1;
  std::vector<schedule::Repair> repairs_;
  bool seeking_ = false, onlyThis_ = false;
  std::shared_ptr<const schedule::Difference> difference_;
  State base_;
  QString baseName_;
  std::optional<WaitAdvice> advice_;
  std::optional<Hang> hang_;
};

}  // namespace nuscope::views
