#include "views/proof/math_sheet.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFontInfo>
#include <QImage>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>

#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

MathColors mathColors(const Theme& theme) {
  return {.text = theme.text,
          .muted = theme.muted,
          .added = theme.added,
          .removed = theme.removed,
          .moved = theme.proved,
          .addedTint = theme.provedFill,
          .removedTint = theme.refutedFill,
          .movedTint = theme.provedFill};
}

void MathSheet::setLines(std::vector<MathLine> lines) {
  lines_ = std::move(lines);
  width_ = -1;
}

void MathSheet::layout(qreal pixelSize, qreal width) {
  if (width == width_ && pixelSize == pixelSize_) return;
  width_ = width;
  pixelSize_ = pixelSize;
  placed_.clear();
  const MathFace large(pixelSize);
  const MathFace small = large.scaled(0.86);
  qreal relationWidth = 0;
  for (const MathLine& line : lines_) {
    if (!line.muted && !line.relation.isEmpty()) {
      relationWidth =
          std::max(relationWidth, MathBox::text(large, 0, line.relation, false).width + large.em(0) * 0.3);
    }
  }
  qreal y = 0;
  qreal widest = 0;
  for (const MathLine& line : lines_) {
    const MathFace& face = line.muted ? small : large;
    std::vector<MathBox> prefix;
    if (!line.muted) {
      const MathBox relation = MathBox::text(face, 0, line.relation, false);
      prefix.push_back(relation);
      prefix.push_back(MathBox::space(std::max(0.0, relationWidth - relation.width)));
    }
    if (line.left) {
      prefix.push_back(formulaBox(face, *line.left));
      prefix.push_back(MathBox::space(face.em(0) * 0.26));
      prefix.push_back(MathBox::text(face, 0, QStringLiteral("="), false));
      prefix.push_back(MathBox::space(face.em(0) * 0.26));
    }
    MathBox box = MathBox::row(prefix);
    if (line.formula) box = fittedFormula(face, box, *line.formula, line.marks, width);
    if (!line.words.isEmpty()) {
      const MathBox gap = MathBox::space(line.formula ? face.em(0) * 0.6 : 0);
      box = MathBox::row({box, gap, MathBox::text(face, 0, line.words, false)});
    }
    if (line.muted) box = MathBox::muted(std::move(box));
    if (!placed_.empty()) y += face.em(0) * (line.muted ? 0.4 : 0.5);
    y += box.ascent;
    placed_.emplace_back(box, y);
    y += box.descent;
    widest = std::max(widest, box.width);
  }
  size_ = QSizeF(std::ceil(widest), std::ceil(y));
}

void MathSheet::paint(QPainter& painter, QPointF topLeft, const MathColors& colors) const {
  for (const auto& [box, baseline] : placed_) box.paint(painter, topLeft + QPointF(0, baseline), colors);
}

QString MathSheet::text() const {
  QStringList lines;
  for (const MathLine& line : lines_) {
    QStringList parts;
    if (!line.relation.isEmpty()) parts << line.relation;
    if (line.left) parts << qs(semantics::text(*line.left)) + QStringLiteral(" =");
    if (line.formula) parts << qs(semantics::text(*line.formula));
    if (!line.words.isEmpty()) parts << line.words;
    lines << parts.join(QLatin1Char(' '));
  }
  return lines.join(QLatin1Char('\n'));
}

MathView::MathView(ThemeSource& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Mathematics"));
  connect(&theme_, &ThemeSource::changed, this, [this] {
    updateGeometry();
    update();
  });
}

qreal MathView::pixelSize() const {
  const QFontInfo info(theme_.theme().math);
  return info.pixelSize();
}

void MathView::setLines(std::vector<MathLine> lines) {
  sheet_.setLines(std::move(lines));
  setAccessibleDescription(sheet_.text());
  updateGeometry();
  update();
}

QSize MathView::sizeHint() const {
  const int width = this->width() > 60 ? this->width() : 360;
  return {width, heightForWidth(width)};
}

QSize MathView::minimumSizeHint() const {
  return {80, 16};
}

int MathView::heightForWidth(int width) const {
  sheet_.layout(pixelSize(), width);
  return static_cast<int>(sheet_.size().height()) + 4;
}

void MathView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  sheet_.layout(pixelSize(), width());
  // Narrower than the mathematics can be made: shrink rather than cut.
  const qreal scale = std::min(1.0, width() / std::max(1.0, sheet_.size().width()));
  painter.scale(scale, scale);
  sheet_.paint(painter, {0, 2}, mathColors(theme_.theme()));
  if (hasFocus()) {
    painter.resetTransform();
    painter.setPen(QPen(theme_.theme().selection, 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void MathView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int needed = heightForWidth(width());
  if (needed != minimumHeight()) setMinimumHeight(needed);
}

void MathView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(sheet_.text());
    return;
  }
  QWidget::keyPressEvent(event);
}

void MathView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(tr("Copy as text"), this, [this] { QApplication::clipboard()->setText(sheet_.text()); });
  menu.addAction(tr("Save the formula as\u2026"), this, [this] { save(); });
  menu.exec(event->globalPos());
}

void MathView::save() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save the formula"), QString(), tr("SVG (*.svg);;PNG (*.png)"));
  if (path.isEmpty()) return;
  MathSheet sheet = sheet_;
  sheet.layout(pixelSize(), 1e6);
  const QSize size = sheet.size().toSize() + QSize(16, 16);
  const MathColors colors = mathColors(theme_.theme());
  if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    QPainter painter(&generator);
    sheet.paint(painter, {8, 8}, colors);
    return;
  }
  QImage image(size * 2, QImage::Format_ARGB32_Premultiplied);
  image.fill(theme_.theme().surface);
  QPainter painter(&image);
  painter.scale(2, 2);
  sheet.paint(painter, {8, 8}, colors);
  painter.end();
  image.save(path);
}

}  // namespace nuscope::views

#include "moc_math_sheet.cpp"
