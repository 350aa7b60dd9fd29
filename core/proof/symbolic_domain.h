#pragma once
// The prover's domain of granular forms (core/semantics/granular.h): scalars are terms in normal form, with
// the conditions under which they are defined and the condition under which they are -inf or +inf.
#include <map>
#include <memory>
#include <unordered_set>

#include "core/proof/calculus.h"
#include "core/proof/loops.h"
#include "core/semantics/granular.h"

namespace nuscope::proof {

/// For all values of the binders: a 0/1 polynomial that must be 1 wherever `guard` is 1.
struct Requirement {
  PolyRef holds = nullptr;
  PolyRef guard = nullptr;
  std::vector<IntAtomRef> binders;  ///< outermost first
};
using Requirements = std::vector<std::shared_ptr<const Requirement>>;

struct Scalar {
  tensor::Sort sort = tensor::Sort::real;
  PolyRef real = nullptr;    ///< reals; conditions as 0/1
  IntRef integer = nullptr;  ///< integers
  PolyRef minus = nullptr;   ///< 0/1: the value is -inf; null: never
  PolyRef plus = nullptr;
  Requirements requirements;
};

class SymbolicDomain {
 public:
  using Int = IntRef;
  using Value = Scalar;

  /// `facts` must outlive the domain. Nodes of `cut` are opaque tensors.
  SymbolicDomain(Calculus& c, const tensor::DimFacts& facts, const std::unordered_set<tensor::NodeRef>& cut);

  Int dim(const tensor::Dim& value);
  Int plus(const Int& a, const Int& b);
  Int minus(const Int& a, const Int& b);
  Int times(const Int& a, const Int& b);
  Int quotient(const Int& a, const Int& b);
  Value element(tensor::NodeRef node, std::span<const Int> index);
  Value constant(const tensor::Node& node);
  Value number(const Int& value, tensor::DType dtype);
  Int subscript(const Value& value, const tensor::Dim& extent);
  Value apply(tensor::Op op, std::span<const Value> values, const tensor::Node& node);
  Value leaf(tensor::NodeRef node, std::span<const Int> index);
  Value loopResult(tensor::NodeRef node, std::span<const Int> index);

  template <class Then, class Else>
  Value choose(const Value& condition, Then then, Else otherwise) {
    if (condition.real->isConstant()) {
      Value chosen = condition.real->isZero() ? otherwise() : then();
      append(chosen.requirements, condition.requirements, c_.arena.one);
      return chosen;
    }
    return choice(condition, then(), otherwise());
  }
  template <class Then, class Else>
  Value chooseLess(const Int& a, const Int& b, Then then, Else otherwise) {
    return choose(lessCondition(a, b), then, otherwise);
  }
  template <class Body>
  Value fold(semantics::Fold kind, const tensor::Dim& extent, Body body) {
    return foldOver(kind, dim(extent), body);
  }
  template <class Body>
  Value prefixFold(semantics::Fold kind, const Int& last, const tensor::Dim&, Body body) {
    return foldOver(kind, next(last), body);
  }

  /// State `index` of a loop after one round of its body: the first one, on the initial values, or round
  /// `counter` on states of unknown value.
  Value stateAfter(tensor::NodeRef loop, std::size_t index, std::span<const Int> at, IntRef counter,
                   bool first);
  /// The source of the unknown values of a state, and whether a source says that such a value is defined.
  int stateSource(tensor::NodeRef loop, std::size_t index);
  bool isStateMark(tensor::NodeRef loop, int source) const;
  /// What was found about loops, for people.
  [[nodiscard]] const std::vector<std::string>& loopNotes() const { return loopNotes_; }

  /// Gives a dimension, and a loop counter while a body is evaluated, another meaning.
  void bind(const std::string& symbol, IntRef value) { symbols_[symbol] = value; }
  void forget() {
    memo_.clear();
    closedLoops_.clear();
  }
  [[nodiscard]] PolyRef realOf(const Value& value) const;

 private:
  template <class Body>
  Value foldOver(semantics::Fold kind, IntRef extent, Body body) {
    if (extent == c_.arena.oneInt) return body(c_.arena.zeroInt);
    const IntAtomRef variable = indexVariable(extent);
    return folded(kind, variable, body(asTerm(variable)));
  }
  IntRef next(IntRef last);
  IntAtomRef indexVariable(IntRef extent);
  IntRef asTerm(IntAtomRef variable);
  Value lessCondition(const Int& a, const Int& b);
  Value choice(const Value& condition, const Value& then, const Value& otherwise);
  Value folded(semantics::Fold kind, IntAtomRef variable, const Value& body);
  Value opaque(tensor::NodeRef node, std::span<const Int> index, bool total);
  Value applyReal(tensor::Op op, std::span<const Value> values, const tensor::Node& node, Value result);
  Value applyInteger(tensor::Op op, std::span<const Value> values, const tensor::Node& node, Value result);
  Value compare(tensor::Op op, std::span<const Value> values, Value result);
  Value castTo(tensor::DType dtype, const Value& value, Value result);
  void scaleInfinity(Value& result, const Value& infinite, PolyRef factor);
  Value withInfinity(tensor::Op op, std::span<const Value> values, const tensor::Node& node, Value result);
  void require(Value& value, PolyRef holds);
  void append(Requirements& into, const Requirements& from, PolyRef guard);
  IntRef convert(const tensor::Dim& value);

  Calculus& c_;
  const tensor::DimFacts& facts_;
  const std::unordered_set<tensor::NodeRef>& cut_;
  std::map<std::string, IntRef, std::less<>> symbols_;
  struct Scope {
    tensor::NodeRef loop = nullptr;
    bool first = false;
  };
  std::map<std::string, Scope, std::less<>> scopes_;  ///< by counter: where its states come from
  std::map<tensor::NodeRef, std::optional<std::vector<ClosedState>>> closedLoops_;
  std::vector<std::string> loopNotes_;
  std::unordered_map<tensor::NodeRef, int> sources_;
  Requirements pending_;  ///< of a subscript, for the element read with it
  std::map<std::pair<tensor::NodeRef, std::vector<IntRef>>, Value> memo_;
};

}  // namespace nuscope::proof
