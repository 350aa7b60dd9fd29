#include "views/editor/code_highlighter.h"

#include <QSet>

#include "views/theme.h"

namespace nuscope::views {

namespace {

const QSet<QString>& keywords(CodeLanguage language) {
  static const QSet<QString> python{"and",  "as",     "assert", "def",  "else",   "False", "for",  "from",
                                    "if",   "import", "in",     "is",   "lambda", "None",  "not",  "or",
                                    "pass", "range",  "return", "True", "while",  "class", "with", "yield",
                                    "try",  "except", "raise",  "elif", "global", "del"};
  static const QSet<QString> cpp{
      "alignas",   "auto",     "break",   "case",     "const",      "constexpr",    "continue",
      "default",   "do",       "else",    "extern",   "for",        "if",           "inline",
      "namespace", "new",      "return",  "sizeof",   "static",     "static_cast",  "struct",
      "switch",    "template", "typedef", "typename", "using",      "while",        "volatile",
      "true",      "false",    "nullptr", "restrict", "__restrict", "__restrict__", "__attribute__",
      "enum",      "goto",     "include", "define",   "pragma"};
  return language == CodeLanguage::python ? python : cpp;
}

const QSet<QString>& types(CodeLanguage language) {
  static const QSet<QString> python{"f64", "f32", "f16", "bf16", "i32", "i8", "bool", "int", "float"};
  static const QSet<QString> cpp{"void",     "int",      "long",   "float",   "double",  "char",
                                 "bool",     "unsigned", "size_t", "int32_t", "int64_t", "uint32_t",
                                 "uint64_t", "v4",       "v8",     "v16",     "short",   "signed"};
  return language == CodeLanguage::python ? python : cpp;
}

bool isWord(QChar c) {
  return c.isLetterOrNumber() || c == QLatin1Char('_');
}

constexpr int inBlockComment = 1;

}  // namespace

CodeHighlighter::CodeHighlighter(QTextDocument* document, CodeLanguage language, ThemeSource& theme)
    : QSyntaxHighlighter(document), language_(language), theme_(theme) {
  connect(&theme, &ThemeSource::changed, this, &QSyntaxHighlighter::rehighlight);
}

void CodeHighlighter::highlightBlock(const QString& text) {
  const Theme& t = theme_.theme();
  const bool python = language_ == CodeLanguage::python;
  qsizetype i = 0;
  setCurrentBlockState(0);
  const auto colour = [&](qsizetype from, qsizetype to, const QColor& c) {
    setFormat(static_cast<int>(from), static_cast<int>(to - from), c);
  };
  const auto blockComment = [&](qsizetype from) {
    const qsizetype end = text.indexOf(QStringLiteral("*/"), from);
    colour(i, end < 0 ? text.size() : end + 2, t.codeComment);
    if (end < 0) setCurrentBlockState(inBlockComment);
    i = end < 0 ? text.size() : end + 2;
  };
  if (!python && previousBlockState() == inBlockComment) blockComment(0);
  QString before;  // the word before, for "def name"
  while (i < text.size()) {
    const QChar c = text[i];
    const bool lineComment = python ? c == QLatin1Char('#') : text.mid(i, 2) == QLatin1String("//");
    if (lineComment) {
      colour(i, text.size(), t.codeComment);
      return;
    }
    if (!python && text.mid(i, 2) == QLatin1String("/*")) {
      blockComment(i + 2);
      continue;
    }
    if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
      qsizetype end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == QLatin1Char('\\') ? 2 : 1;
      end = std::min(end + 1, text.size());
      colour(i, end, t.codeString);
      i = end;
      continue;
    }
    if (c.isDigit() || (c == QLatin1Char('.') && i + 1 < text.size() && text[i + 1].isDigit())) {
      qsizetype end = i + 1;
      while (end < text.size() && (isWord(text[end]) || text[end] == QLatin1Char('.') ||
                                   ((text[end] == QLatin1Char('-') || text[end] == QLatin1Char('+')) &&
                                    text[end - 1].toLower() == QLatin1Char('e')))) {
        ++end;
      }
      colour(i, end, t.codeNumber);
      i = end;
      continue;
    }
    if (c.isLetter() || c == QLatin1Char('_') || (!python && c == QLatin1Char('#'))) {
      qsizetype end = i + 1;
      while (end < text.size() && isWord(text[end])) ++end;
      const QString word = text.mid(i, end - i);
      const QString bare = word.startsWith(QLatin1Char('#')) ? word.mid(1) : word;
      if (keywords(language_).contains(bare)) {
        colour(i, end, t.codeKeyword);
      } else if (types(language_).contains(word)) {
        colour(i, end, t.codeType);
      } else if (before == QLatin1String("def") ||
                 (!python && end < text.size() && text[end] == QLatin1Char('('))) {
        colour(i, end, t.codeName);
      }
      before = word;
      i = end;
      continue;
    }
    ++i;
  }
}

}  // namespace nuscope::views

#include "moc_code_highlighter.cpp"
