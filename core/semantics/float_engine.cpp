#include "core/semantics/float_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>

namespace nuscope::semantics {
namespace {

using Extent = std::vector<std::int64_t>;

constexpr std::int64_t kLargestTensor = std::int64_t{1} << 31;
constexpr std::size_t kLargestRank = 16;
constexpr std::int64_t kParallelGrain = 1 << 14;
constexpr std::int64_t kBlockedWork = 1 << 16;  ///< multiplications from which a matmul is blocked

Extent stridesOf(const Extent& shape) {
  Extent strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls f(flat output position, offsets) for positions [begin, end) of `shape`, where offsets[o] follows
/// strides[o] (one stride per axis).
template <std::size_t N, class F>
void walk(const Extent& shape, const std::array<Extent, N>& strides, std::int64_t begin, std::int64_t end,
          F f) {
  const std::size_t rank = shape.size();
  if (rank > kLargestRank) throw UserError("tensors of rank above 16 are not evaluated");
  std::array<std::int64_t, kLargestRank> index{};
  std::array<std::int64_t, N> offsets{};
  std::int64_t rest = begin;
  for (std::size_t i = rank; i-- > 0;) {
    index[i] = rest % shape[i];
    rest /= shape[i];
    for (std::size_t o = 0; o < N; ++o) offsets[o] += index[i] * strides[o][i];
  }
  for (std::int64_t at = begin; at < end; ++at) {
    f(at, offsets);
    for (std::size_t i = rank; i-- > 0;) {
      for (std::size_t o = 0; o < N; ++o) offsets[o] += strides[o][i];
      if (++index[i] < shape[i]) break;
      for (std::size_t o = 0; o < N; ++o) offsets[o] -= index[i] * strides[o][i];
      index[i] = 0;
    }
  }
}

/// Strides of an operand under NumPy broadcasting to `shape`.
Extent broadcastStrides(const Extent& operand, const Extent& shape) {
  const Extent own = stridesOf(operand);
  Extent strides(shape.size(), 0);
  const std::size_t offset = shape.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i) strides[offset + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

/// Nested folds over axes with the given extents, one offset per operand, outermost axis first;
/// body(offsets).
template <std::size_t N, class Body>
Number foldAxes(const FloatArithmetic& arithmetic, const Node& node, const Extent& extents,
                const std::array<Extent, N>& strides, std::size_t level, std::array<std::int64_t, N> offsets,
                const Body& body) {
  if (level == extents.size()) return body(offsets);
  auto accumulator = arithmetic.accumulator(detail::foldOf(node.op), node);
  for (std::int64_t k = 0; k < extents[level]; ++k) {
    accumulator.add(foldAxes(arithmetic, node, extents, strides, level + 1, offsets, body));
    for (std::size_t o = 0; o < N; ++o) offsets[o] += strides[o][level];
  }
  return accumulator.finish();
}

/// Index arithmetic of layout operators, recording where an element comes from.
struct SourceDomain {
  using Int = std::int64_t;
  struct Value {
    NodeRef operand = nullptr;
    std::int64_t flat = 0;
  };
  const FloatEngine& engine;
  std::function<const Extent&(NodeRef)> shape;

  Int dim(const Dim& value) const { return engine.evaluate(value); }
  static Int plus(Int a, Int b) { return a + b; }
  static Int minus(Int a, Int b) { return a - b; }
  static Int times(Int a, Int b) { return a * b; }
  static Int quotient(Int a, Int b) { return a / b; }  // operands of layouts are nonnegative
  static Int subscript(const Value&, const Dim&) { throw InternalError("take has no static layout"); }
  Value element(NodeRef operand, std::span<const Int> index) const {
    std::int64_t flat = 0;
    const Extent& extents = shape(operand);
    for (std::size_t i = 0; i < index.size(); ++i) flat = flat * extents[i] + index[i];
    return {operand, flat};
  }
  template <class Then, class Else>
  Value chooseLess(Int a, Int b, Then then, Else otherwise) const {
    return a < b ? then() : otherwise();
  }
};

bool onGrid(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v * 32 == std::nearbyint(v * 32); });
}

}  // namespace

FloatArray::FloatArray(Extent extents) : shape(std::move(extents)) {
  std::int64_t n = 1;
  for (const auto extent : shape) {
    if (extent > kLargestTensor / std::max<std::int64_t>(n, 1))
      throw UserError("a tensor would exceed 2^31 elements");
    n *= extent;
  }
  value.resize(static_cast<std::size_t>(n));
  bound.resize(static_cast<std::size_t>(n));
  state.resize(static_cast<std::size_t>(n));
}

void FloatArray::classify() {
  exact = std::ranges::all_of(bound, [](double b) { return b == 0; });
  plain = std::ranges::all_of(state, [](std::uint8_t s) { return s == 0; }) &&
          std::ranges::all_of(value, [](double v) { return std::isfinite(v); });
}

FloatArrayRef fromTensor(const TensorValue& tensor) {
  auto array = std::make_shared<FloatArray>(tensor.shape);
  if (tensor.values.size() != array->value.size()) throw UserError("a tensor's values do not fill its shape");
  array->value = tensor.values;
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const double v = tensor.values[i];
    if (!std::isfinite(v)) throw UserError("an input holds a value that is not finite");
    if (!tensor::isReal(tensor.dtype) && v != std::nearbyint(v))
      throw UserError("an integer input holds a fraction");
  }
  array->plain = array->exact = true;
  return array;
}

