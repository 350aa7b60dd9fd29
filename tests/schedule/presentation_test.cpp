// What the window shows of a schedule: runs in rounds, outline, rules, charts, differences, rewritten files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/schedule/chart.h"
#include "core/schedule/diff.h"
#include "core/schedule/explain.h"
#include "core/schedule/outline.h"
#include "core/schedule/read.h"
#include "core/schedule/repair.h"
#include "core/schedule/rewrite.h"
#include "core/schedule/rounds.h"
#include "core/schedule/rules.h"
#include "tests/need_cases.h"

namespace nuscope::schedule {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  std::string name, text;
  Schedule schedule;
  Report report;
  std::shared_ptr<const Model> model;
};

/// Every well-formed case.
const std::vector<Loaded>& cases() {
  static const std::vector<Loaded> all = [] {
    std::vector<Loaded> list;
    for (const auto& entry : fs::directory_iterator(fs::path(NUSCOPE_SHARED_DIR) / "cases/schedules")) {
      Loaded c;
      c.name = entry.path().filename().string();
      if (!fs::exists(entry.path() / "schedule.json")) continue;
      c.text = readWholeFile(entry.path() / "schedule.json");
      ReadResult read = readSchedule(c.text);
      if (!read.schedule || !read.faults.empty()) continue;
      c.schedule = std::move(*read.schedule);
      c.report = check(c.schedule, {}, Progress{});
      if (c.report.verdict == Safety::malformed) continue;
      c.model = std::make_shared<const Model>(modelOf(c.schedule, Ids(c.schedule)));
      list.push_back(std::move(c));
    }
    std::ranges::sort(list, {}, &Loaded::name);
    return list;
  }();
  return all;
}

/// A run obeys the schedule: every task that completes could start at its step.
void expectObeys(const Rounds& run, const std::string& name) {
  for (std::int32_t step = 0; step < run.steps(); ++step) {
    const std::int32_t task = run.taskOf(step);
    ASSERT_EQ(run.stepOf(task), step) << name;
    ASSERT_FALSE(run.doneAt(task, step)) << name;
    ASSERT_TRUE(run.doneAt(task, step + 1)) << name;
    ASSERT_TRUE(run.unmetAt(task, step).empty()) << name << ": step " << step;
  }
}

TEST(Rounds, EveryStepIsOneThatTheScheduleAllows) {
  NEED_CASES();
  ASSERT_GT(cases().size(), 150U);
  int faults = 0;
  for (const Loaded& c : cases()) {
    const Rounds whole(c.model);
    expectObeys(whole, c.name);
    const Closure all = closure(*c.model);
    EXPECT_EQ(static_cast<std::size_t>(whole.steps()), all.order.size()) << c.name;
    EXPECT_EQ(whole.end() == Rounds::End::complete, all.order.size() == c.schedule.tasks.size()) << c.name;
    for (std::int32_t counter = 0; counter < c.model->counters; ++counter)
      EXPECT_EQ(whole.counterAt(counter, whole.steps()), all.counters[static_cast<std::size_t>(counter)])
          << c.name;
    for (std::int32_t t = 0; t < c.model->tasks; ++t) {
      if (whole.stepOf(t) >= 0) continue;
      EXPECT_FALSE(whole.unmetAt(t, whole.steps()).empty()) << c.name;
    }
    for (const Finding& found : c.report.findings) {
      const Finding finding = withRun(c.schedule, found);
      const Rounds run(c.model, finding);
      expectObeys(run, c.name);
      if (run.end() != Rounds::End::fault) continue;
      ++faults;
      for (const std::int32_t t : run.faults()) {
        EXPECT_FALSE(run.doneAt(t, run.steps())) << c.name;
        EXPECT_TRUE(run.unmetAt(t, run.steps()).empty()) << c.name << ": " << finding.message;
      }
    }
  }
  EXPECT_GT(faults, 20);
}

TEST(Outline, LabelsSayLayerOperatorAndTile) {
  const auto expect = [](std::string_view label, std::string_view layer, std::string_view op,
                         std::string_view tile) {
    const LabelParts parts = partsOf(label);
    EXPECT_EQ(parts.layer, layer) << label;
    EXPECT_EQ(parts.op, op) << label;
    EXPECT_EQ(parts.tile, tile) << label;
  };
  expect("L3.q_proj[t12]", "L3", "q_proj", "t12");
  expect("embed", "", "embed", "");
  expect("lm_head[t0]", "", "lm_head", "t0");
  expect("L0.rope_q.reshape", "L0", "rope_q.reshape", "");
  expect("L12.attention.s3", "L12", "attention", "s3");
  expect("layers.7.attn.q", "layers.7", "attn.q", "");
  expect("", "", "", "");
}

TEST(Outline, EveryTaskIsInOneGroupAndGraphsStayWithinTheirSize) {
  NEED_CASES();
  for (const Loaded& c : cases()) {
    const Outline outline(c.schedule);
    std::vector<int> seen(c.schedule.tasks.size(), 0);
    for (const auto& group : outline.groups()) {
      for (const std::int32_t t : group.tasks) ++seen[static_cast<std::size_t>(t)];
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; })) << c.name;
    std::set<std::int32_t> everything;
    for (std::size_t g = 0; g < outline.groups().size(); ++g) everything.insert(static_cast<std::int32_t>(g));
    const TaskGraph closed = graphOf(outline, *c.model, {}, 2000);
    const TaskGraph open = graphOf(outline, *c.model, everything, 2000);
    const auto tasks = std::ranges::count(open.nodes, TaskGraph::Kind::task, &TaskGraph::Node::kind);
    EXPECT_EQ(static_cast<std::size_t>(tasks), c.schedule.tasks.size()) << c.name;
    EXPECT_LE(closed.nodes.size(), open.nodes.size()) << c.name;
    const TaskGraph few = graphOf(outline, *c.model, everything, 6);
    // What stands at the top is always shown; counters come on top of the boxes.
    const std::size_t top = std::max<std::size_t>(6, outline.groups()[0].groups.size());
    EXPECT_LE(few.nodes.size(), top + c.schedule.counters.size()) << c.name;
    for (const auto& graph : {closed, open, few}) {
      for (const auto& edge : graph.edges) {
        EXPECT_NE(edge.from, edge.to) << c.name;
        EXPECT_LT(static_cast<std::size_t>(edge.from), graph.nodes.size()) << c.name;
        EXPECT_LT(static_cast<std::size_t>(edge.to), graph.nodes.size()) << c.name;
      }
    }
  }
}

