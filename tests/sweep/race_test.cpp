// The search over kernels written by hand: faults cost one candidate each, the fastest right one wins,
// nothing is measured twice.
#include "core/sweep/race.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backends/simulated/simulated_device.h"
#include "core/sweep/best_so_far.h"
#include "core/sweep/statistics.h"
#include "tests/sweep/kernels.h"

namespace nuscope::sweep {
namespace {

const char* const text =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[N]) -> f32[N]:\n    return x * 2 + 1\n";

std::string kernelText(const std::string& body) {
  return "extern \"C\" void f(const float* x, float* y, int) { for (int i = 0; i < 64; ++i) y[i] = x[i] * 2 "
         "+ 1; " +
         body + " }\n";
}

class RaceTest : public testing::Test {
 protected:
  Entrant entrant(const std::string& body, double modelled, std::int64_t tile = 0) {
    Entrant e;
    e.record.label = "by hand";
    e.record.parameters = {{"tile", tile}};
    e.record.modelledSeconds = modelled;
    e.function = "f";
    e.text = kernelText(body);
    e.record.kernel = textHash(e.text);
    e.command = {"g++", "-O1", "-shared", "-fPIC", "{source}", "-o", "{output}"};
    e.toolchain = "test";
    e.results = program.results;
    return e;
  }

  void enter(std::vector<Entrant>& entrants) {
    if (revision == 0) revision = study->addRevision("f", text, "");
    SweepRecord record;
    record.revision = revision;
    record.extents = extents;
    const int sweep = study->addSweep(record);  // baselines stand in one of their own here
    std::vector<CandidateRecord> records;
    for (Entrant& e : entrants) {
      e.record.sweep = sweep;
      records.push_back(e.record);
    }
    study->addCandidates(records);
    for (std::size_t i = 0; i < entrants.size(); ++i) entrants[i].record.id = records[i].id;
  }

  RaceResult race(std::vector<Entrant>& entrants, RaceOptions options, const std::string& device = "host") {
    enter(entrants);
    enter(baselines);
    Worker worker({test::executable, "worker", "--device", device}, {});
    Bench bench(worker, program, extents, {1, 30, 1});
    std::vector<std::string> notes;
    bench.setReferences(makeReferences(program, extents, {}, {}, notes));
    options.extents = extentsText(extents);
    options.device = device;
    Race::Callbacks callbacks;
    callbacks.onTrial = [&](const Entrant& e) {
      if (e.record.state != CandidateState::compiled) trials.push_back(e.record.id);
      if (onTrial) onTrial();
    };
    callbacks.onBest = [](const Entrant&) {};
    callbacks.onNote = [](const std::string&) {};
    callbacks.onWrong = [&](Entrant& e, int failing) {
      traceWrong(e.measurement.gate, program, e.results, extents,
                 bench.references()[static_cast<std::size_t>(failing)], tensor::DType::f32, {});
    };
    Race search(*study, bench, options, {}, callbacks);
    search.runBaselines(baselines);
    return search.run(entrants);
  }

