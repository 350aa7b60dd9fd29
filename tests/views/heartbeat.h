#pragma once
// The longest stall of the window's thread, by a timer of 5 ms. Time in which the thread was ready and other
// processes had the processor does not count (Linux tells it in schedstat); waiting for a lock or a file
// does.
#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <fstream>

namespace nuscope::tests {

class Heartbeat {
 public:
  Heartbeat() {
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(5);
    QObject::connect(&timer_, &QTimer::timeout, [this] {
      const qint64 gap = clock_.nsecsElapsed();
      clock_.start();
      const qint64 delayed = runDelay();
      const qint64 own = gap - (delayed - delayed_);
      delayed_ = delayed;
      worst_ = std::max(worst_, own / 1000000 - 5);
      worstSeen_ = std::max(worstSeen_, gap / 1000000 - 5);
    });
  }
  void start() {
    worst_ = worstSeen_ = 0;
    delayed_ = runDelay();
    clock_.start();
    timer_.start();
  }
  qint64 stop() {
    timer_.stop();
    return worst_;
  }
  /// With what other processes took.
  [[nodiscard]] qint64 seen() const { return worstSeen_; }

 private:
  /// Nanoseconds that this thread has waited for a processor; 0 where the system does not tell.
  static qint64 runDelay() {
    std::ifstream file("/proc/thread-self/schedstat");
    qint64 ran = 0, waited = 0;
    return file >> ran >> waited ? waited : 0;
  }

  QTimer timer_;
  QElapsedTimer clock_;
  qint64 worst_ = 0, worstSeen_ = 0, delayed_ = 0;
};

}  // namespace nuscope::tests
