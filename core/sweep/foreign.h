#pragma once
// A kernel that the user brought, to race beside the candidates: source or a shared library with the
// signature of emit::Kernel. Nothing is proved of it. It is compiled, run and timed in the worker like every
// kernel, passes the whole gate or is refused, takes turns with the winner, and is never chosen: its label
// says so wherever it goes.
#include <filesystem>
#include <string>
#include <vector>

#include "core/machine/target.h"
#include "core/sweep/bench.h"

namespace nuscope::sweep {

struct ForeignKernel {
  std::string name;                ///< for people: the file's name
  std::string text;                ///< source; empty for a library
  std::string library;             ///< bytes of a shared library; empty for source
  std::string function;            ///< what to call; empty: emit::functionName, or the program's name
  std::vector<std::string> flags;  ///< for the compiler, after those of the target
};

/// FILE or FILE:FUNCTION; what starts as an ELF file is a library, everything else is source. UserError when
/// it cannot be read, or FUNCTION is no identifier.
ForeignKernel readForeign(const std::string& argument);

/// Compiled with the flags of the target; "nuscope_runtime.h" may be included.
Entrant makeForeign(const ForeignKernel& kernel, const tensor::Program& program,
                    const machine::Target& target, const std::string& compiler);

}  // namespace nuscope::sweep
