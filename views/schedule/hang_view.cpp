#include "views/schedule/hang_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QTextBrowser>

#include "views/schedule/schedule_words.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr int mostQueues = 256;

QString stateText(schedule::HangDump::Queue::State state) {
  using State = schedule::HangDump::Queue::State;
  switch (state) {
    case State::waiting:
      return QObject::tr("waits");
    case State::running:
      return QObject::tr("runs");
    case State::notStarted:
      return QObject::tr("never started");
    case State::done:
      return QObject::tr("at its end");
    case State::unknown:
      break;
  }
  return QObject::tr("stands");
}

}  // namespace

HangView::HangView(const ViewContext& context, QWidget* parent)
    : DetailView(context, "hang", tr("Hang"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      page_(new QTextBrowser) {
  page_->setOpenLinks(false);
  page_->setFrameShape(QFrame::NoFrame);
  page_->setAccessibleName(tr("Why a run hangs"));
  setContent(page_);
  connect(page_, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
    const QString text = url.toString();
    const int index = text.section(QLatin1Char(':'), 1).toInt();
    if (text.startsWith(QLatin1String("task"))) schedule_.selectTask(index);
    if (text.startsWith(QLatin1String("counter"))) schedule_.selectCounter(index);
    if (text == QLatin1String("open")) askAndExplain();
    if (text == QLatin1String("again") && schedule_.hang() != nullptr)
      schedule_.openDump(schedule_.hang()->path);
  });
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::hangChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
}

QWidget* HangView::focusTarget() const {
  return page_;
}

QString HangView::plainText() const {
  return page_->toPlainText();
}

void HangView::askAndExplain() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Hang dump of this schedule"), QFileInfo(schedule_.path()).path(),
                                   tr("Hang dumps (*.json);;All files (*)"));
  if (!path.isEmpty()) schedule_.openDump(path);
}

void HangView::paragraph(const QString& html) {
  html_ += QStringLiteral("<p style=\"margin-top:0;margin-bottom:6px\">%1</p>").arg(html);
}

QString HangView::taskLink(const Hang& hang, int task) const {
  return QStringLiteral("<a href=\"task:%1\" style=\"color:%2;text-decoration:none\">%3</a>")
      .arg(task)
      .arg(theme().selection.name(), hang.of->taskName(task).toHtmlEscaped());
}

void HangView::causes(const Hang& hang) {
  const Theme& t = theme();
  const auto& why = hang.why;
  for (std::size_t i = 0; i < why.causes.size(); ++i) {
    const auto& cause = why.causes[i];
    const bool none = cause.cause == schedule::HangCause::none;
    QString lead = qs(schedule::text(cause.cause));
    lead[0] = lead[0].toUpper();
    QString html = QStringLiteral("<b style=\"color:%1\">%2.</b> %3.")
                       .arg(none ? t.proved.name() : t.refuted.name(), lead.toHtmlEscaped(),
                            qs(cause.text).toHtmlEscaped());
    if (cause.task >= 0) html += QLatin1Char(' ') + tr("Show %1.").arg(taskLink(hang, cause.task));
    if (!cause.blocked.empty())
      html += QStringLiteral(" <span style=\"color:%1\">%2</span>")
                  .arg(t.muted.name(),
                       counted(static_cast<qint64>(cause.blocked.size()), tr("queue or task waits for this."),
                               tr("queues or tasks wait for this.")));
    paragraph(html);
  }
  if (why.chain.size() < 2) return;
  paragraph(QStringLiteral("<b>%1</b>").arg(tr("How it is reached")));
  for (std::size_t i = 0; i + 1 < why.chain.size(); ++i)
    paragraph(QStringLiteral("%1. %2").arg(i + 1).arg(qs(why.chain[i]).toHtmlEscaped()));
}

/// Where every queue stood.
void HangView::queues(const Hang& hang) {
  QString rows;
  int shown = 0;
  for (const auto& [sm, queue] : hang.dump.queues) {
    if (++shown > mostQueues) break;
    QString where = stateText(queue.state);
    // Of a queue that never started the dump may name any task.
    if (const std::int32_t task = queue.task ? hang.of->ids->task(*queue.task) : -1; task >= 0) {
      where += QLatin1Char(' ') + tr("at %1").arg(taskLink(hang, task));
      QStringList unmet;
      for (const auto& need : hang.of->model->needs[static_cast<std::size_t>(task)]) {
        const std::int64_t id = hang.of->counterId(need.counter);
        const auto held = hang.dump.counters.find(id);
        const std::int64_t value = held == hang.dump.counters.end() ? 0 : held->second;
        if (value < need.threshold)
          unmet << QStringLiteral("<a href=\"counter:%1\" style=\"color:%2;text-decoration:none\">%3</a>")
                           .arg(need.counter)
                           .arg(theme().selection.name(), tr("counter %1").arg(id)) +
                       tr(" \u2265 %1, held %2").arg(need.threshold).arg(value);
      }
      if (!unmet.isEmpty()) where += tr(", needs %1").arg(unmet.join(QStringLiteral(", ")));
    }
    rows += QStringLiteral("<tr><td style=\"color:%1;padding-right:12px\">%2</td><td>%3</td></tr>")
                .arg(theme().muted.name(), tr("SM %1").arg(sm), where);
  }
  if (rows.isEmpty()) return;
  paragraph(QStringLiteral("<b>%1</b>").arg(tr("Where every queue stood")));
  html_ += QStringLiteral("<table cellspacing=\"0\" cellpadding=\"3\">%1</table>").arg(rows);
  const auto all = static_cast<int>(hang.dump.queues.size());
  if (all > mostQueues) paragraph(tr("and %1 more queues").arg(grouped(all - mostQueues)));
}

void HangView::refresh() {
  const Theme& t = theme();
  html_.clear();
  const auto link = [&](const char* act, const QString& text) {
    return QStringLiteral("<a href=\"%1\" style=\"color:%2;text-decoration:none\">%3</a>")
        .arg(QLatin1String(act), t.selection.name(), text);
  };
  const Hang* hang = schedule_.hang();
  if (hang == nullptr) {
    setSubtitle({});
    paragraph(
        QStringLiteral("<span style=\"color:%1\">%2</span>")
            .arg(t.muted.name(),
                 tr("When a kernel hangs, save where its queues stand and what its counters hold "
                    "(resources/hangdump has the header). The dump tells a schedule that deadlocks from "
                    "a queue that never started, a signal that was lost, and a task that is stuck.")));
    if (schedule_.shown()) paragraph(link("open", tr("Explain a hang dump\u2026")));
  } else {
    setSubtitle(QFileInfo(hang->path).fileName());
    if (hang->of != schedule_.shown())
      paragraph(tr("This was told of the version before. %1").arg(link("again", tr("Ask again"))));
    causes(*hang);
    queues(*hang);
  }
  page_->document()->setDocumentMargin(t.gutter);
  page_->document()->setDefaultFont(t.ui);
  page_->setHtml(QStringLiteral("<div style=\"color:%1\">%2</div>").arg(t.text.name(), html_));
}

void HangView::fillContextMenu(QMenu& menu) {
  if (schedule_.shown()) menu.addAction(tr("Explain a hang dump\u2026"), this, &HangView::askAndExplain);
  if (schedule_.hang() != nullptr)
    menu.addAction(tr("Close the dump"), &schedule_, &ScheduleDocument::closeDump);
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_hang_view.cpp"
