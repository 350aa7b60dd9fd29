#pragma once
// A plain text editor for code: line numbers with marks, squiggles, tinted ranges and lines, hover texts,
// indentation. Also read-only, for emitted kernels. Several editors may share one QTextDocument.
#include <QPlainTextEdit>
#include <functional>
#include <map>
#include <vector>

#include "core/base/diagnostics.h"

namespace nuscope::views {

class ThemeSource;

/// Positions of QTextDocument for a range of code-point columns; clamped to the text.
struct TextSpan {
  int from = 0, to = 0;
};
TextSpan spanOf(const QTextDocument& document, const SourceRange& range);
/// The line and column (1-based, code points) of a position.
SourceRange placeOf(const QTextDocument& document, int position);

class CodeEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  CodeEditor(ThemeSource& theme, QTextDocument* document, QWidget* parent = nullptr);

  void setDiagnostics(const std::vector<Diagnostic>& diagnostics);
  /// Tints whole lines (1-based), e.g. the lines of the selected node.
  void setMarkedLines(const std::vector<int>& lines);
  /// Tints a range; line 0: none. Does not move the cursor.
  void setMarkedRange(const SourceRange& range);
  /// Brings a range into view and puts the cursor at its start.
  void goTo(const SourceRange& range);
  /// Marks all hits and moves to the next one; "3 of 12" or "no match"; empty text clears.
  QString findText(const QString& text, bool backwards);
  /// The text of the tooltip at a place without a diagnostic; may return an empty string.
  void setHoverText(std::function<QString(const SourceRange& place)> text) { hoverText_ = std::move(text); }

  // Used by the margin
  [[nodiscard]] int marginWidth() const;
  void paintMargin(QPaintEvent* event);

 Q_SIGNALS:
  /// The user moved the cursor (key or click), not the program.
  void placeChosen(const nuscope::SourceRange& place);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void retheme();
  void updateSelections();
  void placeMargin();
  void indent(bool more);

  ThemeSource& theme_;
  QWidget* margin_;
  std::vector<Diagnostic> diagnostics_;
  std::map<int, std::vector<std::size_t>> byLine_;  ///< diagnostics that start on a line
  std::vector<int> markedLines_;
  SourceRange markedRange_;
  QString sought_;
  std::function<QString(const SourceRange&)> hoverText_;
};

}  // namespace nuscope::views
