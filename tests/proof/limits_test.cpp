// What a person may rely on: a stop request is obeyed within 100 ms at any moment, a solver has at most 1
// GiB, and no question outlives its limit. Runs alone (RUN_SERIAL): it measures time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "core/language/parse.h"
#include "tests/proof/pairs.h"

namespace nuscope::proof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kCancelLimit = 0.1;  ///< seconds, on a quiet machine; the test fails at three times that

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(Limits, CancelAtRandomMoments) {
  auto pairs = sharedCorpus("rewrites");
  if (pairs.empty()) pairs = secondCorpus(".pairs");
  std::mt19937 random(11);
  double worst = 0;
  std::string slowest;
  int stopped = 0;
  int missed = 0;
  while (stopped < 200 && missed < 2000) {
    const TestPair& pair = pairs[random() % pairs.size()];
    Options options;
    options.draws = stopped % 3 == 0;
    options.solvers = &testSolvers();
    // How long it takes alone says which moments there are.
    const double whole = proofOf(pair, options).seconds;
    std::stop_source stop;
    const auto delay = std::chrono::duration<double>(whole * static_cast<double>(random() % 1000) / 1000);
    Clock::time_point asked;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(delay);
      asked = Clock::now();
      stop.request_stop();
    });
    try {
      static_cast<void>(proofOf(pair, options, Progress(stop.get_token())));
      ++missed;
    } catch (const Cancelled&) {
      const auto now = Clock::now();
      canceller.join();
      const double late = std::chrono::duration<double>(now - asked).count();
      if (late > worst) {
        worst = late;
        slowest = pair.name;
      }
      ++stopped;
    }
  }
  std::cout << "  " << stopped << " attempts cancelled at random moments (seed 11), " << missed
            << " ended before; the slowest after " << worst * 1000 << " ms (" << slowest << ", measured)\n";
  EXPECT_GE(stopped, 200);
  EXPECT_LT(worst, 3 * kCancelLimit);
}

/// Lines of /proc/PID/limits about the address space, of all children of this process.
std::vector<std::string> addressSpaceOfChildren() {
  std::vector<std::string> result;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (std::string pid; children >> pid;) {
      std::ifstream limits("/proc/" + pid + "/limits");
      for (std::string line; std::getline(limits, line);) {
        if (line.starts_with("Max address space")) result.push_back(line);
      }
    }
  }
  return result;
}

TEST(Limits, SolversHaveOneGibibyte) {
  SolverPool pool(NUSCOPE_SOLVER, 2);
  const auto limits = addressSpaceOfChildren();
  ASSERT_GE(limits.size(), 2U);
  for (const auto& line : limits) EXPECT_NE(line.find(" 1073741824 "), std::string::npos) << line;
}

TEST(Limits, WhatEatsMemoryIsNoAnswerAndTheNextQuestionIs) {
  SolverPool pool(NUSCOPE_SOLVER, 1);
  SolverQuery query;
  query.limit = std::chrono::milliseconds(5000);
  query.smt =
      "(declare-const x (_ BitVec 30000))\n(declare-const y (_ BitVec 30000))\n"
      "(assert (= (bvmul x y) (bvadd (bvmul y y) x (bvnot y))))\n(assert (distinct x y (bvneg x)))\n";
  const auto begin = Clock::now();
  const auto answer = pool.ask(query);
  EXPECT_NE(answer.status, SolverAnswer::Status::unsat);
  EXPECT_NE(answer.status, SolverAnswer::Status::sat);
  EXPECT_LT(since(begin), 5 + 3 + 1);
  query.smt = "(declare-const x Real)\n(assert (< (* x x) 0.0))\n";
  EXPECT_EQ(pool.ask(query).status, SolverAnswer::Status::unsat);
}

TEST(Limits, NoQuestionOutlivesItsLimit) {
  SolverPool pool(NUSCOPE_SOLVER, 1);
  SolverQuery easy;
  easy.smt = "(declare-const x Real)\n(assert (> x 0.0))\n";
  easy.limit = std::chrono::milliseconds(3000);
  static_cast<void>(pool.ask(easy));  // the child is ready
  SolverQuery hard;
  hard.limit = std::chrono::milliseconds(200);
  // Nonlinear integers: undecidable, and Z3 does not always look at its clock.
  hard.smt =
      "(declare-const a Int)\n(declare-const b Int)\n(declare-const c Int)\n(declare-const r Real)\n"
      "(assert (= (+ (* a a a) (* b b b) (* c c c)) 114))\n(assert (> (* r r) (to_real (* a b c))))\n"
      "(assert (> (* a a) 1000000))\n";
  const auto begin = Clock::now();
  const auto answer = pool.ask(hard);
  const double seconds = since(begin);
  std::cout << "  a question without answer and a limit of 200 ms ended after " << seconds * 1000
            << " ms (measured): " << text(answer.status) << "\n";
  EXPECT_NE(answer.status, SolverAnswer::Status::unsat);
  EXPECT_LT(seconds, 0.2 + 0.15 + 0.3);
}

TEST(Limits, AChildThatNeverAnswersIsKilled) {
  const auto script =
      std::filesystem::temp_directory_path() / ("nuscope_silent_" + std::to_string(::getpid()) + ".sh");
  {
    std::ofstream file(script);
    file << "#!/bin/sh\nsleep 60\n";
  }
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  {
    SolverPool pool(script.string(), 1);
    SolverQuery query;
    query.smt = "(assert true)\n";
    query.limit = std::chrono::milliseconds(50);
    const auto begin = Clock::now();
    EXPECT_EQ(pool.ask(query).status, SolverAnswer::Status::killed);
    EXPECT_LT(since(begin), 0.05 + 3 + 0.5);
    EXPECT_EQ(pool.replaced(), 1);
  }
  std::filesystem::remove(script);
}

}  // namespace
}  // namespace nuscope::proof