void parallelRanges(std::int64_t count, int threads,
                    const std::function<void(std::int64_t, std::int64_t)>& f) {
  const auto pieces = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(count, 1));
  if (pieces == 1) return f(0, count);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(pieces));
  std::vector<std::jthread> workers;
  for (std::int64_t p = 0; p < pieces; ++p) {
    workers.emplace_back([&, p] {
      try {
        f(count * p / pieces, count * (p + 1) / pieces);
      } catch (...) {
        failures[static_cast<std::size_t>(p)] = std::current_exception();
      }
    });
  }
  workers.clear();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// Affine, or one source for each element.
struct FloatEngine::Layout {
  NodeRef operand = nullptr;  ///< of an affine layout
  std::int64_t base = 0;
  Extent strides;
  std::vector<SourceDomain::Value> sources;
};

FloatEngine::FloatEngine(const tensor::Program& context, tensor::Extents extents)
    : context_(context), extents_(std::move(extents)), arithmetic_(0x1p-53) {}
FloatEngine::~FloatEngine() = default;

FloatEngine::Key FloatEngine::keyOf(const Node& node) {
  Key key{&node, {}};
  for (const std::string& counter : dependence_.ofDimensions(&node))
    key.second.push_back(extents_.at(counter));
  return key;
}

const FloatEngine::Prepared& FloatEngine::prepare(const Node& node) {
  const bool outside = layers_.size() == 1;
  if (outside) {
    if (const auto found = prepared_.find(&node); found != prepared_.end()) return found->second;
  }
  const Key key = keyOf(node);
  if (!outside) {
    if (const auto found = preparedInLoops_.find(key); found != preparedInLoops_.end()) return found->second;
  }
  Prepared prepared;
  prepared.shape = tensor::evaluate(node.shape, extents_);
  if (tensor::kind(node.op) == tensor::OpKind::elementwise) {
    for (std::size_t o = 0; o < 3; ++o) {
      const NodeRef operand = node.operands[std::min(o, node.operands.size() - 1)];
      prepared.strides[o] = broadcastStrides(tensor::evaluate(operand->shape, extents_), prepared.shape);
    }
  }
  if (outside) return prepared_.emplace(&node, std::move(prepared)).first->second;
  return preparedInLoops_.emplace(key, std::move(prepared)).first->second;
}

