#pragma once
// Whether the z3 program is there: what needs it is skipped without it, and only then. Asked of the system,
// not of the code under test.
#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope {

inline bool haveZ3() {
  try {
    ProcessOptions options;
    options.arguments = {"z3", "--version"};
    return runProcess(options, "", std::chrono::seconds(60)).end.success();
  } catch (const EnvironmentError&) {
    return false;
  }
}

}  // namespace nuscope
