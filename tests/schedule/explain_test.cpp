// Explanations: orders, runs step by step, users of regions, waits nobody needs, time, unrolling,
// AutoMegaKernel's verdict.
#include "core/schedule/explain.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/schedule/amk_verdict.h"
#include "core/schedule/export.h"
#include "core/schedule/lower.h"
#include "core/schedule/named_region.h"
#include "core/schedule/order.h"
#include "core/schedule/run.h"
#include "core/schedule/transform.h"
#include "tests/schedule/cases.h"
#include "tests/schedule/models.h"

namespace nuscope::schedule {
namespace {

using Steps = Run;  // testing::Test has a Run of its own

std::shared_ptr<const Analysis> analysisOf(Schedule s) {
  return *Analysis::of(std::make_shared<const Schedule>(std::move(s)), Progress());
}

Schedule toySchedule(std::int64_t sms = 4) {
  LowerOptions options;
  options.sms = sms;
  options.position = 3;
  return *lower(testing::toy(1), options);
}

TEST(Explain, EveryPairOfTheCorpusIsOrderedByAChainOrByTwoRuns) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  std::int64_t chains = 0;
  std::int64_t runs = 0;
  for (const auto& c : all) {
    const ReadResult read = readSchedule(c.text);
    if (!read.schedule || !read.faults.empty() || read.schedule->tasks.size() > 12) continue;
    const auto made = Analysis::of(std::make_shared<const Schedule>(*read.schedule), Progress());
    if (!made || !(*made)->live()) continue;
    const Analysis& a = **made;
    for (std::int32_t u = 0; u < a.model().tasks; ++u) {
      for (std::int32_t v = 0; v < a.model().tasks; ++v) {
        if (u == v) continue;
        const OrderExplanation why = explainOrder(a, u, v);
        if (why.kind == OrderExplanation::Kind::unordered) {
          ++runs;
          const auto one = Steps::of(a.schedule(), why.firstThenSecond, {v});
          const auto other = Steps::of(a.schedule(), why.secondThenFirst, {u});
          ASSERT_TRUE(one && other) << c.name << " " << u << " " << v;
          EXPECT_TRUE(std::ranges::find(why.firstThenSecond, u) != why.firstThenSecond.end());
          EXPECT_TRUE(std::ranges::find(why.firstThenSecond, v) == why.firstThenSecond.end());
        } else {
          ++chains;
          const bool forward = why.kind == OrderExplanation::Kind::firstBeforeSecond;
          ASSERT_FALSE(why.chain.empty()) << c.name << " " << u << " " << v;
          EXPECT_EQ(why.chain.front().from, forward ? u : v);
          EXPECT_EQ(why.chain.back().to, forward ? v : u);
          for (std::size_t i = 1; i < why.chain.size(); ++i)
            EXPECT_EQ(why.chain[i - 1].to, why.chain[i].from);
        }
      }
    }
  }
  printf("%lld ordered pairs with a chain, %lld unordered ones with a run each way\n",
         static_cast<long long>(chains), static_cast<long long>(runs));
}

TEST(Explain, FindingsOfTheCorpusAreReplayedForwardAndBack) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  int replayed = 0;
  for (const auto& c : all) {
    const ReadResult read = readSchedule(c.text);
    if (!read.schedule || !read.faults.empty()) continue;
    const Report report = check(*read.schedule, {}, Progress());
    for (const Finding& f : report.findings) {
      auto run = Steps::of(*read.schedule, f);
      if (f.rule == Rule::outOfBounds || f.rule == Rule::readOnlyWrite) {
        EXPECT_FALSE(run);
      }
      if (!run) continue;
      ++replayed;
      Steps steps = *run;
      steps.seek(steps.size());
      if (f.rule == Rule::deadlock) {
        EXPECT_TRUE(steps.running().empty());
        for (const std::int32_t t : f.stuck) EXPECT_FALSE(steps.unmet(t).empty()) << c.name;
        if (!f.cycle.empty()) {
          EXPECT_EQ(cycleSentences(*read.schedule, f).size(), f.cycle.size());
        }
      } else {
        EXPECT_EQ(steps.state(f.task), TaskState::running) << c.name;
      }
      if (f.rule == Rule::race) {
        EXPECT_EQ(steps.running().size(), 2U) << c.name;
        EXPECT_FALSE(collision(*read.schedule, f).ranges.empty()) << c.name;
      }
      for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_FALSE(steps.text(i).empty());
      steps.seek(0);
      for (const std::int64_t value : steps.counters()) EXPECT_EQ(value, 0);
    }
  }
  printf("%d findings replayed\n", replayed);
}

