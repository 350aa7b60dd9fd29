#include "views/schedule/lane_chart.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/graph/graph_paint.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr double narrow = 2.5;    ///< pixels; below, bars are joined
constexpr double labelFrom = 26;  ///< pixels; below, bars have no text
constexpr double dashFrom = 12;   ///< pixels; below, outlines are not dashed
constexpr double smallestRow = 3;
constexpr double largestRow = 40;
constexpr double readableUnit = 58;  ///< a unit that holds a short name
constexpr double leastUnit = 46;
constexpr double fewUnits = 40;
constexpr double endMargin = 24;

double tickStep(double perUnit, double wanted, bool whole) {
  const double least = wanted / perUnit;
  double step = std::pow(10, std::floor(std::log10(std::max(least, 1e-12))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (step * factor >= least) {
      step *= factor;
      break;
    }
  }
  return whole ? std::max(1.0, std::round(step)) : step;
}

/// As it is, or without what stands before the first dot ("L12."), or cut.
QString fitted(const QString& text, const QFontMetricsF& metrics, double width) {
  if (metrics.horizontalAdvance(text) <= width) return text;
  const qsizetype dot = text.indexOf(QLatin1Char('.'));
  const QString shorter = dot >= 0 ? text.mid(dot + 1) : text;
  return metrics.horizontalAdvance(shorter) <= width ? shorter
                                                     : metrics.elidedText(shorter, Qt::ElideRight, width);
}

}  // namespace

struct LaneChart::Frame {
  QRectF area;      ///< of bars, in painter coordinates
  double left = 0;  ///< axis value at area.left()
  double top = 0;   ///< pixels scrolled
  double perUnit = 1, row = 24;
  double names = 0, axis = 0;
  bool interactive = true;
  const Theme* theme = nullptr;
  [[nodiscard]] double x(double value) const { return area.left() + (value - left) * perUnit; }
};

LaneChart::LaneChart(ThemeSource& theme, const QString& name, QWidget* parent)
    : QAbstractScrollArea(parent), theme_(theme) {
  setObjectName(name);
  setFrameShape(NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);  // what lies below is not painted first
  setMinimumSize(160, 80);
  horizontalScrollBar()->setSingleStep(20);
  connect(&theme_, &ThemeSource::changed, this, [this] {
    measureNames();
    placeBars();
    viewport()->update();
  });
}

void LaneChart::measureNames() {
  nameWidth_ = 0;
  if (!chart_) return;
  const QFontMetricsF metrics(theme_.theme().code);
  double widest = metrics.horizontalAdvance(QStringLiteral("SM 999"));
  const std::size_t rows = std::min<std::size_t>(chart_->rows.size(), 400);
  for (std::size_t i = 0; i < rows; ++i)
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(chart_->rows[i].name)));
  nameWidth_ = std::min(widest, 150 * theme_.theme().scale) + 2 * theme_.theme().padding;
}

double LaneChart::axisHeight() const {
  return 22 * theme_.theme().scale;
}

void LaneChart::setChart(std::shared_ptr<const schedule::Chart> chart) {
  const bool same = chart_ && chart && chart->rows.size() == chart_->rows.size() &&
                    chart->end == chart_->end && chart->modelled == chart_->modelled;
  chart_ = std::move(chart);
  measureNames();
  if (!same) {
    fitted_ = true;
    frameAll();
    verticalScrollBar()->setValue(0);
    horizontalScrollBar()->setValue(0);
  } else {
    placeBars();
  }
  viewport()->update();
}

void LaneChart::setSelected(int item) {
  if (item == selected_) return;
  selected_ = item;
  viewport()->update();
}

void LaneChart::setMarked(std::set<int> items) {
  if (items == marked_) return;
  marked_ = std::move(items);
  viewport()->update();
}

void LaneChart::setLine(double at, const QString& words, bool fault) {
  if (at == line_ && words == lineWords_ && fault == lineFault_) return;
  line_ = at;
  lineWords_ = words;
  lineFault_ = fault;
  viewport()->update();
}

