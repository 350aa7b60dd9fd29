// The shell without a window: commands, selection, jobs, layouts, what graphs show, models as text.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QThread>
#include <QWheelEvent>
#include <map>
#include <set>

#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/graph/graph_index.h"
#include "views/graph/graph_widget.h"
#include "views/graph/layered_layout.h"
#include "views/graph/layout_text.h"
#include "views/jobs.h"
#include "views/marks.h"
#include "views/selection.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/derivation.h"
#include "views/variants/variant_content.h"

namespace {

using namespace nuscope;
using namespace nuscope::views;

// Commands

TEST(Commands, IdsAndKeysAreUniqueAndIconsExist) {
  ThemeSource theme;
  Commands commands(theme, nullptr);
  std::set<std::string> ids;
  std::map<QString, std::string> keys;
  for (const CommandSpec& spec : commandTable()) {
    EXPECT_TRUE(ids.insert(spec.id).second) << spec.id;
    EXPECT_NE(std::string(spec.help), "") << spec.id;
    for (const QKeySequence& key : commands.action(spec.id)->shortcuts()) {
      EXPECT_FALSE(key.isEmpty()) << spec.id;
      const auto [other, fresh] = keys.emplace(key.toString(), spec.id);
      EXPECT_TRUE(fresh) << key.toString().toStdString() << " of " << spec.id << " is taken by "
                         << other->second;
    }
    EXPECT_FALSE(commands.action(spec.id)->isEnabled()) << "nobody said what it does";
  }
  EXPECT_THROW((void)commands.action("no.such"), InternalError);
}

TEST(Text, GroupsDigitsByThinSpaces) {
  EXPECT_EQ(grouped(1024), QStringLiteral("1\u2009024"));
  EXPECT_EQ(grouped(-12), QStringLiteral("\u221212"));
  EXPECT_EQ(number(0.003162), QStringLiteral("0.003\u2009162"));
  EXPECT_EQ(number(15.1), QStringLiteral("15.1"));
  EXPECT_EQ(duration(1.8), QStringLiteral("1.8 s"));
  EXPECT_EQ(duration(0.012), QStringLiteral("12 ms"));
  EXPECT_EQ(duration(125), QStringLiteral("2 min 5 s"));
}

TEST(Text, FuzzyMatchesPreferWordStartsAndRuns) {
  EXPECT_LT(fuzzyScore(QStringLiteral("xyz"), QStringLiteral("Save as")), 0);
  EXPECT_GT(fuzzyScore(QStringLiteral("exp"), QStringLiteral("Explore")),
            fuzzyScore(QStringLiteral("exp"), QStringLiteral("next page")));
  std::vector<int> hits;
  EXPECT_GT(fuzzyScore(QStringLiteral("sa"), QStringLiteral("Show all variants"), &hits), 0);
  EXPECT_EQ(hits, (std::vector<int>{0, 5}));
}

// Selection

TEST(Selection, WalksBackAndForwardThroughPlaces) {
  Selection s;
  QSignalSpy changed(&s, &Selection::changed);
  s.selectVariant(3);
  s.selectStep(7, 5);
  s.selectRefused(2, 5);
  EXPECT_EQ(changed.count(), 3);
  EXPECT_EQ(s.place().variant, 5);
  EXPECT_EQ(s.place().refused, 2);
  EXPECT_EQ(s.place().step, -1);
  s.back();
  EXPECT_EQ(s.place().step, 7);
  s.back();
  EXPECT_EQ(s.place().variant, 3);
  EXPECT_TRUE(s.canGoForward());
  s.selectCandidate(11, 4);
  EXPECT_FALSE(s.canGoForward());
  EXPECT_EQ(s.place().variant, 4);
  s.reset();
  EXPECT_FALSE(s.canGoBack());
  EXPECT_EQ(s.place(), Place{});
}

// Jobs

TEST(Jobs, DeliverTheResultInTheWindowsThread) {
  Jobs jobs;
  int result = 0;
  QThread* where = nullptr;
  Job* job = jobs.run(
      &jobs, {.title = QStringLiteral("add"), .lane = QStringLiteral("a")}, [](JobHandle&) { return 42; },
      [&](int r) {
        result = r;
        where = QThread::currentThread();
      });
  QSignalSpy ended(job, &Job::ended);
  ASSERT_TRUE(ended.wait(5000));
  EXPECT_EQ(result, 42);
  EXPECT_EQ(where, QThread::currentThread());
}

TEST(Jobs, StaleResultsAreDroppedAndOldJobsStopped) {
  Jobs jobs;
  std::vector<int> delivered;
  const auto slow = [](JobHandle& job) {
    while (true) {
      job.progress().check();
      QThread::msleep(5);
    }
    return 1;
  };
  jobs.run(&jobs, {.title = QStringLiteral("old"), .lane = QStringLiteral("lane")}, slow,
           [&](int r) { delivered.push_back(r); });
  jobs.run(
      &jobs, {.title = QStringLiteral("new"), .lane = QStringLiteral("lane")}, [](JobHandle&) { return 2; },
      [&](int r) { delivered.push_back(r); });
  ASSERT_TRUE(QTest::qWaitFor([&] { return jobs.idle(); }, 5000));
  EXPECT_EQ(delivered, std::vector<int>{2});
}

TEST(Jobs, CancelEndsWithinASecond) {
  Jobs jobs;
  Job* job = jobs.run(
      &jobs, {.title = QStringLiteral("long"), .lane = QString()},
      [](JobHandle& handle) {
        while (true) {
          handle.progress().check();
          QThread::msleep(10);
        }
      },
      [] { FAIL() << "cancelled work delivers nothing"; });
  QTest::qWait(20);
  QElapsedTimer clock;
  clock.start();
  QSignalSpy cancelled(job, &Job::cancelled);
  job->cancel();
  ASSERT_TRUE(cancelled.wait(2000));
  std::printf("cancel took %lld ms\n", static_cast<long long>(clock.elapsed()));
  EXPECT_LT(clock.elapsed(), 1000);
}

TEST(Jobs, FailuresTellTheirReason) {
  Jobs jobs;
  QSignalSpy failed(&jobs, &Jobs::failed);
  jobs.run(
      &jobs, {.title = QStringLiteral("fails"), .lane = QString()},
      [](JobHandle&) -> int { throw UserError("no such file"); }, [](int) {});
  ASSERT_TRUE(failed.wait(5000));
  EXPECT_EQ(failed[0][1].toString(), QStringLiteral("no such file"));
}

TEST(Jobs, PublishedSnapshotsAreMergedButTheLastOneArrives) {
  Jobs jobs;
  int deliveries = 0;
  int last = 0;
  jobs.run(
      &jobs, {.title = QStringLiteral("partial"), .lane = QString()},
      [&](JobHandle& job) {
        for (int i = 1; i <= 200; ++i) {
          job.publish([&, i] {
            ++deliveries;
            last = i;
          });
          QThread::msleep(1);
        }
      },
      [&] { EXPECT_EQ(last, 200); });
  ASSERT_TRUE(QTest::qWaitFor([&] { return jobs.idle(); }, 10000));
  EXPECT_EQ(last, 200);
  EXPECT_LT(deliveries, 60);
}

TEST(Jobs, ADeadOwnerGetsNothing) {
  Jobs jobs;
  auto owner = std::make_unique<QObject>();
  bool delivered = false;
  jobs.run(
      owner.get(), {.title = QStringLiteral("orphan"), .lane = QString()},
      [](JobHandle&) { QThread::msleep(30); }, [&] { delivered = true; });
  owner.reset();
  ASSERT_TRUE(QTest::qWaitFor([&] { return jobs.idle(); }, 5000));
  EXPECT_FALSE(delivered);
}

// Layouts

/// Layered, wide random graph, deterministic.
LayoutInput randomGraph(int boxes, int perRank, unsigned seed) {
  LayoutInput input;
  unsigned state = seed;
  const auto next = [&] { return state = state * 1664525U + 1013904223U; };
  for (int i = 0; i < boxes; ++i) {
    input.boxes.emplace_back(100 + next() % 80, 40 + next() % 20);
    const int rank = i / perRank;
    if (rank == 0) continue;
    for (int k = 0; k < 2; ++k) {
      const int back = next() % 8 == 0 ? 1 + static_cast<int>(next() % 6) : 1;
      const int from =
          std::max(0, (rank - back) * perRank + static_cast<int>(next() % static_cast<unsigned>(perRank)));
      if (from < i) input.edges.push_back({from, i, 0, 0});
    }
  }
  return input;
}

void expectGoodLayout(const LayoutInput& input, const GraphLayout& layout) {
  ASSERT_EQ(layout.boxes.size(), input.boxes.size());
  ASSERT_EQ(layout.edges.size(), input.edges.size());
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    EXPECT_NEAR(layout.boxes[i].width(), input.boxes[i].width(), 0.01);
    for (std::size_t k = i + 1; k < layout.boxes.size() && layout.boxes.size() < 500; ++k) {
      const QRectF common = layout.boxes[i].intersected(layout.boxes[k]);
      EXPECT_TRUE(common.width() < 0.5 || common.height() < 0.5)
          << "boxes " << i << " and " << k << " overlap";
    }
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const auto from = static_cast<std::size_t>(input.edges[e].from);
    const auto to = static_cast<std::size_t>(input.edges[e].to);
    if (from == to) continue;
    ASSERT_GE(layout.edges[e].size(), 4U);
    EXPECT_EQ(layout.edges[e].size() % 3, 1U);
    EXPECT_TRUE(layout.boxes[from].adjusted(-3, -3, 3, 3).contains(layout.edges[e].front()));
    EXPECT_TRUE(layout.boxes[to].adjusted(-3, -3, 3, 3).contains(layout.edges[e].back()));
    if (input.leftToRight) {
      EXPECT_LT(layout.boxes[from].right(), layout.boxes[to].left() + 1);
    } else {
      EXPECT_LT(layout.boxes[from].bottom(), layout.boxes[to].top() + 1);
    }
  }
}

