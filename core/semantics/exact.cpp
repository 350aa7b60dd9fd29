#include "core/semantics/exact.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_map>

#include "core/semantics/dependence.h"
#include "core/semantics/exact_arithmetic.h"

namespace nuscope::semantics {

using tensor::Extents;
using tensor::NodeRef;

/// Elements are computed when they are asked for, and kept. A scope is one round of one loop inside another
/// scope.
struct ExactEvaluator::State {
  using Arithmetic = ExactArithmetic;

  struct Scope {
    const Node* loop = nullptr;
    std::int64_t round = 0;
    Scope* parent = nullptr;
    Extents extents;
    std::unordered_map<NodeRef, std::map<std::vector<std::int64_t>, ExactScalar>> elements;
  };

  State(const tensor::Program& program, const Extents& extents, const Inputs& values, int precision)
      : context(program), inputs(values), exact(precision) {
    outermost.extents = extents;
  }

  Scope& home(NodeRef node) {
    const Counters& counters = dependence.of(node);
    Scope* scope = current;
    while (scope->parent && !std::ranges::binary_search(counters, scope->loop->attributes.name))
      scope = scope->parent;
    return *scope;
  }

  Scope& round(const Node& loop, Scope& parent, std::int64_t number) {
    auto& scope = rounds[{&loop, &parent, number}];
    if (!scope) {
      scope = std::make_unique<Scope>();
      scope->loop = &loop;
      scope->round = number;
      scope->parent = &parent;
      scope->extents = parent.extents;
      scope->extents[loop.attributes.name] = number;
    }
    return *scope;
  }

  /// Evaluates in another scope and comes back.
  ExactScalar within(Scope& scope, NodeRef node, std::span<const std::int64_t> index) {
    Scope* const before = current;
    current = &scope;
    ExactScalar value = element(node, index);
    current = before;
    return value;
  }

  // Host of ConcreteDomain.
  ExactArithmetic& arithmetic() { return exact; }
  std::int64_t evaluate(const Dim& value) const { return value.evaluate(current->extents); }

  ExactScalar element(NodeRef node, std::span<const std::int64_t> index) {
    progress.check();
    Scope& scope = home(node);
    std::vector<std::int64_t> key(index.begin(), index.end());
    auto& known = scope.elements[node];
    if (const auto found = known.find(key); found != known.end()) return found->second;
    Scope* const before = current;
    current = &scope;
    ConcreteDomain domain(*this, *node);
    ExactScalar value = granular(domain, *node, index, context.facts);
    current = before;
    scope.elements[node].emplace(std::move(key), value);
    return value;
  }

  ExactScalar leaf(const Node& node, std::span<const std::int64_t> index) {
    if (node.op == Op::loopState) {
      const auto state = static_cast<std::size_t>(node.attributes.index);
      const Scope& scope = *current;
      if (scope.round == 0) return within(*scope.parent, scope.loop->operands[state], index);
      return within(round(*scope.loop, *scope.parent, scope.round - 1), scope.loop->attributes.body[state],
                    index);
    }
    const auto found = inputs.find(node.attributes.name);
    if (found == inputs.end()) {
      throw UserError(fmt::format("no value is given for the input {}", node.attributes.name));
    }
    const TensorValue& tensor = found->second;
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < index.size(); ++i) flat = flat * tensor.shape.at(i) + index[i];
    return ExactArithmetic::rational(Rational(tensor.values.at(static_cast<std::size_t>(flat))));
  }

  ExactScalar loopResult(const Node& node, std::span<const std::int64_t> index) {
    const Node& loop = *node.operands[0];
    Scope& scope = home(&loop);
    const std::int64_t count = loop.attributes.shape[0].evaluate(scope.extents);
    const auto state = static_cast<std::size_t>(node.attributes.index);
    if (count <= 0) return within(scope, loop.operands[state], index);
    return within(round(loop, scope, count - 1), loop.attributes.body[state], index);
  }

  const tensor::Program& context;
  const Inputs& inputs;
  ExactArithmetic exact;
  Dependence dependence;
  Scope outermost;
  Scope* current = &outermost;
  std::map<std::tuple<const Node*, Scope*, std::int64_t>, std::unique_ptr<Scope>> rounds;
  Progress progress;
};

ExactEvaluator::ExactEvaluator(const tensor::Program& context, const Extents& extents, const Inputs& inputs,
                               int precision)
    : state_(std::make_unique<State>(context, extents, inputs, precision)) {}
ExactEvaluator::~ExactEvaluator() = default;

ExactElement ExactEvaluator::element(NodeRef node, const std::vector<std::int64_t>& index,
                                     const Progress& progress) {
  state_->progress = progress;
  state_->current = &state_->outermost;
  const ExactScalar value = state_->element(node, index);
  ExactElement result;
  switch (value.kind) {
    case ExactScalar::Kind::rational:
      result.kind = ExactElement::Kind::rational;
      result.rational = result.lower = result.upper = value.rational;
      break;
    case ExactScalar::Kind::ball:
      result.kind = ExactElement::Kind::ball;
      ExactArithmetic::enclose(value, result.lower, result.upper);
      break;
    case ExactScalar::Kind::undefined:
      result.kind = ExactElement::Kind::undefined;
      result.why = *value.why;
      break;
    case ExactScalar::Kind::undecided:
      break;
    default:  // a result of -inf or +inf is undefined
      result.kind = ExactElement::Kind::undefined;
      result.why = value.kind == ExactScalar::Kind::plusInfinity ? "\u221E" : "-\u221E";
  }
  return result;
}

bool certainlyDifferent(const ExactElement& a, const ExactElement& b) {
  return a.defined() && b.defined() && (a.upper < b.lower || b.upper < a.lower);
}

std::string text(const ExactElement& element) {
  switch (element.kind) {
    case ExactElement::Kind::undefined:
      return element.why + ", undefined";
    case ExactElement::Kind::undecided:
      return "undecided";
    case ExactElement::Kind::ball:
      return fmt::format("{:.10g}...", Rational((element.lower + element.upper) / 2).get_d());
    default:
      break;
  }
  std::string exact = decimalText(element.rational);
  return exact.size() <= 24 ? exact : fmt::format("{:.12g}", element.rational.get_d());
}

}  // namespace nuscope::semantics