const FloatEngine::Schedule& FloatEngine::scheduleOf(std::span<const NodeRef> results) {
  if (std::ranges::equal(schedule_.results, results) && !results.empty()) return schedule_;
  schedule_ = {};
  schedule_.results.assign(results.begin(), results.end());
  schedule_.order = scopeOrder(results);
  for (const NodeRef node : schedule_.order) {
    for (const NodeRef operand : node->operands) ++schedule_.uses[operand];
    schedule_.loops = schedule_.loops || node->op == Op::loop;
  }
  for (const NodeRef node : results) ++schedule_.uses[node];
  return schedule_;
}

std::size_t FloatEngine::layerOf(NodeRef node) const {
  if (layers_.size() == 1) return 0;
  const Counters& counters = dependence_.of(node);
  if (counters.empty()) return 0;
  for (std::size_t i = layers_.size(); i-- > 1;) {
    if (std::ranges::binary_search(counters, layers_[i].counter)) return i;
  }
  return 0;
}

const FloatArrayRef& FloatEngine::array(NodeRef node) const {
  const auto& values = layers_[layerOf(node)].values;
  const auto found = values.find(node);
  if (found == values.end())
    throw InternalError("evaluation: an operand has no value: " + tensor::describe(node));
  return found->second;
}

Number FloatEngine::element(NodeRef operand, std::span<const std::int64_t> index) const {
  const FloatArray& source = *array(operand);
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < index.size(); ++i) flat = flat * source.shape[i] + index[i];
  return source.at(flat);
}

Number FloatEngine::leaf(const Node&, std::span<const std::int64_t>) const {
  throw InternalError("evaluation: a leaf is not computed by its granular form");
}
Number FloatEngine::loopResult(const Node&, std::span<const std::int64_t>) const {
  throw InternalError("evaluation: a loop is not computed by its granular form");
}

std::vector<FloatArrayRef> FloatEngine::run(std::span<const NodeRef> results,
                                            const std::map<std::string, FloatArrayRef>& inputs,
                                            const EvaluateOptions& options, const Progress& progress,
                                            Values* kept) {
  arithmetic_ = FloatArithmetic(options.roundoff);
  options_ = options;
  progress_ = progress;
  inputs_ = &inputs;
  layers_.clear();
  layers_.emplace_back();
  const Schedule& schedule = scheduleOf(results);
  const bool release = !kept && !schedule.loops;  // loop bodies may use what is outside
  auto uses = release ? schedule.uses : std::unordered_map<NodeRef, int>{};
  for (const NodeRef node : schedule.order) {
    progress_.check();
    const std::array<NodeRef, 1> one{node};
    evaluateInScope(one);
    if (!release) continue;
    for (const NodeRef operand : node->operands) {
      if (--uses[operand] == 0) layers_[0].values.erase(operand);
    }
  }
  std::vector<FloatArrayRef> values;
  for (const NodeRef result : results) values.push_back(array(result));
  if (kept) *kept = std::move(layers_[0].values);
  layers_.clear();
  inputs_ = nullptr;
  return values;
}

void FloatEngine::evaluateInScope(std::span<const NodeRef> order) {
  for (const NodeRef node : order) {
    Layer& layer = layers_[layerOf(node)];
    if (node->op == Op::loop) {
      if (!layer.loops.contains(node)) runLoop(*node);
      continue;
    }
    if (layer.values.contains(node)) continue;
    auto value = compute(*node);
    layers_[layerOf(node)].values.emplace(node, std::move(value));
  }
}

