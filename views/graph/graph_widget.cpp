#include "views/graph/graph_widget.h"

#include <QApplication>
#include <QGestureEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPinchGesture>
#include <QStyle>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/process.h"
#include "views/graph/graph_index.h"
#include "views/graph/graph_paint.h"
#include "views/graph/layered_layout.h"
#include "views/graph/layout_text.h"
#include "views/graph/ring_layout.h"
#include "views/jobs.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr std::size_t mostForDot = 400;
constexpr std::chrono::milliseconds dotDeadline(2000);
constexpr double smallestZoom = 0.01;
constexpr double largestZoom = 3;
constexpr double margin = 16;
constexpr double readableZoom = 0.64;
constexpr qint64 easingMilliseconds = 120;

constexpr std::size_t mostSmooth = 800;  // boxes and edges that are drawn smoothly while a person waits

struct Placed {
  GraphLayout layout;
  QString note;
};

Placed layOut(const LayoutInput& input, const std::string& helper, const std::stop_token& stop) {
  if (input.boxes.size() > mostForDot)
    return {layeredLayout(input), QStringLiteral("layered: more than 400 boxes")};
  try {
    ProcessOptions options;
    options.arguments = {helper};
    options.memoryLimit = std::size_t(2) << 30;
    const Finished done = runProcess(options, layoutRequest(input), dotDeadline, stop);
    if (done.cancelled) throw Cancelled{};
    if (done.timedOut) return {layeredLayout(input), QStringLiteral("layered: dot took more than 2 s")};
    if (done.end.success()) {
      if (auto layout = parseLayoutAnswer(done.output, input))
        return {std::move(*layout), QStringLiteral("dot")};
    }
    return {
        layeredLayout(input),
        QStringLiteral("layered: nuscope-layout ended with %1").arg(QString::fromStdString(done.end.text()))};
  } catch (const std::exception& e) {
    return {layeredLayout(input), QStringLiteral("layered: %1").arg(QString::fromUtf8(e.what()))};
  }
}

/// The point half way along, measured over the chords of its pieces.
QPointF middleOf(const std::vector<QPointF>& spline) {
  if (spline.empty()) return {};
  std::vector<QPointF> points{spline[0]};
  for (std::size_t i = 0; i + 3 < spline.size(); i += 3) {
    constexpr int pieces = 16;
    for (int k = 1; k <= pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      const double u = 1 - t;
      points.push_back(spline[i] * (u * u * u) + spline[i + 1] * (3 * u * u * t) +
                       spline[i + 2] * (3 * u * t * t) + spline[i + 3] * (t * t * t));
    }
  }
  double length = 0;
  for (std::size_t i = 1; i < points.size(); ++i) length += QLineF(points[i - 1], points[i]).length();
  double left = length / 2;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const QLineF piece(points[i - 1], points[i]);
    if (piece.length() >= left) return piece.length() > 0 ? piece.pointAt(left / piece.length()) : piece.p1();
    left -= piece.length();
  }
  return points.back();
}

double distanceToSpline(const std::vector<QPointF>& spline, const QPointF& p) {
  double best = 1e30;
  for (std::size_t i = 0; i + 3 < spline.size(); i += 3) {
    constexpr int pieces = 12;
    QPointF last = spline[i];
    for (int k = 1; k <= pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      const double u = 1 - t;
      const QPointF at = spline[i] * (u * u * u) + spline[i + 1] * (3 * u * u * t) +
                         spline[i + 2] * (3 * u * t * t) + spline[i + 3] * (t * t * t);
      const QPointF d = at - last;
      const double length2 = d.x() * d.x() + d.y() * d.y();
      const double s = length2 <= 0 ? 0 : std::clamp(QPointF::dotProduct(p - last, d) / length2, 0.0, 1.0);
      best = std::min(best, QLineF(p, last + d * s).length());
      last = at;
    }
  }
  return best;
}

