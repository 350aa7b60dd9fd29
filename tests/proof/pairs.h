#pragma once
// Pairs of programs with the verdict that is expected: the corpus' folders (left.py, right.py, case.json) and
// files of many pairs (tests/data/check_pairs.py documents the format and checks them with NumPy).
#include <filesystem>
#include <string>
#include <vector>

#include "core/proof/prove.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {

struct TestPair {
  std::string name;
  bool provable = false;
  std::string left, right;  ///< complete modules
};

/// All pairs of the folders below `root`; empty if there is no such folder.
std::vector<TestPair> corpusPairs(const std::filesystem::path& root);
/// All pairs of one file. Throws UserError naming the line.
std::vector<TestPair> pairsOfFile(const std::filesystem::path& file);
/// Every *.pairs (or another ending) file of tests/data/rewrites2, sorted by file name.
std::vector<TestPair> secondCorpus(const std::string& ending);
/// The corpus beside the project: "rewrites", "streams", "float_traps".
std::vector<TestPair> sharedCorpus(const std::string& name);

/// One solver process, shared by the tests of a program.
SolverPool& testSolvers();

/// Parses both sides and proves. What does not parse is unknown, with the errors as reason.
Proof proofOf(const TestPair& pair, const Options& options, const Progress& progress = {});

/// Counts of verdicts on the two kinds of pairs, what went wrong, and times in seconds.
struct Outcome {
  struct Tally {
    int proved = 0, refuted = 0, unknown = 0;
    [[nodiscard]] int all() const { return proved + refuted + unknown; }
  };
  Tally provable, refutable;
  std::vector<std::string> wrong;
  std::vector<double> seconds;  ///< sorted

  [[nodiscard]] double provedShare() const;
  [[nodiscard]] double refutedShare() const;
};

/// Proves all pairs whose name contains NUSCOPE_CASES (if set) and prints counts, times and every pair that
/// stays unknown or is wrong. With NUSCOPE_VERBOSE every pair.
Outcome runPairs(const std::string& title, const std::vector<TestPair>& pairs, bool draws);

}  // namespace nuscope::proof
