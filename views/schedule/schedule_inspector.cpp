#include "views/schedule/schedule_inspector.h"

#include <QPointer>
#include <QScrollBar>
#include <QTextBrowser>
#include <QTextDocument>
#include <algorithm>

#include "core/schedule/explain.h"
#include "core/schedule/order.h"
#include "views/jobs.h"
#include "views/schedule/schedule_words.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {
constexpr std::size_t mostLinks = 24;
constexpr std::size_t mostUses = 200;

/// The analysis of a state, made unless it is known. Null: `words` tell why nothing can be asked of it.
std::shared_ptr<const schedule::Analysis> analysisOf(const ScheduleState& state,
                                                     std::shared_ptr<const schedule::Analysis> known,
                                                     const Progress& progress, QString& words) {
  if (!known) {
    const auto made = schedule::Analysis::of(state.schedule, progress);
    if (!made) {
      words = qs(made.refusal().message).toHtmlEscaped();
      return nullptr;
    }
    known = *made;
  }
  if (!known->live()) words = QObject::tr("told once the schedule cannot deadlock");
  return known;
}

/// "L0.a, L0.b, then L0.c can start": a run in which one comes before the other.
QString runWords(const ScheduleState& state, const std::vector<std::int32_t>& firing, int next) {
  constexpr std::size_t mostNames = 8;
  QStringList names;
  const std::size_t from = firing.size() - std::min(firing.size(), mostNames);
  if (from > 0) names << QObject::tr("%1 others").arg(from);
  for (std::size_t i = from; i < firing.size(); ++i) names << state.taskName(firing[i]);
  return QObject::tr("%1, then %2 can start").arg(names.join(QStringLiteral(", ")), state.taskName(next));
}

}  // namespace