/// What a layout needs to know of a content.
LayoutInput inputOf(const GraphContent& content, const Theme& t) {
  LayoutInput input;
  for (const Box& box : content.boxes) input.boxes.push_back(cardSize(box, t));
  input.leftToRight = content.leftToRight;
  input.betweenRanks = (content.betweenRanks > 0 ? content.betweenRanks
                        : content.leftToRight    ? 52
                                                 : 40) *
                       t.scale;
  input.betweenBoxes = (content.leftToRight ? 22 : 26) * t.scale;
  for (const Edge& edge : content.edges) {
    const QSizeF chip = chipSize(edge, t);
    // Quiet chips take no room of their own, but fit between two ranks whichever of them is shown.
    if (content.quietLabels && content.leftToRight)
      input.betweenRanks = std::max(input.betweenRanks, chip.width() + 18 * t.scale);
    const QSizeF room = content.quietLabels ? QSizeF(0, 0) : chip;
    input.edges.push_back({edge.from, edge.to, std::max(0.0, room.width()), std::max(0.0, room.height())});
  }
  return input;
}

/// Two boxes of which nobody needs to measure the texts to see that their cards are equal.
bool plainlyAsLarge(const Box& a, const Box& b) {
  if (a.width != b.width || a.title != b.title) return false;
  if (a.width > 0) return a.second.isEmpty() == b.second.isEmpty() && a.third.isEmpty() == b.third.isEmpty();
  return a.second == b.second && a.third == b.third && (a.badge == Mark::none) == (b.badge == Mark::none);
}

}  // namespace

/// Made in a job, with everything that takes long for many boxes.
struct GraphWidget::LaidOut {
  GraphLayout layout;
  QString note;
  std::shared_ptr<const GraphIndex> index;
  Measure measure;
};

GraphWidget::GraphWidget(ThemeSource& theme, Jobs& jobs, const QString& name, QWidget* parent)
    : QWidget(parent), theme_(theme), jobs_(jobs), index_(std::make_shared<const GraphIndex>(layout_)) {
  setObjectName(name);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(160, 120);
  grabGesture(Qt::PinchGesture);
  still_.setSingleShot(true);
  still_.setInterval(120);
  connect(&still_, &QTimer::timeout, this, [this] {
    moving_ = false;
    update();
  });
  easing_.setInterval(16);
  connect(&easing_, &QTimer::timeout, this, [this] {
    if (easingClock_.elapsed() >= easingMilliseconds) {
      easing_.stop();
      before_.clear();
    }
    update();
  });
  connect(&theme_, &ThemeSource::changed, this, [this] {
    if (content_.boxes.empty() && !waiting_) return;
    if (!waiting_) waiting_ = content_;  // other fonts, other sizes
    startLayout();
    update();
  });
}

GraphWidget::~GraphWidget() = default;

bool GraphWidget::sameShape(const GraphContent& content) const {
  const auto& boxes = content.boxes;
  const Theme& t = theme_.theme();
  if (layout_.boxes.size() != boxes.size() || layout_.edges.size() != content.edges.size()) return false;
  const bool measured = measure_ == Measure(t);
  if (content_.leftToRight != content.leftToRight || content_.ring != content.ring ||
      content_.quietLabels != content.quietLabels)
    return false;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (content_.boxes[i].key != boxes[i].key) return false;
    if (measured && plainlyAsLarge(content_.boxes[i], boxes[i])) continue;
    if (layout_.boxes[i].size() != cardSize(boxes[i], t)) return false;
  }
  for (std::size_t e = 0; e < content.edges.size(); ++e) {
    const Edge& a = content_.edges[e];
    const Edge& b = content.edges[e];
    if (a.from != b.from || a.to != b.to || (!content.quietLabels && a.label != b.label)) return false;
  }
  return true;
}

