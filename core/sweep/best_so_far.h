#pragma once
// How the best median of a sweep fell with time: kept in the study as words, so that whoever opens it sees
// when the sweep could have stopped.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/sweep/study.h"

namespace nuscope::sweep {

/// Seconds since the sweep began (all its runs together, when it was resumed), median in seconds.
using BestSoFar = std::vector<std::pair<double, double>>;

inline constexpr const char* bestSoFarKey = "best so far";  ///< in SweepRecord::environment
inline constexpr const char* bestKey = "best";              ///< the candidate that the final chose, by id
inline constexpr const char* secondsKey = "seconds";        ///< all runs of the sweep together

/// The candidate that the final of a sweep chose, by id; -1: none (yet). It need not have the lowest median:
/// only the finalists were timed under the same conditions.
int chosenBest(const SweepRecord& record);
/// "11.2 ms after 2.1 s; 8.6 ms after 9.4 s".
std::string text(const BestSoFar& best);
/// Of the record's environment; empty where nothing is kept, or something else than `text` writes.
BestSoFar bestSoFar(const SweepRecord& record);
/// 0: not known.
double secondsOf(const SweepRecord& record);

/// Times of the candidates of a sweep as the race compared them: by their ratio to its yardstick, so that the
/// drift of the machine from minute to minute is not in them. Seconds by candidate. A candidate that is not
/// named has only its median.
using Scores = std::map<int, double>;
void keepScores(Study& study, int sweep, const Scores& scores);
/// Empty where none were kept, or the text is not what keepScores writes.
Scores keptScores(const Study& study, int sweep);

}  // namespace nuscope::sweep
