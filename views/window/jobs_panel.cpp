#include "views/window/jobs_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/jobs.h"
#include "views/marks.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {
constexpr std::size_t mostPast = 6;
}

JobsPanel::JobsPanel(const ViewContext& context, QWidget* window)
    : QFrame(window), context_(context), column_(new QVBoxLayout(this)) {
  setObjectName(QStringLiteral("jobsPanel"));
  setAccessibleName(tr("Jobs"));
  setAutoFillBackground(true);
  column_->setContentsMargins(0, 0, 0, 0);
  connect(&context_.jobs, &Jobs::started, this, [this] {
    if (isVisible()) rebuild();
  });
  connect(&context_.jobs, &Jobs::progressed, this, [this](Job* job) {
    if (isVisible() && !job->spec().quiet) rebuild();
  });
  connect(&context_.jobs, &Jobs::ended, this, [this](Job* job) {
    if (job->spec().quiet) return;
    const bool failed = job->state() == Job::State::failed;
    past_.insert(past_.begin(), {job->spec().title,
                                 failed                                  ? job->message()
                                 : job->state() == Job::State::cancelled ? tr("cancelled")
                                                                         : tr("done"),
                                 failed, job->seconds()});
    if (past_.size() > mostPast) past_.resize(mostPast);
    if (isVisible()) rebuild();
  });
  hide();
}

void JobsPanel::openAt(const QPoint& bottomRight) {
  corner_ = bottomRight;
  rebuild();
  show();
  raise();
}

void JobsPanel::rebuild() {
  const Theme& t = context_.theme.theme();
  delete inside_;
  inside_ = new QWidget(this);
  auto* rows = new QVBoxLayout(inside_);
  rows->setContentsMargins(t.gutter, t.padding, t.gutter, t.padding);
  rows->setSpacing(t.unit);
  auto* title = new QLabel(tr("Jobs"));
  title->setFont(t.heading);
  rows->addWidget(title);
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  const auto jobs = context_.jobs.listed();
  for (Job* job : jobs) {
    auto* head = new QHBoxLayout;
    auto* state = new StateLabel(context_.theme);
    state->setState(Mark::running, job->spec().title);
    state->setMuted(false);
    auto* time = new QLabel(duration(job->seconds()));
    time->setFont(t.code);
    time->setPalette(muted);
    auto* stop = new QToolButton;
    stop->setIcon(themedIcon(QStringLiteral("stop"), t));
    stop->setToolTip(tr("Cancel; what was found so far is kept"));
    stop->setAccessibleName(tr("Cancel %1").arg(job->spec().title));
    connect(stop, &QToolButton::clicked, job, &Job::cancel);
    head->addWidget(state, 1);
    head->addWidget(time);
    head->addWidget(stop);
    rows->addLayout(head);
    auto* bar = new QProgressBar;
    bar->setTextVisible(false);
    bar->setRange(0, job->fraction() < 0 ? 0 : 1000);
    bar->setValue(job->fraction() < 0 ? -1 : static_cast<int>(job->fraction() * 1000));
    rows->addWidget(bar);
    if (!job->message().isEmpty()) {
      auto* message = new WrappedLabel(job->message());
      message->setPalette(muted);
      rows->addWidget(message);
    }
  }
  if (jobs.empty()) {
    auto* none = new QLabel(tr("No job is running."));
    none->setPalette(muted);
    rows->addWidget(none);
  }
  for (const Past& past : past_) {
    auto* line = new StateLabel(context_.theme);
    line->setState(
        past.failed ? Mark::refuted : Mark::none,
        past.title + QStringLiteral(": ") + past.message + QStringLiteral(", ") + duration(past.seconds));
    line->setToolTip(past.message);
    rows->addWidget(line);
  }
  column_->addWidget(inside_);
  setStyleSheet(QStringLiteral("#jobsPanel { background: %1; border: 1px solid %2; border-radius: 6px; }")
                    .arg(t.surface.name(), t.line.name()));
  const int width = static_cast<int>(360 * t.scale);
  const int height =
      std::min(inside_->layout()->heightForWidth(width) > 0 ? inside_->layout()->heightForWidth(width)
                                                            : inside_->sizeHint().height(),
               parentWidget()->height() - 80);
  setGeometry(corner_.x() - width, corner_.y() - height, width, height);
}

QString JobsPanel::plainText() const {
  QStringList lines;
  for (Job* job : context_.jobs.listed()) lines << job->spec().title + QStringLiteral(": ") + job->message();
  for (const Past& past : past_) lines << past.title + QStringLiteral(": ") + past.message;
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views