void FloatEngine::runLoop(const Node& loop) {
  const std::string& counter = loop.attributes.name;
  const std::size_t home = layerOf(&loop);
  auto& order = bodyOrders_[&loop];
  if (order.empty()) order = scopeOrder(loop.attributes.body);
  std::vector<FloatArrayRef> states;
  for (const NodeRef initial : loop.operands) states.push_back(array(initial));
  const std::int64_t rounds = evaluate(loop.attributes.shape[0]);
  const auto outer = extents_.find(counter);
  const bool shadows = outer != extents_.end();
  const std::int64_t shadowed = shadows ? outer->second : 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    progress_.check();
    layers_.emplace_back();
    layers_.back().counter = counter;
    layers_.back().states = states;
    extents_[counter] = round;
    evaluateInScope(order);
    states.clear();
    for (const NodeRef value : loop.attributes.body) states.push_back(array(value));
    layers_.pop_back();
  }
  if (shadows) {
    extents_[counter] = shadowed;
  } else {
    extents_.erase(counter);
  }
  layers_[home].loops[&loop] = std::move(states);
}

FloatArrayRef FloatEngine::compute(const Node& node) {
  if (node.op == Op::input) return input(node);
  if (node.op == Op::loopState) {
    return layers_[layerOf(&node)].states.at(static_cast<std::size_t>(node.attributes.index));
  }
  if (node.op == Op::loopResult) {
    return layers_[layerOf(node.operands[0])]
        .loops.at(node.operands[0])
        .at(static_cast<std::size_t>(node.attributes.index));
  }
  FloatArrayRef result;
  if (options_.generic || node.op == Op::take || tensor::kind(node.op) == tensor::OpKind::leaf) {
    result = granularNode(node);
  } else {
    switch (tensor::kind(node.op)) {
      case tensor::OpKind::elementwise:
        result = elementwise(node);
        break;
      case tensor::OpKind::reduce:
        result = reduce(node);
        break;
      case tensor::OpKind::scan:
        result = scan(node);
        break;
      case tensor::OpKind::contract:
        result = node.op == Op::matmul ? matmul(node) : einsum(node);
        break;
      default:
        return layout(node);
    }
  }
  return result;
}

FloatArrayRef FloatEngine::input(const Node& node) const {
  const auto found = inputs_->find(node.attributes.name);
  if (found == inputs_->end())
    throw UserError(fmt::format("no value is given for the input {}", node.attributes.name));
  const Extent shape = tensor::evaluate(node.shape, extents_);
  if (found->second->shape != shape) {
    throw UserError(fmt::format("the input {} has shape [{}], its parameter has shape [{}]",
                                node.attributes.name, fmt::join(found->second->shape, ", "),
                                fmt::join(shape, ", ")));
  }
  return found->second;
}

/// A tensor stored in a type coarser than the accumulation (or, if so asked, in its own type) is rounded.
void FloatEngine::roundAll(FloatArray& array, DType type) const {
  if (!tensor::isReal(type) || type == DType::f64) return;
  const double unit = tensor::unitRoundoff(type);
  const bool widen = options_.roundoff > 0x1p-53 && unit > options_.roundoff;
  if (!options_.roundToDType && !widen) return;
  for (std::int64_t i = 0; i < array.count(); ++i) {
    Number x = array.at(i);
    if (x.state != State::defined || std::isinf(x.value)) continue;
    const double rounded = roundTo(x.value, type);
    if (std::isinf(rounded)) {
      x.state = State::undecided;
    } else if (options_.roundToDType) {
      x.bound += std::fabs(rounded - x.value);
    } else if (x.bound != 0 || rounded != x.value) {
      x.bound += unit * (std::fabs(x.value) + x.bound);
    }
    if (options_.roundToDType) x.value = rounded;
    array.set(i, x);
  }
}

