#pragma once
// Pieces that the writer and the reader of the nu-graph share. Included by their .cpp files only.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/proof/verdict.h"
#include "core/tensor/dim.h"

namespace nuscope::nugraph {

using Json = nlohmann::json;

inline constexpr std::string_view jsonFormat = "nuscope-nugraph";
inline constexpr int jsonVersion = 1;
inline constexpr std::size_t maxNodes = 1'000'000;
inline constexpr std::size_t maxVariantsRead = 100'000;
inline constexpr std::size_t maxElements = 1'000'000;
inline constexpr int maxQuotientDepth = 16;

/// Thrown inside the reader; becomes a Refusal.
class BadText : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Checked access: what is missing or of another type is BadText that says where.
const Json& member(const Json& object, const char* key);
const Json* optionalMember(const Json& object, const char* key);
std::string stringOf(const Json& value, const char* what);
std::int64_t integerOf(const Json& value, const char* what, std::int64_t low, std::int64_t high);
double numberOf(const Json& value, const char* what);
bool booleanOf(const Json& value, const char* what);
const Json& arrayOf(const Json& value, const char* what, std::size_t limit);

Json dimJson(const tensor::Dim& dim);
tensor::Dim dimOf(const Json& value, int depth = 0);
Json shapeJson(const tensor::Shape& shape);
tensor::Shape shapeOf(const Json& value);

Json proofJson(const proof::Proof& proof);
proof::Proof proofOf(const Json& value);

}  // namespace nuscope::nugraph
