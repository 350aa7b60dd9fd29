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

/// The low line of a name such as attn_bias, between prettyMath and mathHtml: it starts no subscript.
constexpr QChar nameLine(0xE000);

/// Tokens: runs of letters and digits with their scripts, everything else one character each.
QStringList tokens(const QString& line) {
  const auto isScript = [](QChar c) { return c == QLatin1Char('_') || c == QLatin1Char('^'); };
  QStringList result;
  for (qsizetype i = 0; i < line.size();) {
    qsizetype end = i + 1;
    if (line.at(i).isLetterOrNumber()) {
      while (end < line.size() && (line.at(end).isLetterOrNumber() || line.at(end) == QLatin1Char('.')))
        ++end;
      while (end < line.size() && isScript(line.at(end))) {
        const qsizetype after = script(line, end + 1).second;
        if (after <= end + 1) break;
        end = after;
      }
    }
    result << line.mid(i, end - i);
    i = end;
  }
  return result;
}

/// Which tokens of a[head, n - tail) and b[...] stay, by a longest common subsequence.
void keepCommon(const QStringList& a, const QStringList& b, std::vector<bool>& keptA,
                std::vector<bool>& keptB) {
  const auto n = a.size();
  const auto m = b.size();
  const auto width = static_cast<std::size_t>(m) + 1;
  std::vector<std::uint16_t> length((static_cast<std::size_t>(n) + 1) * width, 0);
  const auto at = [&](qsizetype i, qsizetype j) -> std::uint16_t& {
    return length[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j)];
  };
  for (qsizetype i = n; i-- > 0;) {
    for (qsizetype j = m; j-- > 0;) {
      at(i, j) = a[i] == b[j] ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                              : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (qsizetype i = 0, j = 0; i < n && j < m;) {
    if (a[i] == b[j]) {
      keptA[static_cast<std::size_t>(i++)] = true;
      keptB[static_cast<std::size_t>(j++)] = true;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
}

/// Runs of tokens that do not stay, as characters; blanks between two such runs belong to them.
std::vector<TextRange> changedRuns(const QStringList& list, const std::vector<bool>& kept) {
  std::vector<TextRange> runs;
  qsizetype at = 0;
  for (qsizetype i = 0; i < list.size(); ++i) {
    const qsizetype end = at + list[i].size();
    if (!kept[static_cast<std::size_t>(i)]) {
      if (!runs.empty() && runs.back().second == at) {
        runs.back().second = end;
      } else {
        runs.emplace_back(at, end);
      }
    }
    at = end;
  }
  return runs;
}

}  // namespace

QString prettyMath(QString line) {
  static const QRegularExpression sums(QStringLiteral("\\bsum(?=_)"));
  static const QRegularExpression products(QStringLiteral("\\bprod(?=_)"));
  static const QRegularExpression roots(QStringLiteral("\\bsqrt\\("));
  static const QRegularExpression element(QStringLiteral("([A-Za-z][\\w\uE000]*)\\[([^\\[\\]]*)\\]"));
  static const QRegularExpression inNames(QStringLiteral("(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])"));
  line.replace(inNames, QString(nameLine));
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
    html += QString(c == nameLine ? QLatin1Char('_') : c).toHtmlEscaped();
    ++i;
  }
  return html;
}

LineDifference lineDifference(const QString& before, const QString& after) {
  constexpr qsizetype mostTokens = 600;
  const QStringList a = tokens(before);
  const QStringList b = tokens(after);
  qsizetype head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  qsizetype tail = 0;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const auto kept = [&](const QStringList& list) {
    std::vector<bool> result(static_cast<std::size_t>(list.size()), true);
    std::fill(result.begin() + head, result.end() - tail, false);
    return result;
  };
  std::vector<bool> keptA = kept(a);
  std::vector<bool> keptB = kept(b);
  const QStringList middleA = a.mid(head, a.size() - head - tail);
  const QStringList middleB = b.mid(head, b.size() - head - tail);
  if (middleA.size() <= mostTokens && middleB.size() <= mostTokens) {
    std::vector<bool> innerA(static_cast<std::size_t>(middleA.size()), false);
    std::vector<bool> innerB(static_cast<std::size_t>(middleB.size()), false);
    keepCommon(middleA, middleB, innerA, innerB);
    std::copy(innerA.begin(), innerA.end(), keptA.begin() + head);
    std::copy(innerB.begin(), innerB.end(), keptB.begin() + head);
  }
  return {changedRuns(a, keptA), changedRuns(b, keptB)};
}

QString mathHtml(const QString& line, const std::vector<TextRange>& ranges, const QColor& tint) {
  if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].second == line.size()) return mathHtml(line);
  QString html;
  qsizetype at = 0;
  for (const auto& [from, to] : ranges) {
    html += mathHtml(line.mid(at, from - at)) +
            QStringLiteral("<span style=\"background-color:%1\">").arg(tint.name()) +
            mathHtml(line.mid(from, to - from)) + QStringLiteral("</span>");
    at = to;
  }
  return html + mathHtml(line.mid(at));
}

}  // namespace nuscope::views