TEST(LayeredLayout, PlacesWithoutOverlapsInRanks) {
  for (const bool leftToRight : {false, true}) {
    LayoutInput input = randomGraph(120, 8, 7);
    input.leftToRight = leftToRight;
    input.edges[3].labelWidth = 60;
    input.edges[3].labelHeight = 20;
    expectGoodLayout(input, layeredLayout(input));
  }
}

TEST(LayeredLayout, BreaksCyclesAndTakesEmptyGraphs) {
  LayoutInput input;
  EXPECT_TRUE(layeredLayout(input).boxes.empty());
  for (int i = 0; i < 3; ++i) input.boxes.emplace_back(50, 30);
  input.edges = {{0, 1, 0, 0}, {1, 2, 0, 0}, {2, 0, 0, 0}, {1, 1, 0, 0}};
  const GraphLayout layout = layeredLayout(input);
  ASSERT_EQ(layout.boxes.size(), 3U);
  EXPECT_LT(layout.boxes[0].bottom(), layout.boxes[1].top());
  EXPECT_EQ(layout.edges[2].front().y() > layout.edges[2].back().y(), true)
      << "the edge that closes the cycle runs back";
}

TEST(LayeredLayout, TwentyThousandBoxesAreFast) {
  const LayoutInput input = randomGraph(20000, 40, 3);
  QElapsedTimer clock;
  clock.start();
  const GraphLayout layout = layeredLayout(input);
  std::printf("20,000 boxes, %zu edges: %lld ms\n", input.edges.size(),
              static_cast<long long>(clock.elapsed()));
  EXPECT_EQ(layout.boxes.size(), 20000U);
  EXPECT_LT(clock.elapsed(), 3000);
  GraphIndex index(layout);
  std::vector<int> boxes;
  std::vector<int> edges;
  index.query(layout.boxes[777], boxes, edges);
  EXPECT_TRUE(std::binary_search(boxes.begin(), boxes.end(), 777));
  EXPECT_LT(boxes.size(), 200U);
}

