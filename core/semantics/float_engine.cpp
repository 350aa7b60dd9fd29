#include "core/semantics/float_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>

#include "core/semantics/strides.h"

namespace nuscope::semantics {
namespace {

constexpr std::int64_t kLargestTensor = std::int64_t{1} << 31;

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

}  // namespace nuscope::semantics
