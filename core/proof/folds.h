#pragma once
// Normal forms of folds. Variables are fresh index variables (int_term.h), outermost first; an extent may
// depend on the variables before it. The lemmas (S0..S10, M1..M6, P1) are those of reference/proofs.md,
// section 7.
#include <functional>
#include <optional>

#include "core/proof/calculus.h"

namespace nuscope::proof {

/// Sum of `body` over the variables: distributed over +, invariant factors out, then delta, range, split,
/// merge, Faulhaber, shift to prefix form, connected components. A variable that is not `ranged` means the
/// antidifference on all integers: F(n+1) - F(n) = body(n), F(0) = 0.
PolyRef makeSum(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body);
/// Maximum where `guard` (0/1) is 1. Every extent must be proved >= 1 by the caller.
PolyRef makeMax(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body, PolyRef guard);
PolyRef makeProduct(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body);

// Shared by the three.

/// Closes a fold: canonical bound variables, in an order that does not depend on their names.
/// `finish` gets the bound variables and a substitution's image of the body and makes the term.
using Finish = std::function<PolyRef(const std::vector<IntAtomRef>& bound, PolyRef body, PolyRef guard)>;
PolyRef closeFold(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body, PolyRef guard,
                  const Finish& finish);

/// Puts 0 for variables of extent 1, everywhere.
void dropUnits(Calculus& c, std::vector<IntAtomRef>& variables, PolyRef& body, PolyRef& guard);
/// Positive denominators of quotients in whose numerator the variable occurs directly; free of bound
/// variables and of `others`.
std::vector<IntRef> divisorsOf(Calculus& c, const Info* node, IntAtomRef variable, const Variables& others);
std::vector<IntRef> divisorsOf(Calculus& c, PolyRef poly, IntAtomRef variable, const Variables& others);
/// All integer terms at argument positions (subscripts, conditions, integers, extents) in which the variable
/// occurs.
std::vector<IntRef> positionsOf(Calculus& c, PolyRef poly, IntAtomRef variable, bool elementsOnly = false);
/// t and u occur only as t*extent(u) + u?
bool mergeable(Calculus& c, PolyRef poly, IntAtomRef t, IntAtomRef u);
/// The indices where a condition on v holds, or where it does not, are [0, length). Empty if it is no such
/// condition; whether 0 <= length <= extent is for the caller to prove. `set`: variables that the length may
/// not depend on.
struct Prefix {
  IntRef length = nullptr;
  bool holdsInside = false;
};
std::optional<Prefix> prefixWhere(Calculus& c, AtomRef condition, IntAtomRef v, const Variables& set);
/// v occurs, and everywhere as r - v.
bool onlyMirrored(Calculus& c, PolyRef poly, IntAtomRef v);
Variables asSet(const std::vector<IntAtomRef>& variables);
/// The variables with `v` replaced by others, in its place.
std::vector<IntAtomRef> replaced(const std::vector<IntAtomRef>& variables, IntAtomRef v,
                                 std::initializer_list<IntAtomRef> by);
/// The extent of `v` depends on none of the variables, and no other extent depends on v. `set`:
/// asSet(variables).
bool isFree(const std::vector<IntAtomRef>& variables, const Variables& set, IntAtomRef v);
/// Replaces the variables t (extent q) and u (extent d) for v = t*d + u where d divides the extent.
struct Split {
  IntAtomRef outer, inner;
  IntRef value;
};
Split splitVariable(Calculus& c, IntRef quotient, IntRef divisor, const std::string& letter = "k");

}  // namespace nuscope::proof
