#pragma once
// One side of a rewrite: an editor whose text comes from the program, a variant, a file, or is typed by hand.
#include <vector>

#include "core/base/diagnostics.h"
#include "views/view.h"

class QTextDocument;

namespace nuscope::views {

class CodeEditor;
class StateLabel;

class ProveSide : public View {
  Q_OBJECT
 public:
  enum class Origin { program, variant, file, hand };
  /// `side`: "left" or "right".
  ProveSide(const ViewContext& context, const char* id, const QString& side, QWidget* parent = nullptr);

  void takeProgram();  ///< and follows it until the text is edited
  void takeVariant(int variant);
  /// False, with a message in the state label, when the file cannot be read.
  bool takeFile(const QString& path);
  void openFile();  ///< asks which
  /// A text that has a name and no file: a program of a lesson.
  void takeNamed(const QString& name, const QString& text);
  void setText(const QString& text, Origin origin);
  /// Lines before the first statement of the last function, indented like it; one step of undo.
  void insertAtTop(const QStringList& lines);
  [[nodiscard]] QString text() const;
  [[nodiscard]] Origin origin() const { return origin_; }
  [[nodiscard]] QString originText() const;
  void setDiagnostics(const std::vector<Diagnostic>& diagnostics);
  void setMarkedLines(const std::vector<int>& lines);
  [[nodiscard]] CodeEditor* editor() const { return editor_; }

  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  [[nodiscard]] QStringList moreExports() const override { return {tr("Program (*.py)")}; }
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QString summary() const override;

 Q_SIGNALS:
  void textChanged();

 protected:
  void fillContextMenu(QMenu& menu) override;
  void refresh() override;

 private:
  void fillSourceMenu(QMenu& menu);
  void fillVariants(QMenu& menu);
  QString side_;
  Origin origin_ = Origin::hand;
  int variant_ = 0;
  QString fileName_;
  QTextDocument* document_;
  CodeEditor* editor_;
  StateLabel* state_;
  QToolButton* source_;
  bool setting_ = false;
};

/// Lines (1-based) of each text that the other lacks, without blank ones and comments, by a longest common
/// subsequence of lines; texts of more than 2,000 lines are compared from both ends only.
std::pair<std::vector<int>, std::vector<int>> differingLines(const QString& left, const QString& right);

}  // namespace nuscope::views
