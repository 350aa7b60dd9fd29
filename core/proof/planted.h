#pragma once
// Unsound lemmas for the soundness suite. tests/proof/planted_test.cpp compiles a few files of the prover
// once more with NUSCOPE_PLANTED and turns one lemma wrong at a time, to see that the suite notices. In the
// product `planted` is the constant false: nothing can reach it.

namespace nuscope::proof {

enum class Planted {
  none,
  maxScale,    ///< M2 without the sign: max(c*f) = c*max(f)
  prefix,      ///< S7 without 0 <= n <= extent: the sum of [k < n] f(k) is the prefix sum F(n)
  rootSign,    ///< sqrt(a^2) = a without a >= 0
  withoutBase  ///< an induction that does not look at its base
};

#ifdef NUSCOPE_PLANTED
extern Planted plantedLemma;  // defined by the test
[[maybe_unused]] static bool planted(Planted which) {
  return plantedLemma == which;
}
#else
[[maybe_unused]] static constexpr bool planted(Planted) {
  return false;
}
#endif

}  // namespace nuscope::proof
