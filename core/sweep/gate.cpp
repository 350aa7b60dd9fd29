#include "core/sweep/gate.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/base/diagnostics.h"
#include "core/semantics/draw.h"
#include "core/semantics/evaluate.h"

namespace nuscope::sweep {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The bound of one element with what storing a result adds in its own type, where that is narrower than the
/// type of accumulation. Never less than one rounding: where the program happens to be exact (small
/// integers), an equal variant may still round.
double storedBound(double bound, double expected, tensor::DType dtype, tensor::DType accumulation) {
  if (!tensor::isReal(dtype)) return bound;
  const double own = tensor::unitRoundoff(dtype);
  const double coarse = tensor::unitRoundoff(accumulation);
  return std::max(bound + (own > coarse ? own * std::fabs(expected) : 0), coarse * std::fabs(expected));
}

double ratioOf(double error, double bound) {
  if (error == 0) return 0;
  if (std::isnan(error)) return infinite;
  return bound > 0 ? error / bound : infinite;
}

std::vector<std::int64_t> indexOf(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return index;
}

std::string placeText(const GateDraw& draw) {
  std::string text;
  for (const auto i : draw.index) text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  return fmt::format("element [{}]{}", text,
                     draw.result > 0 ? fmt::format(" of result {}", draw.result + 1) : "");
}

std::string worstText(const GateRecord& record) {
  if (record.worst < 0) return "no element could be compared";
  const GateDraw& draw = record.draws[static_cast<std::size_t>(record.worst)];
  if (draw.ratio == 0) return "every element is exact";
  return fmt::format(
      "worst {} of the draw '{}' (seed {}): {:.9g} instead of {:.9g}, {:.3g} times the bound of rounding, {} "
      "are allowed",
      placeText(draw), draw.distribution, draw.seed, draw.actual, draw.expected, draw.ratio, record.factor);
}

/// Compares an evaluation of the variant with the reference: the worst ratio, and whether anything left the
/// range.
struct Comparison {
  double ratio = 0;
  bool range = false;
};

Comparison compareEvaluated(const Reference& reference, const std::vector<semantics::Evaluated>& values) {
  Comparison comparison;
  for (std::size_t r = 0; r < reference.results.size(); ++r) {
    const Reference::Result& expected = reference.results[r];
    for (std::size_t i = 0; i < expected.expected.size(); ++i) {
      if (expected.state[i] != 0) continue;
      if (values[r].state[i] != 0) {
        comparison.range = true;
        continue;
      }
      const double error = std::fabs(values[r].value.values[i] - expected.expected[i]);
      comparison.ratio = std::max(comparison.ratio, ratioOf(error, expected.bound[i]));
    }
  }
  return comparison;
}

void evaluateReference(const tensor::Program& program, const tensor::Extents& extents,
                       const GateOptions& options, const Progress& progress, Reference& reference) {
  semantics::EvaluateOptions evaluation;
  evaluation.roundoff = tensor::unitRoundoff(options.accumulation);
  evaluation.threads = options.threads;
  auto values =
      semantics::evaluate(program, program.results, extents, reference.inputs, evaluation, progress);
  for (semantics::Evaluated& value : values) {
    Reference::Result result{value.value.shape, value.value.dtype, std::move(value.value.values),
                             std::move(value.bound), std::move(value.state)};
    for (std::size_t i = 0; i < result.expected.size(); ++i) {
      result.bound[i] = storedBound(result.bound[i], result.expected[i], result.dtype, options.accumulation);
    }
    reference.results.push_back(std::move(result));
  }
}

}  // namespace

GateDraw compareDraw(const Reference& reference, const std::vector<std::vector<double>>& actual) {
  GateDraw draw;
  draw.distribution = reference.distribution;
  draw.seed = reference.seed;
  double worst = -1;
  for (std::size_t r = 0; r < reference.results.size(); ++r) {
    const Reference::Result& result = reference.results[r];
    if (actual.at(r).size() != result.expected.size())
      throw InternalError("a result of another size than its reference");
    for (std::size_t i = 0; i < result.expected.size(); ++i) {
      if (result.state[i] != 0) {
        ++(result.state[i] == 1 ? draw.undefined : draw.undecided);
        continue;
      }
      ++draw.checked;
      const double error = std::fabs(actual[r][i] - result.expected[i]);
      const double ratio = ratioOf(error, result.bound[i]);
      if (ratio <= worst) continue;
      worst = ratio;
      draw.result = static_cast<int>(r);
      draw.index = indexOf(i, result.shape);
      draw.expected = result.expected[i];
      draw.actual = actual[r][i];
      draw.error = error;
      draw.bound = result.bound[i];
      draw.ratio = ratio;
    }
  }
  return draw;
}

