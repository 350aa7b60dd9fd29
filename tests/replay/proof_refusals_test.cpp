// What the checker of proof records refuses, and in which words.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/record/record.h"
#include "tests/replay/z3.h"

namespace nuscope::record {
namespace {

using nlohmann::json;
using replay::ProofOutcome;
using Status = ProofOutcome::Status;

const std::string head = "from __future__ import annotations\nimport numpy as np\n\n\n";

replay::ProofGoal goalOf(const std::string& signature, const std::string& left, const std::string& right) {
  return {false, head + signature + left, head + signature + right};
}

/// Tiles, so that a lemma is needed.
const replay::ProofGoal tiles =
    goalOf("def f(x: f32[M, 4]) -> f32:\n", "    return np.sum(x)\n", "    return np.sum(x.reshape(-1))\n");
/// A solver is needed.
const replay::ProofGoal ordered =
    goalOf("def f(x: f32[M], y: f32[M]) -> f32[M]:\n", "    return np.maximum(x, y) + np.minimum(x, y)\n",
           "    return x + y\n");

json recordOf(const replay::ProofGoal& goal) {
  replay::Z3Program z3;
  const Attempt attempt = recordProof(goal, &z3);
  EXPECT_EQ(attempt.why, "");
  return attempt.record.empty() ? json::object() : json::parse(attempt.record);
}

void refuses(const json& record, const std::string& why) {
  replay::Z3Program z3;
  const ProofOutcome outcome = replay::replayProof(record.dump(), &z3);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.why.find(why), std::string::npos) << "expected: " << why << "\nis: " << outcome.why;
}

TEST(ProofRefusals, ConfirmsWhatIsUntouched) {
  const json record = recordOf(tiles);
  EXPECT_GE(record["lemmas"].size(), 1U);
  const ProofOutcome outcome = replay::replayProof(record.dump(), nullptr);
  EXPECT_EQ(outcome.status, Status::confirmed) << outcome.why;
  EXPECT_TRUE(outcome.goal == tiles);
}

TEST(ProofRefusals, WhatIsNoRecord) {
  refuses(json("text"), "faulty record");
  refuses(json::array(), "faulty record");
  json record = recordOf(tiles);
  record["kind"] = "something else";
  refuses(record, "no proof record");
  EXPECT_EQ(replay::replayProof("{", nullptr).status, Status::refused);
  EXPECT_NE(
      replay::replayProof(std::string(replay::recordLimit + 1, ' '), nullptr).why.find("larger than 2 MiB"),
      std::string::npos);
}

TEST(ProofRefusals, AnotherVersion) {
  for (const char* key : {"version", "semantics"}) {
    json record = recordOf(tiles);
    record[key] = 77;
    refuses(record, "of another version");
  }
}

TEST(ProofRefusals, AnotherGoal) {
  const json record = recordOf(tiles);
  json changed = record;
  changed["goal"]["mode"] = "similar";
  refuses(changed, "neither equal nor refines");
  changed = record;
  changed["goal"]["left"] = "def f(x";
  refuses(changed, "left side of the goal is no program");
  changed = record;
  changed["goal"]["right"] = head + "def f(y: f32[M, 4]) -> f32:\n    return np.sum(y)\n";
  refuses(changed, "different parameters");
  changed = record;
  changed["goal"]["right"] = head + "def f(x: f32[M, 4]) -> f32[4]:\n    return np.sum(x, axis=0)\n";
  refuses(changed, "the shapes differ");
  changed = record;
  changed["goal"]["right"] = head + "def f(x: f32[M, 4]) -> f32:\n    return np.sum(x.reshape(-1)) + 1\n";
  refuses(changed, "the difference is");
  changed = record;
  changed["goal"]["assumptions"] = {"np.all(x > 0)"};
  refuses(changed, "assumptions are not those of the programs");
}

TEST(ProofRefusals, OtherTypes) {
  replay::ProofGoal goal =
      goalOf("def f(n: i32[M]) -> i32[M]:\n", "    return n + n\n", "    return 2 * n\n");
  goal.right.replace(goal.right.find("-> i32"), 6, "-> f32");
  goal.right.replace(goal.right.find("2 * n"), 5, "2.0 * n");
  json record = recordOf(goal);
  EXPECT_NE(replay::replayProof(record.dump(), nullptr).why.find("their types differ"), std::string::npos);
  record["goal"]["mode"] = "refines";
  refuses(record, "the types differ");
}

TEST(ProofRefusals, Lemmas) {
  const json record = recordOf(tiles);
  const auto lemma = [](json& changed) -> json& {
    for (json& entry : changed["lemmas"]) {
      if (entry.contains("lemma")) return entry;
    }
    return changed["lemmas"][0];
  };
  json changed = record;
  lemma(changed)["lemma"] = "S99 wish";
  refuses(changed, "unknown lemma");
  changed = record;
  lemma(changed)["fold"] = "sum{k < 1: 0}";
  refuses(changed, "but the fold is");
  changed = record;
  lemma(changed)["lemma"] = "S6 delta";
  refuses(changed, "does not apply");
  changed = record;
  lemma(changed)["first"] = 12;
  refuses(changed, "does not apply");
  changed = record;
  changed["lemmas"] = json::array();
  refuses(changed, "the record ends before its goal is shown");
  changed = record;
  changed["lemmas"].push_back({{"keep", 1}});
  refuses(changed, "steps are left over");
  changed = record;
  changed["lemmas"][0] = json::object({{"keep", 0}});
  refuses(changed, "faulty entry");
}

TEST(ProofRefusals, Steps) {
  const json record = recordOf(tiles);
  json changed = record;
  changed["results"][0]["zero"]["by"] = "persuasion";
  refuses(changed, "unknown step");
  changed = record;
  changed["results"][0]["zero"] = {{"by", "cases"}, {"on", "[x > 0]"}};
  refuses(changed, "there is no condition");
  changed = record;
  changed["results"][0]["zero"] = {{"by", "induction"}, {"group", 3}, {"over", "M"}};
  refuses(changed, "no such folds to induct on");
  changed = record;
  changed["results"] = json::array();
  refuses(changed, "another number of results");
  changed = record;
  json deep = {{"by", "normal form"}};
  for (int i = 0; i < 300; ++i) deep = {{"by", "expansion"}, {"then", deep}};
  changed["results"][0]["zero"] = deep;
  refuses(changed, "nested too deeply");
}

TEST(ProofRefusals, Obligations) {
  if (!haveZ3()) GTEST_SKIP() << "no z3 program";
  const json record = recordOf(ordered);
  ASSERT_FALSE(record["obligations"].empty());
  EXPECT_EQ(replay::replayProof(record.dump(), nullptr).status, Status::needsSolver);
  json changed = record;
  changed["obligations"][0] = "(set-logic QF_NRA)\n(assert false)\n(check-sat)\n";
  refuses(changed, "not the one that is needed");
  changed = record;
  changed["obligations"].push_back(changed["obligations"][0]);
  refuses(changed, "steps are left over");
}

TEST(ProofRefusals, ProgramsNestedTooDeeply) {
  std::string body = "    y = x\n    for i in range(3000):\n        y = np.sin(y)\n";
  replay::ProofGoal goal =
      goalOf("def f(x: f32[M]) -> f32[M]:\n", body + "    return y\n", body + "    return y + 0 * x\n");
  const Attempt attempt = recordProof(goal, nullptr);
  EXPECT_TRUE(attempt.record.empty());
  EXPECT_NE(attempt.why.find("nested too deeply"), std::string::npos) << attempt.why;
}

}  // namespace
}  // namespace nuscope::record
