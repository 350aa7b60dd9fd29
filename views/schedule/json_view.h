#pragma once
// The schedule's JSON beside its pictures: edited in place and checked while it is typed, with the records of
// the certificate and of the selection marked. Of files that are too large for that, the selected records
// with their byte offsets, read-only.
#include <QPointer>

#include "core/base/diagnostics.h"
#include "views/view.h"

class QStackedWidget;

namespace nuscope::views {

class CodeEditor;
class JsonHighlighter;
class ScheduleDocument;
class StateLabel;
struct ScheduleState;

class JsonView : public View {
  Q_OBJECT
 public:
  explicit JsonView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] CodeEditor& editor() const { return *editor_; }
  [[nodiscard]] CodeEditor& records() const { return *records_; }
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] bool canFind() const override { return true; }
  QString find(const QString& text, bool backwards) override;
  [[nodiscard]] QStringList moreExports() const override;
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  [[nodiscard]] QString summary() const override;
  void goToNextError();

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void choosePlace(const SourceRange& place);
  void mark();
  void showRecords(const ScheduleState& state);
  ScheduleDocument& schedule_;
  QStackedWidget* pages_;
  CodeEditor* editor_;
  CodeEditor* records_;
  QTextDocument* recordText_;
  StateLabel* label_;
  QPointer<JsonHighlighter> highlighter_;
  bool fromHere_ = false;  ///< the selection was made in this view: the text stays where it is
  std::weak_ptr<const ScheduleState> marked_;
};

}  // namespace nuscope::views
