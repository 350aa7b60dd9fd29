// The plots with real events: a click or a key picks the candidate under it; what is exported is what is
// seen.
#include "views/sweep/plot.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QtTest>
#include <cmath>

namespace nuscope::views {
namespace {

PlotStyle style(bool dark) {
  PlotStyle s;
  s.surface = dark ? QColor("#23262A") : QColor("#FFFFFF");
  s.text = dark ? QColor("#E4E6E8") : QColor("#1F2328");
  s.muted = dark ? QColor("#9AA2AB") : QColor("#656D76");
  s.line = dark ? QColor("#3A3E44") : QColor("#D9D9D6");
  s.series = dark ? QColor("#56B4E9") : QColor("#0072B2");
  s.baseline = QColor("#D55E00");
  s.selection = dark ? QColor("#6CB6FF") : QColor("#2F6FDE");
  s.proved = QColor("#1A7F37");
  s.refuted = QColor("#C93C37");
  s.unknown = QColor("#9A6700");
  s.labels = QFont("Inter", 9);
  s.numbers = QFont("JetBrains Mono", 9);
  return s;
}

std::vector<PlotCandidate> candidates() {
  std::vector<PlotCandidate> all;
  for (int i = 0; i < 14; ++i) {
    PlotCandidate c;
    c.id = 100 + i;
    c.label = QString("candidate %1").arg(c.id);
    c.median = 7.84 * std::pow(1.025, i);
    for (int k = 0; k < 31; ++k)
      c.samples.push_back(c.median * (1 + 0.01 * std::sin(k * 1.7) + 0.0005 * (k % 7)));
    c.low = c.median * 0.995;
    c.high = c.median * 1.005;
    c.modelled = c.median * (1 + 0.03 * std::cos(i * 2.1));
    all.push_back(c);
  }
  PlotCandidate wrong;
  wrong.id = 200;
  wrong.state = PlotState::wrong;
  wrong.why = "the gate found an error of 3.1e-2";
  all.push_back(wrong);
  PlotCandidate late;
  late.id = 201;
  late.state = PlotState::timedOut;
  late.why = "no answer in 5 s";
  all.push_back(late);
  return all;
}

void showLatency(LatencyPlot& plot, bool dark) {
  plot.setStyle(style(dark));
  plot.resize(590, 390);
  plot.show(latencyData(candidates(),
                        {{"torch eager", 10.02}, {"OpenBLAS + loops", 15.5}, {"as written, -O3", 41.2}}),
            {{1, 11}, {5, 9.5}, {9, 8.4}, {22, 7.84}}, 37, "this host, 2 threads");
  plot.QWidget::show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&plot));
  QTest::qWait(30);
}

void keepPicture(QCustomPlot& plot, const char* name) {
  const QString folder = qEnvironmentVariable("NUSCOPE_PICTURES");
  if (!folder.isEmpty()) plot.grab().save(folder + "/" + name + ".png");
}

TEST(LatencyPlot, AClickPicksTheCandidateInTheColumn) {
  LatencyPlot plot;
  showLatency(plot, false);
  QSignalSpy picked(&plot, &LatencyPlot::candidatePicked);
  const auto at = plot.positionOf(104);
  ASSERT_TRUE(at.has_value());
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, at->toPoint() + QPoint(4, 30));
  ASSERT_EQ(picked.count(), 1);
  EXPECT_EQ(picked[0][0].toInt(), 104);
  EXPECT_EQ(plot.selected(), 104);
  QTest::qWait(30);
  keepPicture(plot, "latency-light");
}

TEST(LatencyPlot, RejectedCandidatesCanBePickedToo) {
  LatencyPlot plot;
  showLatency(plot, true);
  QSignalSpy picked(&plot, &LatencyPlot::candidatePicked);
  const auto at = plot.positionOf(200);
  ASSERT_TRUE(at.has_value());
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, at->toPoint());
  ASSERT_EQ(picked.count(), 1);
  EXPECT_EQ(picked[0][0].toInt(), 200);
  QTest::qWait(30);
  keepPicture(plot, "latency-dark");
}

TEST(LatencyPlot, ArrowKeysWalkThroughTheColumns) {
  LatencyPlot plot;
  showLatency(plot, false);
  QSignalSpy picked(&plot, &LatencyPlot::candidatePicked);
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Left);
  ASSERT_EQ(picked.count(), 3);
  EXPECT_EQ(picked[0][0].toInt(), 100);
  EXPECT_EQ(picked[1][0].toInt(), 101);
  EXPECT_EQ(picked[2][0].toInt(), 100);
}

TEST(LatencyPlot, WithoutAHistoryTheUpperPlotTakesAllOfTheRoom) {
  LatencyPlot plot;
  showLatency(plot, false);
  QTest::qWait(30);
  const int shared = plot.axisRect(0)->height();
  EXPECT_EQ(plot.axisRectCount(), 2);
  plot.show(latencyData(candidates(), {}), {}, 0, "test");
  QTest::qWait(50);
  EXPECT_EQ(plot.axisRectCount(), 1);
  EXPECT_GT(plot.axisRect(0)->height(), shared + 40);
  EXPECT_GT(plot.axisRect(0)->height(), plot.height() * 0.7);
  plot.show(latencyData(candidates(), {}), {{1, 9}, {4, 8}}, 6, "test");
  QTest::qWait(50);
  EXPECT_EQ(plot.axisRectCount(), 2);
  EXPECT_NEAR(plot.axisRect(0)->height(), shared, 2);
}

TEST(LatencyPlot, SvgHoldsTextAndNoBitmaps) {
  LatencyPlot plot;
  showLatency(plot, false);
  const QByteArray svg = plotSvg(plot, 600, 400);
  EXPECT_TRUE(svg.contains("torch eager 10.0"));
  EXPECT_TRUE(svg.contains("OpenBLAS + loops 15.5"));
  EXPECT_FALSE(svg.contains("<image"));
}

TEST(LatencyPlot, SaysWhatItShowsToAReader) {
  LatencyPlot plot;
  showLatency(plot, false);
  EXPECT_TRUE(plot.accessibleDescription().contains("candidate 100"));
  EXPECT_TRUE(plot.accessibleDescription().contains("torch eager"));
}

TEST(ModelPlot, AClickPicksTheNearestPoint) {
  ModelPlot plot;
  plot.setStyle(style(true));
  plot.resize(590, 390);
  plot.show(candidates());
  plot.QWidget::show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&plot));
  QTest::qWait(30);
  QSignalSpy picked(&plot, &ModelPlot::candidatePicked);
  const auto at = plot.positionOf(107);
  ASSERT_TRUE(at.has_value());
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, at->toPoint());
  ASSERT_EQ(picked.count(), 1);
  EXPECT_EQ(picked[0][0].toInt(), 107);
  QTest::qWait(30);
  keepPicture(plot, "model-dark");
}

TEST(ModelPlot, RankCorrelationIsSpearmans) {
  auto all = candidates();
  EXPECT_GT(rankCorrelation(all).value(), 0.8);
  for (auto& c : all) c.modelled = 100 - c.median;
  EXPECT_NEAR(rankCorrelation(all).value(), -1, 1e-12);
  all.resize(2);
  EXPECT_FALSE(rankCorrelation(all).has_value());
}

}  // namespace
}  // namespace nuscope::views
