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

namespace nuscope::views {

class Jobs;
class Selection;
struct SweepSnapshot;  // views/sweep/sweep_snapshot.h

/// What exploring cost; shown in the headline.
struct ExploreState {
  bool running = false;
  double seconds = 0;
  QString when;  ///< "cached", "just now": where the result comes from
};

class Document : public QObject {
  Q_OBJECT
 public:
  Document(Jobs& jobs, Selection& selection, QObject* parent = nullptr);
  ~Document() override;

  // File. Opening never runs a program; it reads a program (.py) or a study (.nuscope).
  /// Reads in a job; then `opened` or `openFailed`. Unsaved changes are the caller's question.
  void open(const QString& path);
  /// A program that is in no file yet.
  void setNew(const QString& name, const QString& text);
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

  // Extents a sweep and the model use; every dimension of the program has one.
  [[nodiscard]] const tensor::Extents& extents() const { return extents_; }
  void setExtent(const std::string& dimension, std::int64_t extent);

  // Results of the sweep; whoever runs it (views/sweep) puts snapshots here.
  [[nodiscard]] std::shared_ptr<const SweepSnapshot> sweep() const { return sweep_; }
  void setSweep(std::shared_ptr<const SweepSnapshot> sweep);

  /// Killable solver processes, shared by exploring and proving; null where the `nuscope` executable is
  /// missing
  /// (`solversMissing()` says so in words).
  [[nodiscard]] proof::SolverPool* solvers() const { return solvers_.get(); }
  [[nodiscard]] QString solversMissing() const { return solversMissing_; }
  [[nodiscard]] Jobs& jobs() const { return jobs_; }

 Q_SIGNALS:
  void opened();  ///< another document: everything changed
  void openFailed(const QString& message);
  void saved();
  void saveFailed(const QString& message);
  void nameChanged();     ///< path, name or dirty mark
  void parsed();          ///< diagnostics, validity, perhaps program
  void programChanged();  ///< another last valid program
  void nuGraphChanged();  ///< a newer snapshot, at most ten times a second while exploring
  void exploreChanged();  ///< started, ended
  void exploreFailed(const QString& message);
  void extentsChanged();
  void sweepChanged();

 private:
  struct Opened;
  void textEdited();
  void parseNow();
  void adopt(Opened opened);
  void setProgram(std::shared_ptr<const tensor::Program> program);
  void setNuGraph(std::shared_ptr<const nugraph::NuGraph> graph);
  void setDirty(bool dirty);
  void loadCachedOrExplore();

  Jobs& jobs_;
  Selection& selection_;
  QTextDocument* source_;
  QTimer parseTimer_;
  QString path_, programName_;
  bool dirty_ = false;
  bool parsing_ = false;
  bool textIsValid_ = false;
  bool exploreWhenParsed_ = false;
  std::vector<Diagnostic> diagnostics_;
  std::shared_ptr<const tensor::Program> program_;
  QString programText_;  ///< the text `program_` was parsed from
  std::shared_ptr<const nugraph::NuGraph> nuGraph_;
  QString exploredText_;  ///< the text `nuGraph_` was explored from
  ExploreState explore_;
  tensor::Extents extents_;
  std::shared_ptr<const SweepSnapshot> sweep_;
  std::unique_ptr<proof::SolverPool> solvers_;
  QString solversMissing_;
};

}  // namespace nuscope::views