void addDraw(GateRecord& record, const GateDraw& draw) {
  record.draws.push_back(draw);
  const auto last = static_cast<int>(record.draws.size()) - 1;
  const bool first = record.worst < 0;
  if (draw.checked > 0 && (first || draw.ratio > record.draws[static_cast<std::size_t>(record.worst)].ratio))
    record.worst = last;
  record.passed =
      record.worst >= 0 && record.draws[static_cast<std::size_t>(record.worst)].ratio <= record.factor;
  record.text = worstText(record);
}

void traceWrong(GateRecord& record, const tensor::Program& context, std::span<const tensor::NodeRef> variant,
                const tensor::Extents& extents, const Reference& failing, tensor::DType precision,
                const Progress& progress) {
  const std::string worst = worstText(record);
  semantics::EvaluateOptions exact;
  const Comparison inDouble = compareEvaluated(
      failing, semantics::evaluate(context, variant, extents, failing.inputs, exact, progress));
  if (inDouble.range || inDouble.ratio > record.factor) {
    record.verdict = "fault";
    record.text = fmt::format(
        "{}. In float64 the variant itself differs from the program: a fault of Nuscope's prover", worst);
    return;
  }
  semantics::EvaluateOptions rounded;
  rounded.roundoff = tensor::unitRoundoff(precision);
  rounded.roundToDType = true;
  const Comparison inOwn = compareEvaluated(
      failing, semantics::evaluate(context, variant, extents, failing.inputs, rounded, progress));
  const std::string name(tensor::text(precision));
  if (inOwn.range) {
    record.verdict = "range";
    record.text = fmt::format(
        "{}. In {} this variant leaves the range of the type, or comes too close to a jump, where the "
        "program does not",
        worst, name);
  } else if (inOwn.ratio > record.factor) {
    record.verdict = "rounding";
    record.text = fmt::format(
        "{}. Rounding: with every operator rounded to {} this variant is off by {:.3g} times the bound",
        worst, name, inOwn.ratio);
  } else {
    record.verdict = "fault";
    record.text = fmt::format(
        "{}. The emitted kernel disagrees with its own graph (which is right in {}): a fault of Nuscope",
        worst, name);
  }
}

std::vector<Reference> makeReferences(const tensor::Program& program, const tensor::Extents& extents,
                                      const GateOptions& options, const Progress& progress,
                                      std::vector<std::string>& notes) {
  using semantics::Distribution;
  constexpr std::array wanted{Distribution::normal, Distribution::small,     Distribution::large,
                              Distribution::ties,   Distribution::equalRows, Distribution::oneLarge};
  std::vector<Reference> references;
  std::string reason;
  for (std::size_t d = 0; d < wanted.size() && references.size() < options.seeded; ++d) {
    progress.check();
    Reference reference;
    reference.distribution = semantics::text(wanted[d]);
    reference.seed = options.seed * 1000 + d;
    auto inputs = semantics::tryDrawInputs(program, extents, wanted[d], reference.seed);
    if (!inputs) {
      reason = fmt::format("the draw '{}' was left out: no inputs that satisfy the asserts were found",
                           reference.distribution);
      notes.push_back(reason);
      continue;
    }
    reference.inputs = std::move(*inputs);
    const double from = static_cast<double>(d) / wanted.size();
    evaluateReference(program, extents, options, progress.part(from, from + 1.0 / wanted.size()), reference);
    references.push_back(std::move(reference));
  }
  for (const GivenDraw& given : options.given) {
    Reference reference;
    reference.distribution = given.name;
    reference.inputs = given.inputs;
    evaluateReference(program, extents, options, Progress(progress.stopToken()), reference);
    references.push_back(std::move(reference));
  }
  if (references.empty()) throw UserError(fmt::format("this program cannot be checked: {}", reason));
  return references;
}

tensor::DType accumulationOf(const tensor::Program& program) {
  for (const tensor::NodeRef node : tensor::topological(program.results)) {
    if (node->dtype == tensor::DType::f64) return tensor::DType::f64;
  }
  return tensor::DType::f32;
}

}  // namespace nuscope::sweep
