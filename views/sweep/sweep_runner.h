#pragma once
// Runs a sweep of the open document as a job and keeps Document::sweep up to date. The only place in the
// views that starts one. At most two snapshots a second: while a sample is timed, the window should not burn
// processor time.
#include <QObject>
#include <memory>

#include "core/sweep/sweep.h"

namespace nuscope::views {

class Document;
class Jobs;

struct SweepSettings {
  double seconds = 60;  ///< budget; 0: none
  int threads = 1;
  bool exhaustive = false;
  std::string python;                         ///< a Python that may have torch; empty: none
  int candidates = 0;                         ///< budget in candidates; 0: none
  std::vector<sweep::ForeignKernel> against;  ///< kernels of the user that race along
};

class SweepRunner : public QObject {
  Q_OBJECT
 public:
  SweepRunner(Document& document, Jobs& jobs, QObject* parent = nullptr);
  /// Why it cannot be started now; empty: it can.
  [[nodiscard]] QString obstacle() const;
  /// Starts (or, with `resume`, continues the latest one of the same settings).
  void start(const SweepSettings& settings, bool resume);
  /// Races a kernel of the user against the best of the latest sweep, which it continues without measuring
  /// further candidates (without one, a sweep of one candidate is made).
  void raceAgainst(sweep::ForeignKernel kernel);
  void cancel();
  [[nodiscard]] bool running() const;

 Q_SIGNALS:
  void started();
  void ended();
  void failed(const QString& message);

 private:
  Document& document_;
  Jobs& jobs_;
};

/// The command that repeats it: "nuscope sweep rmsnorm_matmul.py --shape M=512 --budget 60s --threads 2".
QString sweepCommand(const QString& file, const tensor::Extents& extents, const SweepSettings& settings);

}  // namespace nuscope::views
