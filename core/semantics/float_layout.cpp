// Operators that move elements: index maps from the granular forms, then gathers.
#include <algorithm>
#include <functional>

#include "core/semantics/float_engine.h"
#include "core/semantics/strides.h"

namespace nuscope::semantics {
namespace {

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

}  // namespace

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
      const auto from = source();
      layout.sources.emplace_back(from.operand, from.flat);
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
      const auto& [operand, flat] = from.sources[static_cast<std::size_t>(at)];
      if (operand != last) source = array(last = operand).get();
      result->set(at, source->at(flat));
    }
  }
  result->classify();
  return result;
}

}  // namespace nuscope::semantics
