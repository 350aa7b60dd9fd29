#include "core/semantics/draw.h"

#include <fmt/format.h>

#include <cmath>

#include "core/semantics/constraints.h"
#include "core/semantics/exact.h"
#include "core/semantics/float_engine.h"

namespace nuscope::semantics {
namespace {

using tensor::Extents;
using tensor::Program;

constexpr std::int64_t kExactlyChecked =
    4096;  ///< elements up to which an undecided assert is evaluated exactly

/// splitmix64 with distributions of our own: the standard's differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(next() % range);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

Distribution pickDistribution(Random& random) {
  constexpr std::array choices{Distribution::normal,   Distribution::normal,   Distribution::normal,
                               Distribution::positive, Distribution::negative, Distribution::ties,
                               Distribution::ties,     Distribution::halves,   Distribution::zeroOne,
                               Distribution::constant, Distribution::small,    Distribution::large};
  return choices[static_cast<std::size_t>(random.between(0, std::ssize(choices) - 1))];
}

double realElement(Distribution distribution, Random& random) {
  switch (distribution) {
    case Distribution::small:
      return random.normal() * 1e-3;
    case Distribution::large:
      return random.normal() * 30;
    case Distribution::positive:
      return std::fabs(random.normal()) + 0.125;
    case Distribution::negative:
      return -std::fabs(random.normal()) - 0.125;
    case Distribution::ties:
      return static_cast<double>(random.between(-3, 3));
    case Distribution::halves:
      return static_cast<double>(random.between(-8, 8)) / 2;
    case Distribution::zeroOne:
      return static_cast<double>(random.between(0, 1));
    case Distribution::constant:
      return static_cast<double>(random.between(1, 4));
    default:
      return random.normal();
  }
}

double wholeElement(Distribution distribution, Random& random) {
  switch (distribution) {
    case Distribution::small:
      return static_cast<double>(random.between(-1, 1));
    case Distribution::large:
      return static_cast<double>(random.between(-1000, 1000));
    case Distribution::positive:
      return static_cast<double>(random.between(1, 12));
    case Distribution::negative:
      return static_cast<double>(-random.between(1, 8));
    case Distribution::ties:
      return static_cast<double>(random.between(-3, 3));
    case Distribution::halves:
      return static_cast<double>(4 * random.between(1, 7));
    case Distribution::zeroOne:
      return static_cast<double>(random.between(0, 1));
    case Distribution::constant:
      return static_cast<double>(random.between(1, 4));
    default:
      return static_cast<double>(random.between(-40, 40));
  }
}

double shortened(double value) {  // to 8 significant bits
  if (value == 0) return value;
  const int exponent = std::ilogb(value) - 7;
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

/// As its dtype holds it; beyond the range of the dtype, something large that it holds. The asserts are asked
/// of the result.
double stored(double value, DType type) {
  if (!std::isfinite(value)) return 0;
  double result = roundTo(value, type);
  for (; !std::isfinite(result); result = roundTo(value, type)) value /= 2;
  return result;
}

/// Into the constraints of its parameter; where no value meets them, its lower bound, which the asserts
/// refuse.
double project(double value, const ElementConstraints& c, bool whole, Random& random) {
  if (c.equal) return *c.equal;
  if (c.zeroOrOne && value != 0 && value != 1) value = value > 0 ? 1 : 0;
  const double step = c.multipleOf != 0 ? std::fabs(c.multipleOf) : (whole ? 1 : 0);
  const double gap = step != 0 ? step : 0.125;  // distance kept from a strict bound
  double low = c.lower.value_or(-1e300);
  double high = c.upper.value_or(1e300);
  if (c.lowerStrict) low += whole ? 1 : std::min(gap, c.upper ? (high - low) / 8 : gap);
  if (c.upperStrict) high -= whole ? 1 : std::min(gap, c.lower ? (high - low) / 8 : gap);
  if (low > high) return low;
  if (value < low || value > high) {
    if (c.lower && c.upper) {
      const double width = high - low;
      value = whole ? low + std::fmod(std::fabs(value), width + 1)
                    : low + width * std::ldexp(double(random.between(0, 64)), -6);
    } else {
      value = c.lower ? low + std::fabs(value - low) : high - std::fabs(value - high);
    }
  }
  if (step != 0) {
    value = std::nearbyint((value - c.residue) / step) * step + c.residue;
    if (value < low) value += step * std::ceil((low - value) / step);
    if (value > high) value -= step * std::ceil((value - high) / step);
  }
  for (int i = 0; i < 4; ++i) {
    for (const double excluded : c.excluded) {
      if (value == excluded) value += (value + gap * 4 <= high ? 1 : -1) * (step != 0 ? step : 1);
    }
  }
  return value;
}

void symmetrise(TensorValue& tensor) {
  if (tensor.shape.size() != 2 || tensor.shape[0] != tensor.shape[1]) return;
  const auto n = static_cast<std::size_t>(tensor.shape[0]);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) tensor.values[i * n + j] = tensor.values[j * n + i];
  }
}

/// All elements along `axis` become the first.
void equaliseAlong(TensorValue& tensor, std::size_t axis) {
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < tensor.shape.size(); ++i) inner *= tensor.shape[i];
  const std::int64_t block = inner * tensor.shape[axis];
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    tensor.values[static_cast<std::size_t>(i)] =
        tensor.values[static_cast<std::size_t>(i / block * block + i % inner)];
  }
}

