#include "views/window/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

MessageBar::MessageBar(ThemeSource& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), text_(new WrappedLabel), act_(new QPushButton) {
  setObjectName(QStringLiteral("message"));
  auto* row = new QHBoxLayout(this);
  const Theme& t = theme.theme();
  row->setContentsMargins(t.gutter + static_cast<int>(22 * t.scale), t.unit, t.padding, t.unit);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(text_, 1);
  row->addWidget(act_);
  auto* close = new QToolButton;
  close->setIcon(themedIcon(QStringLiteral("close"), t));
  close->setAccessibleName(tr("Close"));
  row->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  connect(act_, &QPushButton::clicked, this, [this] {
    hide();
    if (action_) action_();
  });
  connect(&theme, &ThemeSource::changed, this, [this, close] {
    close->setIcon(themedIcon(QStringLiteral("close"), theme_.theme()));
    update();
  });
  hide();
}

void MessageBar::say(Mark mark, const QString& text, const QString& actText,
                     const std::function<void()>& act) {
  mark_ = mark;
  text_->setText(text);
  setAccessibleName(text);
  action_ = act;
  act_->setText(actText);
  act_->setVisible(static_cast<bool>(act));
  show();
  update();
}

QString MessageBar::text() const {
  return isHidden() ? QString() : text_->text();
}

void MessageBar::paintEvent(QPaintEvent*) {
  const Theme& t = theme_.theme();
  QPainter painter(this);
  painter.fillRect(rect(), mark_ == Mark::refuted  ? t.refutedFill
                           : mark_ == Mark::proved ? t.provedFill
                                                   : t.unknownFill);
  painter.setPen(t.line);
  painter.drawLine(0, height() - 1, width(), height() - 1);
  const double side = 15 * t.scale;
  paintMark(painter, QRectF(t.gutter, (height() - side) / 2, side, side), mark_, t);
}

}  // namespace nuscope::views