  tensor::Program program = test::program(text);
  tensor::Extents extents{{"N", 64}};
  std::unique_ptr<Study> study = Study::temporary();
  int revision = 0;
  std::vector<int> trials;
  std::vector<Entrant> baselines;
  std::function<void()> onTrial;
};

const char* const slow = "for (volatile int i = 0; i < 20000; i = i + 1) {}";
const char* const slower = "for (volatile int i = 0; i < 60000; i = i + 1) {}";

TEST_F(RaceTest, scoresAreKeptInTheStudyAndADamagedTextIsNotBelieved) {
  const Scores scores{{3, 1.25e-3}, {17, 2.5e-2}};
  keepScores(*study, 2, scores);
  EXPECT_EQ(keptScores(*study, 2), scores);
  EXPECT_TRUE(keptScores(*study, 1).empty());
  for (const char* damaged : {"#3 nan s\n", "#3 -1 s\n", "#3 1 s", "#3 1 s\nmore", "nonsense"}) {
    study->setViewState("scores of sweep 2", damaged);
    EXPECT_TRUE(keptScores(*study, 2).empty()) << damaged;
  }
}

TEST_F(RaceTest, faultsCostOneCandidateEachAndTheFastestRightOneWins) {
  std::vector<Entrant> entrants{
      entrant(slow, 1),
      entrant("__builtin_trap();", 0.5),
      entrant("y[3] += 0.01f;", 0.1),  // fastest, but wrong
      entrant("", 3),                  // fastest that is right; the model thinks little of it
      entrant("volatile int more = 1; while (more) {}", 2),
      entrant("does not compile", 2),
      entrant(slower, 0.2),
  };
  const RaceResult result = race(entrants, {});
  EXPECT_EQ(result.best, 3);
  EXPECT_EQ(result.tried, 7);
  const std::vector<CandidateState> expected{
      CandidateState::measured, CandidateState::crashed, CandidateState::wrong,   CandidateState::measured,
      CandidateState::timedOut, CandidateState::failed,  CandidateState::measured};
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    EXPECT_EQ(entrants[i].record.state, expected[i]) << i << entrants[i].record.reason;
    EXPECT_EQ(study->candidate(entrants[i].record.id)->state, expected[i]) << i;
  }
  EXPECT_NE(entrants[2].measurement.gate.text.find("element [3]"), std::string::npos)
      << entrants[2].measurement.gate.text;
  EXPECT_EQ(entrants[2].measurement.gate.verdict, "fault");
  EXPECT_EQ(entrants[3].measurement.gate.draws.size(), 6U);
  EXPECT_TRUE(entrants[3].measurement.gate.passed);
  EXPECT_LT(entrants[3].measurement.median, entrants[0].measurement.median);
  EXPECT_LT(entrants[0].measurement.median, entrants[6].measurement.median);
  EXPECT_LE(entrants[3].measurement.low, entrants[3].measurement.median);
  EXPECT_GE(entrants[3].measurement.confidence, 0.9);
}

// The first is fast until the final begins: then the second, left out as too slow, has the lower median.
TEST_F(RaceTest, whoLooksFasterThanTheWinnerIsTimedBesideIt) {
  char flag[] = "/tmp/nuscope-race-XXXXXX";
  close(mkstemp(flag));
  const std::string tires = fmt::format(
      "static int many = 0; const char* name = \"{}\"; if (access(name, F_OK) != 0) many = 90000;"
      "for (volatile int i = 0; i < many; i = i + 1) {{}}",
      flag);
  std::vector<Entrant> entrants{entrant(tires, 1), entrant(slow, 2)};
  for (Entrant& e : entrants) {
    e.text = "#include <unistd.h>\n" + e.text;
    e.record.kernel = textHash(e.text);
  }
  onTrial = [&] {
    int timed = 0;
    for (const Entrant& e : entrants) timed += e.measurement.samples.empty() ? 0 : 1;
    if (timed == 2 && entrants[0].rung == 1) unlink(flag);
  };
  RaceOptions options;
  options.batch = 2;
  const RaceResult result = race(entrants, options);
  EXPECT_NE(access(flag, F_OK), 0) << "the race was over before the final";
  EXPECT_EQ(result.best, 1);
  EXPECT_LT(entrants[1].measurement.median, entrants[0].measurement.median);
  unlink(flag);
}

TEST_F(RaceTest, plantedFaultsCostOneCandidateEach) {
  std::vector<Entrant> entrants;
  for (int i = 0; i < 9; ++i) entrants.push_back(entrant(fmt::format("y[0] += 0 * {};", i), i + 1, i));
  const RaceResult result = race(entrants, {}, "simulated:crash@2,hang@4,wrong@6,die@8");
  int measured = 0;
  std::map<CandidateState, int> states;
  for (const Entrant& e : entrants) {
    ++states[e.record.state];
    measured += e.record.state == CandidateState::measured ? 1 : 0;
  }
  EXPECT_EQ(measured, 5);
  EXPECT_EQ(states[CandidateState::crashed], 2);
  EXPECT_EQ(states[CandidateState::timedOut], 1);
  EXPECT_EQ(states[CandidateState::wrong], 1);
  ASSERT_GE(result.best, 0);
  EXPECT_EQ(entrants[static_cast<std::size_t>(result.best)].record.state, CandidateState::measured);
}