/// As much as can be read: everything if that is possible, else up to a little past the frozen line.
void LaneChart::frameAll() {
  if (!chart_ || chart_->end <= 0) return;
  const double width = std::max(60.0, viewport()->width() - nameWidth() - endMargin);
  rowHeight_ = 24;
  const double seen = chart_->frozen >= 0 ? std::min(chart_->end, chart_->frozen * 1.3 + 8) : chart_->end;
  perUnit_ = width / seen;
  if (!chart_->modelled) {
    // Few rounds stand at a width that holds names, and scroll; many are shown whole.
    const double least = seen <= fewUnits ? leastUnit : 0;
    perUnit_ = std::clamp(perUnit_, least * theme_.theme().scale, readableUnit * theme_.theme().scale);
  }
  placeBars();
}

void LaneChart::fit() {
  if (!chart_ || chart_->end <= 0) return;
  fitted_ = true;
  perUnit_ = std::max(60.0, viewport()->width() - nameWidth() - endMargin) / chart_->end;
  const double rows = std::max<double>(1, static_cast<double>(chart_->rows.size()));
  rowHeight_ =
      std::clamp((viewport()->height() - axisHeight()) / rows / theme_.theme().scale, smallestRow, 24.0);
  placeBars();
  horizontalScrollBar()->setValue(0);
  verticalScrollBar()->setValue(0);
  viewport()->update();
}

void LaneChart::placeBars() {
  const double rowPixels = rowHeight_ * theme_.theme().scale;
  const double height = chart_ ? rowPixels * static_cast<double>(chart_->rows.size()) : 0;
  const double width = chart_ ? chart_->end * perUnit_ + endMargin : 0;
  const auto range = [](QScrollBar* bar, double content, double page) {
    bar->setRange(0, static_cast<int>(std::min(1e9, std::max(0.0, std::ceil(content - page)))));
    bar->setPageStep(std::max(1, static_cast<int>(page)));
  };
  range(verticalScrollBar(), height, viewport()->height() - axisHeight());
  range(horizontalScrollBar(), width, viewport()->width() - nameWidth());
  verticalScrollBar()->setSingleStep(std::max(1, static_cast<int>(rowPixels)));
}

void LaneChart::resizeEvent(QResizeEvent*) {
  if (fitted_) {
    frameAll();
  } else {
    placeBars();
  }
}

void LaneChart::zoomAround(double factor, double x) {
  if (!chart_ || chart_->end <= 0) return;
  const double inside = x - nameWidth();
  const double value = (horizontalScrollBar()->value() + inside) / perUnit_;
  const double least = std::max(20.0, viewport()->width() - nameWidth() - endMargin) / chart_->end * 0.5;
  const double most = chart_->modelled ? 4e8 / chart_->end : 400;
  perUnit_ = std::clamp(perUnit_ * factor, std::min(least, most), most);
  fitted_ = false;
  placeBars();
  horizontalScrollBar()->setValue(static_cast<int>(std::lround(value * perUnit_ - inside)));
  viewport()->update();
}

// Painting

