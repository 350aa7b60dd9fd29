// The whole of `nuscope sweep` on small shapes, with planted faults, a kill in the middle, and Ctrl-C.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/files.h"
#include "core/base/process.h"
#include "core/sweep/study.h"
#include "tests/run_nuscope.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SweepCommand : public testing::Test {
 protected:
  SweepCommand() {
    char pattern[] = "/tmp/nuscope-sweep-XXXXXX";
    folder = mkdtemp(pattern);
    study = (folder / "s.nuscope").string();
  }
  ~SweepCommand() override { fs::remove_all(folder); }

  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all{std::string(NUSCOPE_BINARY_DIR) + "/bin/nuscope",
                                 "sweep",
                                 std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/silu_matmul.py",
                                 "--shape",
                                 "M=16,K=24,N=32",
                                 "-o",
                                 study,
                                 "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Finished run(const std::vector<std::string>& more) const {
    ProcessOptions options;
    options.arguments = command(more);
    return runProcess(options, "", std::chrono::minutes(4));
  }
  fs::path folder;
  std::string study;
};

TEST_F(SweepCommand, plantedFaultsCostOneCandidateEach) {
  const Finished finished =
      run({"--device", "simulated:crash@3,hang@5,wrong@7", "--budget", "10", "--run-limit", "1"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  const json& counts = report.at("candidates");
  EXPECT_EQ(counts.at("failed"), 1) << finished.errors;
  EXPECT_EQ(counts.at("timed_out"), 1);
  EXPECT_EQ(counts.at("wrong"), 1);
  EXPECT_EQ(counts.at("measured"), 7);
  EXPECT_GE(counts.at("enumerated").get<int>(), 10);
  const json& best = report.at("best");
  EXPECT_GT(best.at("median_s").get<double>(), 0);
  EXPECT_TRUE(best.at("parameters").is_object());
  EXPECT_FALSE(best.at("device").get<std::string>().empty());
  EXPECT_EQ(report.at("baselines").size(), 2U);
  const auto stored = Study::open(study, Study::Access::read);
  for (const auto& candidate : stored->candidates(report.at("sweep").get<int>())) {
    if (candidate.state == CandidateState::wrong && candidate.kind == CandidateKind::emitted) {
      EXPECT_TRUE(fs::exists(candidate.savedCase)) << candidate.reason;
      EXPECT_NE(candidate.id, best.at("candidate"));
    }
  }
}

// What is measured under a text is found again by whoever opens the study.
TEST_F(SweepCommand, aKernelHasTheSameTextWhereverItIsEmitted) {
  const std::string program = std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/rmsnorm_matmul.py";
  const Finished swept = runNuscope({"sweep", program, "--shape", "M=16,K=24,N=32", "--device", "simulated",
                                     "--budget", "1", "--no-baselines", "-o", study});
  ASSERT_EQ(swept.end.text(), "exit code 0") << swept.errors;
  for (const char* variant : {"0", "8"}) {
    const Finished fresh = runNuscope({"emit", program, "--shape", "M=16,K=24,N=32", "--variant", variant});
    const Finished stored = runNuscope({"emit", study, "--shape", "M=16,K=24,N=32", "--variant", variant});
    ASSERT_EQ(fresh.end.text(), "exit code 0") << fresh.errors;
    EXPECT_EQ(fresh.output, stored.output) << variant;
  }
}

TEST_F(SweepCommand, resumesAfterAKillWithoutLosingOrRepeatingAnything) {
  ProcessOptions options;
  options.arguments = command({"--device", "simulated", "--budget", "40", "--no-baselines"});
  std::map<int, std::string> before;
  {
    Process sweep(options);
    for (int i = 0; i < 2400 && before.size() < 5; ++i) {  // until five are in the study
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!fs::exists(study)) continue;
      try {
        const auto reader = Study::open(study, Study::Access::read);
        before.clear();
        for (const auto& sweepRecord : reader->sweeps()) {
          for (const auto& candidate : reader->candidates(sweepRecord.id)) {
            if (candidate.measurement)
              before[candidate.id] = reader->measurement(*candidate.measurement)->date;
          }
        }
      } catch (const std::exception&) {  // not written yet
      }
      if (sweep.wait(std::chrono::milliseconds(0))) break;
    }
    ::kill(sweep.pid(), SIGKILL);
    sweep.wait(std::chrono::seconds(10));
  }
  ASSERT_GE(before.size(), 5U);
  const Finished finished = run({"--device", "simulated", "--budget", "40", "--no-baselines", "--resume"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  EXPECT_EQ(report.at("sweep"), 1);
  EXPECT_EQ(report.at("candidates").at("measured"), report.at("candidates").at("enumerated"));
  const auto stored = Study::open(study, Study::Access::read);
  EXPECT_EQ(stored->sweeps().size(), 1U);
  std::set<std::string> kernels;
  for (const auto& candidate : stored->candidates(1)) {
    EXPECT_TRUE(kernels.insert(candidate.kernel).second) << "entered twice";
    EXPECT_TRUE(!before.contains(candidate.id) || candidate.measurement);
  }
}

TEST_F(SweepCommand, controlCStopsWithinTwoSecondsAndKeepsEverything) {
  ProcessOptions options;
  options.arguments = command({"--device", "simulated", "--budget", "10m", "--exhaustive", "--no-baselines"});
  Process sweep(options);
  int measured = 0;
  for (int i = 0; i < 2400 && measured < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!fs::exists(study) || sweep.wait(std::chrono::milliseconds(0))) continue;
    try {
      measured = Study::open(study, Study::Access::read)->counts(1).measured;
    } catch (const std::exception&) {  // not written yet
    }
  }
  ::kill(sweep.pid(), SIGINT);
  const auto start = std::chrono::steady_clock::now();
  std::string line;
  while (sweep.readLine(line, std::chrono::seconds(30)) == Process::Read::line) {
  }
  const auto end = sweep.wait(std::chrono::seconds(30));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text(), "exit code 130") << sweep.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  const auto stored = Study::open(study, Study::Access::read);
  EXPECT_GE(stored->counts(1).measured, measured);
  EXPECT_EQ(stored->sweeps().at(0).state, SweepState::cancelled);
}

/// Stands in for a Python that has torch: reads the job, computes silu(x) @ w with lists, answers as torch
/// would.
constexpr const char* pythonWithTorch = R"(#!/usr/bin/env python3
import array, json, math, sys, time

def load(file, dtype, shape):
    values = array.array("f")
    values.frombytes(open(file, "rb").read())
    return [values[r * shape[1]:(r + 1) * shape[1]] for r in range(shape[0])]

def sigmoid(v):
    return 1 / (1 + math.exp(-v)) if v > -700 else 0.0

for draw in json.load(open(sys.argv[2]))["draws"]:
    x, w = [load(*i) for i in draw["inputs"]]
    columns = list(zip(*w))
    y = [[v * sigmoid(v) for v in row] for row in x]
    out = array.array("f", [sum(a * b for a, b in zip(row, c)) for row in y for c in columns])
    open(draw["outputs"][0], "wb").write(out.tobytes())
print(json.dumps({"version": "0.1", "samples": [0.001 * (1 + i % 3) for i in range(9)]}))
)";