/// Length of the shortest cycle of waiting tasks, by brute force; 0: there is none.
std::size_t shortestCycle(const Model& m, const Closure& end) {
  const auto waitsFor = [&](std::size_t t, std::size_t on) {
    if (end.completed[t] != 0 || end.completed[on] != 0) return false;
    if (m.before[t] == static_cast<std::int32_t>(on)) return true;
    return std::ranges::any_of(m.needs[t], [&](const Model::Need& need) {
      return end.counters[static_cast<std::size_t>(need.counter)] < need.threshold &&
             std::ranges::count(m.raises[on], need.counter) > 0;
    });
  };
  const auto n = static_cast<std::size_t>(m.tasks);
  std::size_t best = 0;
  for (std::size_t start = 0; start < n; ++start) {
    std::vector<std::size_t> distance(n, 0);
    std::vector<std::size_t> open{start};
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (std::size_t to = 0; to < n; ++to) {
        if (distance[to] != 0 || !waitsFor(open[i], to)) continue;
        distance[to] = (open[i] == start ? 0 : distance[open[i]]) + 1;
        open.push_back(to);
      }
    }
    if (distance[start] != 0 && (best == 0 || distance[start] < best)) best = distance[start];
  }
  return best;
}

TEST(Explain, TheWaitCycleIsAShortestOne) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  int cycles = 0;
  for (const auto& c : all) {
    const ReadResult read = readSchedule(c.text);
    if (!read.schedule || c.meta["expect"] == "malformed") continue;
    const Model m = modelOf(*read.schedule, Ids(*read.schedule));
    const Closure end = closure(m);
    if (end.order.size() == read.schedule->tasks.size()) continue;
    EXPECT_EQ(waitCycle(m, end).size(), shortestCycle(m, end)) << c.name;
    ++cycles;
  }
  EXPECT_GE(cycles, 21);
}

/// 60,000 tasks wait for one counter, and 60,000 others, each behind one of them in its queue, raise it.
TEST(Explain, TheWaitCycleOfAWideDeadlockIsFoundAtOnce) {
  Schedule s;
  s.format = Format::nuscope;
  s.counters.resize(2);
  s.counters[1].id = 1;
  constexpr std::int64_t each = 60'000;
  for (std::int64_t t = 0; t < 2 * each; ++t) {
    Task task;
    task.id = t;
    task.sm = t % each;
    task.signals = {t < each ? 1 : 0};
    if (t < each) task.waits = {{0, each}};
    s.tasks.push_back(std::move(task));
  }
  const auto start = std::chrono::steady_clock::now();
  const Model m = modelOf(s, Ids(s));
  const auto cycle = waitCycle(m, closure(m));
  EXPECT_EQ(cycle.size(), 2U);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
}

TEST(Explain, WaitsThatNobodyNeeds) {
  const Schedule s = toySchedule();
  const auto a = analysisOf(s);
  Schedule more = s;
  // A wait that the queue or another wait implies, put into a safe schedule, is found again.
  const std::size_t last = more.tasks.size() - 1;
  more.tasks[last].waits.push_back({more.tasks[0].signals[0], 1});
  const WaitNotes notes = waitNotes(*analysisOf(more), 5, Progress());
  const bool found = std::ranges::any_of(notes.notes, [&](const WaitNote& n) {
    return n.kind == WaitNote::Kind::redundant && n.task == static_cast<std::int32_t>(last) &&
           n.wait == more.tasks[last].waits.size() - 1;
  });
  EXPECT_TRUE(found);
  std::vector<WaitNote> redundant;
  for (const WaitNote& n : notes.notes) {
    if (n.kind == WaitNote::Kind::redundant) redundant.push_back(n);
    if (n.kind == WaitNote::Kind::unneeded) {
      EXPECT_EQ(check(withoutWaits(more, {n}), {}, Progress()).verdict, Safety::safe) << n.text;
    }
  }
  EXPECT_EQ(check(withoutWaits(more, redundant), {}, Progress()).verdict, Safety::safe);
}

