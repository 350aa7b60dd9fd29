#include "views/proof/parting_view.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "views/proof/counterexample_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

using semantics::Evaluated;
using semantics::Pair;
using semantics::State;

constexpr std::size_t mostElements = 3;  // of a tensor that is shown whole

QString elementText(const Evaluated& tensor, std::size_t flat) {
  if (flat >= tensor.value.values.size()) return {};
  switch (static_cast<State>(tensor.state[flat])) {
    case State::undefined:
      return QObject::tr("undefined");
    case State::undecided:
      return QObject::tr("not decided");
    case State::defined:
      break;
  }
  return valueText(tensor.value.values[flat], tensor.value.dtype);
}

QString wholeText(const Evaluated& tensor) {
  const std::size_t count = tensor.value.values.size();
  if (count == 1) return elementText(tensor, 0);
  QStringList parts;
  for (std::size_t i = 0; i < std::min(count, mostElements); ++i) parts << elementText(tensor, i);
  if (count > mostElements) parts << QStringLiteral("\u2026");
  return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

std::size_t flatten(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape) {
  std::size_t flat = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    flat = flat * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(index[i]);
  return flat;
}

PartingRow rowOf(const Pair& pair) {
  PartingRow row;
  row.name = qs(pair.name);
  switch (pair.relation) {
    case Pair::Relation::only:
      row.word = pair.left ? QObject::tr("left only") : QObject::tr("right only");
      break;
    case Pair::Relation::parts:
      row.parts = row.differs = true;
      row.word = QObject::tr("parts here");
      break;
    case Pair::Relation::differ:
      row.differs = true;
      row.word = QObject::tr("differs");
      break;
    case Pair::Relation::agree:
      break;
  }
  if (!row.differs) {
    if (pair.left) row.left = wholeText(pair.leftValue);
    if (pair.right) row.right = wholeText(pair.rightValue);
    return row;
  }
  if (pair.leftValue.value.shape != pair.rightValue.value.shape) {
    row.left = wholeText(pair.leftValue);
    row.right = wholeText(pair.rightValue);
    return row;
  }
  const std::size_t flat = flatten(pair.at, pair.leftValue.value.shape);
  if (pair.leftValue.value.values.size() > 1) {
    QStringList index;
    for (const std::int64_t i : pair.at) index << QString::number(i);
    row.name += QStringLiteral(" [%1]").arg(index.join(QStringLiteral(", ")));
  }
  row.left = elementText(pair.leftValue, flat);
  row.right = elementText(pair.rightValue, flat);
  return row;
}

}  // namespace

std::vector<PartingRow> partingRows(const semantics::Partings& partings) {
  std::vector<PartingRow> rows;
  for (const Pair& pair : partings.pairs) rows.push_back(rowOf(pair));
  return rows;
}

PartingView::PartingView(ThemeSource& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Values on both sides"));
  connect(&theme_, &ThemeSource::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void PartingView::setRows(std::vector<PartingRow> rows) {
  rows_ = std::move(rows);
  setAccessibleDescription(text());
  updateGeometry();
  update();
}

QSize PartingView::minimumSizeHint() const {
  return {static_cast<int>(200 * theme_.theme().scale),
          theme_.theme().row * (static_cast<int>(rows_.size()) + 1)};
}

QSize PartingView::sizeHint() const {
  return {static_cast<int>(360 * theme_.theme().scale), minimumSizeHint().height()};
}

QString PartingView::text() const {
  QStringList lines{tr("Value\tLeft\tRight\t")};
  for (const PartingRow& row : rows_)
    lines << QStringList{row.name, row.left, row.right, row.word}.join(QLatin1Char('\t'));
  return lines.join(QLatin1Char('\n'));
}

void PartingView::paintEvent(QPaintEvent*) {
  const Theme& t = theme_.theme();
  QPainter painter(this);
  const QFontMetricsF code(t.code);
  const QFontMetricsF small(t.small);
  const double gap = t.gutter;
  double word = 0;
  double value = code.horizontalAdvance(QStringLiteral("-0.000 001"));
  for (const PartingRow& row : rows_) {
    word = std::max(word, small.horizontalAdvance(row.word));
    value = std::max({value, code.horizontalAdvance(row.left), code.horizontalAdvance(row.right)});
  }
  value = std::min(value, (width() - word - 3 * gap) * 0.32);
  const double wordLeft = width() - word - 2;
  const double rightEdge = wordLeft - gap;
  const double leftEdge = rightEdge - value - gap;
  const double nameWidth = std::max(0.0, leftEdge - value - gap);
  const auto cell = [&](double left, double width, double top, const QString& text, const QFont& font,
                        const QColor& color, Qt::Alignment align) {
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRectF(left, top, width, t.row), align | Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
  };
  cell(0, nameWidth, 0, tr("Value"), t.small, t.muted, Qt::AlignLeft);
  cell(leftEdge - value, value, 0, tr("Left"), t.small, t.muted, Qt::AlignRight);
  cell(rightEdge - value, value, 0, tr("Right"), t.small, t.muted, Qt::AlignRight);
  painter.setPen(t.line);
  painter.drawLine(0, t.row - 1, width(), t.row - 1);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const PartingRow& row = rows_[i];
    const double top = t.row * (static_cast<double>(i) + 1);
    if (row.parts) painter.fillRect(QRectF(0, top, width(), t.row), t.refutedFill);
    const QColor ink = row.differs ? t.refuted : t.text;
    cell(row.parts ? t.unit : 0, nameWidth, top, row.name, t.code, row.differs ? t.text : t.muted,
         Qt::AlignLeft);
    cell(leftEdge - value, value, top, row.left, t.code, ink, Qt::AlignRight);
    cell(rightEdge - value, value, top, row.right, t.code, ink, Qt::AlignRight);
    cell(wordLeft, word + 2, top, row.word, t.small, row.differs ? t.refuted : t.muted, Qt::AlignLeft);
  }
  if (hasFocus()) {
    painter.setPen(QPen(t.selection, 1, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void PartingView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(text());
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace nuscope::views

#include "moc_parting_view.cpp"
