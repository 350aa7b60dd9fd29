#include "views/proof/panel_parts.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

/// A paragraph of a panel: as wide as the panel lets it be.
class Paragraph : public WrappedLabel {
 public:
  using WrappedLabel::WrappedLabel;
  [[nodiscard]] QSize sizeHint() const override {
    return {fontMetrics().height() * 8, fontMetrics().height()};
  }
  [[nodiscard]] QSize minimumSizeHint() const override {
    return {fontMetrics().height() * 2, fontMetrics().height()};
  }
};

}  // namespace

QFrame* hairline(const Theme& theme, QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setFixedHeight(1);
  line->setFrameShape(QFrame::NoFrame);
  line->setAutoFillBackground(true);
  QPalette palette = line->palette();
  palette.setColor(QPalette::Window, theme.line);
  line->setPalette(palette);
  return line;
}

void colourText(QWidget& widget, const QColor& color) {
  QPalette palette = widget.palette();
  palette.setColor(QPalette::WindowText, color);
  palette.setColor(QPalette::Text, color);
  widget.setPalette(palette);
}

QLabel* wrappedLabel(const QString& text, const QFont& font, const QColor& color) {
  auto* result = new Paragraph;
  result->setFont(font);
  result->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  colourText(*result, color);
  result->setTextFormat(Qt::PlainText);
  result->setText(text);
  return result;
}

QLabel* mathLabel(const QString& html, const Theme& theme, double factor) {
  QFont italic = theme.math;
  italic.setItalic(true);
  italic.setPointSizeF(italic.pointSizeF() * factor);
  QLabel* text = wrappedLabel(QString(), italic, theme.text);
  text->setTextFormat(Qt::RichText);
  text->setText(html);
  return text;
}

QLabel* markLabel(Mark mark, const Theme& theme) {
  auto* label = new QLabel;
  const int side = QFontMetrics(theme.ui).height();
  label->setPixmap(markIcon(mark, theme).pixmap(side, side));
  label->setFixedWidth(side + theme.unit);
  label->setAccessibleName(wordOf(mark));
  return label;
}

FoldedSection::FoldedSection(const QString& title, const QString& note, Mark mark, const Theme& theme,
                             QWidget* parent)
    : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(theme.unit);
  auto* row = new QHBoxLayout;
  row->setSpacing(theme.unit);
  button_ = new QToolButton(this);
  button_->setCheckable(true);
  button_->setAutoRaise(true);
  button_->setText(title);
  button_->setIcon(markIcon(mark, theme));
  button_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button_->setFont(theme.ui);
  button_->setProperty("section", true);
  button_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  button_->setFocusPolicy(Qt::TabFocus);
  button_->setAccessibleName(title);
  arrow_ = new QLabel(this);
  arrow_->setFont(theme.small);
  colourText(*arrow_, theme.muted);
  auto* noteLabel = new QLabel(note, this);
  noteLabel->setFont(theme.small);
  colourText(*noteLabel, theme.muted);
  row->addWidget(button_);
  row->addWidget(arrow_);
  row->addStretch(1);
  row->addWidget(noteLabel);
  layout->addLayout(row);
  body_ = new QWidget(this);
  bodyLayout_ = new QVBoxLayout(body_);
  bodyLayout_->setContentsMargins(QFontMetrics(theme.ui).height() + theme.unit * 2, 0, 0, theme.unit);
  bodyLayout_->setSpacing(theme.unit);
  layout->addWidget(body_);
  connect(button_, &QToolButton::toggled, this, [this](bool open) { setOpen(open); });
  setOpen(false);
}

void FoldedSection::setOpen(bool open) {
  button_->setChecked(open);
  if (open) {
    for (const auto& build : std::exchange(builders_, {})) build(*bodyLayout_);
  }
  body_->setVisible(open);
  const bool any = bodyLayout_->count() > 0 || !builders_.empty();
  arrow_->setText(!any ? QString() : open ? QStringLiteral("\u25BE") : QStringLiteral("\u25B8"));
  button_->setAccessibleDescription(open ? tr("unfolded") : tr("folded"));
}

void FoldedSection::add(std::function<void(QVBoxLayout&)> build) {
  builders_.push_back(std::move(build));
  setOpen(false);
}

}  // namespace nuscope::views

#include "moc_panel_parts.cpp"