TEST(LayoutText, RoundTripsAndRefusesNonsense) {
  const LayoutInput input = randomGraph(20, 4, 1);
  const auto back = parseLayoutRequest(layoutRequest(input));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->boxes, input.boxes);
  EXPECT_EQ(back->edges.size(), input.edges.size());
  const GraphLayout layout = layeredLayout(input);
  const auto answer = parseLayoutAnswer(layoutAnswer(layout), input);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->boxes[5].x(), layout.boxes[5].x(), 1e-6);
  for (const char* bad :
       {"", "graph", "graph XX 1 1 end", "graph TB 1 1 node -1 2 end",
        "graph TB 1 1 node 1 1 edge 0 1 0 0 end", "graph TB 1 nan end", "graph TB 1 1 node 1 1"}) {
    EXPECT_FALSE(parseLayoutRequest(bad)) << bad;
  }
  EXPECT_FALSE(parseLayoutAnswer("node 1 2\nend\n", input));
}

TEST(LayoutHelper, DotPlacesInAProcessOfItsOwn) {
  LayoutInput input = randomGraph(40, 5, 9);
  input.leftToRight = true;
  ProcessOptions options;
  options.arguments = {NUSCOPE_BINARY_DIR "/bin/nuscope-layout"};
  const Finished done = runProcess(options, layoutRequest(input), std::chrono::milliseconds(20000));
  ASSERT_TRUE(done.end.success()) << done.errors;
  const auto layout = parseLayoutAnswer(done.output, input);
  ASSERT_TRUE(layout);
  expectGoodLayout(input, *layout);
  EXPECT_EQ(runProcess(options, "graph nonsense", std::chrono::milliseconds(20000)).end.code, 3);
}

