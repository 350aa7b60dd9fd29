#include "views/jobs.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QMetaObject>
#include <QTimer>
#include <algorithm>

#include "core/base/diagnostics.h"

namespace nuscope::views {

namespace detail {

/// Shared by the pool thread and the window's thread; everything behind one mutex.
struct JobState {
  std::stop_source stop;
  std::mutex mutex;
  std::vector<std::function<void()>> posted;
  std::function<void()> published;
  double fraction = -1;
  std::string message;
  bool progressed = false;
  // Set once, at the end
  bool done = false;
  bool wasCancelled = false;
  std::function<void()> result;
  std::string error;
  bool hasError = false;
  // Window's thread only
  QPointer<QObject> owner;
  bool hasOwner = false;
};

}  // namespace detail

namespace {

void lowerPriorityOfThisThread() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 10);
}

constexpr std::size_t poolStack = std::size_t(64) << 20;  // graphs and formulas are walked recursively

}  // namespace

JobHandle::JobHandle(std::shared_ptr<detail::JobState> state)
    : state_(std::move(state)),
      progress_(state_->stop.get_token(), [s = state_](double fraction, std::string_view message) {
        const std::lock_guard lock(s->mutex);
        s->fraction = fraction;
        s->message.assign(message);
        s->progressed = true;
      }) {}

void JobHandle::publish(std::function<void()> deliver) const {
  const std::lock_guard lock(state_->mutex);
  state_->published = std::move(deliver);
}

void JobHandle::post(std::function<void()> deliver) const {
  const std::lock_guard lock(state_->mutex);
  state_->posted.push_back(std::move(deliver));
}

Job::Job(JobSpec spec, std::shared_ptr<detail::JobState> state, QObject* parent)
    : QObject(parent), spec_(std::move(spec)), state_(std::move(state)) {
  clock_.start();
}

double Job::seconds() const {
  return running() ? static_cast<double>(clock_.elapsed()) / 1000.0 : seconds_;
}

void Job::cancel() {
  if (!running() || cancelRequested_) return;
  cancelRequested_ = true;
  message_ = QStringLiteral("cancelling");
  state_->stop.request_stop();
}

Jobs::Jobs(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(16);  // most jobs wait for children or a lane's successor
  pool_.setStackSize(poolStack);
  timer_.setInterval(100);
  connect(&timer_, &QTimer::timeout, this, &Jobs::pump);
}

Jobs::~Jobs() {
  stopAll();
}

std::vector<Job*> Jobs::listed() const {
  std::vector<Job*> result;
  std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(result),
               [](const Job* job) { return !job->spec().quiet; });
  return result;
}

Job* Jobs::current(const QString& lane) const {
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    if ((*it)->spec().lane == lane && !(*it)->cancelRequested()) return *it;
  }
  return nullptr;
}

void Jobs::cancel(const QString& lane) {
  for (Job* job : jobs_) {
    if (job->spec().lane == lane) job->cancel();
  }
}

void Jobs::cancelAll() {
  for (Job* job : jobs_) job->cancel();
}

void Jobs::stopAll() {
  cancelAll();
  pool_.waitForDone();
}

Job* Jobs::start(QObject* owner, JobSpec spec, Run run) {
  if (!spec.lane.isEmpty()) cancel(spec.lane);
  auto state = std::make_shared<detail::JobState>();
  state->owner = owner;
  state->hasOwner = owner != nullptr;
  auto* job = new Job(std::move(spec), state, this);
  jobs_.push_back(job);
  if (!timer_.isActive()) timer_.start();
  Q_EMIT started(job);
  pool_.start([this, state, run = std::move(run)]() mutable {
    lowerPriorityOfThisThread();
    JobHandle handle(state);
    std::function<void()> result;
    std::string error;
    bool cancelled = false;
    bool hasError = false;
    try {
      handle.progress().check();
      result = run(handle);
    } catch (const Cancelled&) {
      cancelled = true;
    } catch (const InternalError& e) {
      hasError = true;
      error = std::string("A fault of Nuscope itself: ") + e.what();
    } catch (const std::exception& e) {
      hasError = true;
      error = e.what();
    }
    run = nullptr;  // what the work captured goes before its end is told
    {
      const std::lock_guard lock(state->mutex);
      state->result = std::move(result);
      state->error = std::move(error);
      state->hasError = hasError;
      state->wasCancelled = cancelled;
      state->done = true;
    }
    QMetaObject::invokeMethod(this, &Jobs::pump, Qt::QueuedConnection);
  });
  return job;
}

void Jobs::pump() {
  const std::vector<Job*> jobs = jobs_;  // deliveries may start jobs
  bool ended = false;
  for (Job* job : jobs) {
    if (std::find(jobs_.begin(), jobs_.end(), job) == jobs_.end()) continue;
    detail::JobState& state = *job->state_;
    std::vector<std::function<void()>> posted;
    std::function<void()> published;
    bool progressedNow = false;
    bool done = false;
    {
      const std::lock_guard lock(state.mutex);
      posted.swap(state.posted);
      published.swap(state.published);
      progressedNow = std::exchange(state.progressed, false);
      if (progressedNow && !job->cancelRequested_) {
        job->fraction_ = state.fraction;
        job->message_ = QString::fromStdString(state.message);
      }
      done = state.done;
    }
    const auto live = [&] { return !job->cancelRequested_ && (!state.hasOwner || state.owner); };
    for (const auto& deliver : posted) {
      if (live()) deliver();
    }
    if (published && live()) published();
    if (progressedNow && live()) {
      Q_EMIT job->progressed(job->fraction_, job->message_);
      Q_EMIT progressed(job);
    }
    if (!done) continue;
    // One result a turn of the event loop: all that came together would hold up the window together.
    if (ended) {
      QTimer::singleShot(1, this, &Jobs::pump);
      break;
    }
    end(job);
    ended = true;
  }
  if (jobs_.empty()) timer_.stop();
}

void Jobs::end(Job* job) {
  detail::JobState& state = *job->state_;
  job->seconds_ = static_cast<double>(job->clock_.elapsed()) / 1000.0;
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
  const bool live = !job->cancelRequested_ && !state.wasCancelled && (!state.hasOwner || state.owner);
  if (!live) {
    job->phase_ = Job::State::cancelled;
    Q_EMIT job->cancelled();
  } else if (state.hasError) {
    job->phase_ = Job::State::failed;
    job->message_ = QString::fromStdString(state.error);
    Q_EMIT job->failed(job->message_);
    if (!job->spec_.quiet) Q_EMIT failed(job->spec_.title, job->message_);
  } else {
    job->phase_ = Job::State::finished;
    state.result();
    Q_EMIT job->finished();
  }
  state.result = nullptr;
  Q_EMIT job->ended();
  Q_EMIT ended(job);
  job->deleteLater();
}

}  // namespace nuscope::views

#include "moc_jobs.cpp"
