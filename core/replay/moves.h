#pragma once
// The steps of an argument that a term is zero. Each function is one valid step, computed here from the term
// itself; a record only says which one to take.
#include <optional>

#include "core/replay/kernel.h"

namespace nuscope::replay {

/// Conditions with their values, in the order in which a case split took them.
using Conditions = std::vector<std::pair<AtomRef, bool>>;
using Hypotheses = std::vector<PolyRef>;  ///< terms that are 0

/// Is p zero as a polynomial, perhaps after multiplying with what it divides by?
bool closes(Kernel& k, PolyRef p);

/// Free index variables with divisors of their extents that occur in quotients, in the canonical order.
struct IndexSplit {
  AtomRef variable = nullptr;
  PolyRef divisor = nullptr;
};
std::vector<IndexSplit> indexSplits(Kernel& k, PolyRef p);
PolyRef splitIndex(Kernel& k, PolyRef p, const IndexSplit& split);

/// S4: folds that have one to four more elements than another fold lose their last element. p if none has.
PolyRef peeled(Kernel& k, PolyRef p);

/// S0: sums with equal ranges and equal cofactors.
struct SumGroup {
  MonoRef cofactor = nullptr;
  std::vector<std::pair<AtomRef, Rational>> sums;
};
std::vector<SumGroup> sumGroups(Kernel& k, PolyRef p);
/// The bodies of a group, added at one index: if this is zero, so is the group.
PolyRef bodiesOf(Kernel& k, const SumGroup& group);
PolyRef withoutGroup(Kernel& k, PolyRef p, const SumGroup& group);

/// Conditions of p at its top, in the canonical order.
std::vector<AtomRef> conditionsOf(Kernel& k, PolyRef p);
/// p in the branch where the condition has the value; an equality is solved for a variable where it can be.
PolyRef inBranch(Kernel& k, PolyRef p, AtomRef condition, bool value);
/// [e >= 0] and not [e - 1 >= 0] among the conditions, or [e >= 0] where e <= 0 is known, or neither
/// [q > 0] nor [-q > 0]: e or q is 0, solved and put into p. p if there is none.
PolyRef atBoundary(Kernel& k, PolyRef p, const Conditions& conditions);
/// The facts of a branch while it is worked on.
class Branch {
 public:
  Branch(Kernel& k, AtomRef condition, bool value);
  ~Branch();
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

 private:
  Kernel& k_;
  std::vector<PolyRef> before_;
};
/// Every fold that mentions a free index closed anew: the facts of a branch may allow lemmas that did not
/// apply before.
PolyRef foldedAnew(Kernel& k, PolyRef p);
/// Absolute values and maxima written by conditions; p if there are none at its top.
PolyRef expanded(Kernel& k, PolyRef p);

/// Folds over one index whose extents differ by constants, for a simultaneous induction on their bound.
struct Induction {
  std::vector<AtomRef> folds;
  std::vector<long> offsets;  ///< elements more than the shortest
  PolyRef extent = nullptr;   ///< of the shortest; at least 1
};
std::vector<Induction> inductions(Kernel& k, PolyRef p);
struct InductionGoals {
  PolyRef base = nullptr;  ///< the folds over their first elements
  PolyRef hypothesis = nullptr;
  PolyRef step = nullptr;
  std::vector<PolyRef> prefixes;  ///< the unknown values after n elements
};
PolyRef inductionBase(Kernel& k, PolyRef p, const Induction& induction);
InductionGoals inductionStep(Kernel& k, PolyRef p, const Induction& induction);
/// The step with the hypothesis solved for one prefix; null where its coefficient is not shown to be nonzero.
PolyRef solvedStep(Kernel& k, const InductionGoals& goals, std::size_t prefix);

}  // namespace nuscope::replay
