#pragma once
// The one contract for background work. A job gets an immutable snapshot (what its function captures by
// value), runs on a thread of the pool, and speaks to the window's thread only through the calls below.
//
//   jobs.run(owner, {.title = "Explore", .lane = "explore"},
//            [program](JobHandle& job) { return explore(program, options, job.progress(), ...); },   // pool
//            thread [this](auto graph) { ... }); // window's thread
//
// * States: running -> finished | failed (an exception: its message is fit for people) | cancelled.
// * Lanes: at most one job per non-empty lane is current. Starting another cancels the one before it, and
// whatever the
//   old one still delivers is dropped. An empty lane: jobs of their own.
// * Cancel: `cancel()` requests the stop token of `progress()`; from that moment nothing of the job is
// delivered, except
//   the signals of its end. Work must return within a second.
// * A dead owner drops results as well.
// * Worker threads run at nice 10, so that the window stays fluid on few cores.
#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "core/base/progress.h"

namespace nuscope::views {

struct JobSpec {
  QString title{};     ///< "Explore rmsnorm_matmul.py"
  QString lane{};      ///< "parse", "explore", "sweep", "layout:variants"...
  bool quiet = false;  ///< not listed: parsing, layouts
};

namespace detail {
struct JobState;
}

/// What the work sees. Valid while the work runs; usable from any thread the work starts and joins.
class JobHandle {
 public:
  explicit JobHandle(std::shared_ptr<detail::JobState> state);
  [[nodiscard]] const Progress& progress() const { return progress_; }
  [[nodiscard]] bool cancelled() const { return progress_.cancelled(); }
  /// Runs `deliver` in the window's thread, unless the job is stale by then. At most ten times a second: of
  /// several calls in between only the last one is delivered, so deliver whole snapshots. The last one always
  /// arrives, before the result.
  void publish(std::function<void()> deliver) const;
  /// Runs every `deliver` in order; for events that must not be lost. Batched ten times a second.
  void post(std::function<void()> deliver) const;

 private:
  std::shared_ptr<detail::JobState> state_;
  Progress progress_;
};

/// A job as the window sees it. Lives in the window's thread; owned by Jobs, deleted some time after its end.
class Job : public QObject {
  Q_OBJECT
 public:
  enum class State { running, finished, failed, cancelled };
  [[nodiscard]] State state() const { return phase_; }
  [[nodiscard]] bool running() const { return phase_ == State::running; }
  [[nodiscard]] const JobSpec& spec() const { return spec_; }
  [[nodiscard]] double fraction() const { return fraction_; }  ///< negative: unknown
  [[nodiscard]] const QString& message() const { return message_; }
  [[nodiscard]] double seconds() const;
  [[nodiscard]] bool cancelRequested() const { return cancelRequested_; }
  void cancel();

 Q_SIGNALS:
  void progressed(double fraction, const QString& message);  ///< at most ten times a second
  void finished();                                           ///< after the result was delivered
  void failed(const QString& message);
  void cancelled();
  void ended();  ///< after any of the three

 private:
  friend class Jobs;
  Job(JobSpec spec, std::shared_ptr<detail::JobState> state, QObject* parent);
  JobSpec spec_;
  std::shared_ptr<detail::JobState> state_;
  State phase_ = State::running;
  double fraction_ = -1;
  QString message_;
  bool cancelRequested_ = false;
  QElapsedTimer clock_;
  double seconds_ = 0;
};

/// Starts jobs and lists them. Lives in the window's thread. The destructor cancels all and waits for them.
class Jobs : public QObject {
  Q_OBJECT
 public:
  explicit Jobs(QObject* parent = nullptr);
  ~Jobs() override;

  /// `work`: R(JobHandle&) in a pool thread; `done`: void(R) (or void() if R is void) in the window's thread.
  template <class Work, class Done>
  Job* run(QObject* owner, JobSpec spec, Work work, Done done);

  /// Running jobs that are not quiet, oldest first.
  [[nodiscard]] std::vector<Job*> listed() const;
  /// No job is running, quiet ones included.
  [[nodiscard]] bool idle() const { return jobs_.empty(); }
  /// The current job of a lane, or null.
  [[nodiscard]] Job* current(const QString& lane) const;
  void cancel(const QString& lane);
  void cancelAll();
  /// Cancels all and waits for them; for ends of windows and tests.
  void stopAll();

 Q_SIGNALS:
  void started(nuscope::views::Job* job);
  void progressed(nuscope::views::Job* job);
  void ended(nuscope::views::Job* job);
  /// A job that is not quiet failed; for the status bar and the jobs panel.
  void failed(const QString& title, const QString& message);

 private:
  using Deliver = std::function<void()>;  ///< run in the window's thread
  using Run = std::function<Deliver(JobHandle&)>;
  Job* start(QObject* owner, JobSpec spec, Run run);
  void pump();
  void end(Job* job);

  QThreadPool pool_;
  QTimer timer_;
  std::vector<Job*> jobs_;
};

template <class Work, class Done>
Job* Jobs::run(QObject* owner, JobSpec spec, Work work, Done done) {
  using R = std::invoke_result_t<Work&, JobHandle&>;
  return start(owner, std::move(spec),
               [work = std::move(work), done = std::move(done)](JobHandle& handle) mutable -> Deliver {
                 if constexpr (std::is_void_v<R>) {
                   work(handle);
                   return [done = std::move(done)]() mutable { done(); };
                 } else {
                   auto result = std::make_shared<R>(work(handle));
                   return [done = std::move(done), result]() mutable { done(std::move(*result)); };
                 }
               });
}

}  // namespace nuscope::views
