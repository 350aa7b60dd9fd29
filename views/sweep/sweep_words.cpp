#include "views/sweep/sweep_words.h"

#include <algorithm>
#include <cmath>

#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

QString tr(const char* text) {
  return QString::fromUtf8(text);
}

/// Budgets are set in seconds: below two minutes they stay so.
QString secondsText(double seconds) {
  return seconds >= 10 && seconds < 120 ? QStringLiteral("%1 s").arg(seconds, 0, 'f', 0) : duration(seconds);
}

QString times(double ratio) {
  return QString::number(ratio, 'f', ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

std::vector<SweepRowRef> measuredBaselines(const SweepSnapshot& snapshot) {
  std::vector<SweepRowRef> result;
  for (const SweepRowRef& row : snapshot.baselines) {
    if (row->measurement && row->measurement->median > 0 &&
        row->candidate.state == sweep::CandidateState::measured)
      result.push_back(row);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a->measurement->median < b->measurement->median; });
  return result;
}

/// Labels carry version and threads; headlines and lines need only the name.
QString shortLabel(const std::string& label) {
  std::string name;
  int depth = 0;  // brackets nest: "(g++ (Debian 12.2.0) 12.2.0 -O3)"
  for (const char c : label) {
    if (c == '(' && depth++ == 0 && name.ends_with(' ')) name.pop_back();
    if (depth == 0) name += c;
    if (c == ')' && depth > 0) --depth;
  }
  return qs(name).section(QStringLiteral(", "), 0, 0);
}

}  // namespace

bool tied(const sweep::Measurement& a, const sweep::Measurement& b) {
  return a.low <= b.high && b.low <= a.high;
}

bool beats(const sweep::Measurement& a, const sweep::Measurement& b) {
  return a.high < b.low;
}

QString sweepHeadline(const SweepSnapshot& snapshot) {
  const SweepRowRef best = snapshot.best();
  if (!best) {
    if (snapshot.running) return tr("No candidate measured yet");
    return snapshot.rows.empty() ? tr("No candidates") : tr("No candidate passed");
  }
  const double median = best->measurement->median;
  QString text = millisecondsText(median * 1e3) + tr(" ms");
  QStringList comparisons;
  auto baselines = measuredBaselines(snapshot);
  if (baselines.size() > 2) baselines.resize(2);
  if (!baselines.empty() && !beats(*best->measurement, *baselines[0]->measurement) &&
      !tied(*best->measurement, *baselines[0]->measurement)) {
    text += tr(", and no candidate beats %1 beyond noise").arg(shortLabel(baselines[0]->candidate.label));
  }
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    const sweep::Measurement& other = *baselines[i]->measurement;
    QString name = shortLabel(baselines[i]->candidate.label);
    if (name.startsWith(tr("as written"))) name = tr("the program ") + name;
    if (tied(*best->measurement, other)) {
      comparisons << tr("as fast as %1, within noise").arg(name);
    } else if (other.median < median) {
      comparisons << tr("%1 times the time of %2").arg(times(median / other.median), name);
    } else {
      comparisons << tr("%1 times as fast as %2").arg(times(other.median / median), name);
    }
  }
  return comparisons.isEmpty() ? text : text + QStringLiteral(": ") + comparisons.join(QStringLiteral(", "));
}

QString sweepSubtitle(const SweepSnapshot& snapshot) {
  QStringList parts;
  if (const SweepRowRef best = snapshot.best()) parts << qs(best->candidate.label);
  QStringList extents;
  for (const auto& [name, extent] : snapshot.record.extents)
    extents << qs(name) + QStringLiteral(" = ") + grouped(extent);
  parts << extents.join(QStringLiteral(", "));
  parts << counted(snapshot.record.threads, tr("thread"), tr("threads")) << qs(snapshot.record.target);
  return join(parts);
}

QString sweepProgress(const SweepSnapshot& snapshot) {
  const sweep::CandidateCounts& c = snapshot.counts;
  QString text = tr("%1 of %2 measured").arg(grouped(c.measured), grouped(c.enumerated));
  if (!snapshot.running && snapshot.seconds <= 0) return text;
  text += tr(", %1").arg(secondsText(snapshot.seconds));
  if (snapshot.secondsBudget > 0) text += tr(" of %1").arg(secondsText(snapshot.secondsBudget));
  return text;
}

double sweepFraction(const SweepSnapshot& snapshot) {
  double fraction = -1;
  if (snapshot.secondsBudget > 0) fraction = snapshot.seconds / snapshot.secondsBudget;
  const sweep::CandidateCounts& c = snapshot.counts;
  const int tried = c.measured + c.wrong + c.failed + c.timedOut;
  const int wanted =
      snapshot.candidateBudget > 0 ? std::min(snapshot.candidateBudget, c.enumerated) : c.enumerated;
  if (wanted > 0) fraction = std::max(fraction, static_cast<double>(tried) / wanted);
  return fraction < 0 ? fraction : std::min(fraction, 1.0);
}

Mark stateMark(sweep::CandidateState state) {
  switch (state) {
    case sweep::CandidateState::measured:
      return Mark::proved;
    case sweep::CandidateState::wrong:
    case sweep::CandidateState::failed:
    case sweep::CandidateState::crashed:
      return Mark::refuted;
    case sweep::CandidateState::timedOut:
    case sweep::CandidateState::skipped:
      return Mark::unknown;
    case sweep::CandidateState::compiled:
    case sweep::CandidateState::enumerated:
      break;
  }
  return Mark::none;
}

