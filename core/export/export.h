#pragma once
// `nuscope export`: candidates of a study as a folder that others build and call without Nuscope (DESIGN 11).
//
// The folder holds kernel.h, one kernel source a shape (emitted anew from the graph, never text that was
// stored), a checked entry `NAME_for`, plain loops for all other extents where that is asked for or several
// shapes are exported, Python and PyTorch wrappers, a test against NumPy, a bench that repeats the study's
// conditions, and manifest.json. Variants are proved anew while exporting: what could not be is named in the
// header as recorded only.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/sweep/study.h"
#include "core/tensor/dim.h"

namespace nuscope::proof {
class SolverPool;
}

namespace nuscope::exporting {

struct Request {
  std::vector<int> candidates;  ///< of the study, one kernel each
  std::vector<tensor::Extents>
      shapes;             ///< the best of the latest sweep at each; both empty: of the latest sweep
  bool general = false;   ///< plain loops for all other extents, also with one shape
  std::string function;   ///< empty: emit::functionName
  std::string target;     ///< description of a target that is not among hw/; empty: the sweep's
  std::string studyName;  ///< for provenance
  proof::SolverPool* solvers = nullptr;  ///< null: steps that need a solver stay "recorded"
};

struct Folder {
  std::string function;
  std::map<std::string, std::string>
      files;                       ///< relative path -> bytes; manifest.json lists the others with hashes
  std::vector<std::string> notes;  ///< what a person should know: a step not proved anew, no measurement...
};

/// UserError when the study has no such candidate or shape, or one that is wrong, failed or foreign; when
/// kernels are of different programs or targets; when the study's variants are not those of its program.
Folder makeFolder(const sweep::Study& study, const Request& request, const Progress& progress);

/// Writes beside `directory`, then renames: a reader sees the old folder or the new one. An empty folder is
/// taken; one that an earlier export wrote is replaced if nothing in it was edited or added (what building it
/// makes, aside: build/, *.o, lib*.so, __pycache__). UserError otherwise, EnvironmentError when the disk does
/// not take it.
void writeFolder(const Folder& folder, const std::filesystem::path& directory);

}  // namespace nuscope::exporting
