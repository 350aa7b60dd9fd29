#pragma once
// NumPy's files. `.npy` is one array (numpy.lib.format, versions 1 to 3), `.npz` a zip of them, stored or
// deflated, as numpy.savez and savez_compressed write it. Files are untrusted: every size is checked before
// it is believed, an entry that unpacks to more than it says is refused, and nothing is ever unpickled.
#include <string>
#include <string_view>
#include <vector>

#include "core/semantics/tensor_value.h"
#include "core/tensor/graph.h"

namespace nuscope::sweep {

/// An array as it lies in the file.
struct NpyArray {
  std::string name;   ///< of the entry, without ".npy"
  std::string dtype;  ///< as NumPy writes it: "<f4"
  std::vector<std::int64_t> shape;
  bool columnMajor = false;  ///< "fortran_order"
  std::string bytes;         ///< exactly the elements
};

/// One array; `name` is used in messages and returned. UserError that says what is wrong.
NpyArray parseNpy(std::string_view bytes, const std::string& name);
/// The file of a tensor, in its dtype. bf16, which NumPy has not, is written as f32.
std::string encodeNpy(const semantics::TensorValue& value);

/// All arrays of an archive, in its order; `path` is used in messages only. UserError for what is no archive,
/// is damaged, encrypted, over 4 GiB, compressed otherwise, or holds something else than arrays.
std::vector<NpyArray> parseNpz(std::string_view archive, const std::string& path);

/// The extents that shapes of the arrays give to the program's dimensions: of every axis that is one
/// dimension. Dimensions that no such axis has are absent. UserError when two axes disagree.
tensor::Extents extentsOf(const std::vector<NpyArray>& arrays, const tensor::Program& program,
                          const std::string& path);

/// One value a parameter. UserError names the array and what is expected: one that is missing, another dtype
/// (values are never cast), another shape, NaN or infinity, a violated assert. Arrays that the program has
/// not are named in `notes`.
semantics::Inputs inputsOf(const std::vector<NpyArray>& arrays, const tensor::Program& program,
                           const tensor::Extents& extents, const std::string& path,
                           std::vector<std::string>& notes);

}  // namespace nuscope::sweep
