// Pairs that need a precondition (the corpus' _bare cases): an assert is found that can be satisfied and
// under which the pair is proved. What is found is checked again from its text.
#include "core/proof/weakest_assert.h"

#include <gtest/gtest.h>

#include <iostream>

#include "core/language/parse.h"
#include "core/proof/assert_candidates.h"
#include "core/semantics/draw.h"
#include "tests/proof/pairs.h"

namespace nuscope::proof {
namespace {

AssertOptions searchOptions() {
  AssertOptions options;
  options.prove.solvers = &testSolvers();
  options.prove.anyType = true;
  options.secondsLimit = 6;  // a loaded machine
  return options;
}

struct Searched {
  Proof before;
  AssertSearch search;
  double seconds = 0;
};

Searched searched(const TestPair& pair) {
  auto store = std::make_shared<tensor::NodeStore>();
  const auto left = language::parse(pair.left, store);
  const auto right = language::parse(pair.right, store);
  if (!left.program || !right.program) throw UserError(pair.name + " does not parse");
  Searched result;
  const AssertOptions options = searchOptions();
  result.before = prove(*left.program, *right.program, options.prove, {});
  const auto begin = std::chrono::steady_clock::now();
  result.search = weakestAsserts(*left.program, *right.program, result.before, options, {});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

/// The module with the asserts (and the shapes they mention) at the start of its program.
std::string withAsserts(const std::string& text, const std::vector<std::string>& asserts) {
  const auto program = language::parse(text).program;
  std::string lines;
  for (const auto& dimension : program->dimensions) {
    const std::string line = shapeLine(*program, dimension);
    if (!line.empty()) lines += "    " + line + "\n";
  }
  for (const auto& condition : asserts) lines += "    assert " + condition + "\n";
  const std::size_t end = text.find("):\n", text.rfind("def ")) + 3;
  return text.substr(0, end) + lines + text.substr(end);
}

bool satisfiable(const std::string& text) {
  const auto program = language::parse(text).program;
  if (!program) return false;
  std::mt19937_64 random(5);
  for (int i = 0; i < 12; ++i) {
    const auto extents = semantics::drawExtents(program->dimensions, program->facts, i, random);
    if (extents && semantics::tryDrawInputs(*program, *extents, semantics::Distribution::mixed, 77))
      return true;
  }
  return false;
}

TEST(WeakestAssert, BareCasesOfTheCorpus) {
  const auto pairs = sharedCorpus("rewrites");
  if (pairs.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  int bare = 0;
  int answered = 0;
  double longest = 0;
  for (const TestPair& pair : pairs) {
    if (!pair.name.ends_with("_bare")) continue;
    ++bare;
    const Searched s = searched(pair);
    EXPECT_NE(s.before.verdict, Verdict::proved) << pair.name;
    longest = std::max(longest, s.seconds);
    std::cout << "  " << pair.name << ":";
    for (const auto& answer : s.search.found) {
      for (const auto& text : answer.asserts)
        std::cout << " " << text << (&text == &answer.asserts.back() ? ";" : " and");
    }
    std::cout << " (" << s.search.tried << " tried, " << static_cast<int>(s.seconds * 1000) << " ms"
              << (s.search.cutByTime ? ", cut by time" : "") << ")\n";
    if (s.search.found.empty()) continue;
    ++answered;
    for (const auto& answer : s.search.found) {
      TestPair given = pair;
      given.left = withAsserts(pair.left, answer.asserts);
      given.right = withAsserts(pair.right, answer.asserts);
      Options options = searchOptions().prove;
      options.draws = true;
      EXPECT_EQ(proofOf(given, options).verdict, Verdict::proved) << given.left << given.right;
      EXPECT_TRUE(satisfiable(given.left)) << given.left;
    }
  }
  std::cout << "  " << answered << " of " << bare << " answered, longest " << longest << " s (measured)\n";
  EXPECT_GE(answered, 30);
}

TestPair pairOf(const std::string& signature, const std::string& left, const std::string& right) {
  const std::string head = "from __future__ import annotations\nimport numpy as np\n\n\ndef program(" +
                           signature + "):\n    return ";
  return {"pair", false, head + left + "\n", head + right + "\n"};
}

TEST(WeakestAssert, TheWeakestComesFirst) {
  const Searched s = searched(pairOf("x: f32[N], y: f32[N]", "x * y / y", "x"));
  ASSERT_FALSE(s.search.found.empty());
  EXPECT_EQ(s.search.found[0].asserts, std::vector<std::string>{"np.all(y != 0)"});
  EXPECT_EQ(s.search.found[0].words, "y is nowhere 0");
  for (const auto& answer : s.search.found) EXPECT_NE(answer.asserts[0], "np.all(y > 0)");
}

TEST(WeakestAssert, TwoTogether) {
  const Searched s =
      searched(pairOf("x: f32[N], y: f32[N]", "np.sqrt(x) * np.sqrt(y)", "np.sqrt(y * x) + 0 * np.sqrt(y)"));
  ASSERT_FALSE(s.search.found.empty());
}

TEST(WeakestAssert, NothingFitsWhatIsNeverEqual) {
  const Searched s = searched(pairOf("x: f32[N]", "x", "x + 1"));
  EXPECT_TRUE(s.search.found.empty());
}

TEST(WeakestAssert, ContradictionsAreNoAnswer) {
  TestPair pair = pairOf("x: f32[N]", "np.abs(x)", "x");
  for (std::string* text : {&pair.left, &pair.right}) *text = withAsserts(*text, {"np.all(x < 0)"});
  const Searched s = searched(pair);
  EXPECT_TRUE(s.search.found.empty());
}

TEST(WeakestAssert, CancelStopsTheSearch) {
  auto store = std::make_shared<tensor::NodeStore>();
  const TestPair pair = pairOf("x: f32[N]", "np.abs(x)", "x");
  const auto left = language::parse(pair.left, store);
  const auto right = language::parse(pair.right, store);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(weakestAsserts(*left.program, *right.program, {}, searchOptions(), Progress(stop.get_token())),
               Cancelled);
}

}  // namespace
}  // namespace nuscope::proof