FloatArrayRef FloatEngine::granularNode(const Node& node) {
  auto result = make(node);
  ConcreteDomain domain(*this, node);
  const Extent& shape = result->shape;
  Extent index(shape.size(), 0);
  for (std::int64_t at = 0; at < result->count(); ++at) {
    if ((at & 255) == 0) progress_.check();
    result->set(at, granular(domain, node, std::span<const std::int64_t>(index), context_.facts));
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

FloatArrayRef FloatEngine::elementwise(const Node& node) {
  auto result = make(node);
  const auto& strides = prepare(node).strides;
  std::array<const FloatArray*, 3> operands{};
  for (std::size_t o = 0; o < 3; ++o)
    operands[o] = array(node.operands[std::min(o, node.operands.size() - 1)]).get();
  const bool integer = tensor::sort(node.dtype) == tensor::Sort::integer;
  const std::size_t arity = node.operands.size();
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t from = begin; from < end; from += kParallelGrain) {
      progress_.check();
      walk(result->shape, strides, from, std::min(end, from + kParallelGrain),
           [&](std::int64_t at, const std::array<std::int64_t, 3>& offsets) {
             const Number a = operands[0]->at(offsets[0]);
             if (arity == 1) return result->set(at, arithmetic_.unary(node.op, a, node));
             const Number b = operands[1]->at(offsets[1]);
             if (arity == 2) return result->set(at, arithmetic_.binary(node.op, a, b, integer));
             const Number c = operands[2]->at(offsets[2]);  // where
             switch (FloatArithmetic::truth(a)) {
               case Truth::yes:
                 return result->set(at, b);
               case Truth::no:
                 return result->set(at, c);
               case Truth::undefined:
                 return result->set(at, a);
               default:
                 break;
             }
             const bool never = b.state == State::undefined && c.state == State::undefined;
             result->set(at, never ? b : FloatArithmetic::undecided());
           });
    }
  };
  parallelRanges(result->count(), result->count() > kParallelGrain ? options_.threads : 1, piece);
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

FloatArrayRef FloatEngine::reduce(const Node& node) {
  auto result = make(node);
  const FloatArray& source = *array(node.operands[0]);
  const Extent own = stridesOf(source.shape);
  Extent kept;
  Extent extents;
  std::array<Extent, 1> folded;
  for (std::size_t i = 0; i < source.shape.size(); ++i) {
    const auto& axes = node.attributes.axes;
    if (std::ranges::find(axes, static_cast<int>(i)) == axes.end()) {
      kept.push_back(own[i]);
      continue;
    }
    if (node.attributes.keepDims) kept.push_back(0);
    extents.push_back(source.shape[i]);
    folded[0].push_back(own[i]);
  }
  std::int64_t terms = 1;
  for (const auto extent : extents) terms *= extent;
  const Number count = arithmetic_.number(terms, node.dtype);
  const std::array<Extent, 1> outer{kept};
  const std::int64_t chunk = std::max<std::int64_t>(1, kParallelGrain / terms);
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t from = begin; from < end; from += chunk) {
      progress_.check();
      walk(result->shape, outer, from, std::min(end, from + chunk),
           [&](std::int64_t at, const std::array<std::int64_t, 1>& offset) {
             Number value = foldAxes(arithmetic_, node, extents, folded, 0, offset,
                                     [&](const std::array<std::int64_t, 1>& o) { return source.at(o[0]); });
             if (node.op == Op::mean) value = arithmetic_.binary(Op::divide, value, count, false);
             result->set(at, value);
           });
    }
  };
  parallelRanges(result->count(), source.count() > kParallelGrain ? options_.threads : 1, piece);
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

FloatArrayRef FloatEngine::scan(const Node& node) {
  auto result = make(node);
  const FloatArray& source = *array(node.operands[0]);
  const auto axis = static_cast<std::size_t>(node.attributes.axes[0]);
  const Extent own = stridesOf(source.shape);
  Extent lines = source.shape;
  lines[axis] = 1;
  const std::int64_t length = source.shape[axis];
  const std::array<Extent, 1> strides{own};
  std::int64_t count = 1;
  for (const auto extent : lines) count *= extent;
  walk(lines, strides, 0, count, [&](std::int64_t, const std::array<std::int64_t, 1>& offset) {
    progress_.check();
    auto accumulator = arithmetic_.accumulator(Fold::sum, node);
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t at = offset[0] + k * own[axis];
      accumulator.add(source.at(at));
      result->set(at, accumulator.finish());
    }
  });
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

