#include "views/proof/counterexample_view.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

QString indexText(const std::vector<std::int64_t>& index) {
  QStringList parts;
  for (const std::int64_t i : index) parts << QString::number(i);
  return parts.isEmpty() ? QString() : QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

/// Row-major nested brackets.
QString nestedText(const semantics::TensorValue& value, std::size_t axis, std::size_t& next, int& budget) {
  if (axis == value.shape.size()) {
    const double v = next < value.values.size() ? value.values[next] : NAN;
    ++next;
    --budget;
    return valueText(v, value.dtype);
  }
  QStringList parts;
  for (std::int64_t i = 0; i < value.shape[axis]; ++i) {
    if (budget <= 0) {
      parts << QStringLiteral("\u2026");
      break;
    }
    parts << nestedText(value, axis + 1, next, budget);
  }
  return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

std::vector<std::pair<QString, const semantics::TensorValue*>> orderedInputs(
    const semantics::Inputs& inputs, const std::vector<std::string>& order) {
  std::vector<std::pair<QString, const semantics::TensorValue*>> result;
  for (const std::string& name : order) {
    const auto found = inputs.find(name);
    if (found != inputs.end()) result.emplace_back(qs(name), &found->second);
  }
  for (const auto& [name, value] : inputs) {
    if (std::find(order.begin(), order.end(), name) == order.end()) result.emplace_back(qs(name), &value);
  }
  return result;
}

}  // namespace

QString valueText(double value, tensor::DType dtype) {
  if (std::isnan(value)) return QStringLiteral("undefined");
  if (dtype == tensor::DType::boolean) return value != 0 ? QStringLiteral("true") : QStringLiteral("false");
  if (std::isinf(value)) return value < 0 ? QStringLiteral("\u2212\u221E") : QStringLiteral("\u221E");
  return number(value);
}

TensorCells tensorCells(const QString& name, const semantics::TensorValue& value,
                        const std::vector<std::int64_t>* markedIndex, const QString& markedText,
                        std::size_t limit) {
  TensorCells cells;
  cells.name = name;
  const std::size_t rank = value.shape.size();
  const auto columns = rank == 0 ? 1 : static_cast<std::size_t>(value.shape.back());
  const std::size_t rows = columns == 0 ? 0 : value.values.size() / columns;
  std::size_t markedFlat = value.values.size();
  if (markedIndex != nullptr && markedIndex->size() == rank) {
    markedFlat = 0;
    for (std::size_t i = 0; i < rank; ++i)
      markedFlat =
          markedFlat * static_cast<std::size_t>(value.shape[i]) + static_cast<std::size_t>((*markedIndex)[i]);
  }
  // The window of rows and columns that holds the marked element.
  const auto start = [&](std::size_t at, std::size_t count) {
    return at < limit || count <= limit ? 0 : std::min(at - limit / 2, count - limit);
  };
  const bool marked = markedFlat < value.values.size();
  const std::size_t firstRow = marked ? start(markedFlat / columns, rows) : 0;
  const std::size_t firstColumn = marked ? start(markedFlat % columns, columns) : 0;
  for (std::size_t r = firstRow; r < std::min(rows, firstRow + limit); ++r) {
    std::vector<QString> row;
    for (std::size_t c = firstColumn; c < std::min(columns, firstColumn + limit); ++c) {
      const std::size_t flat = r * columns + c;
      const bool here = marked && flat == markedFlat;
      if (here) cells.marked = {r - firstRow, c - firstColumn};
      row.push_back(here && !markedText.isEmpty() ? markedText : valueText(value.values[flat], value.dtype));
    }
    cells.rows.push_back(std::move(row));
  }
  QStringList cut;
  if (rows > limit) cut << QStringLiteral("%1 of %2 rows").arg(limit).arg(rows);
  if (columns > limit) cut << QStringLiteral("%1 of %2 columns").arg(limit).arg(columns);
  cells.cut = cut.join(QStringLiteral(", "));
  return cells;
}

std::vector<TensorCells> counterexampleCells(const proof::Counterexample& counterexample,
                                             const std::vector<std::string>& order) {
  std::vector<TensorCells> result;
  for (const auto& [name, value] : orderedInputs(counterexample.inputs, order)) {
    result.push_back(tensorCells(name, *value, nullptr, {}));
  }
  result.push_back(tensorCells(QStringLiteral("left"), counterexample.left, &counterexample.index,
                               qs(counterexample.leftText)));
  result.push_back(tensorCells(QStringLiteral("right"), counterexample.right, &counterexample.index,
                               qs(counterexample.rightText)));
  return result;
}

QString counterexampleText(const proof::Counterexample& counterexample,
                           const std::vector<std::string>& order) {
  QStringList parts;
  QStringList extents;
  for (const auto& [name, extent] : counterexample.extents)
    extents << qs(name) + QStringLiteral(" = %1").arg(extent);
  if (!extents.isEmpty()) parts << extents.join(QStringLiteral(", "));
  for (const auto& [name, value] : orderedInputs(counterexample.inputs, order)) {
    std::size_t next = 0;
    int budget = 64;
    parts << name + QStringLiteral(" = ") + nestedText(*value, 0, next, budget);
  }
  const QString at = indexText(counterexample.index);
  parts << QStringLiteral("left%1 = %2").arg(at, qs(counterexample.leftText))
        << QStringLiteral("right%1 = %2").arg(at, qs(counterexample.rightText));
  return parts.join(QStringLiteral("; "));
}

CounterexampleView::CounterexampleView(ThemeSource& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Counterexample"));
  connect(&theme_, &ThemeSource::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void CounterexampleView::show(const proof::Counterexample& counterexample,
                              const std::vector<std::string>& order) {
  tensors_ = counterexampleCells(counterexample, order);
  text_ = counterexampleText(counterexample, order);
  setAccessibleDescription(text_);
  updateGeometry();
  setMinimumHeight(heightForWidth(width() > 60 ? width() : 360));
  update();
}

double CounterexampleView::place(double width, std::vector<Placed>& placed) const {
  const Theme& theme = theme_.theme();
  const QFontMetricsF code(theme.code);
  const QFontMetricsF ui(theme.ui);
  const double cellHeight = code.height() + theme.unit * 1.5;
  const double gap = theme.gutter * 1.6;
  double x = 0;
  double y = 0;
  double lineHeight = 0;
  for (const TensorCells& tensor : tensors_) {
    Placed p;
    const std::size_t columns = tensor.rows.empty() ? 0 : tensor.rows[0].size();
    double total = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      double widest = code.horizontalAdvance(QStringLiteral("0")) * 2;
      for (const auto& row : tensor.rows) widest = std::max(widest, code.horizontalAdvance(row[c]));
      p.columns.push_back(std::ceil(widest + theme.unit * 3));
      total += p.columns.back();
    }
    const double cut = tensor.cut.isEmpty() ? 0 : ui.height();
    const double w =
        std::max({total, ui.horizontalAdvance(tensor.name), cut > 0 ? ui.horizontalAdvance(tensor.cut) : 0});
    const double h =
        ui.height() + theme.unit * 0.5 + cellHeight * static_cast<double>(tensor.rows.size()) + cut + 2;
    if (x > 0 && x + w > width) {
      x = 0;
      y += lineHeight + theme.unit * 2;
      lineHeight = 0;
    }
    p.area = QRectF(x, y, w, h);
    x += w + gap;
    lineHeight = std::max(lineHeight, h);
    placed.push_back(std::move(p));
  }
  return y + lineHeight;
}

int CounterexampleView::heightForWidth(int width) const {
  std::vector<Placed> placed;
  return static_cast<int>(std::ceil(place(width, placed))) + 2;
}

QSize CounterexampleView::sizeHint() const {
  const int w = width() > 60 ? width() : 360;
  return {w, heightForWidth(w)};
}

void CounterexampleView::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_.theme();
  QPainter painter(this);
  painter.setRenderHint(QPainter::TextAntialiasing);
  std::vector<Placed> placed;
  place(width(), placed);
  const QFontMetricsF code(theme.code);
  const QFontMetricsF ui(theme.ui);
  const double cellHeight = code.height() + theme.unit * 1.5;
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const TensorCells& tensor = tensors_[t];
    const QRectF area = placed[t].area;
    painter.setFont(theme.ui);
    painter.setPen(theme.muted);
    painter.drawText(QRectF(area.left(), area.top(), area.width() + 40, ui.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, tensor.name);
    double y = area.top() + ui.height() + theme.unit * 0.5;
    painter.setFont(theme.code);
    QRectF markedCell;
    for (std::size_t r = 0; r < tensor.rows.size(); ++r) {
      double x = area.left();
      for (std::size_t c = 0; c < tensor.rows[r].size(); ++c) {
        const QRectF cell(x + 0.5, y + 0.5, placed[t].columns[c], cellHeight);
        const bool marked = tensor.marked && tensor.marked->first == r && tensor.marked->second == c;
        painter.setPen(QPen(theme.line, 1));
        painter.setBrush(marked ? QBrush(theme.refutedFill) : QBrush(Qt::NoBrush));
        painter.drawRect(cell);
        painter.setPen(marked ? theme.refuted : theme.text);
        painter.drawText(cell.adjusted(theme.unit, 0, -theme.unit, 0), Qt::AlignCenter, tensor.rows[r][c]);
        if (marked) markedCell = cell;
        x += placed[t].columns[c];
      }
      y += cellHeight;
    }
    if (!markedCell.isNull()) {
      painter.setPen(QPen(theme.refuted, 1.5));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(markedCell);
    }
    if (!tensor.cut.isEmpty()) {
      painter.setFont(theme.small);
      painter.setPen(theme.muted);
      painter.drawText(QPointF(area.left(), y + ui.ascent() + 2), tensor.cut);
    }
  }
  if (hasFocus()) {
    painter.setPen(QPen(theme.selection, 1, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void CounterexampleView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int needed = heightForWidth(width());
  if (needed != minimumHeight()) setMinimumHeight(needed);
}

void CounterexampleView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(text_);
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace nuscope::views

#include "moc_counterexample_view.cpp"
