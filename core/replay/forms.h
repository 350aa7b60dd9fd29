#pragma once
// What each operator means to the checker: the domain of granular forms (core/semantics/granular.h) over its
// own terms. A value carries the conditions under which it is defined and those under which it is -inf or
// +inf.
#include <map>
#include <memory>
#include <optional>

#include "core/replay/kernel.h"
#include "core/semantics/granular.h"

namespace nuscope::replay {

/// For all values of the binders: a 0/1 term that must be 1 wherever `guard` is 1.
struct Requirement {
  PolyRef holds = nullptr;
  PolyRef guard = nullptr;
  std::vector<AtomRef> binders;  ///< outermost first
};
using Requirements = std::vector<std::shared_ptr<const Requirement>>;

struct Value {
  tensor::Sort sort = tensor::Sort::real;
  PolyRef p = nullptr;      ///< reals and integers; conditions as 0/1
  PolyRef minus = nullptr;  ///< 0/1: the value is -inf; null: never
  PolyRef plus = nullptr;
  Requirements requirements;
};

class Forms;
/// Closed forms of a loop's states, shown by induction on the rounds (loops.cpp).
struct ClosedState {
  std::vector<AtomRef> index;  ///< variables of the element; null for axes of extent 1
  PolyRef value = nullptr;     ///< after all rounds
};

/// Gives the closed forms of a loop's states, or nothing: the loop is then taken as it stands.
using LoopGuide = std::function<std::optional<std::vector<ClosedState>>(Forms& forms, tensor::NodeRef loop)>;

class Forms {
 public:
  using Int = PolyRef;

  using Value = replay::Value;

  Forms(Kernel& kernel, const tensor::DimFacts& facts, LoopGuide& loops)
      : k_(kernel), facts_(facts), loops_(loops) {}

  Int dim(const tensor::Dim& value);
  Int plus(const Int& a, const Int& b) { return k_.add(a, b); }
  Int minus(const Int& a, const Int& b) { return k_.subtract(a, b); }
  Int times(const Int& a, const Int& b) { return k_.multiply(a, b); }
  Int quotient(const Int& a, const Int& b) { return k_.quotient(a, b); }
  Value element(tensor::NodeRef node, std::span<const Int> index);
  Value constant(const tensor::Node& node);
  Value number(const Int& value, tensor::DType dtype);
  Int subscript(const Value& value, const tensor::Dim& extent);
  Value apply(tensor::Op op, std::span<const Value> values, const tensor::Node& node);
  Value leaf(tensor::NodeRef node, std::span<const Int> index);
  Value loopResult(tensor::NodeRef node, std::span<const Int> index);

  template <class Then, class Else>
  Value choose(const Value& condition, Then then, Else otherwise) {
    if (condition.p->isConstant()) {
      Value chosen = condition.p->isZero() ? otherwise() : then();
      append(chosen.requirements, condition.requirements, k_.arena.one);
      return chosen;
    }
    return choice(condition, then(), otherwise());
  }
  template <class Then, class Else>
  Value chooseLess(const Int& a, const Int& b, Then then, Else otherwise) {
    Value condition;
    condition.sort = tensor::Sort::condition;
    condition.p = k_.whenNotNegative(k_.plus(k_.subtract(b, a), -1));
    return choose(condition, then, otherwise);
  }
  template <class Body>
  Value fold(semantics::Fold kind, const tensor::Dim& extent, Body body) {
    return foldOver(kind, dim(extent), body);
  }
  template <class Body>
  Value prefixFold(semantics::Fold kind, const Int& last, const tensor::Dim&, Body body) {
    return foldOver(kind, k_.plus(last, 1), body);
  }

  /// A state of a loop after one round of its body: the first one, on the initial values, or round `counter`
  /// on states of unknown value.
  Value stateAfter(tensor::NodeRef loop, std::size_t index, std::span<const Int> at, PolyRef counter,
                   bool first);
  /// A state before the first round.
  Value stateBefore(tensor::NodeRef loop, std::size_t index, std::span<const Int> at);
  std::string stateName(tensor::NodeRef loop, std::size_t index);
  void bind(const std::string& symbol, PolyRef value) { symbols_[symbol] = value; }
  void forget() { memo_.clear(); }
  /// The 0/1 terms that must all be 1 where the value is defined; sorted, without 1.
  std::vector<PolyRef> definedness(const Value& value);
  Kernel& kernel() { return k_; }

 private:
  template <class Body>
  Value foldOver(semantics::Fold kind, PolyRef extent, Body body) {
    if (extent == k_.arena.one) return body(k_.arena.zero);
    const AtomRef variable = k_.index(extent);
    return folded(kind, variable, body(k_.of(variable)));
  }
  Value choice(const Value& condition, const Value& then, const Value& otherwise);
  Value folded(semantics::Fold kind, AtomRef variable, const Value& body);
  Value opaque(const std::string& name, tensor::Sort sort, std::span<const Int> index, bool total);
  Value compare(tensor::Op op, PolyRef gap, Value result);
  Value arithmetic(tensor::Op op, std::span<const Value> values, const tensor::Node& node, Value result);
  Value withInfinity(tensor::Op op, std::span<const Value> values, const tensor::Node& node, Value result);
  Value castTo(const Value& value, Value result);
  void require(Value& value, PolyRef holds);
  void requireNonZero(Value& value, PolyRef p);
  void append(Requirements& into, const Requirements& from, PolyRef guard);
  PolyRef either(PolyRef a, PolyRef b);
  void scaleInfinity(Value& result, const Value& infinite, PolyRef factor);

  Kernel& k_;
  const tensor::DimFacts& facts_;
  LoopGuide& loops_;
  std::map<std::string, PolyRef, std::less<>> symbols_;
  struct Scope {
    tensor::NodeRef loop = nullptr;
    bool first = false;
  };
  std::map<std::string, Scope, std::less<>> scopes_;
  std::map<tensor::NodeRef, std::optional<std::vector<ClosedState>>> closed_;
  std::map<tensor::NodeRef, int> numbers_;  ///< of loops, in order of appearance
  int depth_ = 0;
  Requirements pending_;  ///< of a subscript, for the element read with it
  std::map<std::pair<tensor::NodeRef, std::vector<PolyRef>>, Value> memo_;
};

}  // namespace nuscope::replay