// What graphs show

/// (x / r * g) @ w and, moved by hand, ((x * g) @ w) / r, with a step that claims to be proved; built by the
/// checking maker only.
struct SmallGraph {
  tensor::Program program;
  std::shared_ptr<nugraph::NuGraph> graph;
  SmallGraph() {
    auto parsed = language::parse(
        "from __future__ import annotations\nimport numpy as np\n\n"
        "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n"
        "    r = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)\n"
        "    return (x / r * g) @ w\n");
    EXPECT_TRUE(parsed.program) << (parsed.diagnostics.empty() ? "" : parsed.diagnostics[0].message);
    program = *parsed.program;
    graph = std::make_shared<nugraph::NuGraph>(program);
    tensor::NodeStore& store = *program.store;
    const tensor::NodeRef product = program.results[0]->operands[0];  // x / r * g
    const tensor::NodeRef x = product->operands[0]->operands[0];
    const tensor::NodeRef r = product->operands[0]->operands[1];
    const tensor::NodeRef g = product->operands[1];
    const tensor::NodeRef w = program.results[0]->operands[1];
    const auto make = [&](tensor::Op op, std::vector<tensor::NodeRef> operands) {
      return store.make(op, std::move(operands), {}, program.facts).value();
    };
    const tensor::NodeRef moved =
        make(tensor::Op::divide, {make(tensor::Op::matmul, {make(tensor::Op::multiply, {x, g}), w}), r});
    auto proof = std::make_shared<proof::Proof>();
    proof->verdict = proof::Verdict::proved;
    proof->holdsFor = "all K, M, N >= 1";
    nugraph::Step step;
    step.what = "divide moved past matmul";
    step.moved = "divide";
    step.past = "matmul";
    step.proof = proof;
    graph->add(step, {moved}, nugraph::Stage::algebra, "divide last");
  }
};

QString asText(const GraphContent& content) {
  QStringList lines;
  for (const Box& box : content.boxes) {
    QString line = box.sign + QLatin1Char(' ') + box.title + QStringLiteral(" | ") + box.second;
    if (!box.third.isEmpty()) line += QStringLiteral(" | ") + box.third;
    if (box.badge != Mark::none) line += QStringLiteral(" [") + wordOf(box.badge) + QLatin1Char(']');
    if (box.ghost) line += QStringLiteral(" ghost");
    if (box.hidden > 0) line += QStringLiteral(" +%1").arg(box.hidden);
    lines << line;
  }
  for (const Edge& edge : content.edges) {
    lines << content.boxes[static_cast<std::size_t>(edge.from)].title + QStringLiteral(" -> ") +
                 content.boxes[static_cast<std::size_t>(edge.to)].title +
                 (edge.label.isEmpty() ? QString() : QStringLiteral(": ") + edge.label);
  }
  return lines.join(QLatin1Char('\n'));
}