void GraphWidget::display(GraphContent content) {
  content_ = std::move(content);
  byKey_.clear();
  for (std::size_t i = 0; i < content_.boxes.size(); ++i)
    byKey_.emplace(content_.boxes[i].key, static_cast<int>(i));
  describeSelected();
  update();
}

void GraphWidget::setContent(GraphContent content) {
  if (content.boxes.empty()) {
    jobs_.cancel(QStringLiteral("layout:") + objectName());
    layingOut_ = false;
    waiting_.reset();
    layout_ = {};
    index_ = std::make_shared<const GraphIndex>(layout_);
    settled_ = true;
    fitted_ = true;
    display(std::move(content));
    return;
  }
  if (sameShape(content)) {
    waiting_.reset();
    if (layingOut_) {
      jobs_.cancel(QStringLiteral("layout:") + objectName());
      layingOut_ = false;
    }
    settled_ = true;
    display(std::move(content));
    return;
  }
  waiting_ = std::move(content);
  settled_ = false;
  if (!layingOut_) startLayout();
}

void GraphWidget::startLayout() {
  underWay_ = std::move(*waiting_);
  waiting_.reset();
  settled_ = false;
  layingOut_ = true;
  const std::string helper =
      (std::filesystem::path(executablePath()).parent_path() / "nuscope-layout").string();
  jobs_.run(
      this,
      {.title = tr("Lay out %1").arg(objectName()),
       .lane = QStringLiteral("layout:") + objectName(),
       .quiet = true},
      [content = underWay_, theme = theme_.theme(), helper](JobHandle& job) {
        const LayoutInput input = inputOf(content, theme);
        Placed placed = content.ring && content.boxes.size() > 1
                            ? Placed{ringLayout(input), QStringLiteral("ring")}
                            : layOut(input, helper, job.progress().stopToken());
        for (std::size_t e = 0; e < placed.layout.edges.size(); ++e) {
          if (content.quietLabels || content.edges[e].label.isEmpty())
            placed.layout.labels[e] = middleOf(placed.layout.edges[e]);
        }
        auto index = std::make_shared<const GraphIndex>(placed.layout);
        return LaidOut{std::move(placed.layout), placed.note, std::move(index), Measure(theme)};
      },
      [this](LaidOut done) { adopt(std::move(done)); });
}

void GraphWidget::adopt(LaidOut done) {
  layingOut_ = false;
  before_.clear();
  const bool motion =
      style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0 && isVisible();
  if (motion && !content_.boxes.empty() && done.layout.boxes.size() <= mostForDot) {
    for (const Box& box : underWay_.boxes) {
      const int old = indexOf(box.key);
      before_.push_back(old < 0 ? QRectF() : layout_.boxes[static_cast<std::size_t>(old)]);
    }
  }
  layout_ = std::move(done.layout);
  layoutNote_ = done.note;
  index_ = std::move(done.index);
  measure_ = done.measure;
  display(std::move(underWay_));
  underWay_ = {};
  settled_ = !waiting_;
  if (fitted_) frame();
  if (!before_.empty()) {
    easingClock_.start();
    easing_.start();
  }
  if (waiting_) startLayout();
  update();
  Q_EMIT laidOut();
}

int GraphWidget::indexOf(std::uint64_t key) const {
  const auto it = byKey_.find(key);
  return it == byKey_.end() ? -1 : it->second;
}

void GraphWidget::setSelectedBox(std::optional<std::uint64_t> key) {
  if (key == selectedBox_) return;
  selectedBox_ = key;
  describeSelected();
  update();
}

void GraphWidget::setSelectedEdge(std::uint64_t key) {
  selectedEdge_ = key;
  update();
}

void GraphWidget::setHovered(std::optional<std::uint64_t> key) {
  if (hoveredBox_ == key) return;
  hoveredBox_ = key;
  update();
}

void GraphWidget::setHits(std::set<std::uint64_t> hits) {
  hits_ = std::move(hits);
  update();
}