TEST(Outline, AWaitCycleIsDrawnInItsOrder) {
  NEED_CASES();
  for (const Loaded& c : cases()) {
    for (const Finding& f : c.report.findings) {
      if (f.cycle.size() < 2) continue;
      const TaskGraph graph = graphAround(*c.model, f, 24);
      ASSERT_EQ(graph.nodes.size(), f.cycle.size()) << c.name;
      ASSERT_EQ(graph.edges.size(), f.cycle.size()) << c.name;
      for (std::size_t i = 0; i < f.cycle.size(); ++i) {
        EXPECT_EQ(graph.nodes[i].index, f.cycle[i]);
        EXPECT_EQ(graph.edges[i].from, static_cast<std::int32_t>(i));
        EXPECT_EQ(graph.edges[i].to, static_cast<std::int32_t>((i + 1) % f.cycle.size()));
      }
    }
  }
}

TEST(Rules, RowsAgreeWithTheVerdictAndEveryFindingIsExplained) {
  NEED_CASES();
  for (const Loaded& c : cases()) {
    bool broken = false;
    for (const RuleVerdict& row : ruleVerdicts(c.schedule, c.report)) {
      broken = broken || row.state == RuleVerdict::State::broken;
      EXPECT_FALSE(row.what.empty()) << c.name << ": " << row.name;
    }
    EXPECT_EQ(broken, c.report.verdict == Safety::unsafe) << c.name;
    const std::string line = headline(c.schedule, c.report);
    EXPECT_TRUE(line.starts_with(c.report.verdict == Safety::unsafe ? "Unsafe: " : "Safe: ")) << line;
    const Footprints touched = footprints(c.schedule, Ids(c.schedule));
    for (const Finding& f : c.report.findings) {
      const auto sentences = explain(c.schedule, *c.model, touched.touches, withRun(c.schedule, f));
      ASSERT_FALSE(sentences.empty()) << c.name;
      for (const Sentence& s : sentences) {
        EXPECT_TRUE(s.rest.ends_with('.')) << c.name << ": " << s.lead << s.rest;
        EXPECT_EQ(s.rest.find(".."), std::string::npos) << s.rest;
      }
      EXPECT_FALSE(brief(c.schedule, f).empty()) << c.name;
    }
  }
}

TEST(Charts, BarsOfAQueueFollowEachOther) {
  NEED_CASES();
  for (const Loaded& c : cases()) {
    const Chart chart = queueChart(Rounds(c.model));
    std::size_t bars = 0;
    for (const ChartRow& row : chart.rows) {
      bars += row.bars.size();
      for (std::size_t i = 1; i < row.bars.size(); ++i)
        EXPECT_LE(row.bars[i - 1].end, row.bars[i].begin) << c.name;
    }
    EXPECT_EQ(bars, c.schedule.tasks.size()) << c.name;
  }
}

TEST(Differences, OfAScheduleAndItselfThereAreNone) {
  NEED_CASES();
  for (const Loaded& c : cases()) {
    const Difference none = differenceOf(c.schedule, c.schedule);
    EXPECT_TRUE(none.changes.empty()) << c.name;
    EXPECT_FALSE(none.recordsDiffer) << c.name;
    EXPECT_EQ(none.same, static_cast<std::int64_t>(c.schedule.tasks.size())) << c.name;
  }
}

TEST(Differences, NameWhatARepairChanges) {
  NEED_CASES();
  int compared = 0;
  for (const Loaded& c : cases()) {
    if (c.report.verdict != Safety::unsafe) continue;
    for (const FindingGroup& group : groups(c.schedule, c.report)) {
      for (const Repair& repair : repairs(c.schedule, c.report, group, {}, Progress{})) {
        const Schedule after = applyEdits(c.schedule, repair.edits);
        const Difference difference = differenceOf(c.schedule, after);
        EXPECT_TRUE(!difference.changes.empty() || difference.recordsDiffer) << c.name << ": " << repair.text;
        EXPECT_LE(difference.changes.size(), 3 * repair.edits.size() + 1) << c.name << ": " << repair.text;
        // The file changes where the schedule does, and reads as the repaired schedule.
        const std::string text = rewrite(c.text, c.schedule, after);
        const ReadResult read = readSchedule(text);
        ASSERT_TRUE(read.schedule.has_value()) << c.name;
        const Difference left = differenceOf(after, *read.schedule);
        EXPECT_TRUE(left.changes.empty() && !left.recordsDiffer) << c.name << ": " << repair.text;
        if (!difference.recordsDiffer) {
          EXPECT_TRUE(text.starts_with(c.text.substr(0, c.schedule.tasks.front().place.begin))) << c.name;
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(Rewrite, AnUnchangedScheduleKeepsItsText) {
  NEED_CASES();
  for (const Loaded& c : cases()) EXPECT_EQ(rewrite(c.text, c.schedule, c.schedule), c.text) << c.name;
}

}  // namespace
}  // namespace nuscope::schedule
