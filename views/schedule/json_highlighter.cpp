#include "views/schedule/json_highlighter.h"

#include "views/theme.h"

namespace nuscope::views {

JsonHighlighter::JsonHighlighter(QTextDocument* document, ThemeSource& theme)
    : QSyntaxHighlighter(document), theme_(theme) {
  connect(&theme, &ThemeSource::changed, this, &QSyntaxHighlighter::rehighlight);
}

void JsonHighlighter::highlightBlock(const QString& text) {
  const Theme& t = theme_.theme();
  const auto colour = [&](qsizetype from, qsizetype to, const QColor& c) {
    setFormat(static_cast<int>(from), static_cast<int>(to - from), c);
  };
  for (qsizetype i = 0; i < text.size();) {
    const QChar c = text[i];
    const qsizetype from = i;
    if (c == QLatin1Char('"')) {
      for (++i; i < text.size() && text[i] != QLatin1Char('"'); ++i) {
        if (text[i] == QLatin1Char('\\')) ++i;
      }
      i = std::min(i + 1, text.size());
      qsizetype after = i;
      while (after < text.size() && text[after].isSpace()) ++after;
      const bool key = after < text.size() && text[after] == QLatin1Char(':');
      colour(from, i, key ? t.codeName : t.codeString);
    } else if (c.isDigit() || c == QLatin1Char('-')) {
      while (i < text.size() && (text[i].isLetterOrNumber() || text[i] == QLatin1Char('.') ||
                                 text[i] == QLatin1Char('-') || text[i] == QLatin1Char('+')))
        ++i;
      colour(from, i, t.codeNumber);
    } else if (c.isLetter()) {
      while (i < text.size() && text[i].isLetter()) ++i;
      colour(from, i, t.codeKeyword);
    } else {
      ++i;
    }
  }
}

}  // namespace nuscope::views

#include "moc_json_highlighter.cpp"