FloatArrayRef FloatEngine::matmul(const Node& node) {
  auto result = make(node);
  const FloatArray& a = *array(node.operands[0]);
  const FloatArray& b = *array(node.operands[1]);
  const bool rowOfA = a.shape.size() > 1;
  const bool columnOfB = b.shape.size() > 1;
  const std::int64_t inner = a.shape.back();
  const std::int64_t rows = rowOfA ? a.shape[a.shape.size() - 2] : 1;
  const std::int64_t columns = columnOfB ? b.shape.back() : 1;
  const auto batchOf = [](const Extent& shape) {
    return Extent(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)));
  };
  const std::size_t matrix = (rowOfA ? 1 : 0) + (columnOfB ? 1 : 0);
  const Extent batch(result->shape.begin(), result->shape.end() - static_cast<std::ptrdiff_t>(matrix));
  const auto batchStrides = [&](const Extent& shape, std::int64_t size) {
    Extent strides = broadcastStrides(batchOf(shape), batch);
    for (auto& stride : strides) stride *= size;
    return strides;
  };
  const std::array<Extent, 2> strides{batchStrides(a.shape, rows * inner),
                                      batchStrides(b.shape, inner * columns)};
  std::int64_t batches = 1;
  for (const auto extent : batch) batches *= extent;
  const bool integer = tensor::sort(node.dtype) == tensor::Sort::integer;
  const bool blocked = a.plain && b.plain && batches * rows * inner * columns >= kBlockedWork;
  const bool exact = a.exact && b.exact;
  const bool grid = blocked && exact && onGrid(a.value) && onGrid(b.value);
  walk(batch, strides, 0, batches, [&](std::int64_t at, const std::array<std::int64_t, 2>& offset) {
    progress_.check();
    const std::int64_t out = at * rows * columns;
    if (blocked && (!integer || grid)) {
      multiplyMatrices(arithmetic_, a.value.data() + offset[0], a.bound.data() + offset[0],
                       b.value.data() + offset[1], b.bound.data() + offset[1], rows, inner, columns,
                       result->value.data() + out, result->bound.data() + out, exact, grid, options_.threads,
                       progress_);
      return;
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        auto accumulator = arithmetic_.accumulator(Fold::sum, node);
        for (std::int64_t k = 0; k < inner; ++k) {
          accumulator.add(arithmetic_.binary(Op::multiply, a.at(offset[0] + i * inner + k),
                                             b.at(offset[1] + k * columns + j), integer));
        }
        result->set(out + i * columns + j, accumulator.finish());
      }
    }
  });
  for (std::int64_t i = 0; i < result->count() && blocked; ++i) {
    const Number x = result->at(i);
    if (x.state == State::defined && !(std::fabs(x.value) <= arithmetic_.top() && std::isfinite(x.bound))) {
      result->set(i, FloatArithmetic::undecided());
    }
  }
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

