#pragma once
// What the sweep views say about a snapshot, without a widget: the headline with the number that matters, how
// far it is, the standing of each candidate, and the data of the plots.
#include <QString>

#include "views/marks.h"
#include "views/sweep/plot.h"
#include "views/sweep/sweep_snapshot.h"

namespace nuscope::views {

struct Theme;

/// "7.84 ms: 1.28 times as fast as torch eager, 1.98 times as OpenBLAS + loops"; the two fastest baselines,
/// and the program as written if it is neither. What lies within noise is said to, and so is that nothing
/// beats the fastest baseline beyond noise.
QString sweepHeadline(const SweepSnapshot& snapshot);
/// "gain into w \u00B7 M = 512, K = 1 024 \u00B7 2 threads \u00B7 host-avx2".
QString sweepSubtitle(const SweepSnapshot& snapshot);
/// "61 of 214 measured, 37 s of 60 s"
QString sweepProgress(const SweepSnapshot& snapshot);
/// How much of the budget is spent, in [0, 1]; negative: no budget.
double sweepFraction(const SweepSnapshot& snapshot);

/// "fastest", "tie", "+2 %", "not proved, passed the gate: +2 %", "not measured", "wrong: ...", "no answer
/// ...".
QString standing(const SweepRow& row, const SweepRow* best);
Mark stateMark(sweep::CandidateState state);
/// True when the confidence intervals overlap: the difference is noise.
bool tied(const sweep::Measurement& a, const sweep::Measurement& b);
/// True when a is faster and they do not overlap.
bool beats(const sweep::Measurement& a, const sweep::Measurement& b);

/// "6\u00D716" of tile_m and tile_n; empty without a tile.
QString tileText(const sweep::Parameters& parameters);
/// Every parameter that has no column of its own: "fuse 2, unroll 4".
QString otherParameters(const sweep::Parameters& parameters);

std::vector<PlotCandidate> plotCandidates(const SweepSnapshot& snapshot);
std::vector<PlotBaseline> plotBaselines(const SweepSnapshot& snapshot);
/// "this host, 2 threads".
QString deviceText(const SweepSnapshot& snapshot);
PlotStyle plotStyle(const Theme& theme);

}  // namespace nuscope::views
