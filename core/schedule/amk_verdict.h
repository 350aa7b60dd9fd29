#pragma once
// What AutoMegaKernel's own validator says of a file in its format (reference/megakernel.md B.1), beside our
// verdict, and why the two differ. Written from the description of its rules; it is no oracle: it accepts
// unsafe schedules and refuses safe ones.
#include "core/schedule/check.h"

namespace nuscope::schedule {

struct AmkVerdict {
  bool accepts = false;
  std::string raises;  ///< the exception it ends with instead of an answer ("IndexError"); empty: none
  std::vector<std::string> reasons;   ///< why it refuses, in our words; at most 100
  std::vector<std::string> warnings;  ///< what it skips
};
/// Precondition: the schedule was read from an AutoMegaKernel file (faults that are no "load" faults may be
/// there).
AmkVerdict amkVerdict(const Schedule& schedule, const std::vector<Fault>& faults);
/// One sentence per reason why the verdicts differ; empty if they agree.
std::vector<std::string> whyDifferent(const Schedule& schedule, const AmkVerdict& theirs, const Report& ours);

}  // namespace nuscope::schedule