void GraphWidget::describeSelected() {
  const int i = selectedBox_ ? indexOf(*selectedBox_) : -1;
  setAccessibleDescription(i < 0 ? QString()
                                 : content_.boxes[static_cast<std::size_t>(i)].title + QLatin1Char(' ') +
                                       content_.boxes[static_cast<std::size_t>(i)].description);
}

void GraphWidget::ensureVisible(std::uint64_t key) {
  const int i = indexOf(key);
  if (i < 0 || static_cast<std::size_t>(i) >= layout_.boxes.size()) return;
  const QRectF box = layout_.boxes[static_cast<std::size_t>(i)];
  const QRectF seen = visibleScene().adjusted(margin, margin, -margin, -margin);
  if (seen.contains(box)) return;
  if (box.left() < seen.left()) origin_.rx() -= seen.left() - box.left();
  if (box.right() > seen.right()) origin_.rx() += box.right() - seen.right();
  if (box.top() < seen.top()) origin_.ry() -= seen.top() - box.top();
  if (box.bottom() > seen.bottom()) origin_.ry() += box.bottom() - seen.bottom();
  update();
}

// Coordinates

QPointF GraphWidget::toScene(QPointF widget) const {
  return origin_ + widget / zoom_;
}
QPointF GraphWidget::toWidget(QPointF scene) const {
  return (scene - origin_) * zoom_;
}
QRectF GraphWidget::visibleScene() const {
  return {origin_, QSizeF(size()) / zoom_};
}

void GraphWidget::fit() {
  fitted_ = true;
  if (layout_.boxes.empty() || width() < 10 || height() < 10) return;
  QRectF bounds = layout_.bounds;
  for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
    bounds =
        bounds.united(stubBox(layout_.boxes[i], content_.boxes[i], theme_.theme(), content_.leftToRight));
  }
  bounds.adjust(-margin, -margin, margin, margin);
  zoom_ = std::clamp(std::min(width() / bounds.width(), height() / bounds.height()), smallestZoom, 1.0);
  // Small graphs stand at the top, in the middle; what does not fit is centred.
  const QSizeF seen = QSizeF(size()) / zoom_;
  origin_.setX(bounds.center().x() - seen.width() / 2);
  origin_.setY(content_.leftToRight ? bounds.center().y() - seen.height() / 2
                                    : std::min(bounds.top(), bounds.center().y() - seen.height() / 2 +
                                                                 (seen.height() - bounds.height()) / 2));
  update();
}

void GraphWidget::frame() {
  fit();
  if (layout_.boxes.empty() || zoom_ >= readableZoom || layout_.boxes.size() > mostForDot) return;
  zoom_ = readableZoom;
  const QSizeF seen = QSizeF(size()) / zoom_;
  const QRectF bounds = layout_.bounds.adjusted(-margin, -margin, margin, margin);
  const int chosen = selectedBox_ ? indexOf(*selectedBox_) : -1;
  QRectF faults;
  for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
    if (content_.boxes[i].fault) faults = faults.united(layout_.boxes[i]);
  }
  const QPointF centre = chosen >= 0        ? layout_.boxes[static_cast<std::size_t>(chosen)].center()
                         : faults.isEmpty() ? bounds.topLeft()
                                            : faults.center();
  // As near to the selected box, or to what is wrong, as the picture allows without showing empty margins.
  const auto place = [](double wanted, double from, double to, double length) {
    return to - from <= length ? (from + to - length) / 2
                               : std::clamp(wanted - length / 2, from, to - length);
  };
  origin_.setX(place(centre.x(), bounds.left(), bounds.right(), seen.width()));
  origin_.setY(place(centre.y(), bounds.top(), bounds.bottom(), seen.height()));
  update();
}

void GraphWidget::setZoom(double zoom, QPointF around) {
  const QPointF scene = toScene(around);
  zoom_ = std::clamp(zoom, smallestZoom, largestZoom);
  origin_ = scene - around / zoom_;
  fitted_ = false;
  moving();
}

