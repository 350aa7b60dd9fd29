// The main of all view tests: no display needed, C locale, quiet platform, and a home of its own, so that
// nothing that was cached or set before changes a test.
#include <gtest/gtest.h>

#include <QApplication>
#include <QEvent>
#include <QLocale>
#include <QMetaEnum>
#include <QTemporaryDir>
#include <cstdio>
#include <ctime>

namespace {

/// With NUSCOPE_SLOW_EVENTS=MS in the environment, names every event that took longer than MS milliseconds of
/// the processor: where to look when the heartbeat stalls.
class TestApplication : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    if (limit_ <= 0) return QApplication::notify(receiver, event);
    const char* name = receiver->metaObject()->className();
    const auto type = event->type();
    const double start = processorSeconds();
    const bool taken = QApplication::notify(receiver, event);
    const double ms = (processorSeconds() - start) * 1e3;
    if (ms >= limit_)
      std::printf("%6.1f ms %s %s\n", ms, name, QMetaEnum::fromType<QEvent::Type>().valueToKey(type));
    return taken;
  }

 private:
  /// Of this thread: what other processes take does not count.
  static double processorSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  int limit_ = qEnvironmentVariableIntValue("NUSCOPE_SLOW_EVENTS");
};

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_LOGGING_RULES", "qt.qpa.*=false");
  const QTemporaryDir home;
  for (const char* name : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
    qputenv(name, home.path().toUtf8());
  QLocale::setDefault(QLocale::c());
  ::testing::InitGoogleTest(&argc, argv);
  const TestApplication application(argc, argv);
  QApplication::setStyle(QStringLiteral("Fusion"));
  return RUN_ALL_TESTS();
}