TEST(Explain, RedundantWaitsOfTheCorpusChangeNoOrder) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  int dropped = 0;
  for (const auto& c : all) {
    if (c.meta["expect"] != "safe") continue;
    const ReadResult read = readSchedule(c.text);
    const auto a = analysisOf(*read.schedule);
    const WaitNotes notes = waitNotes(*a, 0, Progress());
    std::vector<WaitNote> redundant;
    for (const WaitNote& n : notes.notes) {
      if (n.kind == WaitNote::Kind::redundant) redundant.push_back(n);
    }
    dropped += static_cast<int>(redundant.size());
    const auto b = analysisOf(withoutWaits(*read.schedule, redundant));
    ASSERT_TRUE(b->live()) << c.name;
    for (std::int32_t u = 0; u < a->model().tasks; ++u) {
      for (std::int32_t v = 0; v < a->model().tasks; ++v)
        ASSERT_EQ(a->clocks()->happensBefore(u, v), b->clocks()->happensBefore(u, v)) << c.name;
    }
  }
  printf("%d redundant waits dropped\n", dropped);
}

TEST(Explain, UsesOfARegion) {
  const auto a = analysisOf(toySchedule());
  std::int32_t h0 = 0;
  while (a->schedule().buffers[static_cast<std::size_t>(h0)].name != "h0") ++h0;
  const auto uses = usesOf(*a, h0, {});
  ASSERT_GE(uses.size(), 3U);
  EXPECT_TRUE(uses[0].write);
  for (const RegionUse& use : uses) EXPECT_EQ(use.unordered, -1);
  EXPECT_TRUE(usesOf(*a, h0, Region{{{0, 1}, {0, 1}}}).size() == uses.size());
  EXPECT_EQ(usesOf(*a, h0, {}, 1).size(), 1U);

  // Regions as people write them.
  const Schedule& s = a->schedule();
  const auto named = parseRegion(s, " h0[0, :7] ");
  ASSERT_TRUE(named) << named.refusal().message;
  EXPECT_EQ(named->buffer, h0);
  EXPECT_EQ(text(s, *named), "h0[0:1, 0:7]");
  EXPECT_EQ(text(s, *parseRegion(s, std::to_string(s.buffers[static_cast<std::size_t>(h0)].id))), "h0");
  for (const char* wrong : {"", "nothing", "h0[", "h0[]", "h0[0]", "h0[0, 1, 2]", "h0[0, 5:5]", "h0[0, -1:2]",
                            "h0[0, 0:99999]", "h0[0, x]"})
    EXPECT_FALSE(parseRegion(s, wrong)) << wrong;
}

