#include "views/window/activity_bar.h"

#include <QAbstractButton>
#include <QPainter>
#include <QVBoxLayout>

#include "views/commands.h"
#include "views/marks.h"
#include "views/theme.h"

namespace nuscope::views {

class ActivityBar::Button : public QAbstractButton {
 public:
  /// `id` of a screen or panel; the command "view.ID" belongs to it.
  Button(ThemeSource& theme, const QString& id, const QString& title, const QString& icon, QWidget* parent)
      : QAbstractButton(parent), theme_(theme), icon_(icon) {
    setObjectName(QStringLiteral("activity.") + id);
    setText(title);
    setAccessibleName(text());
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    if (const CommandSpec* command = findCommand(QStringLiteral("view.") + id))
      setToolTip(Commands::toolTip(*command));
  }
  [[nodiscard]] QSize sizeHint() const override {
    const Theme& t = theme_.theme();
    return {static_cast<int>(58 * t.scale), static_cast<int>(46 * t.scale)};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = theme_.theme();
    QPainter painter(this);
    if (underMouse() && !isChecked()) painter.fillRect(rect().adjusted(4, 2, -4, -2), t.hoverFill);
    if (isChecked())
      painter.fillRect(QRectF(0, 3 * t.scale, 2 * t.scale, height() - 6 * t.scale), t.selection);
    const int side = static_cast<int>(18 * t.scale);
    const bool strong = isChecked() || underMouse();
    Theme tint = t;
    if (!strong) tint.text = t.muted;
    themedIcon(icon_, tint)
        .paint(&painter, QRect((width() - side) / 2, static_cast<int>(6 * t.scale), side, side));
    painter.setFont(t.small);
    painter.setPen(strong ? t.text : t.muted);
    painter.drawText(QRectF(0, 24 * t.scale, width(), height() - 24 * t.scale),
                     Qt::AlignHCenter | Qt::AlignTop, text());
    if (hasFocus() && byKey_) {
      painter.setPen(QPen(t.selection, 1));
      painter.drawRect(rect().adjusted(3, 1, -4, -2));
    }
  }
  void focusInEvent(QFocusEvent* event) override {
    // The first focus of a window is nobody's choice: only who comes by key sees where it is.
    byKey_ = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QAbstractButton::focusInEvent(event);
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  ThemeSource& theme_;
  QString icon_;
  bool byKey_ = false;
};

ActivityBar::ActivityBar(ThemeSource& theme, const std::vector<ScreenSpec>& screens, QWidget* parent)
    : QWidget(parent), theme_(theme) {
  setObjectName(QStringLiteral("activityBar"));
  setAccessibleName(tr("Screens"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 6, 0, 6);
  column->setSpacing(2);
  for (const bool bottom : {false, true}) {
    if (bottom) column->addStretch(1);
    for (const ScreenSpec& spec : screens) {
      if (spec.atBottom != bottom) continue;
      auto* button = new Button(theme, QLatin1String(spec.id), QString::fromUtf8(spec.title),
                                QLatin1String(spec.icon), this);
      screens_.addButton(button);
      buttons_.push_back(button);
      column->addWidget(button);
      const QString id = QLatin1String(spec.id);
      connect(button, &QAbstractButton::clicked, this, [this, id] { Q_EMIT chosen(id); });
    }
  }
  const auto measure = [this] {
    setFixedWidth(static_cast<int>(58 * theme_.theme().scale));
    for (Button* button : buttons_) button->updateGeometry();
    update();
  };
  connect(&theme_, &ThemeSource::changed, this, measure);
  measure();
}

void ActivityBar::addPanel(QAction& command, const QString& icon) {
  auto* button =
      new Button(theme_, command.objectName().section(QLatin1Char('.'), 1), command.text(), icon, this);
  buttons_.push_back(button);
  layout()->addWidget(button);
  connect(button, &QAbstractButton::clicked, &command, &QAction::trigger);
  connect(&command, &QAction::toggled, button, &QAbstractButton::setChecked);
  button->setChecked(command.isChecked());
}

void ActivityBar::setCurrent(const QString& id) {
  for (Button* button : buttons_) {
    if (button->objectName() == QStringLiteral("activity.") + id) button->setChecked(true);
  }
}

}  // namespace nuscope::views
