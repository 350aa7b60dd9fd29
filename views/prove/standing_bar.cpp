#include "views/prove/standing_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "views/commands.h"
#include "views/state_label.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

/// A button that does a command of the table and is enabled with it.
QPushButton* commandButton(const Commands& commands, const char* id) {
  QAction* action = commands.action(id);
  auto* button = new QPushButton(action->text());
  button->setObjectName(QLatin1String(id));
  button->setToolTip(action->toolTip());
  const auto follow = [button, action] { button->setEnabled(action->isEnabled()); };
  QObject::connect(action, &QAction::enabledChanged, button, follow);
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  follow();
  return button;
}

}  // namespace

StandingBar::StandingBar(ThemeSource& theme, Commands& commands, QWidget* parent)
    : QWidget(parent), theme_(theme) {
  mark_ = new StateLabel(theme);
  words_ = new WrappedLabel;
  words_->setObjectName(QStringLiteral("standing"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  add_ = commandButton(commands, "prove.add");
  add_->setProperty("primary", true);
  ask_ = commandButton(commands, "prove.standing");
  takeBack_ = commandButton(commands, "prove.takeBack");
  connect(commands.action("prove.takeBack"), &QAction::enabledChanged, takeBack_, &QWidget::setVisible);
  takeBack_->setVisible(commands.action("prove.takeBack")->isEnabled());
  auto* row = new QHBoxLayout(this);
  row->addWidget(add_);
  row->addWidget(ask_);
  row->addWidget(takeBack_);
  row->addWidget(mark_, 0, Qt::AlignVCenter);
  row->addWidget(words_, 1);
  connect(&theme_, &ThemeSource::changed, this, &StandingBar::retheme);
  retheme();
  setStanding(Mark::none, {});
}

void StandingBar::setStanding(Mark mark, const QString& words) {
  mark_->setState(mark, QString());
  mark_->setVisible(mark != Mark::none);
  words_->setText(words);
}

Mark StandingBar::mark() const {
  return mark_->mark();
}
QString StandingBar::words() const {
  return words_->text();
}

void StandingBar::setWhyNot(const QString& why) {
  add_->setToolTip(why.isEmpty() ? tr("The right side becomes a variant by a step of its own; it is proved "
                                      "again against the program.")
                                 : why);
}

void StandingBar::retheme() {
  const Theme& t = theme_.theme();
  layout()->setContentsMargins(t.gutter + t.unit, t.padding, t.gutter, t.padding);
  layout()->setSpacing(t.padding);
}

}  // namespace nuscope::views

#include "moc_standing_bar.cpp"
