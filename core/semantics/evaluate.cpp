#include "core/semantics/evaluate.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/semantics/float_engine.h"

namespace nuscope::semantics {
namespace {

std::map<std::string, FloatArrayRef> arrays(const Inputs& inputs) {
  std::map<std::string, FloatArrayRef> result;
  for (const auto& [name, value] : inputs) result.emplace(name, fromTensor(value));
  return result;
}

Evaluated toEvaluated(const FloatArray& array, DType type, bool isResult) {
  Evaluated result;
  result.value = {type, array.shape, array.value};
  result.bound = array.bound;
  result.state = array.state;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < array.value.size(); ++i) {
    const bool defined = result.state[i] == 0;
    if (defined && isResult && std::isinf(array.value[i])) {  // a result of -inf is undefined
      result.state[i] = static_cast<std::uint8_t>(State::undefined);
    }
    if (result.state[i] == static_cast<std::uint8_t>(State::undefined)) result.value.values[i] = nan;
  }
  return result;
}

/// Round to nearest, ties to even, to `bits` of significand; exponents from `lowest` (of the last place of
/// subnormals).
double roundToBits(double value, int bits, int lowest, double top) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value) - bits + 1, lowest);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  return std::fabs(rounded) > top ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

}  // namespace

double roundTo(double value, DType type) {
  switch (type) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
      return roundToBits(value, 11, -24, 65504.0);
    case DType::bf16:
      return roundToBits(value, 8, -133, 0x1.fep127);
    default:
      return value;
  }
}

std::vector<Evaluated> evaluate(const tensor::Program& context, std::span<const NodeRef> results,
                                const tensor::Extents& extents, const Inputs& inputs,
                                const EvaluateOptions& options, const Progress& progress) {
  FloatEngine engine(context, extents);
  const auto values = engine.run(results, arrays(inputs), options, progress);
  std::vector<Evaluated> evaluated;
  for (std::size_t i = 0; i < results.size(); ++i)
    evaluated.push_back(toEvaluated(*values[i], results[i]->dtype, true));
  return evaluated;
}

std::unordered_map<NodeRef, Evaluated> evaluateAll(const tensor::Program& context,
                                                   std::span<const NodeRef> results,
                                                   const tensor::Extents& extents, const Inputs& inputs,
                                                   const EvaluateOptions& options, const Progress& progress) {
  FloatEngine engine(context, extents);
  FloatEngine::Values kept;
  engine.run(results, arrays(inputs), options, progress, &kept);
  std::unordered_map<NodeRef, Evaluated> evaluated;
  for (const auto& [node, value] : kept) evaluated.emplace(node, toEvaluated(*value, node->dtype, false));
  for (const NodeRef result : results)
    evaluated.insert_or_assign(result, toEvaluated(*kept.at(result), result->dtype, true));
  return evaluated;
}

}  // namespace nuscope::semantics
