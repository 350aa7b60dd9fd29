#pragma once
// Where two programs are not equal: the weakest simple assert under which they are proved equal. Candidates
// (assert_candidates.h) are tried from the weakest on; every counterexample met drops all candidates that it
// satisfies; each that is left must be satisfiable (inputs are constructed), survive the refuter, and lead to
// a proof.
#include <string>
#include <vector>

#include "core/proof/prove.h"

namespace nuscope::proof {

/// One assert, or several that hold together, under which the pair was proved.
struct ConditionalProof {
  std::vector<std::string> asserts;  ///< expressions after `assert`, "np.all(z != 0)", "N % 4 == 0"
  std::string words;                 ///< the same for people: "z is nowhere 0 and N is a multiple of 4"
  Proof proof;                       ///< of both programs with these asserts added
};

struct AssertOptions {
  Options prove;            ///< mode, seed and solvers of each attempt; draws are always on
  double secondsLimit = 2;  ///< wall clock of the whole search
  int atMost = 3;           ///< answers
};

struct AssertSearch {
  std::vector<ConditionalProof>
      found;      ///< weakest first; none follows from one before it, as far as draws tell
  int tried = 0;  ///< combinations that no known counterexample ruled out
  bool cutByTime = false;
};

/// For a pair that `prove` did not prove, with that verdict. Throws Cancelled within 100 ms of a stop
/// request. Thread-safe as long as nobody else adds nodes to the programs' store.
AssertSearch weakestAsserts(const tensor::Program& left, const tensor::Program& right, const Proof& failed,
                            const AssertOptions& options, const Progress& progress);

}  // namespace nuscope::proof