TEST(VariantContent, SaysWhatMovedAndFoldsChainsIntoCards) {
  const SmallGraph small;
  const auto& variants = small.graph->variants();
  const Changes changes = compareVariants(variants[0].results, variants[1].results, "divide");
  EXPECT_EQ(changes.moved, 1) << changes.text().toStdString();
  EXPECT_EQ(changes.of.at(variants[1].results[0]), Change::moved);
  const VariantGraph shown =
      variantGraph(small.program, variants[1].results, variants[0].results, changes, {});
  EXPECT_EQ(asText(shown.content).toStdString(),
            "\u2192 x | f32[M, K]\n"
            "\u2192 g | f32[K]\n"
            "\u2299 multiply | f32[M, K]\n"
            "\u2192 w | f32[K, N]\n"
            "@ matmul | f32[M, N] | over K\n"
            "\u03A3 mean of \u00B7\u00B2 | f32[M, 1] | over K\n"
            "\u2299 sqrt(\u00B7 + 1e-5) | f32[M, 1] | r\n"
            "\u2299 divide | f32[M, N] | result [moved]\n"
            "x -> multiply\ng -> multiply\nmultiply -> matmul\nw -> matmul\nx -> mean of \u00B7\u00B2\n"
            "mean of \u00B7\u00B2 -> sqrt(\u00B7 + 1e-5)\nmatmul -> divide\nsqrt(\u00B7 + 1e-5) -> divide");
  // An absorbed node is found through the card that shows it.
  for (const tensor::NodeRef node : tensor::topological(variants[1].results)) {
    const auto card = shown.cardOf.find(node);
    ASSERT_NE(card, shown.cardOf.end());
    if (node->op != tensor::Op::constant) {
      EXPECT_EQ(shown.nodeOf.count(card->second), 1U) << tensor::describe(node);
    }
  }
  VariantOptions every;
  every.everyOperator = true;
  EXPECT_GT(variantGraph(small.program, variants[1].results, {}, {}, every).content.boxes.size(),
            shown.content.boxes.size());
}

TEST(Derivation, ShowsFewAndCountsTheRest) {
  const SmallGraph small;
  DerivationOptions options;
  Derivation shown = derivation(*small.graph, options);
  EXPECT_EQ(
      asText(shown.content).toStdString(),
      "\u2299 As written | variant 0\n\u2299 Divide last | variant 1\nAs written -> Divide last: divide");
  EXPECT_EQ(shown.total, 2);
  options.childrenShown = 0;
  shown = derivation(*small.graph, options);
  EXPECT_EQ(asText(shown.content).toStdString(), "\u2299 As written | variant 0 +1");
  options.expanded = {0};
  EXPECT_EQ(derivation(*small.graph, options).variants.size(), 2U);
  options.expanded = {};
  options.all = true;
  EXPECT_EQ(derivation(*small.graph, options).variants.size(), 2U);
  options.version = 0;
  EXPECT_EQ(derivation(*small.graph, options).variants.size(), 1U);
}

// Widgets with real events

class GraphWidgetTest : public ::testing::Test {
 protected:
  GraphWidgetTest() : widget(theme, jobs, QStringLiteral("test")) {
    const SmallGraph small;
    GraphContent content = derivation(*small.graph, {}).content;
    widget.resize(700, 300);
    widget.show();
    widget.setContent(content);
    EXPECT_TRUE(QTest::qWaitFor([&] { return widget.settled(); }, 10000));
  }
  ThemeSource theme;
  Jobs jobs;
  GraphWidget widget;
};

TEST_F(GraphWidgetTest, ClicksAndArrowsChooseBoxesAndEdges) {
  QSignalSpy chosen(&widget, &GraphWidget::boxChosen);
  QSignalSpy edge(&widget, &GraphWidget::edgeChosen);
  QTest::mouseClick(&widget, Qt::LeftButton, {}, widget.boxOnScreen(1).center().toPoint());
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toULongLong(), 1U);
  widget.setFocus();
  QTest::keyClick(&widget, Qt::Key_Left);
  ASSERT_EQ(chosen.count(), 2);
  EXPECT_EQ(chosen[1][0].toULongLong(), 0U);
  QTest::keyClick(&widget, Qt::Key_Right);
  EXPECT_EQ(chosen.count(), 3);
  QTest::mouseClick(&widget, Qt::LeftButton, {}, widget.edgeOnScreen(1).toPoint());
  ASSERT_EQ(edge.count(), 1);
  EXPECT_EQ(edge[0][0].toULongLong(), 1U);
}

