#include "views/schedule/queues_view.h"

#include <QSignalBlocker>
#include <QToolButton>

#include "core/schedule/timing.h"
#include "views/jobs.h"
#include "views/schedule/lane_chart.h"
#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

struct Arranged {
  std::shared_ptr<const schedule::Chart> chart;
  std::shared_ptr<const schedule::Timing> timing;
  QString refusal;
  std::vector<Tint> tints;  ///< per task
};

/// On the schedule's own target, or where it names none, on an H100.
void modelTimes(Arranged& made, const ScheduleState& state, const Progress& progress) {
  const auto analysis = schedule::Analysis::of(state.schedule, progress);
  if (!analysis) {
    made.refusal = qs(analysis.refusal().message);
    return;
  }
  auto target = schedule::timingTarget("file", *state.schedule);
  if (!target) target = schedule::timingTarget("h100", *state.schedule);
  if (!target) {
    made.refusal = qs(target.refusal().message);
    return;
  }
  auto timing = schedule::modelTime(**analysis, *target, progress);
  if (!timing) {
    made.refusal = qs(timing.refusal().message);
    return;
  }
  made.timing = std::make_shared<const schedule::Timing>(std::move(*timing));
}

}  // namespace

QueuesView::QueuesView(const ViewContext& context, QWidget* parent)
    : View(context, "queues", tr("Queues"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      chart_(new LaneChart(context.theme, QStringLiteral("queueChart"))) {
  chart_->setAccessibleName(tr("Queues over rounds"));
  roundsChip_ = addChip(tr("rounds"), true, [this](bool) { setTimed(false); });
  timeChip_ = addChip(tr("time, modelled"), false, [this](bool) { setTimed(true); });
  timeChip_->setObjectName(QStringLiteral("timeChip"));
  LaneChart::Source source;
  source.look = [this](const schedule::Bar& bar) { return look(bar.item); };
  source.label = [this](const schedule::Bar& bar) { return label(bar.item); };
  source.tip = [this](const schedule::Bar& bar) -> QString {
    if (!state_ || !run_) return {};
    const QString when =
        shownTimed_ ? tr("\nmodelled: %1 to %2").arg(duration(bar.begin), duration(bar.end)) : QString();
    return state_->taskName(bar.item) + when + QLatin1Char('\n') +
           opName(state_->schedule->tasks[static_cast<std::size_t>(bar.item)]) + QStringLiteral(", ") +
           queueText(*state_, bar.item) + QLatin1Char('\n') +
           taskStateText(*state_, *run_, bar.item, schedule_.step());
  };
  source.axis = [this](double value) {
    return shownTimed_ ? duration(value) : grouped(static_cast<qint64>(value));
  };
  chart_->setSource(std::move(source));
  addHeaderButton(QStringLiteral("fit"), tr("Fit to window (F)"), [this] { fit(); });
  setContent(chart_);
  connect(chart_, &LaneChart::chosen, this, [this](int task) { schedule_.selectTask(task); });
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::stepChanged,
                            &ScheduleDocument::selectionChanged, &ScheduleDocument::differenceChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
}

void QueuesView::setTimed(bool timed) {
  timed_ = timed;
  const QSignalBlocker r(roundsChip_), t(timeChip_);
  roundsChip_->setChecked(!timed);
  timeChip_->setChecked(timed);
  run_.reset();
  markStale();
}

bool QueuesView::showPage(const QString& name) {
  const bool second = name == QLatin1String("time");
  if (!second && name != QLatin1String("rounds")) return false;
  setTimed(second);
  return true;
}

void QueuesView::refresh() {
  const auto state = schedule_.shown();
  const auto run = schedule_.run();
  if (!state || !run || &run->model() != state->model.get()) {
    if (!state) {
      state_.reset();
      run_.reset();
      chart_->setChart(nullptr);
      setSubtitle(schedule_.state() ? tr("once the file is well formed") : QString());
    }
    return;
  }
  if (state == state_ && run == run_) {
    shownTimed_ ? restateTimed() : restate();
    return;
  }
  const auto known = timingState_ == state ? timing_ : nullptr;
  context().jobs.run(
      this, {.title = tr("Arrange queues"), .lane = QStringLiteral("schedule.queues"), .quiet = !timed_},
      [state, run, timed = timed_, known](JobHandle& job) {
        Arranged made;
        made.timing = known;
        if (timed && !known) modelTimes(made, *state, job.progress());
        made.chart = std::make_shared<const schedule::Chart>(
            timed && made.timing ? schedule::queueChart(*run, {made.timing->start, made.timing->finish})
                                 : schedule::queueChart(*run));
        for (const schedule::Task& task : state->schedule->tasks) made.tints.push_back(tintOf(task.op));
        return made;
      },
      [this, state, run](Arranged made) {
        state_ = state;
        run_ = run;
        shownTimed_ = made.chart->modelled;
        if (timed_) {
          timing_ = std::move(made.timing);
          timingState_ = state;
          timingRefusal_ = made.refusal;
        }
        tints_ = std::move(made.tints);
        chart_->setWholeTicks(!shownTimed_);
        chart_->setChart(std::move(made.chart));
        shownTimed_ ? restateTimed() : restate();
      });
}

/// Of the step shown; bars are painted anew only if something of it is new.
void QueuesView::setLooks(std::map<int, Mark> changed, std::set<int> faults) {
  if (step_ == schedule_.step() && changed == changed_ && faults == faults_) return;
  step_ = schedule_.step();
  changed_ = std::move(changed);
  faults_ = std::move(faults);
  chart_->repaintBars();
}

void QueuesView::restateTimed() {
  setLooks(changedTasks(schedule_), {});
  chart_->setLine(-1, {}, false);
  chart_->setSelected(schedule_.place().task);
  if (schedule_.place().task >= 0) chart_->reveal(schedule_.place().task);
  chart_->setMarked({timing_->criticalPath.begin(), timing_->criticalPath.end()});
  double busy = 0;
  for (const auto& queue : timing_->queues) busy += queue.busy;
  const double whole = timing_->makespan * static_cast<double>(timing_->queues.size());
  setSubtitle(tr("modelled on %1: %2, floor %3, busy %4 %; critical path outlined")
                  .arg(qs(timing_->target.name), duration(timing_->makespan), duration(timing_->floor))
                  .arg(whole > 0 ? std::lround(100 * busy / whole) : 0));
}

void QueuesView::restate() {
  setLooks(changedTasks(schedule_), {run_->faults().begin(), run_->faults().end()});
  const int step = schedule_.step();
  const bool last = step >= run_->steps();
  round_ = last ? run_->rounds() : run_->roundOf(run_->taskOf(step));
  using End = schedule::Rounds::End;
  const bool fault = step >= run_->faultStep() && !run_->faults().empty();
  QString words;
  if (last && run_->end() == End::frozen) {
    words = tr("frozen: nothing can start");
  } else if (last && run_->end() == End::fault) {
    words = run_->faults().size() > 1 ? tr("here both can run at once") : tr("here it can start");
  } else if (!last && fault) {
    words = tr("here");
  }
  chart_->setLine(round_, words, fault || (last && run_->end() == End::frozen));
  const SchedulePlace& place = schedule_.place();
  chart_->setSelected(place.task);
  std::set<int> marked;
  if (place.counter >= 0) {
    const auto i = static_cast<std::size_t>(place.counter);
    marked.insert(state_->model->producers[i].begin(), state_->model->producers[i].end());
    marked.insert(state_->model->waiters[i].begin(), state_->model->waiters[i].end());
  }
  chart_->setMarked(std::move(marked));
  if (place.task >= 0) chart_->reveal(place.task);
  const auto count = static_cast<qint64>(state_->model->queues.size());
  const QString queues = count == 0 ? tr("tasks in no queue") : counted(count, tr("queue"), tr("queues"));
  setSubtitle(timed_ && !timingRefusal_.isEmpty() ? tr("no modelled time: %1").arg(timingRefusal_)
              : faults_.empty()                   ? tr("%1, by round").arg(queues)
                                : tr("%1, by round, those of the finding first").arg(queues));
}

BarLook QueuesView::look(int task) const {
  BarLook made;
  if (!state_ || !run_ || task >= state_->model->tasks) return made;
  const int step = schedule_.step();
  made.tint = tints_[static_cast<std::size_t>(task)];
  const auto changed = changed_.find(task);
  if (changed != changed_.end()) made.badge = changed->second;
  if (shownTimed_ || run_->doneAt(task, step)) return made;
  if (step >= run_->faultStep() && faults_.count(task) > 0) {
    made.state = BarLook::State::fault;
  } else if (run_->stepOf(task) < 0) {
    made.state =
        run_->end() == schedule::Rounds::End::fault ? BarLook::State::unused : BarLook::State::waiting;
  } else {
    // Rounds before this one are over, so that all of this one can start.
    made.state = run_->roundOf(task) == round_ ? BarLook::State::ready : BarLook::State::waiting;
  }
  return made;
}

QString QueuesView::label(int task) const {
  if (!state_ || !run_) return {};
  const QString name = state_->taskName(task);
  const int step = schedule_.step();
  if (shownTimed_ || step < run_->steps() || run_->doneAt(task, step)) return name;
  const auto unmet = run_->unmetAt(task, step);
  if (unmet.empty() || unmet.front().counter < 0) return name;
  return tr("%1 needs %2").arg(name, unmetText(*state_, unmet.front(), task));
}

void QueuesView::fit() {
  chart_->fit();
}

QWidget* QueuesView::focusTarget() const {
  return chart_;
}

QSizeF QueuesView::exportSize() const {
  return chart_->pictureSize();
}

void QueuesView::paintExport(QPainter& painter) const {
  chart_->paintPicture(painter);
}

QString QueuesView::csv() const {
  const schedule::Chart* chart = chart_->chart();
  if (chart == nullptr || !state_) return {};
  QString out = QStringLiteral("queue,task,label,begin,end\n");
  for (const auto& row : chart->rows) {
    for (const auto& bar : row.bars) {
      const bool placed = run_->stepOf(bar.item) >= 0;
      out += QStringLiteral("%1,%2,%3,%4,%5\n")
                 .arg(csvField(qs(row.name)))
                 .arg(state_->schedule->tasks[static_cast<std::size_t>(bar.item)].id)
                 .arg(csvField(state_->taskName(bar.item)), placed ? QString::number(bar.begin) : QString(),
                      placed ? QString::number(bar.end) : QString());
    }
  }
  return out;
}

QString QueuesView::summary() const {
  if (!run_) return {};
  return tr("step %1 of %2").arg(schedule_.step()).arg(run_->steps());
}

}  // namespace nuscope::views

#include "moc_queues_view.cpp"
