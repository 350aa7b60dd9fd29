#include "tests/proof/soundness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/proof/refute.h"
#include "tests/proof/mutants.h"

namespace nuscope::proof {
namespace {

using nlohmann::json;

constexpr double kLimit = 4;         ///< seconds for one pair
constexpr double kTolerance = 3.5;   ///< a solver that was just replaced has 3 s to get ready
constexpr std::size_t kBatch = 250;  ///< pairs for one Python process

std::string script(const std::string& name) {
  return std::string(NUSCOPE_SOURCE_DIR) + "/tests/proof/" + name;
}

std::vector<json> answers(const std::vector<std::string>& arguments, const std::string& input) {
  ProcessOptions options;
  options.arguments = arguments;
  const Finished finished = runProcess(options, input, std::chrono::minutes(20));
  if (!finished.end.success())
    throw UserError(fmt::format("{}: {} {}", arguments[1], finished.end.text(), finished.errors));
  std::vector<json> result;
  std::istringstream lines(finished.output);
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

/// False if a side is not in the language.
bool attempt(Suspect& suspect, std::uint64_t seed) {
  // What is at work when the process dies: NUSCOPE_NAMES=1.
  if (setting("NUSCOPE_NAMES", 0) != 0) std::cerr << suspect.origin << std::endl;
  auto store = std::make_shared<tensor::NodeStore>();
  const auto left = language::parse(suspect.left, store);
  const auto right = language::parse(suspect.right, store);
  if (!left.program || !right.program) return false;
  Options options;
  options.draws = false;
  options.solvers = &testSolvers();
  options.secondsLimit = kLimit;
  try {
    suspect.proof = prove(*left.program, *right.program, options, {});
  } catch (const UserError& error) {
    suspect.proof.reason = error.what();
    return false;
  } catch (const std::bad_alloc&) {
    throw UserError("out of memory: " + suspect.origin + "\n" + suspect.left + suspect.right);
  }
  suspect.proof.steps.clear();  // thousands are kept
  if (suspect.proof.verdict != Verdict::proved) return true;
  // The refuter constructs inputs that satisfy asserts where drawing does not find them.
  RefuteOptions draws;
  draws.seed = seed;
  draws.lastDraw = 200;
  suspect.proof.counterexample = refute(*left.program, *right.program, draws).counterexample;
  return true;
}

}  // namespace

std::string pythonWithNumpy() {
  for (const char* candidate : {"/usr/bin/python3", "python3", "/usr/local/bin/python3"}) {
    try {
      ProcessOptions options;
      options.arguments = {candidate, "-c", "import numpy"};
      if (runProcess(options, "", std::chrono::seconds(60)).end.success()) return candidate;
    } catch (const EnvironmentError&) {
      continue;
    }
  }
  return {};
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::vector<Suspect> mutants(std::uint64_t seed, int count) {
  std::vector<TestPair> pairs = sharedCorpus("rewrites");
  for (auto& more : {sharedCorpus("streams"), secondCorpus(".pairs"), secondCorpus(".loops")})
    pairs.insert(pairs.end(), more.begin(), more.end());
  std::mt19937_64 random(seed);
  std::vector<Suspect> result;
  while (static_cast<int>(result.size()) < count) {
    const TestPair& pair = pairs[random() % pairs.size()];
    std::string left = pair.left;
    std::string right = pair.right;
    // Both from the pair, or one side against itself.
    if (random() % 2 == 0) (random() % 2 == 0 ? left : right) = random() % 2 == 0 ? left : right;
    const auto changes = changesOf(right);
    if (changes.empty()) continue;
    const Change& change = changes[random() % changes.size()];
    right.replace(change.at, change.length, change.text);
    result.push_back({fmt::format("{} at {}: '{}'", pair.name, change.at, change.text), left, right, {}});
  }
  return result;
}

std::vector<Suspect> randomPairs(std::uint64_t seed, int count) {
  std::vector<Suspect> result;
  for (const json& pair : answers({pythonWithNumpy(), script("random_pairs.py"), "--seed",
                                   std::to_string(seed), "--count", std::to_string(count)},
                                  "")) {
    result.push_back({fmt::format("moves {} wrong {}", pair.at("moves").dump(), pair.at("wrong").dump()),
                      pair.at("left"),
                      pair.at("right"),
                      {}});
  }
  return result;
}

Judgement judge(std::vector<Suspect> suspects, std::uint64_t seed) {
  Judgement total;
  const std::string python = pythonWithNumpy();
  for (std::size_t begin = 0; begin < suspects.size(); begin += kBatch) {
    const std::size_t end = std::min(suspects.size(), begin + kBatch);
    std::vector<Suspect> batch;
    std::string questions;
    for (std::size_t i = begin; i < end; ++i) {
      Suspect& suspect = suspects[i];
      ++total.pairs;
      if (!attempt(suspect, seed + 1000003 * (i + 1))) {
        ++total.outside;
        continue;
      }
      const bool proved = suspect.proof.verdict == Verdict::proved;
      total.late += suspect.proof.cutByTime ? 1 : 0;
      total.hung += suspect.proof.seconds > kLimit + kTolerance ? 1 : 0;
      total.longest = std::max(total.longest, suspect.proof.seconds);
      questions +=
          json{{"left", suspect.left}, {"right", suspect.right}, {"effort", proved ? 80 : 25}}.dump() + "\n";
      batch.push_back(std::move(suspect));
    }
    const auto replies =
        answers({python, script("oracle.py"), "--seed", std::to_string(seed + begin)}, questions);
    if (replies.size() != batch.size()) throw UserError("the oracle left pairs out");
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Suspect& suspect = batch[i];
      const std::string verdict = replies[i].at("verdict");
      const bool proved = suspect.proof.verdict == Verdict::proved;
      const bool differs = verdict == "differ" || suspect.proof.counterexample;
      total.proved += proved ? 1 : 0;
      total.differing += differs ? 1 : 0;
      if (!proved && !differs) {
        ++total.unknown;
        total.open.push_back(fmt::format("{}: {}\n--- left\n{}--- right\n{}", suspect.origin,
                                         suspect.proof.reason, suspect.left, suspect.right));
      }
      total.blind += verdict == "none" ? 1 : 0;
      total.rounding += verdict == "rounding" ? 1 : 0;
      if (proved && differs) {
        total.wrong.push_back(fmt::format("{}: {}\n{}\n--- left\n{}--- right\n{}", suspect.origin,
                                          suspect.proof.reason, replies[i].dump(), suspect.left,
                                          suspect.right));
      }
    }
  }
  return total;
}

void print(const std::string& title, const Judgement& j) {
  std::cout << fmt::format(
      "{}: {} pairs; {} proved, of these wrong: {}; {} told apart by NumPy; {} unknown; {} outside the "
      "language; {} ended by the clock, {} outlived their limit; NumPy found no inputs for {}, rounding "
      "alone "
      "for {}; longest {:.1f} s (measured)\n",
      title, j.pairs, j.proved, j.wrong.size(), j.differing, j.unknown, j.outside, j.late, j.hung, j.blind,
      j.rounding, j.longest);
  if (std::getenv("NUSCOPE_VERBOSE") != nullptr) {
    for (const auto& text : j.open) std::cout << "OPEN " << text << "\n";
  }
  for (const auto& text : j.wrong) std::cout << "WRONG " << text << "\n";
}

}  // namespace nuscope::proof
