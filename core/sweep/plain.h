#pragma once
// The baseline of every sweep: the program as written, as the plain C++ loops that a person would write: one
// nest of loops per operator that stores a tensor (reductions, contractions, what is used twice), elementwise
// chains inside their user's loop, matmul in the order that streams through memory. No tiling, no intrinsics,
// -O3 -march=native. With `blas`, two-operand matmuls of f32 call OpenBLAS's cblas_sgemm, found at run time.
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/graph.h"

namespace nuscope::sweep {

struct PlainOptions {
  bool blas = false;
  int threads = 1;  ///< more than 1: outer loops get "#pragma omp parallel for"
  /// Loops for all extents: the function takes `const int64_t* extents` first, one a dimension in the order
  /// of Program::dimensions; those given to emitPlain only say what is typical. Not with `blas` or threads
  /// > 1.
  bool anyExtents = false;
  bool wideConstants = false;  ///< f32 constants as doubles, for deciding asserts
  std::string function{};      ///< its name; empty: "plain_" and the program's
};

struct PlainKernel {
  std::string function;
  std::string text;
  std::vector<std::string> command;  ///< with {source} and {output}
  bool usesBlas = false;             ///< false: nothing in the program is a matmul that BLAS takes
};

/// extern "C" void FUNCTION(const T* in..., T* out..., int threads), as emit::Kernel. Not reentrant, but with
/// `anyExtents` it is; it may throw std::bad_alloc then. Refused with the reason
/// for types that plain C++ has not (f16, bf16) and shapes that depend on a loop's counter. UserError for
/// missing extents.
Result<PlainKernel> emitPlain(const tensor::Program& program, const tensor::Extents& extents,
                              const PlainOptions& options);

}  // namespace nuscope::sweep
