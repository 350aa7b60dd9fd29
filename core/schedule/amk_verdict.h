#pragma once
// What AutoMegaKernel's own validator says of a file in its format (reference/megakernel.md B.1), beside our
// verdict, and why the two differ. Written from the description of its rules; it is no oracle: it accepts
// unsafe schedules and refuses safe ones.
#include "core/schedule/check.h"

namespace nuscope::schedule {

struct AmkReason {
  enum class Kind : std::uint8_t {
    record,      ///< a record it cannot read, or that is malformed for us too
    selfWait,    ///< a task waits for the counter that it raises
    noProducer,  ///< nothing raises a counter that is waited for, or too few tasks do
    partial,     ///< a threshold below the number of producers of a shared counter
    cycle,       ///< counter edges form a cycle
    unwritten,   ///< a buffer that is read is never written
    race,        ///< some writer is no ancestor of a reader
    writers,     ///< two writers of a buffer in no order
    onChip,
    queueOrder,  ///< a task stands before one that it waits for in the list of its SM
    placement,
    pages,
    output  ///< an output without a writer
  };
  Kind kind = Kind::record;
  std::string text;
};

struct AmkVerdict {
  bool accepts = false;
  std::string raises;  ///< the exception it ends with instead of an answer ("IndexError"); empty: none
  std::vector<AmkReason> reasons;  ///< why it refuses; at most 100
  bool skipsRaces = false;         ///< above 8,000 tasks it looks for no races
};
/// Of a file that was read as AutoMegaKernel's.
AmkVerdict amkVerdict(const ReadResult& read);
/// One sentence per reason why the verdicts differ; empty if they agree. `ours` is of the same file.
std::vector<std::string> whyDifferent(const ReadResult& read, const AmkVerdict& theirs, const Report& ours);

}  // namespace nuscope::schedule
