#pragma once
// The program's text with live errors: squiggles, marks in the margin, hover texts and a list with hints
// below. Errors come from Document, which parses 150 ms after typing on another thread. A click selects the
// node that was written there, and the selected node is tinted.
#include "core/tensor/graph.h"
#include "views/view.h"

class QLabel;

namespace nuscope::views {

class CodeEditor;
class RowsModel;
class TableView;
class StateLabel;

class SourceView : public View {
  Q_OBJECT
 public:
  explicit SourceView(const ViewContext& context, QWidget* parent = nullptr, const char* id = "source");
  [[nodiscard]] CodeEditor& editor() const { return *editor_; }
  [[nodiscard]] TableView& errors() const { return *errors_; }
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QString summary() const override;
  void goToNextError();

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  void showSelection();
  void choosePlace(const SourceRange& place);

  CodeEditor* editor_;
  StateLabel* state_;
  TableView* errors_;
  RowsModel* errorRows_;
};

/// The variables and nodes whose text covers a place, smallest first; for hovering and selecting.
tensor::NodeRef nodeAt(const tensor::Program& program, const SourceRange& place);

}  // namespace nuscope::views
