#pragma once
// Mathematics that the prover wrote as one line of Unicode ("\u03A3_{k<K} x_mk / K^2"): as rich text with
// real sub- and superscripts, and what differs between two such lines.
#include <QString>
#include <utility>

class QColor;

namespace nuscope::views {

/// The prover's own spelling as people write it: "sum_{k<K} x[i, k]*w[k]" -> "\u03A3_{k<K} x_{i k} w_{k}".
QString prettyMath(QString line);

/// "x_mk^2" -> "x<sub>mk</sub><sup>2</sup>"; braces group; everything is escaped.
QString mathHtml(const QString& line);

/// The parts of `before` and `after` between their longest common beginning and end, in whole tokens: [from,
/// to) in characters. Empty ranges where there is nothing of that side.
struct LineDifference {
  std::pair<qsizetype, qsizetype> before, after;
};
LineDifference lineDifference(const QString& before, const QString& after);

/// mathHtml with the characters of `range` on a patch of `tint`.
QString mathHtml(const QString& line, std::pair<qsizetype, qsizetype> range, const QColor& tint);

}  // namespace nuscope::views