void LaneChart::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const Theme& t = theme_.theme();
  painter.fillRect(viewport()->rect(), t.surface);
  if (!chart_ || chart_->rows.empty()) return;
  Frame frame;
  frame.theme = &t;
  frame.names = nameWidth();
  frame.axis = axisHeight();
  frame.area = QRectF(viewport()->rect()).adjusted(frame.names, frame.axis, 0, 0);
  frame.perUnit = perUnit_;
  frame.row = rowHeight_ * t.scale;
  frame.left = horizontalScrollBar()->value() / perUnit_;
  frame.top = verticalScrollBar()->value();
  paint(painter, frame);
  if (hasFocus() && selected_ < 0) {
    painter.setPen(QPen(t.selection, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
  }
}

QSizeF LaneChart::pictureSize() const {
  if (!chart_ || chart_->rows.empty()) return {};
  return {nameWidth() + chart_->end * perUnit_ + endMargin,
          axisHeight() + rowHeight_ * theme_.theme().scale * static_cast<double>(chart_->rows.size())};
}

void LaneChart::paintPicture(QPainter& painter) const {
  if (!chart_ || chart_->rows.empty()) return;
  Frame frame;
  frame.theme = &theme_.theme();
  frame.names = nameWidth();
  frame.axis = axisHeight();
  frame.area = QRectF(QPointF(0, 0), pictureSize()).adjusted(frame.names, frame.axis, 0, 0);
  frame.perUnit = perUnit_;
  frame.row = rowHeight_ * theme_.theme().scale;
  frame.interactive = false;
  paint(painter, frame);
}

void LaneChart::paint(QPainter& painter, const Frame& frame) const {
  const Theme& t = *frame.theme;
  paintAxis(painter, frame);
  const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(frame.top / frame.row)));
  const auto last =
      std::min(chart_->rows.size(),
               static_cast<std::size_t>(std::ceil((frame.top + frame.area.height()) / frame.row)) + 1);
  painter.save();
  painter.setClipRect(frame.area.adjusted(-frame.names, 0, 0, 0));
  for (std::size_t row = first; row < last; ++row) {
    const double top = frame.area.top() + static_cast<double>(row) * frame.row - frame.top;
    if (frame.row >= 10) {
      painter.setPen(QPen(t.grid, 1));
      painter.drawLine(QPointF(0, std::floor(top + frame.row) - 0.5),
                       QPointF(frame.area.right(), std::floor(top + frame.row) - 0.5));
    }
  }
  painter.setClipRect(frame.area);
  for (std::size_t row = first; row < last; ++row)
    paintRow(painter, frame, row, frame.area.top() + static_cast<double>(row) * frame.row - frame.top);
  painter.setClipRect(frame.area.adjusted(-frame.names, 0, 0, 0));
  painter.setFont(t.code);
  painter.setPen(t.muted);
  const double text = QFontMetricsF(t.code).height();
  // Names of rows that are too low for text are thinned.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(text / frame.row)));
  for (std::size_t row = first; row < last; ++row) {
    if (row % every != 0 || chart_->rows[row].name.empty()) continue;
    const double top = frame.area.top() + static_cast<double>(row) * frame.row - frame.top;
    const double room = frame.names - t.padding - t.unit;
    painter.drawText(QRectF(t.padding, top, room, std::max(frame.row, text)),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(t.code).elidedText(QString::fromStdString(chart_->rows[row].name),
                                                      Qt::ElideMiddle, room));
  }
  painter.restore();
  paintLine(painter, frame);
}

void LaneChart::paintRow(QPainter& painter, const Frame& frame, std::size_t row, double top) const {
  const Theme& t = *frame.theme;
  const auto& bars = chart_->rows[row].bars;
  const double right = frame.left + frame.area.width() / frame.perUnit;
  // Bars of queues do not overlap; rows of pages are short and are walked from the start.
  auto bar = bars.size() <= 256 ? bars.begin()
                                : std::ranges::partition_point(
                                      bars, [&](const schedule::Bar& b) { return b.end < frame.left; });
  const double inset = frame.row >= 14 ? 3 : frame.row >= 6 ? 1 : 0.5;
  const double height = frame.row - 2 * inset;
  const auto colourOf = [&](const BarLook& look) {
    return look.state == BarLook::State::fault     ? t.refuted
           : look.state == BarLook::State::waiting ? t.line
           : look.state == BarLook::State::unused  ? t.line
                                                   : tintColours(look.tint, t).sign;
  };
  // A run of narrow bars: its extent, and the colour of the most telling of them.
  double from = 0, to = -1;
  BarLook::State telling = BarLook::State::plain;
  QColor colour;
  const auto flush = [&] {
    if (to < from) return;
    painter.fillRect(QRectF(from, top + inset, std::max(1.0, to - from), height), colour);
    to = from - 1;
  };
  for (; bar != bars.end() && bar->begin <= right; ++bar) {
    const double x = frame.x(bar->begin);
    const double width = (bar->end - bar->begin) * frame.perUnit;
    const bool special = bar->item == selected_ || (!marked_.empty() && marked_.count(bar->item) > 0);
    if (width >= narrow || special) {
      flush();
      paintBar(painter, frame, *bar, QRectF(x, top + inset, std::max(width, 3.0), height));
      continue;
    }
    const BarLook look = source_.look ? source_.look(*bar) : BarLook{};
    const QColor own = colourOf(look);
    if (to >= from && x - to <= 1 && (own == colour || look.state <= telling)) {
      to = x + width;
      continue;
    }
    if (to >= from && x < to) {  // a more telling one within the last pixel
      to = x;
    }
    flush();
    from = x;
    to = x + width;
    telling = look.state;
    colour = own;
  }
  flush();
}

