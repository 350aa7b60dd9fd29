#pragma once
// Bars on rows: what runs where and when, and what lives where and how long. In rounds of a run (rounds.h),
// or in any other time that is given per task.
#include <string>
#include <vector>

#include "core/schedule/rounds.h"

namespace nuscope::schedule {

struct Bar {
  double begin = 0, end = 0;
  std::int32_t item = 0;  ///< position of the task, buffer...
};

struct ChartRow {
  std::string name;        ///< "SM 4", "no queue", a buffer, a page
  std::int32_t item = -1;  ///< position of the queue, buffer or page; -1: tasks in no queue
  std::vector<Bar> bars;   ///< by begin; those of a row of queues do not overlap
};

struct Chart {
  std::vector<ChartRow> rows;
  double end = 0;  ///< of all bars
  double frozen =
      -1;  ///< from here on nothing runs in this run: the bars beyond are those that wait; -1: all run
  bool modelled = false;
};

/// One row a queue, those of the run's faults first, by SM; then the tasks in no queue. Bars are rounds; what
/// does not complete in the run stands after `frozen`, in queue order.
Chart queueChart(const Rounds& run);

struct Times {
  std::vector<double> start, end;  ///< per task; start < 0: it does not run
};
/// The same at modelled times.
Chart queueChart(const Rounds& run, const Times& times);

/// One row a buffer that is written or read, from its first access to the end of its last, in rounds of the
/// run; in order of their first access. Tasks that do not complete are left out.
Chart bufferChart(const Schedule& schedule, const Footprints& touched, const Rounds& run);
/// One row a page, a bar for each of its buffers.
Chart pageChart(const Schedule& schedule, const Ids& ids, const Footprints& touched, const Rounds& run);

}  // namespace nuscope::schedule