bool compares(double a, Op op, double b) {
  switch (op) {
    case Op::less:
      return a < b;
    case Op::lessEqual:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greaterEqual:
      return a >= b;
    case Op::equal:
      return a == b;
    default:
      return a != b;
  }
}

void repairOrder(const Relationship& r, TensorValue& a, TensorValue& b) {
  if (a.values.size() != b.values.size()) return;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    double& x = a.values[i];
    double& y = b.values[i];
    if (compares(x, r.op, y)) continue;
    if (r.op == Op::equal) {
      y = x;
      continue;
    }
    std::swap(x, y);
    if (!compares(x, r.op, y)) y += r.op == Op::greater ? -1 : 1;
  }
}

void repairMultiple(TensorValue& a, const TensorValue& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double divisor = b.values.size() == a.values.size() ? b.values[i] : b.values[0];
    if (divisor != 0) a.values[i] = std::nearbyint(a.values[i] / divisor) * divisor;
  }
}

void repairSign(const Relationship& r, const TensorValue& a, TensorValue& b) {
  if (a.values.size() != b.values.size()) return;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (!compares(a.values[i] * b.values[i], r.op, 0)) b.values[i] = -b.values[i];
  }
}

void repairExtremum(const Relationship& r, TensorValue& a, const ElementConstraints& c, Random& random) {
  // One element of each row along the axes is put right; a row is named by its index with those axes at 0.
  std::map<std::int64_t, std::vector<std::size_t>> rows;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    std::int64_t rest = i;
    std::int64_t row = 0;
    std::int64_t scale = 1;
    for (std::size_t axis = a.shape.size(); axis-- > 0;) {
      const bool folded = std::ranges::find(r.axes, static_cast<int>(axis)) != r.axes.end();
      if (!folded) row += rest % a.shape[axis] * scale;
      scale *= a.shape[axis];
      rest /= a.shape[axis];
    }
    rows[row].push_back(static_cast<std::size_t>(i));
  }
  const bool up = r.op == Op::greater || r.op == Op::greaterEqual || r.op == Op::equal;
  for (const auto& [row, members] : rows) {
    const bool fine =
        std::ranges::any_of(members, [&](std::size_t i) { return compares(a.values[i], r.op, r.constant); });
    if (fine) continue;
    const auto chosen = members[static_cast<std::size_t>(random.between(0, std::ssize(members) - 1))];
    const double wanted = r.op == Op::equal ? r.constant : r.constant + (up ? 1 : -1);
    a.values[chosen] = c.zeroOrOne ? (up ? 1 : 0) : wanted;
  }
}

}  // namespace

