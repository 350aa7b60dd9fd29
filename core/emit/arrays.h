#pragma once
// Names: what every stored tensor is called in the emitted file, and how its elements are addressed.
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fusion/plan.h"

namespace nuscope::emit {

using fusion::Affine;
using fusion::ConcreteShape;
using fusion::Extent;
using tensor::DType;
using tensor::NodeRef;
using tensor::Op;

/// One array in memory.
struct Array {
  std::string name;  ///< field of Data, and the local name in functions
  DType dtype = DType::f32;
  ConcreteShape shape;
  bool written = false;  ///< not an input
  bool strip = false;    ///< holds the rows of the current strip only
  bool stream = false;   ///< written past the caches
  Extent rows = 1;       ///< strip: rows of the whole tensor
  std::int64_t offset =
      -1;  ///< in the scratch memory of the call, or of the thread for a strip; -1: an argument
  std::string comment;
  [[nodiscard]] Extent width() const { return fusion::countOf(shape) / rows; }
};

/// Makes identifiers that are valid, not reserved, and taken once.
class Names {
 public:
  Names();
  std::string fresh(const std::string& wanted);
  void take(const std::string& name) { taken_.insert(name); }
  [[nodiscard]] bool isTaken(const std::string& name) const { return taken_.contains(name); }

 private:
  std::set<std::string> taken_;
};

/// An identifier from any text: letters, digits and underscores, not starting with a digit.
std::string identifier(const std::string& text);

/// Element type in C++ of arrays; of values in registers ("bool" for conditions, "int" for small integers).
std::string_view arrayType(DType type);
std::string_view scalarType(DType type);
/// Thrown while a nest is generated: it has to be generated without vectors.
struct NeedsScalars {
  std::string why;
};
/// "F" or "I"; throws NeedsScalars for types that have no vectors.
std::string_view vectorType(DType type);

}  // namespace nuscope::emit
