// Soundness by mutation: one token of a corpus program is changed at random; whatever is then still proved,
// with draws off, must survive the refuter with seeds of its own. NUSCOPE_MUTANTS sets how many (default
// 150), NUSCOPE_SEED where to start.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/proof/prove.h"
#include "core/proof/refute.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<const char*, const char*> replacements[] = {
    {" + ", " - "},
    {" - ", " + "},
    {" * ", " + "},
    {" * ", " / "},
    {" / ", " * "},
    {" < ", " <= "},
    {" <= ", " < "},
    {" > ", " >= "},
    {" >= ", " > "},
    {" == ", " != "},
    {"np.maximum(", "np.minimum("},
    {"np.minimum(", "np.maximum("},
    {"np.max(", "np.min("},
    {"np.sum(", "np.max("},
    {"np.sum(", "np.mean("},
    {"np.mean(", "np.sum("},
    {"np.exp(", "np.tanh("},
    {"np.exp(", "np.abs("},
    {"np.sqrt(", "np.abs("},
    {"np.log(", "np.sqrt("},
    {"np.floor(", "np.rint("},
    {"np.rint(", "np.floor("},
    {"np.abs(", "np.square("},
    {"np.sin(", "np.cos("},
    {"np.cos(", "np.sin("},
    {"axis=1", "axis=0"},
    {"axis=0", "axis=1"},
    {"axis=-1", "axis=0"},
    {" // ", " % "},
    {" % ", " // "},
    {"arange(", "ones("},
    {".T", ""},
    {"np.cumsum(", "np.square("},
    {"np.tanh(", "np.sin("},
    {"np.prod(", "np.sum("},
    {"[:-1]", "[1:]"},
    {"[1:]", "[:-1]"},
};

struct Change {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string text;
};

/// Every one-token change of the text after the signatures.
std::vector<Change> changesOf(const std::string& text) {
  std::vector<Change> result;
  const std::size_t from = text.find("def ");
  for (const auto& [before, after] : replacements) {
    for (std::size_t at = text.find(before, from); at != std::string::npos; at = text.find(before, at + 1)) {
      result.push_back({at, std::string(before).size(), after});
    }
  }
  for (std::size_t i = from; i < text.size(); ++i) {
    const bool begins = std::isdigit(static_cast<unsigned char>(text[i])) != 0 &&
                        std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 && text[i - 1] != '.' &&
                        text[i - 1] != '_';
    if (!begins) continue;
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end - i > 3 || (end < text.size() && (text[end] == 'e' || text[end] == '.'))) continue;
    const int value = std::stoi(text.substr(i, end - i));
    result.push_back({i, end - i, std::to_string(value + 1)});
    if (value > 0) result.push_back({i, end - i, std::to_string(value - 1)});
  }
  return result;
}

/// Asserts are kept: what is changed is the program.
bool inAssert(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at) + 1;
  return text.compare(line, 11, "    assert ") == 0 || text.compare(line, 4, "def ") == 0;
}

TEST(Mutation, NoMutantIsProvedAndDiffers) {
  const fs::path root = fs::path(NUSCOPE_SHARED_DIR) / "cases" / "rewrites";
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (fs::exists(entry.path() / "left.py")) folders.push_back(entry.path());
  }
  if (folders.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  std::sort(folders.begin(), folders.end());
  const char* wanted = std::getenv("NUSCOPE_MUTANTS");
  const char* seedText = std::getenv("NUSCOPE_SEED");
  const int count = wanted != nullptr ? std::atoi(wanted) : 150;
  const std::uint64_t seed = seedText != nullptr ? std::strtoull(seedText, nullptr, 10) : 7;
  std::mt19937_64 random(seed);
  SolverPool pool(NUSCOPE_SOLVER, 1);
  int made = 0;
  int proved = 0;
  int unparsed = 0;
  std::vector<std::string> wrong;
  double longest = 0;
  std::string slowest;
  for (int tries = 0; made < count && tries < 20 * count; ++tries) {
    const fs::path& folder = folders[random() % folders.size()];
    std::string left = readWholeFile(folder / "left.py");
    std::string right = readWholeFile(folder / "right.py");
    // Both from the true pair, or one side against itself.
    if (random() % 2 == 0) (random() % 2 == 0 ? left : right) = random() % 2 == 0 ? left : right;
    const auto changes = changesOf(right);
    if (changes.empty()) continue;
    const Change& change = changes[random() % changes.size()];
    if (inAssert(right, change.at)) continue;
    const std::string original = right;
    right.replace(change.at, change.length, change.text);
    auto store = std::make_shared<tensor::NodeStore>();
    const auto a = language::parse(left, store);
    const auto b = language::parse(right, store);
    if (!a.program || !b.program) {
      ++unparsed;
      continue;
    }
    ++made;
    Options options;
    options.draws = false;
    options.solvers = &pool;
    options.secondsLimit = 4;
    Proof proof;
    try {
      proof = prove(*a.program, *b.program, options, {});
    } catch (const UserError&) {
      continue;
    }
    if (proof.seconds > longest) {
      longest = proof.seconds;
      slowest = folder.filename().string();
    }
    if (proof.verdict != Verdict::proved) continue;
    ++proved;
    RefuteOptions draws;
    draws.seed = seed + 1000003U * static_cast<std::uint64_t>(made);
    draws.lastDraw = 400;
    const auto outcome = refute(*a.program, *b.program, draws);
    if (!outcome.counterexample) continue;
    wrong.push_back(folder.filename().string() + ": " + proof.reason + "\n--- left\n" + left + "--- right\n" +
                    right);
  }
  std::cout << made << " mutants (seed " << seed << "), " << unparsed << " more outside the language; "
            << proved << " proved, of these wrong: " << wrong.size() << "; longest " << longest * 1000
            << " ms (" << slowest << ", measured)\n";
  for (const auto& text : wrong) std::cout << "WRONG " << text << "\n";
  EXPECT_TRUE(wrong.empty());
}

}  // namespace
}  // namespace nuscope::proof
