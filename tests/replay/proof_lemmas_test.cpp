// Each step that a record may name, on a goal that needs it, and on a near miss that it must not show.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/record/record.h"

namespace nuscope::record {
namespace {

using replay::ProofOutcome;
using Status = ProofOutcome::Status;

struct Row {
  std::string step;       ///< the record names it
  std::string signature;  ///< with the lines that both sides share
  std::string left, right;
  std::string wrong;  ///< in place of `right`: false
};

std::string program(const Row& row, const std::string& result) {
  return "from __future__ import annotations\nimport numpy as np\n\n\ndef f(" + row.signature +
         "    return " + result + "\n";
}

const std::vector<Row> rows{
    {"S4 write out", "x: f32[M, 4]) -> f32[M]:\n", "np.sum(x, axis=1)",
     "x[:, 0] + x[:, 1] + x[:, 2] + x[:, 3]", "x[:, 0] + x[:, 1] + x[:, 2] + x[:, 2]"},
    {"S4 write out", "x: f32[M, 3]) -> f32[M]:\n", "np.max(x, axis=1)",
     "np.maximum(x[:, 2], np.maximum(x[:, 0], x[:, 1]))", "np.maximum(x[:, 0], x[:, 1])"},
    {"S4 write out", "x: f32[M, 3], w: f32[3, 2]) -> f32[M, 2]:\n", "x @ w",
     "x[:, 0:1] * w[0:1] + x[:, 1:2] * w[1:2] + x[:, 2:3] * w[2:3]",
     "x[:, 0:1] * w[0:1] + x[:, 1:2] * w[1:2] + x[:, 1:2] * w[2:3]"},
    {"S5 lanes",
     "x: f32[N]) -> f32:\n    N = x.shape[0]\n    assert N % 2 == 0\n    i = 2 * np.arange(N // 2)\n",
     "np.sum(x * x)", "np.sum(np.take(x * x, i, axis=0)) + np.sum(np.take(x * x, i + 1, axis=0))",
     "np.sum(np.take(x * x, i, axis=0)) + np.sum(np.take(x * x, i, axis=0))"},
    {"M3 union", "x: f32[N]) -> f32:\n    N = x.shape[0]\n    assert N >= 2\n", "np.max(x)",
     "np.maximum(np.max(x[1:]), x[0])", "np.maximum(np.max(x[1:]), x[1])"},
    {"L angles", "x: f32[N]) -> f32[N]:\n", "np.sin(x)", "2 * np.sin(x / 2) * np.cos(x / 2)",
     "2 * np.sin(x / 3) * np.cos(x / 3)"},
    {"S8 mirror", "x: f32[N]) -> f32:\n    N = x.shape[0]\n", "np.max(x)",
     "np.max(np.take(x, N - 1 - np.arange(N), axis=0))", "np.max(np.take(x, np.arange(N) // 2, axis=0))"},
    {"M3 M6 outward", "x: f32[N]) -> f32:\n    assert np.all(x > 0)\n", "np.min(np.log(x))",
     "np.log(np.min(x))", "np.log(np.max(x))"},
    {"S4 split", "x: f32[N], y: f32[M]) -> f32:\n", "np.prod(np.concatenate([x, y]))",
     "np.prod(x) * np.prod(y)", "np.prod(x) * np.prod(x)"},
    {"unused index", "x: f32[N], y: f32[M]) -> f32[M]:\n",
     "np.prod(np.where(y > 0, 1.0, 0.0)[:, None] + 0 * x, axis=1)", "np.where(y > 0, 1.0, 0.0)",
     "np.where(y >= 0, 1.0, 0.0)"},
    // Laws that need no name: a product is nowhere 0 where no factor is; rint past even integers.
    {"", "x: f32[N]) -> f32:\n", "1 / np.prod(x)", "np.prod(1 / x)", "np.sum(1 / x)"},
    {"", "x: f32[N]) -> f32[N]:\n", "np.rint(x + 4)", "np.rint(x) + 4", "np.rint(x) + 5"},
    {"", "x: f32[N]) -> f32[N]:\n", "np.rint(x) + 3", "np.rint(x) + 3.0", "np.rint(x + 3)"},
    {"boundary", "x: f32[N]) -> f32[N]:\n", "np.where(x > 0, x, np.exp(x) - 1)",
     "np.maximum(x, 0) + np.exp(np.minimum(x, 0)) - 1", "np.maximum(x, 0) + np.exp(np.minimum(x, 0))"},
    {"boundary", "x: f32[N]) -> f32[N]:\n    N = x.shape[0]\n    i = np.arange(N)\n",
     "np.where(i >= N - 1, x, 0)", "np.where(i >= N - 1, x[N - 1], 0)", "np.where(i >= N - 1, x[0], 0)"},
    // A guard on the indices that only the case decides.
    {"folds anew",
     "x: f32[N], y: f32[M]) -> f32[M]:\n    N = x.shape[0]\n    m = np.arange(y.shape[0])\n"
     "    t = np.max(np.where(np.arange(N) <= m[:, None], x, -np.inf), axis=1)\n",
     "t", "np.where(m >= N - 1, np.max(x), t)", "np.where(m >= N - 2, np.max(x), t)"},
    {"folds anew",
     "x: f32[N], w: f32[K], y: f32[M]) -> f32[M]:\n    N = x.shape[0]\n    m = np.arange(y.shape[0])\n"
     "    xw = np.concatenate([x, w])\n"
     "    t = np.max(np.where(np.arange(xw.shape[0]) <= m[:, None], xw, -np.inf), axis=1)\n"
     "    u = np.max(np.where(np.arange(N) <= m[:, None], x, -np.inf), axis=1)\n",
     "t", "np.where(m < N, u, t)", "np.where(m <= N, u, t)"},
    {"residues", "n: i32[N]) -> i32[N]:\n", "n // 2 + (n + 1) // 2", "n", "n + n % 2"},
};

/// The steps of a record, at any depth.
void namesOf(const nlohmann::json& node, std::vector<std::string>& into) {
  for (const char* key : {"by", "lemma"}) {
    if (node.is_object() && node.contains(key)) into.push_back(node[key].get<std::string>());
  }
  if (node.is_structured()) {
    for (const auto& child : node) namesOf(child, into);
  }
}

TEST(ProofLemmas, EachStepShowsItsGoal) {
  replay::Z3Program z3;
  for (const Row& row : rows) {
    const replay::ProofGoal goal{false, program(row, row.left), program(row, row.right)};
    const Attempt attempt = recordProof(goal, &z3);
    ASSERT_EQ(attempt.why, "") << row.step << ": " << row.right;
    std::vector<std::string> names;
    namesOf(nlohmann::json::parse(attempt.record), names);
    EXPECT_TRUE(row.step.empty() || std::find(names.begin(), names.end(), row.step) != names.end())
        << row.step << ": " << row.right;
    const ProofOutcome outcome = replay::replayProof(attempt.record, &z3);
    EXPECT_EQ(outcome.status, Status::confirmed) << row.step << ": " << outcome.why;
  }
}

TEST(ProofLemmas, NoneShowsANearMiss) {
  replay::Z3Program z3;
  for (const Row& row : rows) {
    const replay::ProofGoal goal{false, program(row, row.left), program(row, row.wrong)};
    const Attempt attempt = recordProof(goal, &z3);
    EXPECT_TRUE(attempt.record.empty()) << row.step << " shows " << row.wrong;
    // The steps of the true goal, grafted onto the false one.
    nlohmann::json graft = nlohmann::json::parse(
        recordProof({false, program(row, row.left), program(row, row.right)}, &z3).record, nullptr, false);
    ASSERT_TRUE(graft.is_object());
    graft["goal"]["right"] = program(row, row.wrong);
    for (int round = 0; round < 2; ++round) {
      const ProofOutcome outcome = replay::replayProof(graft.dump(), &z3);
      EXPECT_EQ(outcome.status, Status::refused) << row.step << " shows " << row.wrong;
      if (outcome.why.starts_with("the difference is "))
        graft["results"][0]["difference"] = outcome.why.substr(18);
    }
  }
}

TEST(ProofLemmas, AStepThatFindsNothingToDo) {
  const Row& row = rows[5];
  replay::Z3Program z3;
  const replay::ProofGoal goal{false, program(row, row.left), program(row, row.right)};
  nlohmann::json record = nlohmann::json::parse(recordProof(goal, &z3).record);
  record["results"][0]["zero"] = {{"by", "residues"}, {"classes", nlohmann::json::array()}};
  const ProofOutcome outcome = replay::replayProof(record.dump(), &z3);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.why.find("another number of residues"), std::string::npos) << outcome.why;
  record["results"][0]["zero"] = {{"by", "S5 lanes"}, {"then", {{"by", "normal form"}}}};
  EXPECT_NE(replay::replayProof(record.dump(), &z3).why.find("what is left is not zero"), std::string::npos);
}

TEST(ProofLemmas, UsesAreWrittenForPeople) {
  replay::Z3Program z3;
  const std::string head = "from __future__ import annotations\nimport numpy as np\n\n\n";
  const replay::ProofGoal goal{false, head + "def f(x: f32[M, 4]) -> f32:\n    return np.sum(x)\n",
                               head + "def f(x: f32[M, 4]) -> f32:\n    return np.sum(x.reshape(-1))\n"};
  const Recording recording = confirmedRecord(goal, &z3, 5, {}, 10);
  ASSERT_TRUE(recording.replayable) << recording.why;
  ASSERT_FALSE(recording.uses.empty());
  EXPECT_EQ(recording.uses[0].lemma, "S5 tile");
  EXPECT_EQ(recording.uses[0].substitution, "k = 4*t + r with r < 4");
  EXPECT_EQ(recording.uses[0].before.substr(0, 10), "sum_{k<4*M");
  EXPECT_FALSE(recording.uses[0].after.empty());
}

}  // namespace
}  // namespace nuscope::record
