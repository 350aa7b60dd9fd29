#pragma once
// The numeric gate: is a kernel's result right within what rounding explains? (DESIGN 8)
//
// Several seeded draws: normal values at scales 1e-3, 1 and 30; ties; equal rows; one large element. The
// float64 evaluator gives each element's value, a running bound of the error of an honest computation in the
// accumulation dtype, and whether it is defined at all. An element passes when |actual - expected| <= factor
// * bound. So a K-tiled matmul with K = 11008 passes and an epsilon added after the root instead of before
// fails; one fixed tolerance does neither. Elements that the semantics leave undefined, or whose value lies
// near a jump or beyond the dtype's range, are counted and left out.
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/semantics/tensor_value.h"
#include "core/sweep/study.h"
#include "core/tensor/graph.h"

namespace nuscope::sweep {

/// Reference of one draw, shared by all candidates of a sweep.
struct Reference {
  std::string distribution;
  std::uint64_t seed = 0;
  semantics::Inputs inputs;  ///< already rounded to the parameters' dtypes
  struct Result {
    std::vector<std::int64_t> shape;
    tensor::DType dtype = tensor::DType::f32;
    std::vector<double> expected;
    std::vector<double> bound;
    std::vector<std::uint8_t> state;  ///< 0 defined, 1 undefined, 2 undecided
  };
  std::vector<Result> results;
};

/// A draw that the user brings.
struct GivenDraw {
  std::string name;          ///< "inputs.npz"
  semantics::Inputs inputs;  ///< every parameter, in its dtype and shape; the asserts hold
};

struct GateOptions {
  std::uint64_t seed = 1;
  tensor::DType accumulation = tensor::DType::f32;
  double factor = 4;
  int threads = 1;
  std::size_t seeded = 6;        ///< at most so many seeded draws
  std::vector<GivenDraw> given;  ///< after the seeded draws
};
/// f64 where the program holds any, else f32: kernels for narrower types accumulate in f32.
tensor::DType accumulationOf(const tensor::Program& program);

/// Draws inputs and evaluates the program on them. A draw that violates the program's asserts is replaced by
/// a later seed; one that cannot be drawn is left out and named in `notes`. UserError when no draw is
/// possible.
std::vector<Reference> makeReferences(const tensor::Program& program, const tensor::Extents& extents,
                                      const GateOptions& options, const Progress& progress,
                                      std::vector<std::string>& notes);

/// Compares one draw's results (row-major, one vector a result, NaN where the kernel wrote none).
GateDraw compareDraw(const Reference& reference, const std::vector<std::vector<double>>& actual);

/// Adds the draw and updates `passed`, `worst` and `text`.
void addDraw(GateRecord& record, const GateDraw& draw);

/// Why a kernel is wrong: the variant is evaluated on the failing draw in float64 and with every node rounded
/// to the kernel's precision. Sets verdict ("rounding", "range" or "fault") and text.
void traceWrong(GateRecord& record, const tensor::Program& context, std::span<const tensor::NodeRef> variant,
                const tensor::Extents& extents, const Reference& failing, tensor::DType precision,
                const Progress& progress);

/// Saves a case for a report of a fault: program.py, kernel source, extents and inputs (raw, with a
/// manifest). Returns the folder. EnvironmentError when it cannot be written.
std::string saveCase(const std::filesystem::path& directory, const std::string& program,
                     const std::string& kernel, const tensor::Extents& extents, const Reference& failing,
                     const GateRecord& record);

}  // namespace nuscope::sweep