QString standing(const SweepRow& row, const SweepRow* best) {
  const QString reason = qs(row.candidate.reason);
  const auto with = [&](const QString& word) {
    return reason.isEmpty() ? word : word + QStringLiteral(": ") + reason;
  };
  switch (row.candidate.state) {
    case sweep::CandidateState::enumerated:
      return tr("not measured");
    case sweep::CandidateState::compiled:
      return tr("compiled, waits");
    case sweep::CandidateState::wrong:
      return with(tr("wrong"));
    case sweep::CandidateState::failed:
      return with(tr("failed"));
    case sweep::CandidateState::crashed:
      return with(tr("crashed"));
    case sweep::CandidateState::timedOut:
      return reason.isEmpty() ? tr("timed out") : reason;
    case sweep::CandidateState::skipped:
      return with(tr("skipped"));
    case sweep::CandidateState::measured:
      break;
  }
  if (row.candidate.kind == sweep::CandidateKind::foreign) {
    SweepRow measured = row;  // the same words as for one of ours, after what it is
    measured.candidate.kind = sweep::CandidateKind::emitted;
    const QString against = standing(measured, best);
    const QString what = qs(sweep::standingText(row.candidate));
    return against.isEmpty() ? what : what + QStringLiteral(": ") + against;
  }
  if (best == nullptr || !row.measurement || !best->measurement) return {};
  if (row.candidate.id == best->candidate.id) return tr("fastest");
  const double more = row.measurement->median / best->measurement->median - 1;
  if (tied(*row.measurement, *best->measurement)) return tr("tie");
  return tr(more >= 0 ? "%1%2 %" : "%1%2 %, at another time")
      .arg(more >= 0 ? QStringLiteral("+") : QStringLiteral("\u2212"))
      .arg(std::abs(more) * 100, 0, 'f', std::abs(more) < 0.1 ? 1 : 0);
}

QString tileText(const sweep::Parameters& parameters) {
  const auto m = parameters.find("tile_m");
  const auto n = parameters.find("tile_n");
  if (m == parameters.end() && n == parameters.end()) return {};
  const auto value = [&](auto at) {
    return at == parameters.end() ? QStringLiteral("?") : QString::number(at->second);
  };
  return value(m) + QStringLiteral("\u00D7") + value(n);
}

QString otherParameters(const sweep::Parameters& parameters) {
  QStringList parts;
  for (const auto& [name, value] : parameters) {
    if (name == "tile_m" || name == "tile_n" || name == "block_k" || name == "strip_m") continue;
    if (name == "order") {
      if (value != 0) parts << QStringLiteral("columns outside");
      continue;
    }
    parts << qs(name).replace(QLatin1Char('_'), QLatin1Char(' ')) + QStringLiteral(" ") +
                 QString::number(value);
  }
  return parts.join(QStringLiteral(", "));
}

std::vector<PlotCandidate> plotCandidates(const SweepSnapshot& snapshot) {
  std::vector<PlotCandidate> result;
  const SweepRowRef best = snapshot.best();
  for (const SweepRowRef& row : snapshot.rows) {
    PlotCandidate candidate;
    candidate.chosen = row == best;
    switch (row->candidate.state) {
      case sweep::CandidateState::measured:
        candidate.state = PlotState::measured;
        break;
      case sweep::CandidateState::wrong:
        candidate.state = PlotState::wrong;
        break;
      case sweep::CandidateState::timedOut:
        candidate.state = PlotState::timedOut;
        break;
      case sweep::CandidateState::failed:
      case sweep::CandidateState::crashed:
        candidate.state = PlotState::failed;
        break;
      default:
        continue;
    }
    candidate.id = row->candidate.id;
    candidate.label = tr("Candidate %1, %2 (variant %3)")
                          .arg(row->candidate.id)
                          .arg(qs(row->candidate.label))
                          .arg(row->candidate.variant);
    if (row->candidate.kind == sweep::CandidateKind::foreign)
      candidate.label = tr("Candidate %1, %2").arg(row->candidate.id).arg(qs(row->candidate.label));
    candidate.why = qs(row->candidate.reason);
    if (row->candidate.modelledSeconds > 0) candidate.modelled = row->candidate.modelledSeconds * 1e3;
    if (candidate.state == PlotState::measured) {
      if (!row->measurement) continue;
      candidate.median = row->measurement->median * 1e3;
      candidate.low = row->measurement->low * 1e3;
      candidate.high = row->measurement->high * 1e3;
      for (const double sample : row->measurement->samples) candidate.samples.push_back(sample * 1e3);
    }
    result.push_back(std::move(candidate));
  }
  return result;
}

std::vector<PlotBaseline> plotBaselines(const SweepSnapshot& snapshot) {
  std::vector<PlotBaseline> result;
  for (const SweepRowRef& row : measuredBaselines(snapshot))
    result.push_back({shortLabel(row->candidate.label), row->measurement->median * 1e3});
  return result;
}

QString deviceText(const SweepSnapshot& snapshot) {
  const QString device = qs(snapshot.record.device).section(QLatin1Char(':'), 0, 0);
  const QString name = device == QLatin1String("host") ? tr("this host") : device;
  return join({name, counted(snapshot.record.threads, tr("thread"), tr("threads"))}, QStringLiteral(", "));
}

PlotStyle plotStyle(const Theme& theme) {
  PlotStyle style;
  style.surface = theme.surface;
  style.text = theme.text;
  style.muted = theme.muted;
  style.line = theme.grid;
  style.series = theme.series[0];
  style.baseline = theme.series[1];
  style.selection = theme.selection;
  style.proved = theme.proved;
  style.refuted = theme.refuted;
  style.unknown = theme.unknown;
  style.labels = theme.small;
  style.numbers = theme.code;
  style.numbers.setPointSizeF(theme.small.pointSizeF());
  return style;
}

}  // namespace nuscope::views
