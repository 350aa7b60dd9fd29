#pragma once
// The emitted kernel of the selected candidate, or of the selected variant with preset parameters: emitted
// anew from the graph each time (text that was stored is never compiled), with every line linked to the nodes
// that it computes and back, and the command that compiles it.
#include <memory>

#include "core/emit/kernel.h"
#include "views/detail_view.h"

class QLabel;
class QPushButton;
class QTextDocument;

namespace nuscope::views {

class CodeEditor;
class SweepRunner;
struct SweepRow;

/// "Edit a copy" makes the text editable: the copy stays whatever is selected, until it is discarded. "Race
/// it" sends it through a sweep as a kernel of the user: compiled and run in the worker, gated, timed in
/// turns with the winner, labelled as not proved.
class CodeView : public DetailView {
  Q_OBJECT
 public:
  explicit CodeView(const ViewContext& context, QWidget* parent = nullptr, const char* id = "code");
  [[nodiscard]] CodeEditor* editor() const { return editor_; }
  /// The kernel that is shown; null while there is none.
  [[nodiscard]] std::shared_ptr<const emit::Kernel> kernel() const { return kernel_; }
  /// The compile command as one line of shell.
  [[nodiscard]] QString compileCommand() const;
  void editCopy();
  void discardCopy();
  void raceCopy();
  [[nodiscard]] bool editing() const { return editing_; }
  /// What became of the copy: "not proved, passed the gate: +2 %", or why it is out; empty: it has not raced.
  [[nodiscard]] QString raceResult() const;

  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;

 protected:
  void refresh() override;
  /// After the plots.
  [[nodiscard]] int refreshDelay() const override { return 32; }
  void themeChanged() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  void restyle();
  /// What the shown kernel is of; equal keys need no new emission.
  struct Key {
    const void* graph = nullptr;
    int variant = -1;
    std::int64_t candidate = -1;
    tensor::Extents extents;
    bool operator==(const Key&) const = default;
  };
  void emitKernel(const Key& key);
  void showText(const QString& text);
  void markNode();
  void choosePlace(int line);
  void message(const QString& title, const QString& text);
  void showForeign(const SweepRow& row);
  void showCopyState();

  std::shared_ptr<const emit::Kernel> kernel_;
  Key key_;
  QString lane_;
  QTextDocument* text_;
  CodeEditor* editor_;
  QLabel *command_, *notes_;
  QWidget* copyBar_;  ///< shown while a copy is edited
  QLabel* copyState_;
  QPushButton* race_;
  SweepRunner* runner_;
  QString raceFailure_;    ///< why the last race could not be started
  std::string racedHash_;  ///< of the text that raced
  bool editing_ = false;
  bool choosing_ = false;
};

/// argv as one line that a shell reads back; {source} and {output} replaced.
QString shellCommand(const std::vector<std::string>& arguments, const QString& source, const QString& output);

}  // namespace nuscope::views
