#pragma once
// Colours of code, from the theme. One line at a time, no grammar: keywords, names that are defined or
// called, types, numbers, strings, comments.
#include <QSyntaxHighlighter>

namespace nuscope::views {

class ThemeSource;

enum class CodeLanguage { python, cpp };

class CodeHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  CodeHighlighter(QTextDocument* document, CodeLanguage language, ThemeSource& theme);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  CodeLanguage language_;
  ThemeSource& theme_;
};

}  // namespace nuscope::views
