#pragma once
// Which elements of stored tensors the value of a node reads, seen through the operators that are computed in
// place (elementwise and layout operators are never stored unless somebody asks).
#include <functional>
#include <set>
#include <vector>

#include "core/fusion/concrete.h"
#include "core/semantics/granular.h"

namespace nuscope::fusion {

struct Access {
  NodeRef node = nullptr;
  std::vector<Affine> index;
};

/// A domain of granular forms that records reads. Int = Affine; a Value carries nothing.
class AccessDomain {
 public:
  struct None {};
  using Int = Affine;
  using Value = None;

  AccessDomain(const Concrete& concrete, IndexSpace& space, std::function<bool(NodeRef)> isStored)
      : concrete_(concrete), space_(space), isStored_(std::move(isStored)) {}

  /// Reads of the value of `node` itself at `index`, even if it is stored.
  void visit(NodeRef node, const std::vector<Affine>& index) {
    semantics::granular(*this, *node, std::span<const Int>(index), concrete_.facts());
  }

  std::vector<Access> accesses;  ///< in order of the first read
  std::vector<int> folds;        ///< variables of the folds that were met, outermost first
  std::vector<Extent> foldExtents;

  // The domain.
  Int dim(const tensor::Dim& value) { return concrete_.affine(value, space_, counters()); }
  Int plus(const Int& a, const Int& b) { return a + b; }
  Int minus(const Int& a, const Int& b) { return a - b; }
  Int times(const Int& a, const Int& b) { return space_.product(a, b); }
  Int quotient(const Int& a, const Int& b) {
    if (!b.isConstant()) throw Refused{{"an index is divided by something that changes in the loop", ""}};
    return space_.quotient(a, b.constant);
  }
  Value element(NodeRef operand, std::span<const Int> index);
  Value constant(const tensor::Node&) { return {}; }
  Value number(const Int&, tensor::DType) { return {}; }
  Int subscript(Value, const tensor::Dim& extent) {
    const Extent most = concrete_.value(extent) - 1;
    return Affine::atom(space_.value("?", {0, most}, 0, false));
  }
  Value apply(Op, std::span<const Value>, const tensor::Node&) { return {}; }
  template <class A, class B>
  Value choose(Value, A then, B otherwise) {
    then();
    otherwise();
    return {};
  }
  template <class A, class B>
  Value chooseLess(const Int&, const Int&, A then, B otherwise) {
    then();
    otherwise();
    return {};
  }
  template <class Body>
  Value fold(semantics::Fold, const tensor::Dim& extent, Body body) {
    const Affine reach = dim(extent);
    const Extent most = space_.range(reach).most;
    folds.push_back(space_.variable("k", {0, most - 1}, 0));
    foldExtents.push_back(most);
    const int variable = folds.back();
    body(Affine::atom(variable));
    return {};
  }
  template <class Body>
  Value prefixFold(semantics::Fold f, const Int&, const tensor::Dim& extent, Body body) {
    return fold(f, extent, body);
  }
  Value leaf(NodeRef, std::span<const Int>) { return {}; }
  Value loopResult(NodeRef, std::span<const Int>) { return {}; }

 private:
  const std::map<std::string, Affine>& counters();
  const Concrete& concrete_;
  IndexSpace& space_;
  std::function<bool(NodeRef)> isStored_;
  std::set<std::pair<NodeRef, std::vector<Affine>>> seen_;
  std::map<std::string, Affine> counters_;
};

/// One variable per axis of `shape`; an axis of extent 1 gets the constant 0.
std::vector<Affine> axisVariables(IndexSpace& space, const ConcreteShape& shape);

}  // namespace nuscope::fusion