void LaneChart::paintBar(QPainter& painter, const Frame& frame, const schedule::Bar& bar,
                         const QRectF& where) const {
  const Theme& t = *frame.theme;
  using State = BarLook::State;
  const BarLook look = source_.look ? source_.look(bar) : BarLook{};
  const TintColours tint = tintColours(look.tint, t);
  const bool faint = look.state == State::waiting || look.state == State::unused;
  QColor outline = look.state == State::fault ? t.refuted : faint ? t.muted : tint.sign;
  if (look.state == State::unused) outline = t.line;
  QPen pen(outline, 1);
  if (faint && where.width() >= dashFrom) pen.setStyle(Qt::DashLine);
  const QRectF box = where.adjusted(0.5, 0.5, where.width() > 8 ? -1.5 : -0.5, -0.5);
  const QColor ground = look.state == State::fault            ? t.refutedFill
                        : faint || look.state == State::ready ? t.surface
                                                              : tint.fill;
  if (where.width() < 6 || where.height() < 6) {
    painter.fillRect(where.adjusted(0, 0, where.width() > 3 ? -1 : 0, 0), faint ? t.line : outline);
  } else {
    painter.setPen(pen);
    painter.setBrush(ground);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.drawRoundedRect(box, 2, 2);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  const bool selected = bar.item == selected_;
  if (frame.interactive && (selected || marked_.count(bar.item) > 0)) {
    painter.setPen(QPen(t.selection, selected ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(selected ? box.adjusted(-0.5, -0.5, 0.5, 0.5) : box);
  }
  if (where.width() < labelFrom || where.height() < 13 || !source_.label) return;
  // What starts left of the picture still shows its name.
  QRectF text = box.adjusted(5, 0, -3, 0);
  text.setLeft(std::max(text.left(), frame.area.left() + 4));
  if (look.badge != Mark::none) {
    const double side = 12 * t.scale;
    paintMark(painter, QRectF(text.left(), text.center().y() - side / 2, side, side), look.badge, t);
    text.setLeft(text.left() + side + 3);
  }
  if (text.width() < 14) return;
  painter.setFont(t.small);
  painter.setPen(faint ? t.muted : t.text);
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   fitted(source_.label(bar), QFontMetricsF(t.small), text.width()));
}

void LaneChart::paintAxis(QPainter& painter, const Frame& frame) const {
  const Theme& t = *frame.theme;
  painter.setFont(t.small);
  const double step = tickStep(frame.perUnit, 64 * t.scale, source_.wholeTicks);
  const double end = std::min(chart_->frozen >= 0 ? chart_->frozen : chart_->end,
                              frame.left + frame.area.width() / frame.perUnit);
  const QRectF strip(frame.area.left(), 0, frame.area.width(), frame.axis);
  painter.save();
  painter.setClipRect(strip);
  for (double value = std::max(0.0, std::floor(frame.left / step) * step); value < end + step * 1e-6;
       value += step) {
    const double x = frame.x(value);
    // The words of the line take the room of ticks near it.
    if (line_ >= 0 && !lineWords_.isEmpty() && value > line_ - 40 / frame.perUnit) break;
    painter.setPen(t.muted);
    painter.drawText(QRectF(x, 0, 90 * t.scale, frame.axis), Qt::AlignLeft | Qt::AlignVCenter,
                     source_.axis ? source_.axis(value) : QString::number(value));
  }
  painter.restore();
}

void LaneChart::paintLine(QPainter& painter, const Frame& frame) const {
  if (line_ < 0) return;
  const Theme& t = *frame.theme;
  const double x = std::floor(frame.x(line_)) + 0.5;
  if (x < frame.area.left() - 1 || x > frame.area.right()) return;
  const QColor colour = lineFault_ ? t.refuted : t.selection;
  painter.setPen(QPen(colour, lineFault_ ? 2 : 1));
  painter.drawLine(QPointF(x, frame.axis - 4), QPointF(x, frame.area.bottom()));
  if (lineWords_.isEmpty()) return;
  painter.setFont(t.small);
  const double width = QFontMetricsF(t.small).horizontalAdvance(lineWords_) + 6;
  const double left = std::min(x + 4, std::max(frame.area.left(), frame.area.right() - width));
  painter.fillRect(QRectF(left - 2, 1, width + 2, frame.axis - 2), t.surface);
  painter.drawText(QRectF(left, 0, width, frame.axis), Qt::AlignLeft | Qt::AlignVCenter, lineWords_);
}

// Pointer and keys

LaneChart::At LaneChart::hit(QPointF where) const {
  if (!chart_ || where.y() < axisHeight()) return {};
  const double rowPixels = rowHeight_ * theme_.theme().scale;
  const auto row =
      static_cast<std::size_t>((where.y() - axisHeight() + verticalScrollBar()->value()) / rowPixels);
  if (row >= chart_->rows.size()) return {};
  At at{static_cast<int>(row), nullptr};
  if (where.x() < nameWidth()) return at;
  const double value = (where.x() - nameWidth() + horizontalScrollBar()->value()) / perUnit_;
  const double slack = 1.5 / perUnit_;
  double nearest = 1e300;
  for (const schedule::Bar& bar : chart_->rows[row].bars) {
    if (bar.begin - slack > value) break;
    const double distance = value < bar.begin ? bar.begin - value : value > bar.end ? value - bar.end : 0;
    if (distance <= slack && distance <= nearest) {
      nearest = distance;
      at.bar = &bar;
    }
  }
  return at;
}

std::optional<LaneChart::Place> LaneChart::find(int item) const {
  if (!chart_ || item < 0) return std::nullopt;
  for (std::size_t row = 0; row < chart_->rows.size(); ++row) {
    const auto& bars = chart_->rows[row].bars;
    for (std::size_t b = 0; b < bars.size(); ++b) {
      if (bars[b].item == item) return std::pair(static_cast<int>(row), b);
    }
  }
  return std::nullopt;
}

QRect LaneChart::barOnScreen(int item) const {
  const auto at = find(item);
  return at ? onScreen(*at) : QRect();
}

QRect LaneChart::onScreen(const Place& at) const {
  const schedule::Bar& bar = chart_->rows[static_cast<std::size_t>(at.first)].bars[at.second];
  const double rowPixels = rowHeight_ * theme_.theme().scale;
  return QRectF(nameWidth() + bar.begin * perUnit_ - horizontalScrollBar()->value(),
                axisHeight() + at.first * rowPixels - verticalScrollBar()->value(),
                (bar.end - bar.begin) * perUnit_, rowPixels)
      .toRect();
}

void LaneChart::reveal(int item) {
  const auto at = find(item);
  if (!at) return;
  const QRect where = onScreen(*at);
  const QRect seen(static_cast<int>(nameWidth()), static_cast<int>(axisHeight()),
                   viewport()->width() - static_cast<int>(nameWidth()),
                   viewport()->height() - static_cast<int>(axisHeight()));
  if (where.top() < seen.top() || where.bottom() > seen.bottom())
    verticalScrollBar()->setValue(verticalScrollBar()->value() + where.center().y() - seen.center().y());
  if (where.left() < seen.left() || where.left() > seen.right() - 20)
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + where.left() - seen.left() -
                                    seen.width() / 3);
}

void LaneChart::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  pressed_ = event->position();
  valuesWhenPressed_ = {horizontalScrollBar()->value(), verticalScrollBar()->value()};
  dragging_ = false;
}

