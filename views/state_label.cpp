#include "views/state_label.h"

#include <QPainter>
#include <QStyle>

#include "views/theme.h"

namespace nuscope::views {

StateLabel::StateLabel(ThemeSource& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  timer_.setInterval(80);
  connect(&timer_, &QTimer::timeout, this, [this] {
    turn_ = turn_ + 0.08 >= 1 ? 0 : turn_ + 0.08;
    update();
  });
  connect(&theme_, &ThemeSource::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void StateLabel::setState(Mark mark, const QString& text) {
  if (mark == mark_ && text == text_) return;
  const bool resized = text.size() != text_.size() || (mark == Mark::none) != (mark_ == Mark::none);
  mark_ = mark;
  text_ = text;
  setAccessibleName(text);
  const bool motion = style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0;
  if (mark == Mark::running && motion) {
    timer_.start();
  } else {
    timer_.stop();
    turn_ = 0;
  }
  if (resized) updateGeometry();
  update();
}

void StateLabel::setMuted(bool muted) {
  muted_ = muted;
  update();
}

QSize StateLabel::sizeHint() const {
  const Theme& t = theme_.theme();
  const int side = mark_ == Mark::none ? 0 : static_cast<int>(14 * t.scale) + t.unit + 2;
  return {side + QFontMetrics(t.ui).horizontalAdvance(text_) + 2, QFontMetrics(t.ui).height()};
}

QSize StateLabel::minimumSizeHint() const {
  return {static_cast<int>(16 * theme_.theme().scale), sizeHint().height()};
}

void StateLabel::paintEvent(QPaintEvent*) {
  const Theme& t = theme_.theme();
  QPainter painter(this);
  QRectF text = rect();
  if (mark_ != Mark::none) {
    const double side = 14 * t.scale;
    paintMark(painter, QRectF(0, (height() - side) / 2.0, side, side), mark_, t, turn_);
    text.setLeft(side + t.unit + 2);
  }
  painter.setFont(t.ui);
  painter.setPen(muted_ ? t.muted : t.text);
  painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                   QFontMetricsF(t.ui).elidedText(text_, Qt::ElideRight, text.width()));
}

void StateLabel::mouseReleaseEvent(QMouseEvent*) {
  Q_EMIT clicked();
}

}  // namespace nuscope::views

#include "moc_state_label.cpp"
