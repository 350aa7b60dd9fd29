#include "core/proof/screen.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nuscope::proof {

using semantics::ExactElement;
using semantics::FloatArray;
using semantics::FloatArrayRef;
using semantics::State;
using tensor::NodeRef;
using tensor::Program;

namespace {

using Kind = Counterexample::Kind;

constexpr std::size_t kSuspects = 6;  ///< elements of one draw that are evaluated exactly
constexpr std::array kPrecisions{128, 512, 1024};
constexpr std::array kFewPrecisions{192};  ///< for what float64 leaves open, most of which is equal

std::vector<std::int64_t> unflatten(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = static_cast<std::int64_t>(flat) % shape[i];
    flat /= static_cast<std::size_t>(shape[i]);
  }
  return index;
}

/// An infinity as a result is undefined.
State stateOf(const FloatArray& array, std::size_t i) {
  return array.state[i] == 0 && std::isinf(array.value[i]) ? State::undefined
                                                           : static_cast<State>(array.state[i]);
}

/// What two exact elements show, if that is certain.
std::optional<Kind> compareExact(const ExactElement& left, const ExactElement& right, Mode mode) {
  const bool leftUndefined = left.kind == ExactElement::Kind::undefined;
  const bool rightUndefined = right.kind == ExactElement::Kind::undefined;
  if (left.defined() && rightUndefined) return Kind::rightUndefined;
  if (leftUndefined && right.defined() && mode == Mode::equal) return Kind::leftUndefined;
  if (certainlyDifferent(left, right)) return Kind::values;
  return std::nullopt;
}

bool settled(const ExactElement& left, const ExactElement& right) {
  const auto certain = [](const ExactElement& e) {
    return e.kind == ExactElement::Kind::rational || e.kind == ExactElement::Kind::undefined;
  };
  return certain(left) && certain(right);
}

/// Both sides at the lowest precision that decides.
std::pair<ExactElement, ExactElement> exactly(const Program& left, const Program& right,
                                              const tensor::Extents& extents, const semantics::Inputs& inputs,
                                              std::size_t result, const std::vector<std::int64_t>& index,
                                              Mode mode, std::span<const int> precisions,
                                              const Progress& progress) {
  std::pair<ExactElement, ExactElement> both;
  for (const int precision : precisions) {
    both.first = semantics::ExactEvaluator(left, extents, inputs, precision)
                     .element(left.results[result], index, progress);
    both.second = semantics::ExactEvaluator(right, extents, inputs, precision)
                      .element(right.results[result], index, progress);
    if (settled(both.first, both.second) || compareExact(both.first, both.second, mode)) break;
  }
  return both;
}

}  // namespace

std::int64_t work(const Program& program, const tensor::Extents& extents) {
  std::int64_t total = 0;
  std::int64_t rounds = 1;
  tensor::Extents all = extents;
  const auto nodes = tensor::topological(program.results);
  for (const NodeRef node : nodes) {
    if (node->op == tensor::Op::loop) all.emplace(node->attributes.name, 0);
  }
  for (const NodeRef node : nodes) {
    if (node->op == tensor::Op::loop) rounds = std::max(rounds, node->attributes.shape[0].evaluate(all));
    std::int64_t own = 1;
    for (const auto extent : tensor::evaluate(node->shape, all)) own *= std::max<std::int64_t>(extent, 1);
    for (const NodeRef operand : node->operands) {
      std::int64_t read = 1;
      for (const auto extent : tensor::evaluate(operand->shape, all))
        read *= std::max<std::int64_t>(extent, 1);
      if (tensor::kind(node->op) == tensor::OpKind::contract && !operand->shape.empty()) {
        own = std::max(own, own * tensor::evaluate(operand->shape, all).back());
      }
      total += read;
    }
    total += own;
  }
  return total * rounds;
}

Screen::Screen(const Program& left, const Program& right, const tensor::Extents& extents, int undecidedBudget)
    : left_(left),
      right_(right),
      extents_(extents),
      drawer_({&left, &right}, extents),
      leftEngine_(left, extents),
      rightEngine_(right, extents),
      undecidedBudget_(undecidedBudget) {}

