// Would the soundness suite notice a wrong lemma? One lemma at a time is made wrong (core/proof/planted.h);
// the pairs that differ are proved with draws off. Each must cause wrong proofs, and with none planted there
// are none.
#include "core/proof/planted.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/need_cases.h"
#include "tests/proof/pairs.h"

namespace nuscope::proof {

Planted plantedLemma = Planted::none;

namespace {

/// Pairs that differ: the corpora's, and a few for what those do not reach.
std::vector<TestPair> differing() {
  std::vector<TestPair> result;
  for (const auto& pairs :
       {sharedCorpus("rewrites"), secondCorpus(".pairs"),
        pairsOfFile(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/rewrites2/planted.near")}) {
    for (const TestPair& pair : pairs) {
      if (!pair.provable) result.push_back(pair);
    }
  }
  return result;
}

/// Names of the pairs that are proved although they differ.
std::vector<std::string> wrongProofs(const std::vector<TestPair>& pairs, Planted lemma) {
  plantedLemma = lemma;
  std::vector<std::string> wrong;
  for (const TestPair& pair : pairs) {
    Options options;
    options.draws = false;
    options.anyType = true;
    options.secondsLimit = 2;
    if (proofOf(pair, options).verdict == Verdict::proved) wrong.push_back(pair.name);
  }
  plantedLemma = Planted::none;
  return wrong;
}

TEST(Planted, AWrongLemmaIsNoticed) {
  const auto pairs = differing();
  const auto clean = wrongProofs(pairs, Planted::none);
  EXPECT_TRUE(clean.empty()) << clean.front();
  const std::pair<Planted, const char*> lemmas[] = {
      {Planted::maxScale, "max(c*f) = c*max(f) for any c"},
      {Planted::prefix, "sum of [k < n] f(k) = F(n) for any n"},
      {Planted::rootSign, "sqrt(a^2) = a for any a"},
      {Planted::withoutBase, "induction without a base"},
  };
  for (const auto& [lemma, name] : lemmas) {
    const auto wrong = wrongProofs(pairs, lemma);
    std::cout << "  " << name << ": " << wrong.size() << " wrong proofs of " << pairs.size()
              << " pairs that differ:";
    for (std::size_t i = 0; i < wrong.size() && i < 6; ++i) std::cout << " " << wrong[i];
    std::cout << "\n";
    // Of the pairs in the project itself none is proved by an induction without a base.
    if (lemma == Planted::withoutBase) NEED_CASES();
    EXPECT_GT(wrong.size(), 0U) << name;
  }
}

}  // namespace
}  // namespace nuscope::proof
