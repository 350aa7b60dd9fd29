#include "core/fusion/concrete.h"

#include <fmt/format.h>

#include <algorithm>

namespace nuscope::fusion {

using tensor::Dim;

namespace {

void addCounters(const tensor::Shape& shape, std::set<std::string>& into) {
  std::set<std::string> symbols;
  for (const Dim& dim : shape) dim.collectSymbols(symbols);
  for (const std::string& symbol : symbols) {
    if (tensor::isCounter(symbol)) into.insert(symbol);
  }
}

}  // namespace

Concrete::Concrete(const tensor::Program& context, std::span<const NodeRef> roots, tensor::Extents extents)
    : extents_(std::move(extents)), facts_(context.facts) {
  for (const NodeRef node : tensor::topological(roots)) {
    std::set<std::string>& mine = counters_[node];
    for (const NodeRef operand : node->operands)
      mine.insert(counters_[operand].begin(), counters_[operand].end());
    for (const NodeRef root : node->attributes.body)
      mine.insert(counters_[root].begin(), counters_[root].end());
    if (node->op == Op::loop) {
      mine.erase(node->attributes.name);
      loopExtents_[node->attributes.name] = value(node->attributes.shape[0]);
      facts_.declareCounter(node->attributes.name, node->attributes.shape[0]);
    }
    if (node->op == Op::loopState) mine.insert(node->attributes.name);
    addCounters(node->shape, mine);
    addCounters(node->attributes.shape, mine);
    addCounters(node->attributes.starts, mine);
    addCounters(node->attributes.stops, mine);
  }
  for (const tensor::Parameter& parameter : context.parameters) {
    static_cast<void>(tensor::evaluate(parameter.node->shape, extents_));  // says which extent is missing
  }
}

const ConcreteShape& Concrete::shape(NodeRef node) const {
  const auto found = shapes_.find(node);
  if (found != shapes_.end()) return found->second;
  std::set<std::string> counters;
  addCounters(node->shape, counters);
  if (!counters.empty()) {
    throw Refused{{fmt::format("the shape {} depends on a loop's counter", tensor::text(node->shape)),
                   "use a mask over the whole extent"}};
  }
  return shapes_.emplace(node, tensor::evaluate(node->shape, extents_)).first->second;
}

Extent Concrete::value(const Dim& dim) const {
  std::set<std::string> counters;
  addCounters({dim}, counters);
  if (!counters.empty()) {
    throw Refused{{fmt::format("the extent {} depends on a loop's counter", dim.text()),
                   "use a mask over the whole extent"}};
  }
  return dim.evaluate(extents_);
}

Affine Concrete::affine(const Dim& dim, IndexSpace& space,
                        const std::map<std::string, Affine>& counters) const {
  Affine sum;
  for (const auto& [monomial, coefficient] : dim.terms()) {
    Affine product(coefficient);
    for (const Dim::Atom& atom : monomial) {
      Affine factor;
      if (atom.quotient) {
        const Affine divisor = affine(atom.quotient->denominator, space, counters);
        if (!divisor.isConstant() || divisor.constant <= 0) {
          throw Refused{{fmt::format("{} divides by something that changes in the loop", dim.text()), ""}};
        }
        factor = space.quotient(affine(atom.quotient->numerator, space, counters), divisor.constant);
      } else if (const auto counter = counters.find(atom.symbol); counter != counters.end()) {
        factor = counter->second;
      } else {
        factor = Dim::symbol(atom.symbol).evaluate(extents_);
      }
      product = space.product(product, factor);
    }
    sum += product;
  }
  return sum;
}

}  // namespace nuscope::fusion
