// Sums of products: matmul and einsum.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/semantics/float_engine.h"
#include "core/semantics/strides.h"

namespace nuscope::semantics {
namespace {

constexpr std::int64_t kBlockedWork = 1 << 16;  ///< multiplications from which a product is blocked

bool onGrid(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v * 32 == std::nearbyint(v * 32); });
}

State worse(State a, State b) {
  if (a == State::undefined || b == State::undefined) return State::undefined;
  return a == State::undecided || b == State::undecided ? State::undecided : State::defined;
}

/// An operand with 0 for what is not defined, which makes its whole line of a product not defined, whatever
/// it is multiplied with.
struct DefinedPart {
  FloatArray array;
  std::vector<State> lines;  ///< of the rows of a left operand, of the columns of a right one
};

/// `lineOf`: the line of an element. None where an infinity is left.
template <class LineOf>
std::optional<DefinedPart> definedPart(const FloatArray& operand, std::int64_t lines, LineOf lineOf) {
  DefinedPart part{operand, std::vector<State>(static_cast<std::size_t>(lines), State::defined)};
  for (std::int64_t i = 0; i < operand.count(); ++i) {
    const Number x = operand.at(i);
    if (x.state == State::defined) continue;
    State& line = part.lines[static_cast<std::size_t>(lineOf(i))];
    line = worse(line, x.state);
    part.array.set(i, {0, 0, State::defined});
  }
  part.array.classify();
  return part.array.plain ? std::optional(std::move(part)) : std::nullopt;
}

}  // namespace

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
  std::optional<DefinedPart> left;
  std::optional<DefinedPart> right;
  if (batches * rows * inner * columns >= kBlockedWork) {
    left = definedPart(a, a.count() / inner, [&](std::int64_t i) { return i / inner; });
    right = definedPart(b, b.count() / inner,
                        [&](std::int64_t i) { return i / (inner * columns) * columns + i % columns; });
  }
  const bool blocked = left && right;
  const bool exact = blocked && left->array.exact && right->array.exact;
  const bool grid = exact && onGrid(left->array.value) && onGrid(right->array.value);
  walk(batch, strides, 0, batches, [&](std::int64_t at, const std::array<std::int64_t, 2>& offset) {
    progress_.check();
    const std::int64_t out = at * rows * columns;
    if (blocked && (!integer || grid)) {
      multiplyMatrices(
          arithmetic_, left->array.value.data() + offset[0], left->array.bound.data() + offset[0],
          right->array.value.data() + offset[1], right->array.bound.data() + offset[1], rows, inner, columns,
          result->value.data() + out, result->bound.data() + out, exact, grid, options_.threads, progress_);
      const State* ofRows = left->lines.data() + offset[0] / inner;
      const State* ofColumns = right->lines.data() + offset[1] / inner;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const State state = worse(ofRows[i / columns], ofColumns[i % columns]);
        if (state == State::undefined) result->set(out + i, FloatArithmetic::undefined());
        if (state == State::undecided) result->set(out + i, FloatArithmetic::undecided());
      }
      return;
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if ((j & 63) == 0) progress_.check();
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

/// Two operands, one summed label, every other label in the result: a batch of matrix products.
struct EinsumAsMatmul {
  std::string batch, rows, columns;
  char summed = 0;
};

namespace {

std::optional<EinsumAsMatmul> asMatmul(const tensor::EinsumSpec& spec) {
  if (spec.operands.size() != 2) return std::nullopt;
  EinsumAsMatmul result;
  for (const std::size_t o : {0, 1}) {
    const std::string& labels = spec.operands[o];
    const std::string& other = spec.operands[1 - o];
    for (const char label : labels) {
      if (std::ranges::count(labels, label) != 1) return std::nullopt;
      const bool shared = other.find(label) != std::string::npos;
      const bool kept = spec.result.find(label) != std::string::npos;
      if (!kept) {
        if (!shared || (result.summed != 0 && result.summed != label)) return std::nullopt;
        result.summed = label;
      } else if (!shared) {
        (o == 0 ? result.rows : result.columns) += label;
      } else if (o == 0) {
        result.batch += label;
      }
    }
  }
  return result.summed != 0 ? std::optional(result) : std::nullopt;
}

/// An operand with its axes in the order of `labels`, as plain arrays.
struct Gathered {
  std::vector<double> value, bound;
};

Gathered gather(const FloatArray& from, const std::string& own, const std::string& labels, Extent& shape) {
  const Extent strides = stridesOf(from.shape);
  std::array<Extent, 1> walked;
  shape.clear();
  for (const char label : labels) {
    const std::size_t axis = own.find(label);
    shape.push_back(from.shape[axis]);
    walked[0].push_back(strides[axis]);
  }
  Gathered result;
  result.value.resize(from.value.size());
  result.bound.resize(from.value.size());
  walk(shape, walked, 0, from.count(), [&](std::int64_t at, const std::array<std::int64_t, 1>& offset) {
    result.value[static_cast<std::size_t>(at)] = from.value[static_cast<std::size_t>(offset[0])];
    result.bound[static_cast<std::size_t>(at)] = from.bound[static_cast<std::size_t>(offset[0])];
  });
  return result;
}

std::int64_t sizeOf(const FloatArray& array, const std::string& own, const std::string& labels) {
  std::int64_t size = 1;
  for (const char label : labels) size *= array.shape[own.find(label)];
  return size;
}

}  // namespace

/// False when the einsum is no batch of products, or too small for blocking.
bool FloatEngine::einsumByMatmul(const Node& node, FloatArray& result) {
  const auto spec = tensor::parseEinsum(node.attributes.name).value();
  const auto plan = asMatmul(spec);
  if (!plan) return false;
  const FloatArray& a = *array(node.operands[0]);
  const FloatArray& b = *array(node.operands[1]);
  const std::int64_t batches = sizeOf(a, spec.operands[0], plan->batch);
  const std::int64_t rows = sizeOf(a, spec.operands[0], plan->rows);
  const std::int64_t inner = sizeOf(a, spec.operands[0], std::string(1, plan->summed));
  const std::int64_t columns = sizeOf(b, spec.operands[1], plan->columns);
  const bool exact = a.exact && b.exact;
  const bool grid = exact && onGrid(a.value) && onGrid(b.value);
  if (!a.plain || !b.plain || batches * rows * inner * columns < kBlockedWork) return false;
  if (tensor::sort(node.dtype) == tensor::Sort::integer && !grid) return false;
  Extent shape;
  const Gathered left = gather(a, spec.operands[0], plan->batch + plan->rows + plan->summed, shape);
  const Gathered right = gather(b, spec.operands[1], plan->batch + plan->summed + plan->columns, shape);
  std::vector<double> value(result.value.size());
  std::vector<double> bound(result.value.size());
  for (std::int64_t n = 0; n < batches; ++n) {
    progress_.check();
    multiplyMatrices(arithmetic_, left.value.data() + n * rows * inner, left.bound.data() + n * rows * inner,
                     right.value.data() + n * inner * columns, right.bound.data() + n * inner * columns, rows,
                     inner, columns, value.data() + n * rows * columns, bound.data() + n * rows * columns,
                     exact, grid, options_.threads, progress_);
  }
  // Into the order of the result's labels.
  const std::string produced = plan->batch + plan->rows + plan->columns;
  Extent producedShape;
  for (const char label : produced) producedShape.push_back(result.shape[spec.result.find(label)]);
  const Extent own = stridesOf(producedShape);
  std::array<Extent, 1> strides;
  for (const char label : spec.result) strides[0].push_back(own[produced.find(label)]);
  walk(result.shape, strides, 0, result.count(),
       [&](std::int64_t at, const std::array<std::int64_t, 1>& offset) {
         const Number x{value[static_cast<std::size_t>(offset[0])],
                        bound[static_cast<std::size_t>(offset[0])], State::defined};
         const bool decided = std::fabs(x.value) <= arithmetic_.top() && std::isfinite(x.bound);
         result.set(at, decided ? x : FloatArithmetic::undecided());
       });
  return true;
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
  if (einsumByMatmul(node, *result)) {
    roundAll(*result, node.dtype);
    result->classify();
    return result;
  }
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

}  // namespace nuscope::semantics
