#pragma once
// Colours of JSON: keys, strings, numbers, words.
#include <QSyntaxHighlighter>

namespace nuscope::views {

class ThemeSource;

class JsonHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  JsonHighlighter(QTextDocument* document, ThemeSource& theme);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  ThemeSource& theme_;
};

}  // namespace nuscope::views