FloatArrayRef FloatEngine::einsum(const Node& node) {
  auto result = make(node);
  const auto spec = tensor::parseEinsum(node.attributes.name).value();
  const std::size_t count = spec.operands.size();
  std::vector<const FloatArray*> operands;
  for (const NodeRef operand : node.operands) operands.push_back(array(operand).get());
  std::string summed;
  Extent extents;
  for (std::size_t o = 0; o < count; ++o) {
    for (std::size_t i = 0; i < spec.operands[o].size(); ++i) {
      const char label = spec.operands[o][i];
      if (spec.result.find(label) != std::string::npos || summed.find(label) != std::string::npos) continue;
      summed += label;
      extents.push_back(operands[o]->shape[i]);
    }
  }
  const auto stridesFor = [&](std::size_t o, const std::string& labels) {
    Extent strides(labels.size(), 0);
    const Extent own = stridesOf(operands[o]->shape);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto at = labels.find(spec.operands[o][i]);
      if (at != std::string::npos) strides[at] += own[i];
    }
    return strides;
  };
  if (count > 4) return granularNode(node);
  std::array<Extent, 4> outer;
  std::array<Extent, 4> inner;
  for (std::size_t o = 0; o < 4; ++o) {
    outer[o] = o < count ? stridesFor(o, spec.result) : Extent(spec.result.size(), 0);
    inner[o] = o < count ? stridesFor(o, summed) : Extent(summed.size(), 0);
  }
  const bool integer = tensor::sort(node.dtype) == tensor::Sort::integer;
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    walk(result->shape, outer, begin, end, [&](std::int64_t at, const std::array<std::int64_t, 4>& offsets) {
      if ((at & 63) == 0) progress_.check();
      result->set(at, foldAxes(arithmetic_, node, extents, inner, 0, offsets,
                               [&](const std::array<std::int64_t, 4>& at4) {
                                 Number product = operands[0]->at(at4[0]);
                                 for (std::size_t o = 1; o < count; ++o) {
                                   product = arithmetic_.binary(Op::multiply, product,
                                                                operands[o]->at(at4[o]), integer);
                                 }
                                 return product;
                               }));
    });
  };
  parallelRanges(result->count(), result->count() > 1024 ? options_.threads : 1, piece);
  roundAll(*result, node.dtype);
  result->classify();
  return result;
}

const FloatEngine::Layout& FloatEngine::layoutOf(const Node& node) {
  const Key key = keyOf(node);
  if (const auto found = layouts_.find(key); found != layouts_.end()) return found->second;
  Layout layout;
  const Extent& shape = prepare(node).shape;
  SourceDomain domain{*this, [this](NodeRef operand) -> const Extent& { return array(operand)->shape; }};
  Extent index(shape.size(), 0);
  const auto source = [&] {
    return detail::layout(domain, node, std::span<const std::int64_t>(index), context_.facts);
  };
  const bool affine = node.op != Op::concatenate && node.op != Op::repeat && node.op != Op::reshape;
  if (node.op == Op::reshape) {  // row-major order is what a reshape keeps
    layout.operand = node.operands[0];
    layout.strides = stridesOf(shape);
  } else if (affine) {
    layout.operand = node.operands[0];
    layout.base = source().flat;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      layout.strides.push_back(0);
      if (shape[i] == 1) continue;
      index[i] = 1;
      layout.strides[i] = source().flat - layout.base;
      index[i] = 0;
    }
  } else {
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    for (std::int64_t at = 0; at < count; ++at) {
      if ((at & 1023) == 0) progress_.check();
      layout.sources.push_back(source());
      for (std::size_t i = shape.size(); i-- > 0;) {
        if (++index[i] < shape[i]) break;
        index[i] = 0;
      }
    }
  }
  return layouts_.emplace(key, std::move(layout)).first->second;
}

FloatArrayRef FloatEngine::layout(const Node& node) {
  auto result = make(node);
  const Layout& from = layoutOf(node);
  if (from.operand) {
    const FloatArray& source = *array(from.operand);
    const std::array<Extent, 1> strides{from.strides};
    for (std::int64_t begin = 0; begin < result->count(); begin += 4 * kParallelGrain) {
      progress_.check();
      walk(result->shape, strides, begin, std::min(result->count(), begin + 4 * kParallelGrain),
           [&](std::int64_t at, const std::array<std::int64_t, 1>& offset) {
             result->set(at, source.at(from.base + offset[0]));
           });
    }
  } else {
    NodeRef last = nullptr;
    const FloatArray* source = nullptr;
    for (std::int64_t at = 0; at < result->count(); ++at) {
      const auto& element = from.sources[static_cast<std::size_t>(at)];
      if (element.operand != last) source = array(last = element.operand).get();
      result->set(at, source->at(element.flat));
    }
  }
  result->classify();
  return result;
}

}  // namespace nuscope::semantics
