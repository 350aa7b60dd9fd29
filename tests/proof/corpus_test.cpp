// The corpus beside the project: every pair with its expected verdict, draws on and off. Prints counts and
// times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "core/language/parse.h"
#include "core/proof/prove.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  bool provable = false;
  fs::path folder;
};

std::vector<Case> casesOf(const std::string& corpus) {
  std::vector<Case> cases;
  // "data": the dozen that the project carries.
  const fs::path root = corpus == "data" ? fs::path(NUSCOPE_SOURCE_DIR) / "tests" / "data" / "rewrites"
                                         : fs::path(NUSCOPE_SHARED_DIR) / "cases" / corpus;
  const char* only = std::getenv("NUSCOPE_CASES");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (!fs::exists(entry.path() / "case.json")) continue;
    const std::string name = entry.path().filename().string();
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    std::ifstream file(entry.path() / "case.json");
    const auto json = nlohmann::json::parse(file);
    cases.push_back({name, json.at("expect") == "proved", entry.path()});
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

SolverPool& solvers() {
  static SolverPool pool(NUSCOPE_SOLVER, 1);
  return pool;
}

struct Tally {
  int proved = 0, refuted = 0, unknown = 0;
};

struct Outcome {
  Tally provable, refutable;
  std::vector<std::string> wrong;
  std::vector<double> seconds;
};

Outcome run(const std::string& corpus, bool draws) {
  Outcome outcome;
  const bool verbose = std::getenv("NUSCOPE_VERBOSE") != nullptr;
  for (const Case& test : casesOf(corpus)) {
    auto store = std::make_shared<tensor::NodeStore>();
    Proof proof;
    try {
      const auto left = language::parseFile((test.folder / "left.py").string(), store);
      const auto right = language::parseFile((test.folder / "right.py").string(), store);
      Options options;
      options.draws = draws;
      options.solvers = &solvers();
      proof = prove(left, right, options, {});
    } catch (const std::exception& error) {
      proof.reason = std::string("exception: ") + error.what();
    }
    Tally& tally = test.provable ? outcome.provable : outcome.refutable;
    ++(proof.verdict == Verdict::proved    ? tally.proved
       : proof.verdict == Verdict::refuted ? tally.refuted
                                           : tally.unknown);
    const bool wrong = proof.verdict == (test.provable ? Verdict::refuted : Verdict::proved);
    if (wrong) outcome.wrong.push_back(test.name);
    outcome.seconds.push_back(proof.seconds);
    const bool open = proof.verdict == Verdict::unknown && (test.provable || draws);
    if (wrong || verbose || open) {
      std::cout << (wrong ? "WRONG " : "") << text(proof.verdict) << " " << (test.provable ? "P " : "R ")
                << test.name << " " << proof.decidedBy << " " << static_cast<int>(proof.seconds * 1000)
                << "ms " << proof.reason << "\n";
      for (const auto& note : proof.steps) {
        if (note.lemma == "tuple fold") std::cout << "    " << note.text << "\n";
      }
    }
  }
  std::sort(outcome.seconds.begin(), outcome.seconds.end());
  return outcome;
}

void report(const std::string& what, const Outcome& o) {
  const auto line = [](const Tally& t) {
    return std::to_string(t.proved) + " proved, " + std::to_string(t.refuted) + " refuted, " +
           std::to_string(t.unknown) + " unknown";
  };
  std::cout << what << "\n  should be proved:  " << line(o.provable)
            << "\n  should be refuted: " << line(o.refutable) << "\n";
  if (!o.seconds.empty()) {
    std::cout << "  median " << o.seconds[o.seconds.size() / 2] * 1000 << " ms, 90 % "
              << o.seconds[o.seconds.size() * 9 / 10] * 1000 << " ms, longest " << o.seconds.back() * 1000
              << " ms (measured)\n";
  }
}

double share(int part, const Tally& t) {
  const int all = t.proved + t.refuted + t.unknown;
  return all == 0 ? 1 : static_cast<double>(part) / all;
}

TEST(Corpus, CasesOfTheProject) {
  for (const bool draws : {true, false}) {
    const Outcome o = run("data", draws);
    report(draws ? "tests/data/rewrites, draws on" : "tests/data/rewrites, draws off", o);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_EQ(o.provable.unknown, 0);
    if (draws) {
      EXPECT_EQ(o.refutable.unknown, 0);
    }
  }
}

TEST(Corpus, RewritesWithDraws) {
  if (casesOf("rewrites").empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  const Outcome o = run("rewrites", true);
  report("rewrites, draws on", o);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(share(o.provable.proved, o.provable), 0.98);
  EXPECT_GE(share(o.refutable.refuted, o.refutable), 0.98);
  EXPECT_LT(o.seconds.back(), 10.5);
}

TEST(Corpus, RewritesWithoutDraws) {
  if (casesOf("rewrites").empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  const Outcome o = run("rewrites", false);
  report("rewrites, draws off", o);
  EXPECT_TRUE(o.wrong.empty());
  EXPECT_GE(share(o.provable.proved, o.provable), 0.98);
}

TEST(Corpus, CancelsSoon) {
  const auto cases = casesOf("rewrites");
  if (cases.empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  std::mt19937 random(3);
  double longest = 0;
  int stopped = 0;
  for (int i = 0; i < 40; ++i) {
    const Case& test = cases[random() % cases.size()];
    auto store = std::make_shared<tensor::NodeStore>();
    const auto left = language::parseFile((test.folder / "left.py").string(), store);
    const auto right = language::parseFile((test.folder / "right.py").string(), store);
    Options options;
    options.draws = i % 2 == 0;
    options.solvers = &solvers();
    std::stop_source stop;
    const auto delay = std::chrono::microseconds(random() % 30000);
    std::chrono::steady_clock::time_point asked;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(delay);
      asked = std::chrono::steady_clock::now();
      stop.request_stop();
    });
    try {
      static_cast<void>(prove(left, right, options, Progress(stop.get_token())));
    } catch (const Cancelled&) {
      const auto now = std::chrono::steady_clock::now();
      canceller.join();
      longest = std::max(longest, std::chrono::duration<double>(now - asked).count());
      ++stopped;
    }
  }
  std::cout << "  " << stopped << " of 40 attempts cancelled, the slowest after " << longest * 1000
            << " ms (measured)\n";
  EXPECT_LT(longest, 0.3);  // 100 ms on a quiet machine
}

TEST(Corpus, FloatTraps) {
  if (casesOf("float_traps").empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  for (const bool draws : {true, false}) {
    const Outcome o = run("float_traps", draws);
    report(draws ? "float traps, draws on" : "float traps, draws off", o);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_GE(share(o.provable.proved, o.provable), 0.8);
  }
}

TEST(Corpus, Streams) {
  if (casesOf("streams").empty()) GTEST_SKIP() << "no corpus at " << NUSCOPE_SHARED_DIR;
  for (const bool draws : {true, false}) {
    const Outcome o = run("streams", draws);
    report(draws ? "streams, draws on" : "streams, draws off", o);
    EXPECT_TRUE(o.wrong.empty());
    EXPECT_GE(share(o.provable.proved, o.provable), 0.9);
    if (draws) {
      EXPECT_GE(share(o.refutable.refuted, o.refutable), 0.98);
    }
  }
}

}  // namespace
}  // namespace nuscope::proof
