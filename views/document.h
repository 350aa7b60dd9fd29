#pragma once
// The open study: the program's text with its parse, the nu-graph explored from it, extents and results of a
// sweep, and the file they are saved in. Everything here is in the window's thread; what is computed runs in
// jobs and arrives as immutable snapshots, so a view may keep the shared pointers it got.
//
// Text, program and nu-graph may be of different ages: while the text has errors `program()` is that of the
// last valid text, and `nuGraph()` that of the last explored text. Views ask `upToDate()` and otherwise say
// "of the last valid text" (`ageText()`).
#include <QObject>
#include <QString>
#include <QTextDocument>
#include <QTimer>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/tensor/graph.h"

namespace nuscope::nugraph {
class NuGraph;
}
namespace nuscope::proof {
class SolverPool;
}
namespace nuscope::sweep {
class Study;
}

namespace nuscope::views {

class Jobs;
class Selection;
struct SweepSnapshot;  // views/sweep/sweep_snapshot.h

/// How the nu-graph came about; shown in the headline and the status bar.
struct ExploreState {
  bool running = false;
  bool cancelled = false;  ///< the search was stopped: there may be more variants
  double seconds = 0;      ///< of the exploration
  QString origin;          ///< "explored", "from the cache", "from the study"
  qint64 finished = 0;     ///< milliseconds since 1970; 0: not finished
  QString error;           ///< why it failed, in words
};

class Document : public QObject {
  Q_OBJECT
 public:
  Document(Jobs& jobs, Selection& selection, QObject* parent = nullptr);
  ~Document() override;

  // File. Opening never runs a program; it reads a program (.py) or a study (.nuscope).
  /// Reads in a job; then `opened` or `openFailed`. Unsaved changes are the caller's question.
  void open(const QString& path);
  /// A program that is in no file yet: an example, or an empty one. What an earlier run found for the same
  /// text is read from the user's cache; otherwise it is explored at once.
  void setNew(const QString& name, const QString& text);
  /// Text that was not saved when the explorer last ended by itself; empty path: there is none.
  struct Autosave {
    QString path, programName, text;
    [[nodiscard]] bool empty() const { return text.isEmpty(); }
  };
  [[nodiscard]] static Autosave readAutosave();
  static void dropAutosave();
  /// Goes on with what readAutosave gave.
  void restore(const Autosave& saved);
  /// Writes in a job: .py the text; .nuscope a study. Then `saved` or `saveFailed`.
  void save(const QString& path);
  [[nodiscard]] const QString& path() const { return path_; }         ///< empty: never saved
  [[nodiscard]] QString displayName() const;                          ///< "rmsnorm_matmul.nuscope"
  [[nodiscard]] QString programName() const { return programName_; }  ///< "rmsnorm_matmul.py"
  [[nodiscard]] bool dirty() const { return dirty_; }

  // Text. Editors share this QTextDocument, and with it the undo history.
  [[nodiscard]] QTextDocument* source() const { return source_; }
  [[nodiscard]] QString text() const;

  // Parse; follows typing after 150 ms.
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] bool textIsValid() const { return textIsValid_; }  ///< the text as it stands has no errors
  [[nodiscard]] bool parsing() const { return parsing_; }
  [[nodiscard]] std::shared_ptr<const tensor::Program> program() const {
    return program_;
  }  ///< last valid; or null

  // Exploration
  [[nodiscard]] std::shared_ptr<const nugraph::NuGraph> nuGraph() const { return nuGraph_; }  ///< or null
  [[nodiscard]] const ExploreState& exploreState() const { return explore_; }
  /// The nu-graph is that of the text as it stands.
  [[nodiscard]] bool upToDate() const;
  /// Empty when up to date; else "of the last valid text" or "of the last explored text".
  [[nodiscard]] QString ageText() const;
  /// Starts (or restarts) exploring the last valid program, as a job in lane "explore".
  void explore();
  /// The same with twice the limits on variants, steps and time.
  void exploreFurther();

