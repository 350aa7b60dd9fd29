#include "views/proof/math_text.h"

#include <QColor>
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