void LaneChart::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_) {
    const At at = hit(event->position());
    viewport()->setCursor(at.bar != nullptr ? Qt::PointingHandCursor : Qt::ArrowCursor);
    return;
  }
  const QPointF by = event->position() - *pressed_;
  if (!dragging_ && by.manhattanLength() >= QApplication::startDragDistance()) {
    dragging_ = true;
    viewport()->setCursor(Qt::ClosedHandCursor);
  }
  if (!dragging_) return;
  fitted_ = false;
  horizontalScrollBar()->setValue(valuesWhenPressed_.x() - static_cast<int>(by.x()));
  verticalScrollBar()->setValue(valuesWhenPressed_.y() - static_cast<int>(by.y()));
}

void LaneChart::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = pressed_ && !dragging_ && event->button() == Qt::LeftButton;
  pressed_.reset();
  dragging_ = false;
  viewport()->unsetCursor();
  if (!click) return;
  const At at = hit(event->position());
  if (at.bar != nullptr) {
    Q_EMIT chosen(at.bar->item);
  } else if (at.row >= 0 && event->position().x() < nameWidth()) {
    Q_EMIT rowChosen(at.row);
  }
}

void LaneChart::wheelEvent(QWheelEvent* event) {
  const auto modifiers = event->modifiers();
  if (modifiers.testFlag(Qt::ControlModifier)) {
    const double factor = std::pow(1.2, (event->angleDelta().y() + event->angleDelta().x()) / 120.0);
    if (modifiers.testFlag(Qt::ShiftModifier)) {
      rowHeight_ = std::clamp(rowHeight_ * factor, smallestRow, largestRow);
      fitted_ = false;
      placeBars();
      viewport()->update();
    } else {
      zoomAround(factor, event->position().x());
    }
    event->accept();
    return;
  }
  QPoint by = event->pixelDelta().isNull() ? event->angleDelta() / 2 : event->pixelDelta();
  if (modifiers.testFlag(Qt::ShiftModifier) && by.x() == 0) by = {by.y(), 0};
  fitted_ = false;
  horizontalScrollBar()->setValue(horizontalScrollBar()->value() - by.x());
  verticalScrollBar()->setValue(verticalScrollBar()->value() - by.y());
  event->accept();
}

