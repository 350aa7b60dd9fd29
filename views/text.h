#pragma once
// Numbers and words as the explorer writes them.
#include <QString>
#include <string>
#include <vector>

namespace nuscope::views {

/// "1 024" with thin spaces (U+2009); integers.
QString grouped(std::int64_t value);
/// Three or four significant digits: "15.1", "0.003 162", "1.5e-05".
QString number(double value, int significant = 4);
/// "1.8 s", "12 ms", "340 µs", "2 min 5 s".
QString duration(double seconds);
/// "1 step", "118 steps".
QString counted(std::int64_t count, const QString& one, const QString& many);
/// "41 variants", with "none" for 0: "none unknown".
QString join(const QStringList& parts, const QString& separator = QStringLiteral(" · "));

/// Fuzzy match of the palette: letters of `pattern` in order; better matches score higher; negative: no
/// match. `hits` gets the positions that matched.
int fuzzyScore(const QString& pattern, const QString& text, std::vector<int>* hits = nullptr);

inline QString qs(const std::string& text) {
  return QString::fromStdString(text);
}
inline QString qs(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace nuscope::views
