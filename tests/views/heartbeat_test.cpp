// Nothing blocks the window: a timer of 5 ms measures the longest stall of its thread while the example is
// explored and while screens, variants and themes change. Runs alone. Target 50 ms; fails at three times
// that.
#include <gtest/gtest.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <algorithm>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/theme.h"
#include "views/window/main_window.h"

namespace {

using namespace nuscope::views;

class Heartbeat {
 public:
  Heartbeat() {
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(5);
    QObject::connect(&timer_, &QTimer::timeout, [this] {
      const qint64 gap = clock_.restart();
      worst_ = std::max(worst_, gap - 5);
    });
  }
  void start() {
    worst_ = 0;
    clock_.start();
    timer_.start();
  }
  qint64 stop() {
    timer_.stop();
    return worst_;
  }

 private:
  QTimer timer_;
  QElapsedTimer clock_;
  qint64 worst_ = 0;
};

TEST(Heartbeat, StaysSteadyWhileExploring) {
  QTemporaryDir folder;
  qputenv("XDG_CACHE_HOME", folder.path().toLocal8Bit());
  ThemeSource theme;
  theme.applyTo(*qApp);
  Selection selection;
  Jobs jobs;
  Document document(jobs, selection);
  Commands commands(theme, nullptr);
  QElapsedTimer start;
  start.start();
  MainWindow window({theme, selection, document, jobs, commands}, Session(false));
  window.resize(1440, 900);
  window.show();
  window.grab();
  std::printf("first window painted after %lld ms\n", static_cast<long long>(start.elapsed()));
  QTest::qWait(200);

  Heartbeat heartbeat;
  heartbeat.start();
  ASSERT_TRUE(window.openExample(QStringLiteral("rmsnorm_matmul")));
  ASSERT_TRUE(QTest::qWaitFor([&] { return document.nuGraph() && window.settled(); }, 120000));
  const qint64 exploring = heartbeat.stop();
  std::printf("longest stall while exploring: %lld ms (%zu variants)\n", static_cast<long long>(exploring),
              document.nuGraph()->variants().size());

  heartbeat.start();
  const int variants = static_cast<int>(document.nuGraph()->variants().size());
  for (int i = 0; i < std::min(variants, 12); ++i) {
    window.selectText(QStringLiteral("variant %1").arg(i));
    QTest::qWait(60);
  }
  const qint64 choosing = heartbeat.stop();
  std::printf("longest stall while choosing variants: %lld ms\n", static_cast<long long>(choosing));
  EXPECT_LT(exploring, 150);
  EXPECT_LT(choosing, 150);
  jobs.stopAll();
}

}  // namespace
