#include "views/text.h"

#include <QLocale>
#include <QStringList>
#include <cmath>

namespace nuscope::views {

namespace {

const QChar thinSpace(0x2009);

QString groupDigits(const QString& digits) {
  QString out;
  for (qsizetype i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += thinSpace;
    out += digits[i];
  }
  return out;
}

/// After the decimal point groups run from the left.
QString groupFraction(const QString& digits) {
  QString out;
  for (qsizetype i = 0; i < digits.size(); ++i) {
    if (i > 0 && i % 3 == 0) out += thinSpace;
    out += digits[i];
  }
  return out;
}

}  // namespace

QString grouped(std::int64_t value) {
  const QString digits =
      QString::number(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  return (value < 0 ? QString(QChar(0x2212)) : QString()) + groupDigits(digits);
}

QString number(double value, int significant) {
  if (std::isnan(value)) return QStringLiteral("undefined");
  if (std::isinf(value)) return value < 0 ? QStringLiteral("\u2212\u221E") : QStringLiteral("\u221E");
  if (value == 0) return QStringLiteral("0");
  const double magnitude = std::fabs(value);
  if (magnitude < 1e-4 || magnitude >= 1e9) return QString::number(value, 'g', significant);
  const int whole = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  QString text = QString::number(magnitude, 'f', std::max(0, significant - whole));
  const qsizetype point = text.indexOf(QLatin1Char('.'));
  QString out = value < 0 ? QString(QChar(0x2212)) : QString();
  if (point < 0) return out + groupDigits(text);
  while (text.endsWith(QLatin1Char('0'))) text.chop(1);
  out += groupDigits(text.left(point));
  const QString fraction = text.mid(point + 1);
  return fraction.isEmpty() ? out : out + QLatin1Char('.') + groupFraction(fraction);
}

QString duration(double seconds) {
  if (seconds < 0) return QStringLiteral("?");
  if (seconds < 1e-3) return QStringLiteral("%1 µs").arg(std::lround(seconds * 1e6));
  if (seconds < 0.9995) return QStringLiteral("%1 ms").arg(number(seconds * 1e3, seconds < 0.01 ? 2 : 3));
  if (seconds < 59.95) return QStringLiteral("%1 s").arg(number(seconds, seconds < 10 ? 2 : 3));
  const auto whole = std::llround(seconds);
  return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60);
}

QString counted(std::int64_t count, const QString& one, const QString& many) {
  return grouped(count) + QLatin1Char(' ') + (count == 1 ? one : many);
}

QString join(const QStringList& parts, const QString& separator) {
  QStringList present;
  for (const QString& part : parts) {
    if (!part.isEmpty()) present << part;
  }
  return present.join(separator);
}

int fuzzyScore(const QString& pattern, const QString& text, std::vector<int>* hits) {
  if (hits) hits->clear();
  if (pattern.isEmpty()) return 0;
  const QString wanted = pattern.simplified().toCaseFolded();
  const QString folded = text.toCaseFolded();
  if (folded.size() != text.size()) return folded.contains(wanted) ? 1 : -1;
  // A whole substring beats scattered letters; at the start of a word beats inside one.
  const qsizetype at = folded.indexOf(wanted);
  if (at >= 0) {
    if (hits) {
      for (qsizetype i = 0; i < wanted.size(); ++i) hits->push_back(static_cast<int>(at + i));
    }
    const bool wordStart = at == 0 || !folded[at - 1].isLetterOrNumber();
    return 1000 + (wordStart ? 200 : 0) - static_cast<int>(std::min<qsizetype>(at, 100)) -
           static_cast<int>(std::min<qsizetype>(text.size(), 90)) / 3;
  }
  int score = 0;
  qsizetype from = 0;
  qsizetype last = -2;
  for (const QChar c : wanted) {
    if (c.isSpace()) continue;
    qsizetype found = -1;
    for (qsizetype i = from; i < folded.size(); ++i) {
      if (folded[i] != c) continue;
      if (found < 0) found = i;
      // A later start of a word is worth a gap.
      if (i > 0 && !folded[i - 1].isLetterOrNumber() && i != last + 1) {
        found = i;
        break;
      }
      if (i == last + 1 || i == 0) {
        found = i;
        break;
      }
    }
    if (found < 0) return -1;
    const bool wordStart = found == 0 || !folded[found - 1].isLetterOrNumber();
    score += found == last + 1 ? 15 : wordStart ? 20 : 2;
    if (hits) hits->push_back(static_cast<int>(found));
    last = found;
    from = found + 1;
  }
  return score;
}

}  // namespace nuscope::views