void LaneChart::moveTo(int row, std::size_t bar) {
  const int item = chart_->rows[static_cast<std::size_t>(row)].bars[bar].item;
  setSelected(item);
  reveal(item);
  Q_EMIT chosen(item);
}

void LaneChart::keyPressEvent(QKeyEvent* event) {
  const bool plain = !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
  const int key = event->key();
  const bool arrow = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
  if (plain && arrow && chart_) {
    const auto at = find(selected_);
    if (!at) {
      for (std::size_t row = 0; row < chart_->rows.size(); ++row) {
        if (!chart_->rows[row].bars.empty()) return moveTo(static_cast<int>(row), 0);
      }
      return;
    }
    const auto& bars = chart_->rows[static_cast<std::size_t>(at->first)].bars;
    if (key == Qt::Key_Left && at->second > 0) return moveTo(at->first, at->second - 1);
    if (key == Qt::Key_Right && at->second + 1 < bars.size()) return moveTo(at->first, at->second + 1);
    if (key == Qt::Key_Left || key == Qt::Key_Right) return;
    const int by = key == Qt::Key_Up ? -1 : 1;
    for (int row = at->first + by; row >= 0 && row < static_cast<int>(chart_->rows.size()); row += by) {
      const auto& others = chart_->rows[static_cast<std::size_t>(row)].bars;
      if (others.empty()) continue;
      const double begin = bars[at->second].begin;
      auto near =
          std::ranges::partition_point(others, [&](const schedule::Bar& b) { return b.begin < begin; });
      if (near == others.end() || (near != others.begin() && begin - (near - 1)->begin < near->begin - begin))
        --near;
      return moveTo(row, static_cast<std::size_t>(near - others.begin()));
    }
    return;
  }
  if (plain && key == Qt::Key_F) return fit();
  if (plain && (key == Qt::Key_Plus || key == Qt::Key_Minus))
    return zoomAround(key == Qt::Key_Plus ? 1.2 : 1 / 1.2, viewport()->width() / 2.0);
  QAbstractScrollArea::keyPressEvent(event);
}

bool LaneChart::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const At at = hit(help->pos());
  QString text;
  if (at.bar != nullptr && source_.tip) text = source_.tip(*at.bar);
  if (at.bar == nullptr && at.row >= 0 && help->pos().x() < nameWidth())
    text = QString::fromStdString(chart_->rows[static_cast<std::size_t>(at.row)].name);
  QToolTip::showText(help->globalPos(), text, viewport());
  return true;
}

}  // namespace nuscope::views

#include "moc_lane_chart.cpp"
