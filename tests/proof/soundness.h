#pragma once
// Judging the prover: pairs of programs are proved with draws off, and NumPy (oracle.py, with seeds, shapes
// and distributions of its own) says whether they agree.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/proof/pairs.h"

namespace nuscope::proof {

struct Suspect {
  std::string origin;  ///< where it comes from, for people
  std::string left, right;
  Proof proof;
};

/// Pairs of the corpora (as they are, or a side with itself) with one token of the right side changed.
std::vector<Suspect> mutants(std::uint64_t seed, int count);
/// Random programs related by random moves (random_pairs.py).
std::vector<Suspect> randomPairs(std::uint64_t seed, int count);

struct Judgement {
  int pairs = 0;
  int proved = 0;
  int differing = 0;               ///< the oracle found a difference; none of these may be proved
  int unknown = 0;                 ///< neither proved nor told apart
  int outside = 0;                 ///< not in the language
  int blind = 0;                   ///< the oracle found no inputs
  int rounding = 0;                ///< float64 differs, computing more precisely does not
  int late = 0;                    ///< ended by the clock
  int hung = 0;                    ///< outlived its limit
  double longest = 0;              ///< seconds
  std::vector<std::string> open;   ///< neither proved nor told apart: printed with NUSCOPE_VERBOSE
  std::vector<std::string> wrong;  ///< proved, but they differ
};

/// Proves each with draws off, asks the oracle about all and the refuter about the proved ones.
Judgement judge(std::vector<Suspect> suspects, std::uint64_t seed);
void print(const std::string& title, const Judgement& judgement);

/// A Python with NumPy; empty if there is none.
std::string pythonWithNumpy();
/// An environment variable as a number, or the default.
std::uint64_t setting(const char* name, std::uint64_t otherwise);

}  // namespace nuscope::proof