std::string_view text(Distribution distribution) {
  switch (distribution) {
#define X(name, words)     \
  case Distribution::name: \
    return words;
    NUSCOPE_DISTRIBUTIONS(X)
#undef X
  }
  return "?";
}

struct InputDrawer::State {
  State(std::vector<const Program*> all, Extents at) : programs(std::move(all)), extents(std::move(at)) {
    for (const Program* program : programs) {
      collectConstraints(*program, extents, constraints);
      engines.push_back(std::make_unique<FloatEngine>(*program, extents));
      std::vector<NodeRef>& own = conditions.emplace_back();
      for (const auto& precondition : program->preconditions) {
        if (precondition.condition) own.push_back(precondition.condition);
        if (precondition.dims && !precondition.dims->holds(extents)) dimensionObstacle = precondition.text;
      }
    }
  }

  TensorValue drawTensor(const tensor::Parameter& parameter, Distribution distribution, bool short8,
                         Random& random) {
    const Node& node = *parameter.node;
    TensorValue tensor{node.dtype, tensor::evaluate(node.shape, extents), {}};
    const bool real = tensor::isReal(node.dtype);
    const auto found = constraints.elements.find(parameter.name);
    static const ElementConstraints none;
    const ElementConstraints& c = found != constraints.elements.end() ? found->second : none;
    const auto index = constraints.indexBelow.find(parameter.name);
    const bool asIndex =
        index != constraints.indexBelow.end() && !real && (!short8 || random.between(0, 7) != 0);
    const std::int64_t count = tensor.count();
    const double first =
        distribution == Distribution::sweep ? static_cast<double>(random.between(0, 12)) * double(count) : 0;
    const double same = real ? realElement(distribution, random) : wholeElement(distribution, random);
    tensor.values.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      if ((i & 0xffff) == 0) progress.check();
      double v = same;
      if (asIndex) {
        v = static_cast<double>(random.between(0, index->second - 1));
      } else if (distribution == Distribution::sweep) {
        v = first + static_cast<double>(i);
      } else if (distribution != Distribution::constant) {
        v = real ? realElement(distribution, random) : wholeElement(distribution, random);
      }
      if (short8 && real) v = shortened(v);
      if (!asIndex) v = project(v, c, !real, random);
      if (node.dtype == DType::boolean) v = v > 0 ? 1 : 0;
      if (node.dtype == DType::i8) v = std::clamp(v, -128.0, 127.0);
      tensor.values.push_back(stored(v, node.dtype));
    }
    if (distribution == Distribution::equalRows && tensor.shape.size() >= 2)
      equaliseAlong(tensor, tensor.shape.size() - 2);
    if (distribution == Distribution::oneLarge && real) {
      double& one = tensor.values[static_cast<std::size_t>(random.between(0, count - 1))];
      one = stored(project(one * 1e4, c, false, random), node.dtype);
    }
    if (c.symmetric) symmetrise(tensor);
    for (const std::size_t axis : c.sameAlong) equaliseAlong(tensor, axis);
    return tensor;
  }

  void repair(Inputs& inputs, Random& random) {
    for (const Relationship& r : constraints.relationships) {
      if (!inputs.contains(r.left) || (!r.right.empty() && !inputs.contains(r.right))) continue;
      TensorValue& left = inputs[r.left];
      switch (r.kind) {
        case Relationship::Kind::order:
          repairOrder(r, left, inputs[r.right]);
          break;
        case Relationship::Kind::multiple:
          repairMultiple(left, inputs[r.right]);
          break;
        case Relationship::Kind::productSign:
          repairSign(r, left, inputs[r.right]);
          break;
        default:
          repairExtremum(r, left, constraints.elements[r.left], random);
          break;
      }
    }
  }

  bool holds(const Inputs& inputs) {
    if (!dimensionObstacle.empty()) {
      obstacle = dimensionObstacle;
      return false;
    }
    std::map<std::string, FloatArrayRef> arrays;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      if (conditions[p].empty()) continue;
      if (arrays.empty()) {
        for (const auto& [name, value] : inputs) arrays.emplace(name, fromTensor(value));
      }
      const auto values = engines[p]->run(conditions[p], arrays, {}, progress);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Number value = values[i]->at(0);
        const bool certain = value.state == State_::undecided
                                 ? exactlyHolds(*programs[p], conditions[p][i], inputs)
                                 : FloatArithmetic::truth(value) == Truth::yes;
        if (certain) continue;
        std::size_t seen = 0;
        for (const auto& precondition : programs[p]->preconditions) {
          if (precondition.condition && seen++ == i) obstacle = precondition.text;
        }
        return false;
      }
    }
    return true;
  }

  bool exactlyHolds(const Program& program, NodeRef condition, const Inputs& inputs) const {
    std::int64_t elements = 0;
    for (const auto& [name, value] : inputs) elements += value.count();
    if (elements > kExactlyChecked) return false;
    const ExactElement value = ExactEvaluator(program, extents, inputs, 256).element(condition, {});
    return value.kind == ExactElement::Kind::rational && value.rational != 0;
  }

  using State_ = semantics::State;
  std::vector<const Program*> programs;
  Extents extents;
  InputConstraints constraints;
  std::vector<std::unique_ptr<FloatEngine>> engines;
  std::vector<std::vector<NodeRef>> conditions;
  std::string dimensionObstacle;
  std::string obstacle;
  Progress progress;
};