void Screen::compare(std::size_t result, const FloatArray& left, const FloatArray& right, Mode mode,
                     std::vector<Suspect>& suspects) {
  if (left.shape != right.shape) {
    throw UserError(fmt::format("result {} has shape [{}] on the left and [{}] on the right", result,
                                fmt::join(left.shape, ", "), fmt::join(right.shape, ", ")));
  }
  for (std::size_t i = 0; i < left.value.size(); ++i) {
    const State a = stateOf(left, i);
    const State b = stateOf(right, i);
    if (a == State::undecided || b == State::undecided) {
      if (mode == Mode::refines && a == State::undefined) continue;
      suspects.push_back({{Kind::values, result, unflatten(i, left.shape)}, false});
      continue;
    }
    ++decided_;
    if (a != b) {
      if (a == State::undefined && mode == Mode::refines) continue;
      const Kind kind = a == State::undefined ? Kind::leftUndefined : Kind::rightUndefined;
      suspects.push_back({{kind, result, unflatten(i, left.shape)}, true});
    } else if (a == State::defined &&
               std::fabs(left.value[i] - right.value[i]) > (left.bound[i] + right.bound[i]) * (1 + 0x1p-40)) {
      suspects.push_back({{Kind::values, result, unflatten(i, left.shape)}, true});
    }
  }
}

std::optional<Difference> Screen::confirmed(const Suspect& suspect, const semantics::Inputs& inputs,
                                            Mode mode, const Progress& progress) const {
  const auto [left, right] =
      exactly(left_, right_, extents_, inputs, suspect.difference.result, suspect.difference.index, mode,
              suspect.certain ? std::span<const int>(kPrecisions) : kFewPrecisions, progress);
  const auto kind = compareExact(left, right, mode);
  if (!kind) return std::nullopt;
  return Difference{*kind, suspect.difference.result, suspect.difference.index};
}

std::optional<Difference> Screen::find(const semantics::Inputs& inputs, Mode mode, const Progress& progress,
                                       std::optional<Kind> kind) {
  std::map<std::string, FloatArrayRef> arrays;
  for (const auto& [name, value] : inputs) arrays.emplace(name, semantics::fromTensor(value));
  const auto left = leftEngine_.run(left_.results, arrays, {}, progress);
  const auto right = rightEngine_.run(right_.results, arrays, {}, progress);
  decided_ = 0;
  std::vector<Suspect> suspects;
  for (std::size_t r = 0; r < std::min(left.size(), right.size()); ++r)
    compare(r, *left[r], *right[r], mode, suspects);
  std::ranges::stable_partition(suspects, [](const Suspect& s) { return s.certain; });
  std::size_t tried = 0;
  for (const Suspect& suspect : suspects) {
    if (suspect.certain && kind && suspect.difference.kind != *kind) continue;
    if (!suspect.certain && undecidedBudget_-- <= 0) break;
    if (tried++ == kSuspects) break;
    const auto found = confirmed(suspect, inputs, mode, progress);
    if (found && (!kind || found->kind == *kind)) return found;
  }
  return std::nullopt;
}

namespace {

/// The whole result in float64; what that leaves open is evaluated exactly.
semantics::TensorValue wholeResult(const Program& program, const Case& found, const Progress& progress) {
  const std::array<NodeRef, 1> result{program.results[found.difference.result]};
  auto evaluated = semantics::evaluate(program, result, found.extents, found.inputs, {}, progress).at(0);
  std::unique_ptr<semantics::ExactEvaluator> exact;
  for (std::size_t i = 0; i < evaluated.state.size(); ++i) {
    if (evaluated.state[i] != static_cast<std::uint8_t>(State::undecided)) continue;
    if (!exact)
      exact = std::make_unique<semantics::ExactEvaluator>(program, found.extents, found.inputs, 256);
    const ExactElement element = exact->element(result[0], unflatten(i, evaluated.value.shape), progress);
    evaluated.value.values[i] = element.defined() ? Rational((element.lower + element.upper) / 2).get_d()
                                                  : std::numeric_limits<double>::quiet_NaN();
  }
  return std::move(evaluated.value);
}

}  // namespace

Counterexample describe(const Program& left, const Program& right, const Case& found,
                        const Progress& progress) {
  Counterexample result;
  result.kind = found.difference.kind;
  result.extents = found.extents;
  result.inputs = found.inputs;
  result.result = found.difference.result;
  result.index = found.difference.index;
  result.left = wholeResult(left, found, progress);
  result.right = wholeResult(right, found, progress);
  const auto [a, b] = exactly(left, right, found.extents, found.inputs, found.difference.result,
                              found.difference.index, Mode::equal, kPrecisions, progress);
  result.leftText = text(a);
  result.rightText = text(b);
  if (result.leftText == result.rightText && a.defined() && b.defined()) {
    const Rational difference = (b.lower + b.upper - a.lower - a.upper) / 2;
    result.rightText += fmt::format(" ({:+.3g})", difference.get_d());
  }
  return result;
}

}  // namespace nuscope::proof