  // Variants added by hand (core/propagate/by_hand.h) are undone and redone one by one, until the program is
  // explored anew; exploring the same text proves them again and keeps those that hold.
  /// `graph`: the current one with one variant more.
  void addByHand(std::shared_ptr<const nugraph::NuGraph> graph);
  [[nodiscard]] bool canUndoByHand() const { return byHandAt_ > 0; }
  [[nodiscard]] bool canRedoByHand() const { return byHandAt_ + 1 < byHand_.size(); }
  void undoByHand();
  void redoByHand();

  // Extents a sweep and the model use; every dimension of the program has one.
  [[nodiscard]] const tensor::Extents& extents() const { return extents_; }
  void setExtent(const std::string& dimension, std::int64_t extent);

  /// The study behind the document, which sweeps write to: the open file, or one without a file until it is
  /// saved. Null until something was explored. Thread-safe by itself.
  [[nodiscard]] std::shared_ptr<sweep::Study> study() const { return study_; }
  /// The revision of the study that holds the explored text; 0: none.
  [[nodiscard]] int revision() const { return revision_; }
  /// Why the open study cannot be written, in words; empty where it can.
  [[nodiscard]] QString readOnlyReason() const;

  // Results of the sweep; whoever runs it (views/sweep) puts snapshots here.
  [[nodiscard]] std::shared_ptr<const SweepSnapshot> sweep() const { return sweep_; }
  void setSweep(std::shared_ptr<const SweepSnapshot> sweep);

  /// Killable solver processes, shared by exploring and proving, started on first use (any thread); null
  /// where the `nuscope` executable beside this one is missing or cannot be started (`solversMissing()` says
  /// so in words).
  [[nodiscard]] proof::SolverPool* solvers() const;
  [[nodiscard]] QString solversMissing() const;
  [[nodiscard]] Jobs& jobs() const { return jobs_; }

 Q_SIGNALS:
  void opened();  ///< another document: everything changed
  void openFailed(const QString& message);
  void saved();
  void saveFailed(const QString& message);
  void nameChanged();                    ///< path, name or dirty mark
  void parsed();                         ///< diagnostics, validity, perhaps program
  void programChanged();                 ///< another last valid program
  void noticed(const QString& message);  ///< something a person should read, e.g. a variant that was lost
  void nuGraphChanged();                 ///< a newer snapshot, at most ten times a second while exploring
  void exploreChanged();                 ///< started, ended
  void exploreFailed(const QString& message);
  void extentsChanged();
  void sweepChanged();

 private:
  struct Opened;
  struct Explored;
  struct Solvers;
  void textEdited();
  void parseNow();
  void adopt(Opened opened);
  void proposeCandidate(std::int64_t saved);
  void setProgram(std::shared_ptr<const tensor::Program> program, const QString& text);
  void adoptGraph(std::shared_ptr<const nugraph::NuGraph> graph, const QString& text);
  void showByHand(std::size_t at);
  void setDirty(bool dirty);
  void keepAutosave();

  Jobs& jobs_;
  Selection& selection_;
  QTextDocument* source_;
  QTimer parseTimer_, autosaveTimer_;
  QString path_, programName_;
  bool dirty_ = false;
  bool parsing_ = false;
  bool textIsValid_ = false;
  bool exploreWhenParsed_ = false;
  bool adopting_ = false;  ///< the text is being replaced as a whole
  std::vector<Diagnostic> diagnostics_;
  std::shared_ptr<const tensor::Program> program_;
  QString programText_;  ///< the text `program_` was parsed from
  std::shared_ptr<const nugraph::NuGraph> nuGraph_;
  QString exploredText_;  ///< the text `nuGraph_` was explored from
  ExploreState explore_;
  std::vector<std::shared_ptr<const nugraph::NuGraph>> byHand_;  ///< as explored, then with each addition
  std::size_t byHandAt_ = 0;
  tensor::Extents extents_;
  std::shared_ptr<sweep::Study> study_;
  int revision_ = 0;
  int limitFactor_ = 1;
  std::shared_ptr<const SweepSnapshot> sweep_;
  std::shared_ptr<Solvers> solvers_;
};

}  // namespace nuscope::views