InputDrawer::InputDrawer(std::vector<const Program*> programs, Extents extents)
    : state_(std::make_unique<State>(std::move(programs), std::move(extents))) {}
InputDrawer::~InputDrawer() = default;

const std::string& InputDrawer::obstacle() const {
  return state_->obstacle;
}
bool InputDrawer::satisfied(const Inputs& inputs) {
  return state_->holds(inputs);
}

std::optional<Inputs> InputDrawer::draw(Distribution distribution, std::uint64_t seed, int tries,
                                        const Progress& progress) {
  state_->progress = progress;
  Random random(seed * 0xD1342543DE82EF95ULL + static_cast<std::uint64_t>(distribution));
  for (int attempt = 0; attempt < tries; ++attempt) {
    Inputs inputs;
    const bool free = distribution == Distribution::mixed || attempt >= tries / 4;
    const bool short8 = distribution == Distribution::mixed || distribution == Distribution::sweep;
    for (const auto& parameter : state_->programs[0]->parameters) {
      Distribution own = free ? pickDistribution(random) : distribution;
      if (own == Distribution::sweep && tensor::isReal(parameter.node->dtype)) own = pickDistribution(random);
      inputs.emplace(parameter.name, state_->drawTensor(parameter, own, short8, random));
    }
    state_->repair(inputs, random);
    if (state_->holds(inputs)) return inputs;
    if (!state_->dimensionObstacle.empty()) break;
  }
  return std::nullopt;
}

std::optional<Inputs> tryDrawInputs(const Program& program, const Extents& extents, Distribution distribution,
                                    std::uint64_t seed, const Progress& progress) {
  return InputDrawer({&program}, extents).draw(distribution, seed, 400, progress);
}

Inputs drawInputs(const Program& program, const Extents& extents, Distribution distribution,
                  std::uint64_t seed, const Progress& progress) {
  InputDrawer drawer({&program}, extents);
  auto inputs = drawer.draw(distribution, seed, 400, progress);
  if (!inputs) {
    throw UserError(fmt::format("no inputs were found that satisfy assert {} ({} values, 400 tries)",
                                drawer.obstacle(), text(distribution)));
  }
  return *std::move(inputs);
}

bool satisfiesPreconditions(const Program& program, const Extents& extents, const Inputs& inputs) {
  return InputDrawer({&program}, extents).satisfied(inputs);
}

}  // namespace nuscope::semantics
