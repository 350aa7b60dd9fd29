#pragma once
// PROGRAM on the command line: a NumPy file, or a study, whose latest program is meant.
#include <string>
#include <string_view>

#include "core/tensor/graph.h"

namespace nuscope::app {

struct ProgramArgument {
  tensor::Program program;
  std::string text;  ///< of the program
  std::string file;  ///< where the text came from
  bool study = false;
};

/// Throws UserError when the file cannot be read or holds no program.
ProgramArgument readProgramArgument(const std::string& path);
/// "30", "30s", "1.5m", "2h" in seconds. Throws UserError.
double parseSeconds(std::string_view text);

}  // namespace nuscope::app