void GraphWidget::moving() {
  moving_ = layout_.boxes.size() > 300;  // small graphs stay smooth
  still_.start();
  update();
}

QRectF GraphWidget::boxOnScreen(std::uint64_t key) const {
  const int i = indexOf(key);
  if (i < 0 || static_cast<std::size_t>(i) >= layout_.boxes.size()) return {};
  const QRectF box = layout_.boxes[static_cast<std::size_t>(i)];
  return {toWidget(box.topLeft()), box.size() * zoom_};
}

QPointF GraphWidget::edgeOnScreen(std::uint64_t key) const {
  for (std::size_t e = 0; e < content_.edges.size() && e < layout_.labels.size(); ++e) {
    if (content_.edges[e].key == key) return toWidget(layout_.labels[e]);
  }
  return {};
}

// Painting

void GraphWidget::paintScene(QPainter& painter, const QRectF& clip, double scale, bool interactive) const {
  const Theme& t = theme_.theme();
  std::vector<int> boxes;
  std::vector<int> edges;
  const QRectF near = clip.adjusted(-40, -40, 40, 40);
  index_->query(near, boxes, edges);
  if (interactive && boxes.size() + edges.size() > mostSmooth)
    painter.setRenderHint(QPainter::Antialiasing, false);
  const auto edgeState = [&](int e) {
    const Edge& edge = content_.edges[static_cast<std::size_t>(e)];
    return EdgeState{edge.key != 0 && edge.key == selectedEdge_, interactive && e == hoveredEdge_};
  };
  // Thick ones last, so that nothing crosses over the selected path.
  for (const bool strong : {false, true}) {
    for (const int e : edges) {
      const auto i = static_cast<std::size_t>(e);
      const EdgeState state = edgeState(e);
      if ((content_.edges[i].strong || state.selected || state.hovered) != strong) continue;
      paintEdge(painter, layout_.edges[i], content_.edges[i], state, t, scale, near);
    }
  }
  for (const int b : boxes) {
    const auto i = static_cast<std::size_t>(b);
    const Box& box = content_.boxes[i];
    const CardState state{selectedBox_ == box.key, interactive && hoveredBox_ == box.key,
                          hits_.count(box.key) > 0};
    paintCard(painter, layout_.boxes[i], box, state, t, scale);
    const QRectF stub = stubBox(layout_.boxes[i], box, t, content_.leftToRight);
    if (!stub.isEmpty() && scale > 0.4) paintStub(painter, stub, box, t);
  }
  if (scale < 0.5) return;
  // Chips: what would cover a card or another chip is left out; the selected one always shows.
  std::vector<QRectF> taken;
  for (const bool selected : {true, false}) {
    for (const int e : edges) {
      const auto i = static_cast<std::size_t>(e);
      const EdgeState state = edgeState(e);
      const Edge& edge = content_.edges[i];
      if (edge.label.isEmpty() || (state.selected || state.hovered) != selected) continue;
      if (content_.quietLabels && !edge.strong && !selected) continue;
      const QSizeF size = chipSize(content_.edges[i], t);
      const QRectF where(layout_.labels[i] - QPointF(size.width() / 2, size.height() / 2), size);
      const auto covers = [&](const QRectF& other) { return other.intersects(where); };
      if (!selected && std::any_of(taken.begin(), taken.end(), covers)) continue;
      taken.push_back(where);
      paintChip(painter, layout_.labels[i], content_.edges[i], state, t);
    }
  }
}

