#include "views/schedule/stepper_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>

#include "views/marks.h"
#include "views/schedule/schedule_document.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

struct Move {
  const char* name;
  const char* icon;
  const char* text;
};
constexpr Move moves[] = {{"stepFirst", "first", "To the start of the run (Ctrl+Home)"},
                          {"stepBack", "previous", "One step back (Ctrl+Left)"},
                          {"stepForward", "next", "One step forward (Ctrl+Right)"},
                          {"stepLast", "last", "To the fault, or the end of the run (Ctrl+End)"}};

}  // namespace

StepperBar::StepperBar(ThemeSource& theme, ScheduleDocument& schedule, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      schedule_(schedule),
      label_(new QLabel),
      slider_(new QSlider(Qt::Horizontal)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2);
  row->addWidget(label_);
  row->addSpacing(6);
  for (int i = 0; i < 4; ++i) {
    auto* button = new QToolButton;
    button->setObjectName(QLatin1String(moves[i].name));
    button->setToolTip(tr(moves[i].text));
    button->setAccessibleName(tr(moves[i].text));
    button->setAutoRaise(true);
    button->setAutoRepeat(i == 1 || i == 2);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, [this, i] {
      const auto run = schedule_.run();
      if (!run) return;
      const int step = schedule_.step();
      // The last button leads to the fault first, and from there to the end of the run.
      const int last = step < run->faultStep() ? run->faultStep() : run->steps();
      schedule_.setStep(i == 0 ? 0 : i == 1 ? step - 1 : i == 2 ? step + 1 : last);
    });
    buttons_.push_back(button);
    row->addWidget(button);
  }
  row->addSpacing(6);
  row->addWidget(slider_);
  slider_->setAccessibleName(tr("Step of the run"));
  slider_->setObjectName(QStringLiteral("stepSlider"));
  connect(slider_, &QSlider::valueChanged, this, [this](int value) { schedule_.setStep(value); });
  for (const auto signal :
       {&ScheduleDocument::stepChanged, &ScheduleDocument::stateChanged, &ScheduleDocument::selectionChanged})
    connect(&schedule_, signal, this, &StepperBar::update);
  connect(&theme_, &ThemeSource::changed, this, &StepperBar::retheme);
  retheme();
  update();
}

void StepperBar::retheme() {
  const Theme& t = theme_.theme();
  label_->setFont(t.code);
  const int side = static_cast<int>(16 * t.scale);
  for (int i = 0; i < 4; ++i) {
    buttons_[static_cast<std::size_t>(i)]->setIcon(themedIcon(QLatin1String(moves[i].icon), t));
    buttons_[static_cast<std::size_t>(i)]->setIconSize({side, side});
  }
  slider_->setFixedWidth(static_cast<int>(130 * t.scale));
}

QString StepperBar::text() const {
  return label_->text();
}

void StepperBar::update() {
  const auto run = schedule_.run();
  setVisible(run != nullptr);
  if (!run) return;
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, run->steps());
  slider_->setPageStep(std::max(1, run->steps() / 10));
  slider_->setValue(schedule_.step());
  const QString all = grouped(run->steps());
  // As wide as the longest: a label that grows and shrinks moves the whole window's layout at every step.
  label_->setMinimumWidth(QFontMetrics(label_->font()).horizontalAdvance(tr("step %1 of %2").arg(all, all)));
  label_->setText(tr("step %1 of %2").arg(grouped(schedule_.step()), all));
  label_->setToolTip(tr("Tasks that have completed"));
  buttons_[0]->setEnabled(schedule_.step() > 0);
  buttons_[1]->setEnabled(schedule_.step() > 0);
  buttons_[2]->setEnabled(schedule_.step() < run->steps());
  buttons_[3]->setEnabled(schedule_.step() < run->steps());
}

}  // namespace nuscope::views

#include "moc_stepper_bar.cpp"