TEST_F(RaceTest, theSameSeedGivesTheSameOrderAndChoice) {
  std::vector<std::vector<int>> orders;
  std::vector<int> winners;
  for (int round = 0; round < 2; ++round) {
    std::vector<Entrant> entrants;
    for (int i = 0; i < 24; ++i)
      entrants.push_back(entrant(fmt::format("y[0] += 0 * {};", i), 1 + (i * 7) % 5, i));
    study = Study::temporary();
    revision = 0;
    trials.clear();
    RaceOptions options;
    options.candidateBudget = 16;
    const RaceResult result = race(entrants, options, "simulated");
    EXPECT_EQ(result.tried, 16);
    orders.push_back(trials);
    winners.push_back(result.best);
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_EQ(winners[0], winners[1]);
}

TEST_F(RaceTest, measurementsAreReusedAndTheWinnerIsCheckedAnew) {
  std::vector<Entrant> first{entrant(slow, 1), entrant("", 2), entrant("y[3] += 0.01f;", 3)};
  race(first, {});
  std::vector<Entrant> second{entrant(slow, 1), entrant("", 2), entrant("y[3] += 0.01f;", 3),
                              entrant(slower, 4)};
  const RaceResult result = race(second, {});
  EXPECT_EQ(result.reused, 3);
  EXPECT_EQ(result.best, 1);
  EXPECT_EQ(second[2].record.state, CandidateState::wrong);
  // A study that lies: it says that the wrong kernel passed and is fast. The final finds out.
  Measurement lie = second[2].measurement;
  lie.gate.passed = true;
  lie.samples = {1e-9, 1e-9, 1e-9};
  lie.median = lie.low = lie.high = 1e-9;
  study->putMeasurement(lie);
  std::vector<Entrant> third{entrant(slow, 1), entrant("", 2), entrant("y[3] += 0.01f;", 3)};
  EXPECT_EQ(race(third, {}).best, 1);
  EXPECT_EQ(third[2].record.state, CandidateState::wrong);
}

TEST_F(RaceTest, baselinesAreTimedBesideTheWinnerAlsoWhenReused) {
  const auto makeBaselines = [&] {
    baselines = {entrant(slow, 0), entrant(slower, 0), entrant("y[3] += 0.01f;", 0)};
    for (Entrant& baseline : baselines) baseline.record.kind = CandidateKind::baseline;
  };
  makeBaselines();
  std::vector<Entrant> first{entrant("y[0] += 0;", 1)};
  race(first, {});
  // An earlier run on a machine that was busy: its figures must not reach a ratio.
  Measurement old = baselines[0].measurement;
  const double honest = old.median;
  for (double& sample : old.samples) sample *= 100;
  old.median *= 100;
  study->putMeasurement(old);
  makeBaselines();
  std::vector<Entrant> second{entrant("y[0] += 0;", 1)};
  const RaceResult result = race(second, {});
  ASSERT_EQ(result.best, 0);
  EXPECT_GT(baselines[0].overBest, 1);
  EXPECT_GT(baselines[1].overBest, baselines[0].overBest);
  EXPECT_LT(baselines[0].measurement.median, 20 * honest);
  EXPECT_EQ(baselines[2].record.state, CandidateState::wrong);
  EXPECT_EQ(baselines[2].overBest, 0);
  EXPECT_EQ(study->candidate(baselines[0].record.id)->measurement, baselines[0].measurement.id);
}

TEST_F(RaceTest, whoIsNotNearTheTopPassesTheFirstDrawsAndTheWinnerAll) {
  std::vector<Entrant> entrants{entrant("", 1), entrant(slower, 2)};
  RaceOptions options;
  options.finalists = 1;
  const RaceResult result = race(entrants, options);
  ASSERT_EQ(result.best, 0);
  EXPECT_EQ(entrants[0].measurement.gate.draws.size(), 6U);
  EXPECT_EQ(study->measurement(entrants[0].measurement.id)->gate.draws.size(), 6U);
  EXPECT_EQ(entrants[1].measurement.gate.draws.size(), 2U);
  EXPECT_NE(entrants[1].measurement.gate.text.find("2 of 6 draws"), std::string::npos)
      << entrants[1].measurement.gate.text;
  EXPECT_TRUE(entrants[1].measurement.gate.passed);
}

/// Takes `microseconds` times a factor that swings between 0.7 and 1.3 every two seconds: a machine that
/// drifts.
std::string drifting(double microseconds) {
  return fmt::format(
      "timespec now; clock_gettime(CLOCK_MONOTONIC, &now); const double start = now.tv_sec + 1e-9 * "
      "now.tv_nsec;"
      "const double end = start + 1e-6 * {} * (1 + 0.3 * std::sin(3.14159265 * std::fmod(start, 2.0)));"
      "while (now.tv_sec + 1e-9 * now.tv_nsec < end) clock_gettime(CLOCK_MONOTONIC, &now);",
      microseconds);
}

/// Takes so long by the clock, however busy the processor is.
std::string lasting(double microseconds) {
  return fmt::format(
      "timespec now; clock_gettime(CLOCK_MONOTONIC, &now); const double end = now.tv_sec + 1e-9 * "
      "now.tv_nsec + 1e-6 "
      "* {}; while (now.tv_sec + 1e-9 * now.tv_nsec < end) clock_gettime(CLOCK_MONOTONIC, &now);",
      microseconds);
}

Entrant withClock(Entrant entrant) {
  entrant.text = "#include <ctime>\n#include <cmath>\n" + entrant.text;
  entrant.record.kernel = textHash(entrant.text);
  return entrant;
}

TEST_F(RaceTest, onAMachineThatDriftsTheFastestWinsAndScoresAreOfOneScale) {
  const auto drift = [&](double microseconds, double modelled, std::int64_t tile) {
    return withClock(entrant(drifting(microseconds), modelled, tile));
  };
  baselines = {drift(200, 0, 0)};
  baselines[0].record.kind = CandidateKind::baseline;
  std::vector<Entrant> entrants;
  std::vector<double> honest;
  constexpr int many = 14;
  for (int i = 0; i < many; ++i) {
    honest.push_back(160 + 8.0 * ((i * 5) % many));  // the fastest is the first: the model puts it last
    entrants.push_back(drift(honest.back(), many - i, i));
  }
  const RaceResult result = race(entrants, {});
  EXPECT_EQ(result.best, 0);
  EXPECT_NEAR(baselines[0].overBest, 200.0 / 160, 0.05);
  std::vector<double> scores;
  std::vector<double> medians;
  for (const Entrant& e : entrants) {
    ASSERT_EQ(e.record.state, CandidateState::measured) << e.record.reason;
    scores.push_back(e.score);
    medians.push_back(e.measurement.median);
  }
  const double byScore = rankCorrelation(scores, honest);
  std::printf("rank correlation with the truth: scores %.3f, medians %.3f\n", byScore,
              rankCorrelation(medians, honest));
  EXPECT_GT(byScore, 0.98);
}

TEST_F(RaceTest, theFinalDropsWhoIsClearlyBehindAndNamesTies) {
  std::vector<Entrant> entrants;
  for (int i = 0; i < 8; ++i) {
    const double microseconds = i < 2 ? 200 : 220;  // a tenth more: near enough for the final
    entrants.push_back(
        withClock(entrant(fmt::format("y[0] += 0 * {}; ", i) + lasting(microseconds), i + 1, i)));
  }
  const RaceResult result = race(entrants, {});
  ASSERT_GE(result.best, 0);
  EXPECT_LT(result.best, 2);
  for (const int tie : result.ties) EXPECT_LT(tie, 2);
  for (const Entrant& e : entrants) EXPECT_EQ(e.rung, 2) << "not in the final";
}

TEST_F(RaceTest, theBatchesFitTheBudget) {
  std::vector<Entrant> entrants;
  for (int i = 0; i < 200; ++i)
    entrants.push_back(entrant(fmt::format("y[0] += 0 * {}; {}", i, slow), 1 + i, i));
  RaceOptions options;
  options.secondsBudget = 5;
  options.start = std::chrono::steady_clock::now();
  const RaceResult result = race(entrants, options);
  const double taken =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - options.start).count();
  std::printf("%d candidates tried in %.1f s of %.0f\n", result.tried, taken, options.secondsBudget);
  EXPECT_TRUE(result.cutByTime);
  EXPECT_GE(result.best, 0);
  EXPECT_GE(result.tried, 8);
  EXPECT_LT(taken, 1.1 * options.secondsBudget);
}

}  // namespace
}  // namespace nuscope::sweep