void GraphWidget::paintEvent(QPaintEvent*) {
  const Theme& t = theme_.theme();
  QPainter painter(this);
  painter.fillRect(rect(), t.surface);
  const bool easing = easing_.isActive() && before_.size() == layout_.boxes.size();
  painter.setRenderHint(QPainter::Antialiasing, !moving_);
  painter.save();
  painter.scale(zoom_, zoom_);
  painter.translate(-origin_);
  if (easing) {
    const double share =
        std::min(1.0, static_cast<double>(easingClock_.elapsed()) / static_cast<double>(easingMilliseconds));
    const double eased = share * (2 - share);
    for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
      const QRectF to = layout_.boxes[i];
      const QRectF from = before_[i].isNull() ? to : before_[i];
      const QPointF at = from.center() + (to.center() - from.center()) * eased;
      const QRectF where(at - QPointF(to.width() / 2, to.height() / 2), to.size());
      if (!visibleScene().intersects(where)) continue;
      painter.setOpacity(before_[i].isNull() ? eased : 1.0);
      paintCard(painter, where, content_.boxes[i], {selectedBox_ == content_.boxes[i].key, false, false}, t,
                zoom_);
    }
    painter.setOpacity(1);
  } else {
    paintScene(painter, visibleScene(), zoom_, true);
  }
  painter.restore();
  if (!content_.notice.isEmpty()) {
    painter.setFont(t.small);
    const QRectF box = QRectF(rect()).adjusted(t.gutter, 0, -t.gutter, -t.unit);
    const QRectF text = painter.boundingRect(box, Qt::AlignRight | Qt::AlignBottom, content_.notice);
    painter.fillRect(text.adjusted(-4, -1, 4, 1), t.surface);
    painter.setPen(t.muted);
    painter.drawText(box, Qt::AlignRight | Qt::AlignBottom, content_.notice);
  }
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(t.selection, 1));
    painter.setBrush(Qt::NoBrush);
    if (!selectedBox_) painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

QSizeF GraphWidget::pictureSize() const {
  if (layout_.boxes.empty()) return {};
  return layout_.bounds.size() + QSizeF(2 * margin, 2 * margin);
}

void GraphWidget::paintPicture(QPainter& painter) const {
  painter.save();
  painter.translate(-layout_.bounds.topLeft() + QPointF(margin, margin));
  painter.setRenderHint(QPainter::Antialiasing);
  paintScene(painter, layout_.bounds.adjusted(-margin, -margin, margin, margin), 1.0, false);
  painter.restore();
}

QString GraphWidget::dot() const {
  const auto quoted = [](QString text) {
    text.replace(QLatin1Char('\\'), QStringLiteral("\\\\")).replace(QLatin1Char('"'), QStringLiteral("\\\""));
    return QLatin1Char('"') + text + QLatin1Char('"');
  };
  QString out = QStringLiteral("digraph nuscope {\n  rankdir=%1;\n  node [shape=box, style=rounded];\n")
                    .arg(content_.leftToRight ? QStringLiteral("LR") : QStringLiteral("TB"));
  for (std::size_t i = 0; i < content_.boxes.size(); ++i) {
    const Box& box = content_.boxes[i];
    QStringList lines{box.title};
    for (const QString& line : {box.second, box.third}) {
      if (!line.isEmpty()) lines << line;
    }
    QString label = quoted(lines.join(QLatin1Char('\n')));
    label.replace(QLatin1Char('\n'), QStringLiteral("\\n"));
    out += QStringLiteral("  n%1 [label=%2%3];\n")
               .arg(i)
               .arg(label, box.ghost ? QStringLiteral(", style=\"rounded,dashed\"") : QString());
  }
  for (const Edge& edge : content_.edges) {
    out += QStringLiteral("  n%1 -> n%2%3;\n")
               .arg(edge.from)
               .arg(edge.to)
               .arg(edge.label.isEmpty() ? QString() : QStringLiteral(" [label=%1]").arg(quoted(edge.label)));
  }
  return out + QStringLiteral("}\n");
}

// Pointer