TEST(Timing, FollowsTheTarget) {
  const auto a = analysisOf(toySchedule());
  double last = 0;
  for (const char* name : {"b200", "h100", "l4"}) {
    const auto target = timingTarget(name, a->schedule());
    ASSERT_TRUE(target);
    const auto timing = modelTime(*a, *target, Progress());
    ASSERT_TRUE(timing) << timing.refusal().message;
    EXPECT_GE(timing->makespan, timing->floor);
    EXPECT_GE(timing->makespan, last);
    last = timing->makespan;
    EXPECT_GT(timing->floorBytes, 0);
    for (const QueueTime& q : timing->queues)
      EXPECT_NEAR(q.busy + q.waiting + q.idle, timing->makespan, 1e-12);
    // The critical path starts at 0, ends with the run, and each of its tasks starts after the one before.
    EXPECT_EQ(timing->start[static_cast<std::size_t>(timing->criticalPath[0])], 0);
    EXPECT_EQ(timing->finish[static_cast<std::size_t>(timing->criticalPath.back())], timing->makespan);
    for (std::size_t i = 1; i < timing->criticalPath.size(); ++i)
      EXPECT_GE(timing->start[static_cast<std::size_t>(timing->criticalPath[i])],
                timing->finish[static_cast<std::size_t>(timing->criticalPath[i - 1])]);
    // No task starts before what it waits for has completed.
    for (std::int32_t t = 0; t < a->model().tasks; ++t) {
      for (std::int32_t u = 0; u < a->model().tasks; ++u) {
        if (a->clocks()->happensBefore(u, t)) {
          EXPECT_GE(timing->start[static_cast<std::size_t>(t)], timing->finish[static_cast<std::size_t>(u)]);
        }
      }
    }
    const std::string trace = chromeTrace(a->schedule(), *timing);
    EXPECT_EQ(nlohmann::json::parse(trace)["traceEvents"].size(), a->schedule().tasks.size() + 1 + 4);
  }
  EXPECT_FALSE(timingTarget("z80", a->schedule()));
  EXPECT_FALSE(timingTarget("file", a->schedule()));
  TimingTarget small = *timingTarget("l4", a->schedule());
  small.sms = 3;
  EXPECT_EQ(modelTime(*a, small, Progress()).refusal().message,
            "the schedule has 4 queues, and l4 has 3 SMs");
}

TEST(Export, DotSaysWhatItCut) {
  const Schedule s = toySchedule();
  EXPECT_NE(dotText(s).find("subgraph cluster_0"), std::string::npos);
  const std::string small = dotText(s, 10);
  EXPECT_NE(small.find("shown by kind"), std::string::npos);
  EXPECT_NE(small.find("L#.q_proj[t#] x 2"), std::string::npos) << small;
}

TEST(Amk, VerdictMatchesEveryCase) {
  const auto all = testing::cases();
  if (all.empty()) GTEST_SKIP() << "no cases beside the project";
  int judged = 0;
  int differ = 0;
  for (const auto& c : all) {
    if (!c.meta.contains("amk_accepts")) continue;
    const ReadResult read = readSchedule(c.text);
    const AmkVerdict theirs = amkVerdict(read);
    ++judged;
    EXPECT_EQ(theirs.accepts, c.meta["amk_accepts"].get<bool>())
        << c.name << ": " << (theirs.reasons.empty() ? "" : theirs.reasons[0].text);
    EXPECT_EQ(theirs.raises, c.meta.value("amk_raises", "")) << c.name;
    Report ours;
    if (read.schedule && read.faults.empty()) ours = check(*read.schedule, {}, Progress());
    const bool safe = c.meta["expect"] == "safe";
    const auto why = whyDifferent(read, theirs, ours);
    EXPECT_EQ(why.empty(), safe == theirs.accepts) << c.name;
    differ += why.empty() ? 0 : 1;
  }
  printf("%d verdicts of theirs, %d differ from ours, each with a reason\n", judged, differ);
}

TEST(Transform, LoaderOrderAndPasses) {
  const auto all = testing::cases();
  for (const auto& c : all) {
    if (c.name.starts_with("blind-06")) {  // a queue deadlock that their loader would sort away
      const ReadResult read = readSchedule(c.text);
      EXPECT_EQ(check(sortedAsLoaded(*read.schedule), {}, Progress()).verdict, Safety::safe);
    }
  }
  const Schedule s = toySchedule();
  const auto twice = unroll(s, 3, CounterReset::reset);
  ASSERT_TRUE(twice) << twice.refusal().message;
  EXPECT_EQ(twice->tasks.size(), 3 * s.tasks.size());
  EXPECT_EQ(check(*twice, {}, Progress()).verdict, Safety::safe);
  EXPECT_EQ(check(*unroll(s, 2, CounterReset::kept), {}, Progress()).verdict, Safety::unsafe);
  EXPECT_FALSE(unroll(s, 65, CounterReset::reset));
  EXPECT_FALSE(unroll(s, 0, CounterReset::reset));
}

}  // namespace
}  // namespace nuscope::schedule
