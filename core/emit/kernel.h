#pragma once
// The host printer: one variant at concrete extents as one readable C++ file. DESIGN 6, 8, 11.
//
// The function is `extern "C" void NAME(const T* in..., T* out..., int threads)`: inputs in the program's
// order, results last; T is float (f32), double (f64), int (i32), signed char (i8) or unsigned char (bool; 0
// or 1); a scalar is a pointer to one element. Row-major, any alignment, no overlap, threads >= 1. The same
// bits for the same number of threads. Nothing outside the operands is read or written. Inputs that violate
// the program's asserts, NaN and inf give unspecified values, never a crash. Signed integers wrap.
//
// The file includes nuscope_runtime.h (vectors, functions, thread pool) and nothing else.
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/machine/target.h"
#include "core/tensor/graph.h"
#include "core/tiling/space.h"

namespace nuscope::emit {

using tiling::Parameters;

struct Argument {
  std::string name;
  tensor::DType dtype = tensor::DType::f32;
  std::vector<std::int64_t> shape;
  bool output = false;
};

struct Kernel {
  std::string name;                 ///< of the function
  std::string text;                 ///< of the file
  std::vector<Argument> arguments;  ///< inputs, then results; `threads` is not listed
  std::unordered_map<int, std::vector<tensor::NodeRef>> nodesOfLine;  ///< 1-based line -> nodes it computes
  std::vector<std::string> compileCommand;      ///< argv with {source} and {output}; builds a shared library
  Parameters parameters;                        ///< all that were used, presets included
  std::int64_t scratchBytes = 0;                ///< memory the kernel takes for itself, for one thread
  std::vector<std::string> notes;               ///< e.g. which node fell back to a plain loop, and why
  std::vector<tensor::NodeRef> withoutVectors;  ///< the nodes of these plain loops
};

/// Refused with the reason where a type is not emitted by the target, a shape depends on a loop counter, or
/// the parameters violate a limit. Throws UserError when an extent is missing. Thread-safe, deterministic.
/// `function`: what it is called; empty: functionName(context).
Result<Kernel> emitHost(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                        const tensor::Extents& extents, const machine::Target& target,
                        const Parameters& parameters = {}, const std::string& function = {});

/// "nuscope_" and the program's name: never a word of C++ and never a function of the C library.
std::string functionName(const tensor::Program& program);

/// The folder of nuscope_runtime.h: $NUSCOPE_RUNTIME, ../share/nuscope/runtime beside the executable, or the
/// source tree. Kernel::compileCommand names it already.
std::string runtimeFolder();

/// How many kernels are compiled in little time: the runtime's threads and memory once, as `runtimeObject`
/// with `objectCommand`, whose {output} is then called `runtimeObjectName` and lies in the folder where the
/// commands of `compileApart` run. The loops of a kernel are compiled from the same text by the same flags as
/// by its own command.
inline constexpr std::string_view runtimeObjectName = "nuscope_runtime.o";
std::string runtimeObject();
std::vector<std::string> objectCommand(const machine::Target& target);
std::vector<std::string> compileApart(const machine::Target& target);

/// "float", "int", "unsigned char": the element type of arguments.
std::string_view cType(tensor::DType type);

}  // namespace nuscope::emit
