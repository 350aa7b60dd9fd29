#pragma once
// Mathematics that the prover wrote as one line of Unicode ("\u03A3_{k<K} x_mk / K^2"): as rich text with
// real sub- and superscripts, and what differs between two such lines.
#include <QString>
#include <utility>
#include <vector>

class QColor;

namespace nuscope::views {

/// The prover's own spelling as people write it: "sum_{k<K} x[i, k]*w[k]" -> "\u03A3_{k<K} x_{i k} w_{k}".
QString prettyMath(QString line);

/// "x_mk^2" -> "x<sub>mk</sub><sup>2</sup>"; braces group; everything is escaped.
QString mathHtml(const QString& line);

/// The parts of `before` and `after` that the other side lacks, in whole tokens (a name with its scripts is
/// one): [from, to) in characters, ascending. Lines of more than 600 tokens are compared from both ends only.
using TextRange = std::pair<qsizetype, qsizetype>;
struct LineDifference {
  std::vector<TextRange> before, after;
};
LineDifference lineDifference(const QString& before, const QString& after);

/// mathHtml with the characters of the ranges on a patch of `tint`; a range over the whole line is left out.
QString mathHtml(const QString& line, const std::vector<TextRange>& ranges, const QColor& tint);

}  // namespace nuscope::views