ScheduleInspector::ScheduleInspector(const ViewContext& context, QWidget* parent)
    : View(context, "scheduleInspector", tr("Inspector"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      page_(new QTextBrowser) {
  page_->setOpenLinks(false);
  page_->setFrameShape(QFrame::NoFrame);
  page_->setAccessibleName(tr("About the chosen task, counter or buffer"));
  setContent(page_);
  connect(page_, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
    const QString text = url.toString();
    const int index = text.section(QLatin1Char(':'), 1).toInt();
    if (text.startsWith(QLatin1String("anchor"))) schedule_.setAnchor(index);
    if (text.startsWith(QLatin1String("task"))) schedule_.selectTask(index);
    if (text.startsWith(QLatin1String("counter"))) schedule_.selectCounter(index);
    if (text.startsWith(QLatin1String("buffer"))) schedule_.selectBuffer(index);
    if (text.startsWith(QLatin1String("touch"))) {
      const auto state = schedule_.shown();
      if (!state || index >= static_cast<int>(state->touched.touches.size())) return;
      const schedule::Touch& touch = state->touched.touches[static_cast<std::size_t>(index)];
      schedule_.selectRegion(
          touch.buffer,
          schedule::regionOf(state->schedule->buffers[static_cast<std::size_t>(touch.buffer)], touch.region));
    }
  });
  for (const auto signal :
       {&ScheduleDocument::stateChanged, &ScheduleDocument::selectionChanged, &ScheduleDocument::stepChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
}

QWidget* ScheduleInspector::focusTarget() const {
  return page_;
}

QString ScheduleInspector::plainText() const {
  return page_->toPlainText();
}

QString ScheduleInspector::link(const QString& kind, int index, const QString& text) const {
  return QStringLiteral("<a href=\"%1:%2\" style=\"color:%3;text-decoration:none\">%4</a>")
      .arg(kind)
      .arg(index)
      .arg(theme().selection.name(), text.toHtmlEscaped());
}

QString ScheduleInspector::links(const ScheduleState& state, const std::vector<std::int32_t>& tasks) const {
  QStringList names;
  for (std::size_t i = 0; i < std::min(tasks.size(), mostLinks); ++i)
    names << link(QStringLiteral("task"), tasks[i], state.taskName(tasks[i]));
  if (tasks.size() > mostLinks)
    names << tr("and %1 more").arg(grouped(static_cast<qint64>(tasks.size() - mostLinks)));
  return names.isEmpty() ? tr("nothing") : names.join(QStringLiteral(", "));
}

void ScheduleInspector::row(const QString& name, const QString& html) {
  html_ += QStringLiteral("<tr><td style=\"color:%1;padding-right:12px\">%2</td><td>%3</td></tr>")
               .arg(theme().muted.name(), name.toHtmlEscaped(), html);
}

void ScheduleInspector::task(const ScheduleState& state, int index) {
  const auto i = static_cast<std::size_t>(index);
  const schedule::Task& t = state.schedule->tasks[i];
  setTitle(state.taskName(index));
  row(tr("Task"), tr("id %1, %2").arg(t.id).arg(opName(t).toHtmlEscaped()));
  row(tr("Queue"), queueText(state, index));
  const auto run = schedule_.run();
  const bool current = run && &run->model() == state.model.get();
  if (current) row(tr("At this step"), taskStateText(state, *run, index, schedule_.step()).toHtmlEscaped());
  QStringList waits;
  for (const auto& need : state.model->needs[i]) {
    waits << link(QStringLiteral("counter"), need.counter,
                  tr("counter %1").arg(state.counterId(need.counter))) +
                 QStringLiteral(" \u2265 %1").arg(need.threshold) +
                 (current ? tr(", has %1").arg(run->counterAt(need.counter, schedule_.step())) : QString()) +
                 QStringLiteral("<br><span style=\"color:%1\">%2</span>")
                     .arg(theme().muted.name(),
                          tr("raised by %1")
                              .arg(views::summary(
                                       state, state.model->producers[static_cast<std::size_t>(need.counter)])
                                       .toHtmlEscaped()));
  }
  row(tr("Waits for"), waits.isEmpty() ? tr("nothing") : waits.join(QStringLiteral("<br>")));
  QStringList raises;
  for (const std::int32_t c : state.model->raises[i]) {
    raises << link(QStringLiteral("counter"), c, tr("counter %1").arg(state.counterId(c))) +
                  QStringLiteral("<br><span style=\"color:%1\">%2</span>")
                      .arg(theme().muted.name(),
                           tr("waited for by %1")
                               .arg(views::summary(state, state.model->waiters[static_cast<std::size_t>(c)])
                                        .toHtmlEscaped()));
  }
  row(tr("Raises"), raises.isEmpty() ? tr("nothing") : raises.join(QStringLiteral("<br>")));
  for (const bool write : {false, true}) {
    QStringList touched;
    for (const schedule::Touch& touch : state.touchesOf(index)) {
      if (touch.write != write) continue;
      const auto place = static_cast<int>(&touch - state.touched.touches.data());
      touched << link(QStringLiteral("buffer"), touch.buffer, state.bufferName(touch.buffer)) +
                     QStringLiteral("<br>") +
                     link(
                         QStringLiteral("touch"), place,
                         qs(schedule::regionText(
                             state.schedule->buffers[static_cast<std::size_t>(touch.buffer)], touch.region)));
    }
    if (!touched.isEmpty()) row(write ? tr("Writes") : tr("Reads"), touched.join(QStringLiteral("<br>")));
  }
  QStringList params;
  for (const auto& [name, value] : t.params)
    params << qs(name).toHtmlEscaped() + QStringLiteral(" = ") + qs(value).left(60).toHtmlEscaped();
  if (!params.isEmpty()) row(tr("Parameters"), params.join(QStringLiteral("<br>")));
  order(state, index);
  row(tr("Estimate"), tr("%1 bytes, %2 flops").arg(qs(t.estBytes), qs(t.estFlops)));
  if (t.place.end > 0)
    row(tr("In the file"),
        tr("bytes %1 to %2")
            .arg(grouped(static_cast<qint64>(t.place.begin)), grouped(static_cast<qint64>(t.place.end))));
}

/// Against the task that was picked before: which comes first, by which waits, or that either may.
void ScheduleInspector::order(const ScheduleState& state, int task) {
  const int anchor = schedule_.anchor();
  if (anchor == task) {
    row(tr("Order"), tr("choose another task: which of the two comes first, and why, is told here"));
  } else if (anchor < 0 || anchor >= state.model->tasks) {
    row(tr("Order"), link(QStringLiteral("anchor"), task, tr("against another task\u2026")));
  } else if (ordered_ == std::pair(anchor, task) && analysed_ == schedule_.shown()) {
    row(tr("Order"), orderWords_.join(QStringLiteral("<br>")) + QStringLiteral("<br>") +
                         link(QStringLiteral("anchor"), -1, tr("forget %1").arg(state.taskName(anchor))));
  } else {
    row(tr("Order"), tr("asking\u2026"));
    seekOrder(anchor, task);
  }
}

void ScheduleInspector::seekOrder(int first, int second) {
  struct Answer {
    std::shared_ptr<const schedule::Analysis> analysis;
    QStringList words;
  };
  const auto state = schedule_.shown();
  const auto known = analysed_ == state ? analysis_ : nullptr;
  context().jobs.run(
      this, {.title = tr("Order of two tasks"), .lane = QStringLiteral("schedule.order"), .quiet = true},
      [state, known, first, second](JobHandle& job) {
        Answer answer;
        QString refused;
        answer.analysis = analysisOf(*state, known, job.progress(), refused);
        if (!refused.isEmpty()) {
          answer.words << refused;
          return answer;
        }
        const auto order = schedule::explainOrder(*answer.analysis, first, second);
        using Kind = schedule::OrderExplanation::Kind;
        if (order.kind == Kind::unordered) {
          answer.words << QObject::tr("%1 and this task can run at once: nothing orders them")
                              .arg(state->taskName(first).toHtmlEscaped())
                       << QObject::tr("One way: %1")
                              .arg(runWords(*state, order.firstThenSecond, second).toHtmlEscaped())
                       << QObject::tr("The other: %1")
                              .arg(runWords(*state, order.secondThenFirst, first).toHtmlEscaped());
        } else {
          answer.words << (order.kind == Kind::firstBeforeSecond
                               ? QObject::tr("%1 is over when this task starts:")
                               : QObject::tr("this task is over when %1 starts:"))
                              .arg(state->taskName(first).toHtmlEscaped());
          for (const auto& step : order.chain) answer.words << qs(step.text).toHtmlEscaped();
        }
        return answer;
      },
      [this, state, first, second](Answer answer) {
        analysis_ = std::move(answer.analysis);
        analysed_ = state;
        ordered_ = {first, second};
        orderWords_ = std::move(answer.words);
        markStale();
      });
}

void ScheduleInspector::counter(const ScheduleState& state, int index) {
  const auto i = static_cast<std::size_t>(index);
  const schedule::Counter& c = state.schedule->counters[i];
  const auto& producers = state.model->producers[i];
  setTitle(tr("Counter %1").arg(c.id));
  if (!c.note.empty()) row(tr("Note"), qs(c.note).toHtmlEscaped());
  const auto run = schedule_.run();
  if (run && &run->model() == state.model.get())
    row(tr("At this step"),
        tr("%1 of %2").arg(run->counterAt(index, schedule_.step())).arg(producers.size()));
  row(tr("Raised by"), links(state, producers));
  const auto& waiters = state.model->waiters[i];
  QStringList names;
  for (std::size_t w = 0; w < std::min(waiters.size(), mostLinks); ++w) {
    for (const auto& need : state.model->needs[static_cast<std::size_t>(waiters[w])]) {
      if (need.counter == index)
        names << link(QStringLiteral("task"), waiters[w], state.taskName(waiters[w])) +
                     QStringLiteral(" \u2265 %1").arg(need.threshold);
    }
  }
  if (waiters.size() > mostLinks)
    names << tr("and %1 more").arg(grouped(static_cast<qint64>(waiters.size() - mostLinks)));
  row(tr("Waited for by"), names.isEmpty() ? tr("nothing") : names.join(QStringLiteral("<br>")));
}

void ScheduleInspector::buffer(const ScheduleState& state, int index) {
  const schedule::Buffer& b = state.schedule->buffers[static_cast<std::size_t>(index)];
  setTitle(state.bufferName(index));
  QStringList shape;
  for (const std::int64_t extent : b.shape) shape << QString::number(extent);
  row(tr("Buffer"), tr("id %1, %2").arg(b.id).arg(qs(schedule::text(b.kind))));
  row(tr("Type"),
      QStringLiteral("%1[%2] in %3")
          .arg(qs(schedule::text(b.type)), shape.join(QStringLiteral(", ")), qs(schedule::text(b.space))));
  row(tr("Size"), tr("%1 bytes").arg(grouped(b.bytes())));
  if (b.source) row(tr("Source"), qs(*b.source).toHtmlEscaped());
  if (state.schedule->pages) {
    for (const auto& [bufferId, page] : state.schedule->pages->ofBuffer) {
      if (bufferId == b.id) row(tr("Page"), QString::number(page));
    }
  }
  uses(state, schedule_.place());
}

/// Who touches the buffer or the region of it, in an order in which they can run.
void ScheduleInspector::uses(const ScheduleState& state, const SchedulePlace& place) {
  if (!place.region.empty()) {
    QStringList ranges;
    for (const auto& [from, to] : place.region) ranges << QStringLiteral("%1:%2").arg(from).arg(to);
    row(tr("Region"), QStringLiteral("[%1]<br>%2")
                          .arg(ranges.join(QStringLiteral(", ")),
                               link(QStringLiteral("buffer"), place.buffer, tr("all of the buffer"))));
  }
  const bool known = analysed_ == schedule_.shown() && used_.buffer == place.buffer &&
                     used_.region == place.region && !usesHtml_.isEmpty();
  if (known) {
    row(tr("In order"), usesHtml_);
    return;
  }
  std::vector<std::int32_t> readers, writers;
  for (const schedule::Touch& touch : state.touched.touches) {
    if (touch.buffer != place.buffer) continue;
    auto& list = touch.write ? writers : readers;
    if (list.empty() || list.back() != touch.task) list.push_back(touch.task);
  }
  row(tr("Written by"), links(state, writers));
  row(tr("Read by"), links(state, readers));
  row(tr("In order"), tr("asking\u2026"));
  seekUses(place);
}

void ScheduleInspector::seekUses(const SchedulePlace& place) {
  struct Answer {
    std::shared_ptr<const schedule::Analysis> analysis;
    QString refused;
    std::vector<schedule::RegionUse> uses;
  };
  const auto state = schedule_.shown();
  const auto known = analysed_ == state ? analysis_ : nullptr;
  context().jobs.run(
      this, {.title = tr("Who touches a region"), .lane = QStringLiteral("schedule.uses"), .quiet = true},
      [state, known, place](JobHandle& job) {
        Answer answer;
        answer.analysis = analysisOf(*state, known, job.progress(), answer.refused);
        if (answer.refused.isEmpty())
          answer.uses = schedule::usesOf(*answer.analysis, place.buffer, {place.region}, mostUses + 1);
        return answer;
      },
      [this, state, place](Answer answer) {
        analysis_ = std::move(answer.analysis);
        analysed_ = state;
        used_ = place;
        QStringList lines;
        for (std::size_t i = 0; i < std::min(answer.uses.size(), mostUses); ++i) {
          const auto& use = answer.uses[i];
          QString line = (use.write ? tr("written by %1") : tr("read by %1"))
                             .arg(link(QStringLiteral("task"), use.task, state->taskName(use.task)));
          if (use.buffer != place.buffer)
            line += tr(" as %1").arg(state->bufferName(use.buffer).toHtmlEscaped());
          if (use.unordered >= 0)
            line +=
                QStringLiteral(" <span style=\"color:%1\">%2</span>")
                    .arg(theme().refuted.name(),
                         tr("not ordered with %1")
                             .arg(state->taskName(answer.uses[static_cast<std::size_t>(use.unordered)].task)
                                      .toHtmlEscaped()));
          lines << line;
        }
        if (answer.uses.size() > mostUses) lines << tr("and more, not listed");
        usesHtml_ = !answer.refused.isEmpty() ? answer.refused
                    : lines.isEmpty()         ? tr("nothing")
                                              : lines.join(QStringLiteral("<br>"));
        markStale();
      });
}

void ScheduleInspector::whole(const ScheduleState& state) {
  setTitle(tr("Inspector"));
  const schedule::Schedule& s = *state.schedule;
  row(tr("Tasks"), grouped(static_cast<qint64>(s.tasks.size())));
  row(tr("Queues"), grouped(static_cast<qint64>(state.model->queues.size())));
  row(tr("Counters"), grouped(static_cast<qint64>(s.counters.size())));
  row(tr("Buffers"), grouped(static_cast<qint64>(s.buffers.size())));
  row(tr("Rounds"), grouped(state.whole->rounds()));
  row(tr("Format"), s.format == schedule::Format::amk       ? tr("AutoMegaKernel %1").arg(qs(s.irVersion))
                    : s.format == schedule::Format::nuscope ? tr("Nuscope's own, version 1")
                                                            : tr("Mirage's task graph"));
  row(tr("Read"), duration(state.readSeconds));
  row(tr("Checked"), duration(state.report.seconds));
}

void ScheduleInspector::refresh() {
  const auto state = schedule_.shown();
  const SchedulePlace& place = schedule_.place();
  html_.clear();
  if (state) {
    if (place.task >= 0 && place.task < state->model->tasks) {
      task(*state, place.task);
    } else if (place.counter >= 0 && place.counter < state->model->counters) {
      counter(*state, place.counter);
    } else if (place.buffer >= 0 && place.buffer < static_cast<int>(state->schedule->buffers.size())) {
      buffer(*state, place.buffer);
    } else {
      whole(*state);
    }
  } else {
    setTitle(tr("Inspector"));
  }
  showHtml(QStringLiteral("<table cellspacing=\"0\" cellpadding=\"3\" style=\"color:%1\">%2</table>")
               .arg(theme().text.name(), html_));
}

/// In a new document: one that is cleared and filled again is laid out with and without a scroll bar.
void ScheduleInspector::showHtml(const QString& html) {
  const Theme& t = theme();
  if (html == shownHtml_ && page_->document()->defaultFont() == t.ui) return;
  shownHtml_ = html;
  const int scrolled = page_->verticalScrollBar()->value();
  auto* page = new QTextDocument(page_);
  page->setDocumentMargin(t.gutter);
  page->setDefaultFont(t.ui);
  page->setTextWidth(page_->viewport()->width());
  page->setHtml(html);
  const QPointer<QTextDocument> old = page_->document();  // the browser deletes its own, the first one
  page_->setDocument(page);
  delete old;
  page_->verticalScrollBar()->setValue(scrolled);
}

}  // namespace nuscope::views

#include "moc_schedule_inspector.cpp"
