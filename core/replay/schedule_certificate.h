#pragma once
// An independent reader of schedule certificates. It shares nothing with core/schedule: it reads the JSON
// anew, has its own table of what operations touch, runs the given firing order and compares the given
// clocks. What it confirms holds whatever the checker did. Certificates are written by
// core/schedule/certificate.h, which documents the format.
#include <string>
#include <string_view>

namespace nuscope::replay {

struct Outcome {
  bool confirmed = false;
  std::string why;  ///< what was confirmed, or the first thing that is wrong
};

/// Never throws for bad text. O(tasks * waits + conflicting pairs).
Outcome replaySchedule(std::string_view certificate);

}  // namespace nuscope::replay