GraphWidget::Hit GraphWidget::hitTest(QPointF widget) const {
  const QPointF p = toScene(widget);
  const double near = 5 / zoom_;
  std::vector<int> boxes;
  std::vector<int> edges;
  index_->query(QRectF(p - QPointF(60, 60), QSizeF(120, 120)), boxes, edges);
  const Theme& t = theme_.theme();
  for (auto it = boxes.rbegin(); it != boxes.rend(); ++it) {
    const auto i = static_cast<std::size_t>(*it);
    if (stubBox(layout_.boxes[i], content_.boxes[i], t, content_.leftToRight).contains(p))
      return {*it, -1, true};
    if (layout_.boxes[i].contains(p)) return {*it, -1, false};
  }
  for (const int e : edges) {
    const auto i = static_cast<std::size_t>(e);
    const QSizeF chip = chipSize(content_.edges[i], t);
    if (content_.edges[i].key != 0 &&
        QRectF(layout_.labels[i] - QPointF(chip.width() / 2, chip.height() / 2), chip).contains(p))
      return {-1, e, false};
  }
  Hit best;
  double nearest = near;
  for (const int e : edges) {
    if (content_.edges[static_cast<std::size_t>(e)].key == 0) continue;
    const double distance = distanceToSpline(layout_.edges[static_cast<std::size_t>(e)], p);
    if (distance < nearest) {
      nearest = distance;
      best.edge = e;
    }
  }
  return best;
}

void GraphWidget::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  pressed_ = event->position();
  originWhenPressed_ = origin_;
  dragging_ = false;
}

void GraphWidget::mouseMoveEvent(QMouseEvent* event) {
  if (pressed_) {
    const QPointF by = event->position() - *pressed_;
    if (!dragging_ && by.manhattanLength() >= QApplication::startDragDistance()) {
      dragging_ = true;
      setCursor(Qt::ClosedHandCursor);
    }
    if (dragging_) {
      origin_ = originWhenPressed_ - by / zoom_;
      fitted_ = false;
      moving();
    }
    return;
  }
  const Hit hit = hitTest(event->position());
  const auto key =
      hit.box >= 0 ? std::optional(content_.boxes[static_cast<std::size_t>(hit.box)].key) : std::nullopt;
  if (key != hoveredBox_ || hit.edge != hoveredEdge_) {
    hoveredBox_ = key;
    hoveredEdge_ = hit.edge;
    setCursor(hit.box >= 0 || hit.edge >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    Q_EMIT boxHovered(key.has_value(), key.value_or(0));
    update();
  }
}

void GraphWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return;
  const bool click = !dragging_ && event->button() == Qt::LeftButton;
  pressed_.reset();
  if (dragging_) {
    dragging_ = false;
    unsetCursor();
    return;
  }
  if (!click) return;
  const Hit hit = hitTest(event->position());
  if (hit.box >= 0) {
    const std::uint64_t key = content_.boxes[static_cast<std::size_t>(hit.box)].key;
    if (hit.stub) {
      Q_EMIT stubClicked(key);
    } else {
      setSelectedBox(key);
      Q_EMIT boxChosen(key);
    }
  } else if (hit.edge >= 0) {
    const std::uint64_t key = content_.edges[static_cast<std::size_t>(hit.edge)].key;
    setSelectedEdge(key);
    Q_EMIT edgeChosen(key);
  }
}

void GraphWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  const Hit hit = hitTest(event->position());
  if (hit.box >= 0 && !hit.stub) Q_EMIT boxOpened(content_.boxes[static_cast<std::size_t>(hit.box)].key);
}

void GraphWidget::leaveEvent(QEvent*) {
  if (!hoveredBox_ && hoveredEdge_ < 0) return;
  hoveredBox_.reset();
  hoveredEdge_ = -1;
  Q_EMIT boxHovered(false, 0);
  update();
}

