#pragma once
// Is a polynomial 0 for all inputs, wherever it is defined? The order of reference/proofs.md, section 4:
// normal form, output indices split, multiplied through by inverses, peeled, congruence, cases, induction,
// solver.
#include "core/proof/oracle.h"

namespace nuscope::proof {

class ZeroTest {
 public:
  ZeroTest(Calculus& c, Oracle& oracle, Recorder& recorder) : c_(c), oracle_(oracle), recorder_(recorder) {}

  /// `depth`: of inductions. `hypotheses`: polynomials that are 0.
  bool zero(PolyRef p, int depth = 0, const std::vector<PolyRef>& hypotheses = {});
  /// What was left of the outermost goal after the simplifications, for people.
  [[nodiscard]] PolyRef remaining() const { return remaining_; }

 private:
  bool tryZero(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses);
  bool byCongruence(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses);
  bool byCases(PolyRef p, const std::vector<PolyRef>& hypotheses);
  bool branch(PolyRef p, const Conditions& conditions, const std::vector<PolyRef>& hypotheses, int depth);
  bool byLateRules(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses);
  bool byExpansion(PolyRef p, const std::vector<PolyRef>& hypotheses);
  bool leaf(PolyRef p, const Conditions& conditions, const std::vector<PolyRef>& hypotheses);
  bool byInduction(PolyRef p, int depth);
  bool inductOver(PolyRef p, int depth, const std::vector<AtomRef>& folds, IntRef extent,
                  const std::map<AtomRef, int>& offsets);
  void note(const std::string& lemma, const std::string& what, PolyRef before, PolyRef after);

  Calculus& c_;
  Oracle& oracle_;
  Recorder& recorder_;
  PolyRef remaining_ = nullptr;
  std::set<PolyRef> rewritten_;  ///< by late rules: each is tried once
};

// The simplifications, each value-preserving where terms are defined.

/// Output indices i = t*P + u for divisors P of their extents that occur in quotients.
PolyRef splitOutputs(Calculus& c, PolyRef p);
/// Times the inverses that occur: zero exactly where p is.
PolyRef multipliedThrough(Calculus& c, PolyRef p);
/// Sums of one body whose extents differ by a constant <= 4: the longer ones without their last elements; p
/// if none.
PolyRef peeled(Calculus& c, PolyRef p);
/// Degree and size fit for a solver?
bool fitForSolver(PolyRef p);

}  // namespace nuscope::proof
