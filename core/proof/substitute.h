#pragma once
// Simultaneous replacement of integer atoms and real atoms, rebuilt through the simplifying constructors.
// Folds are opened with fresh variables first, so nothing is captured.
#include <span>

#include "core/proof/calculus.h"

namespace nuscope::proof {

class Substitution {
 public:
  explicit Substitution(Calculus& c) : c_(c) {}
  /// A variable, or any other integer atom (an element, a dimension).
  void map(IntAtomRef from, IntRef to);
  void map(AtomRef from, PolyRef to);
  [[nodiscard]] bool empty() const { return ints_.empty() && atoms_.empty(); }

  IntRef operator()(IntRef term);
  PolyRef operator()(PolyRef poly);
  PolyRef operator()(AtomRef atom) { return replace(atom, 1); }

 private:
  bool untouched(const Info& node) const;
  IntRef replace(IntAtomRef atom);
  PolyRef replace(AtomRef atom, const Rational& exponent);
  PolyRef rebuild(AtomRef atom);
  PolyRef rebuildFold(AtomRef atom);

  Calculus& c_;
  std::unordered_map<IntAtomRef, IntRef> ints_;
  std::unordered_map<AtomRef, PolyRef> atoms_;
  Variables domain_;  ///< variables that are replaced
  Variables range_;   ///< variables of the replacing terms
  bool variablesOnly_ = true;
  std::unordered_map<IntRef, IntRef> intMemo_;
  std::unordered_map<PolyRef, PolyRef> polyMemo_;
  std::unordered_map<AtomRef, PolyRef> atomMemo_;
};

/// poly with `from` replaced by `to`.
PolyRef substitute(Calculus& c, PolyRef poly, IntAtomRef from, IntRef to);
IntRef substitute(Calculus& c, IntRef term, IntAtomRef from, IntRef to);

struct Opened {
  std::vector<IntAtomRef> variables;  ///< outermost first
  PolyRef body = nullptr;             ///< sum: usually one monomial
  PolyRef guard = nullptr;            ///< maxFold; one if unguarded
};
/// A fold with fresh variables in place of its bound ones.
Opened open(Calculus& c, AtomRef fold);
/// The body of a one-variable fold at an index.
Opened openAt(Calculus& c, AtomRef fold, std::span<const IntRef> indices);

}  // namespace nuscope::proof
