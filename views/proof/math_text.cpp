#include "views/proof/math_text.h"

#include <QColor>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>

namespace nuscope::views {

namespace {

/// The script that starts at `at` (behind _ or ^): its text, and where it ends.
std::pair<QString, qsizetype> script(const QString& line, qsizetype at) {
  if (at < line.size() && line.at(at) == QLatin1Char('{')) {
    int depth = 0;
    for (qsizetype i = at; i < line.size(); ++i) {
      if (line.at(i) == QLatin1Char('{')) ++depth;
      if (line.at(i) == QLatin1Char('}') && --depth == 0) return {line.mid(at + 1, i - at - 1), i + 1};
    }
  }
  qsizetype end = at;
  if (end < line.size() && (line.at(end) == QLatin1Char('-') || line.at(end) == QChar(0x2212))) ++end;
  while (end < line.size() && line.at(end).isLetterOrNumber()) ++end;
  return {line.mid(at, end - at), end};
}

/// Tokens: runs of letters and digits with their scripts, everything else one character each.
QStringList tokens(const QString& line) {
  QStringList result;
  for (qsizetype i = 0; i < line.size();) {
    qsizetype end = i + 1;
    if (line.at(i).isLetterOrNumber()) {
      while (end < line.size() && (line.at(end).isLetterOrNumber() || line.at(end) == QLatin1Char('_') ||
                                   line.at(end) == QLatin1Char('.')))
        ++end;
    }
    result << line.mid(i, end - i);
    i = end;
  }
  return result;
}

}  // namespace

QString prettyMath(QString line) {
  static const QRegularExpression sums(QStringLiteral("\\bsum(?=_)"));
  static const QRegularExpression products(QStringLiteral("\\bprod(?=_)"));
  static const QRegularExpression roots(QStringLiteral("\\bsqrt\\("));
  static const QRegularExpression element(QStringLiteral("([A-Za-z]\\w*)\\[([^\\[\\]]*)\\]"));
  line.replace(sums, QString(QChar(0x03A3))).replace(products, QString(QChar(0x03A0)));
  line.replace(roots, QStringLiteral("\u221A("));
  // Innermost first: an index may hold an element itself.
  for (int depth = 0; depth < 4; ++depth) {
    const QRegularExpressionMatch match = element.match(line);
    if (!match.hasMatch()) break;
    QString next;
    qsizetype end = 0;
    for (auto it = element.globalMatch(line); it.hasNext();) {
      const QRegularExpressionMatch m = it.next();
      QString indices = m.captured(2);
      next += line.mid(end, m.capturedStart() - end) + m.captured(1) + QStringLiteral("_{") +
              indices.replace(QStringLiteral(", "), QStringLiteral(" ")) + QLatin1Char('}');
      end = m.capturedEnd();
    }
    line = next + line.mid(end);
  }
  line.replace(QStringLiteral(" - "), QStringLiteral(" \u2212 "));
  if (line.startsWith(QLatin1Char('-'))) line.replace(0, 1, QChar(0x2212));
  return line.replace(QLatin1Char('*'), QChar(0x2009));
}

QString mathHtml(const QString& line) {
  QString html;
  for (qsizetype i = 0; i < line.size();) {
    const QChar c = line.at(i);
    const bool below = c == QLatin1Char('_');
    if ((below || c == QLatin1Char('^')) && i > 0) {
      const auto [text, end] = script(line, i + 1);
      if (!text.isEmpty()) {
        const QString tag = below ? QStringLiteral("sub") : QStringLiteral("sup");
        html += QStringLiteral("<%1>%2</%1>").arg(tag, mathHtml(text));
        i = end;
        continue;
      }
    }
    html += QString(c).toHtmlEscaped();
    ++i;
  }
  return html;
}

LineDifference lineDifference(const QString& before, const QString& after) {
  const QStringList a = tokens(before);
  const QStringList b = tokens(after);
  qsizetype head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  qsizetype tail = 0;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const auto length = [](const QStringList& list, qsizetype from, qsizetype to) {
    qsizetype n = 0;
    for (qsizetype i = from; i < to; ++i) n += list[i].size();
    return n;
  };
  const qsizetype start = length(a, 0, head);
  return {{start, start + length(a, head, a.size() - tail)},
          {start, start + length(b, head, b.size() - tail)}};
}

QString mathHtml(const QString& line, std::pair<qsizetype, qsizetype> range, const QColor& tint) {
  if (range.first >= range.second || (range.first == 0 && range.second == line.size())) return mathHtml(line);
  return mathHtml(line.left(range.first)) +
         QStringLiteral("<span style=\"background-color:%1\">").arg(tint.name()) +
         mathHtml(line.mid(range.first, range.second - range.first)) + QStringLiteral("</span>") +
         mathHtml(line.mid(range.second));
}

}  // namespace nuscope::views