TEST_F(GraphWidgetTest, DragPansWheelZoomsAndFFits) {
  const QPointF before = widget.boxOnScreen(0).center();
  QTest::mousePress(&widget, Qt::LeftButton, {}, QPoint(350, 280));
  QMouseEvent move(QEvent::MouseMove, QPointF(390, 250), widget.mapToGlobal(QPointF(390, 250)), Qt::NoButton,
                   Qt::LeftButton, {});
  QApplication::sendEvent(&widget, &move);
  QTest::mouseRelease(&widget, Qt::LeftButton, {}, QPoint(390, 250));
  const QPointF after = widget.boxOnScreen(0).center();
  EXPECT_NEAR(after.x() - before.x(), 40, 1);
  EXPECT_NEAR(after.y() - before.y(), -30, 1);
  const double zoom = widget.zoom();
  QWheelEvent wheel(QPointF(100, 100), widget.mapToGlobal(QPointF(100, 100)), QPoint(), QPoint(0, 120),
                    Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&widget, &wheel);
  EXPECT_GT(widget.zoom(), zoom);
  QTest::keyClick(&widget, Qt::Key_F);
  EXPECT_NEAR(widget.zoom(), zoom, 1e-6);
  EXPECT_NEAR(widget.boxOnScreen(0).center().x(), before.x(), 1);
}

TEST_F(GraphWidgetTest, PicturesAreWhatIsOnTheScreen) {
  QImage image(widget.pictureSize().toSize(), QImage::Format_RGB32);
  image.fill(theme.theme().surface);
  QPainter painter(&image);
  widget.paintPicture(painter);
  painter.end();
  std::set<QRgb> colours;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) colours.insert(image.pixel(x, y));
  }
  EXPECT_GT(colours.size(), 8U);
  EXPECT_TRUE(widget.dot().contains(QStringLiteral("n0 -> n1")));
}

// Models

TEST(RowsModel, GrowsAndShowsText) {
  std::vector<QString> names{QStringLiteral("a"), QStringLiteral("b,c")};
  RowsModel model({{QStringLiteral("Name"),
                    {},
                    false,
                    [&](int row, int role) {
                      return role == Qt::DisplayRole ? QVariant(names[static_cast<std::size_t>(row)])
                                                     : QVariant();
                    }},
                   {QStringLiteral("Row"), {}, true, [](int row, int role) {
                      return role == Qt::DisplayRole ? QVariant(QString::number(row)) : QVariant();
                    }}});
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRows(2);
  names.push_back(QStringLiteral("d"));
  model.setRows(3);
  ThemeSource theme;
  TableView table(theme);
  table.setModel(&model);
  EXPECT_EQ(table.csv().toStdString(), "Name,Row\na,0\n\"b,c\",1\nd,2\n");
  EXPECT_EQ(table.plainText(false).toStdString(), "a\t0\nb,c\t1\nd\t2");
  model.resetRows(1);
  EXPECT_EQ(model.rowCount(), 1);
}

TEST(Theme, ColoursAreThoseOfTheLook) {
  const Theme light = makeTheme(false);
  const Theme dark = makeTheme(true);
  EXPECT_EQ(light.proved, QColor(QStringLiteral("#1A7F37")));
  EXPECT_EQ(dark.refuted, QColor(QStringLiteral("#F47067")));
  EXPECT_EQ(light.window, QColor(QStringLiteral("#F6F6F4")));
  EXPECT_EQ(makeTheme(false, 2).row, 48);
  EXPECT_GE(light.small.pointSizeF(), 9);
  EXPECT_GT(dark.viridis(1).lightness(), dark.viridis(0).lightness());
}

}  // namespace