TEST_F(SweepCommand, torchIsGatedTimedBetweenBurstsOfTheWinnerAndListed) {
  const fs::path python = folder / "python";
  writeWholeFile(python, pythonWithTorch);
  fs::permissions(python, fs::perms::owner_all);
  const Finished finished = run({"--budget", "4", "--python", python.string()});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  const json& torch = report.at("baselines").back();
  EXPECT_EQ(torch.at("label"), "torch 0.1 eager, 1 thread") << torch.dump(2);
  EXPECT_EQ(torch.at("state"), "measured") << torch.dump(2);
  EXPECT_DOUBLE_EQ(torch.at("median_s").get<double>(), 0.002);
  EXPECT_GT(torch.at("over_best").get<double>(), 1);
}

TEST_F(SweepCommand, aPythonWithoutTorchIsListedWithTheReason) {
  const fs::path python = folder / "python";
  writeWholeFile(python, "#!/bin/sh\necho '{\"absent\": \"it has no torch: none here\"}'\n");
  fs::permissions(python, fs::perms::owner_all);
  const Finished finished = run({"--budget", "2", "--python", python.string()});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json torch = json::parse(finished.output).at("baselines").back();
  EXPECT_EQ(torch.at("state"), "skipped");
  EXPECT_EQ(torch.at("reason"), "it has no torch: none here");
}

TEST_F(SweepCommand, refusals) {
  const auto exitOf = [&](const std::vector<std::string>& more) { return run(more).end.code; };
  EXPECT_EQ(exitOf({"--shape", "M=16"}), 3);
  EXPECT_EQ(exitOf({"--shape", "M=16,K=24,N=32,Q=1"}), 3);
  EXPECT_EQ(exitOf({"--device", "toaster"}), 4);
  EXPECT_EQ(exitOf({"--budget", "soon"}), 3);
  EXPECT_EQ(exitOf({"--target", "nonexistent"}), 3);
}

}  // namespace
}  // namespace nuscope::sweep