void GraphWidget::wheelEvent(QWheelEvent* event) {
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    setZoom(zoom_ * std::pow(1.2, event->angleDelta().y() / 120.0), event->position());
  } else {
    QPointF by =
        event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 2 : QPointF(event->pixelDelta());
    if (event->modifiers().testFlag(Qt::ShiftModifier)) by = QPointF(by.y(), by.x());
    origin_ -= by / zoom_;
    fitted_ = false;
    moving();
  }
  event->accept();
}

bool GraphWidget::event(QEvent* event) {
  if (event->type() == QEvent::Gesture) {
    if (auto* pinch =
            static_cast<QPinchGesture*>(static_cast<QGestureEvent*>(event)->gesture(Qt::PinchGesture))) {
      setZoom(zoom_ * pinch->scaleFactor(), mapFromGlobal(pinch->centerPoint().toPoint()));
      return true;
    }
  }
  if (event->type() == QEvent::ToolTip) {
    const Hit hit = hitTest(static_cast<QHelpEvent*>(event)->pos());
    QString text;
    if (hit.box >= 0) {
      const Box& box = content_.boxes[static_cast<std::size_t>(hit.box)];
      text = hit.stub ? tr("%n more not shown: click to show", nullptr, box.hidden)
                      : box.title + QLatin1Char('\n') + box.description;
    } else if (hit.edge >= 0) {
      text = content_.edges[static_cast<std::size_t>(hit.edge)].description;
    }
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text.trimmed(), this);
    return true;
  }
  return QWidget::event(event);
}

// Keys

void GraphWidget::step(int key) {
  if (layout_.boxes.empty()) return;
  const int at = selectedBox_ ? indexOf(*selectedBox_) : -1;
  int best = -1;
  if (at < 0) {
    best = 0;
  } else {
    const bool alongKey = content_.leftToRight ? key == Qt::Key_Right || key == Qt::Key_Left
                                               : key == Qt::Key_Down || key == Qt::Key_Up;
    const bool ahead = key == Qt::Key_Right || key == Qt::Key_Down;
    const QPointF from = layout_.boxes[static_cast<std::size_t>(at)].center();
    const auto across = [&](const QPointF& p) { return content_.leftToRight ? p.y() : p.x(); };
    const auto along = [&](const QPointF& p) { return content_.leftToRight ? p.x() : p.y(); };
    double nearest = 1e30;
    const auto consider = [&](int i, double distance) {
      if (distance < nearest) {
        nearest = distance;
        best = i;
      }
    };
    if (alongKey) {
      for (const Edge& edge : content_.edges) {
        const int other = ahead ? edge.to : edge.from;
        if ((ahead ? edge.from : edge.to) != at) continue;
        consider(other,
                 std::fabs(across(layout_.boxes[static_cast<std::size_t>(other)].center()) - across(from)));
      }
    } else {
      for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
        const QPointF p = layout_.boxes[i].center();
        const double aside = (across(p) - across(from)) * (ahead ? 1 : -1);
        if (static_cast<int>(i) != at && aside > 1)
          consider(static_cast<int>(i), aside + 4 * std::fabs(along(p) - along(from)));
      }
    }
  }
  if (best < 0) return;
  const std::uint64_t chosen = content_.boxes[static_cast<std::size_t>(best)].key;
  setSelectedBox(chosen);
  ensureVisible(chosen);
  Q_EMIT boxChosen(chosen);
}

void GraphWidget::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) break;
      step(event->key());
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selectedBox_) Q_EMIT boxOpened(*selectedBox_);
      return;
    case Qt::Key_Plus:
      setZoom(zoom_ * 1.2, QPointF(width() / 2.0, height() / 2.0));
      return;
    case Qt::Key_Minus:
      setZoom(zoom_ / 1.2, QPointF(width() / 2.0, height() / 2.0));
      return;
    case Qt::Key_F:
      if (event->modifiers() == Qt::NoModifier) {
        fit();
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

void GraphWidget::resizeEvent(QResizeEvent*) {
  if (fitted_) frame();
}

}  // namespace nuscope::views

#include "moc_graph_widget.cpp"
