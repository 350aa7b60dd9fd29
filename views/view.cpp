#include "views/view.h"

#include <QBuffer>
#include <QContextMenuEvent>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/base/diagnostics.h"
#include "views/commands.h"
#include "views/marks.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr const char* iconProperty = "nuscopeIcon";
constexpr int pause = 2;  // milliseconds between the refreshes of two views

/// Since some view was refreshed.
QElapsedTimer& sinceLast() {
  static QElapsedTimer timer;
  return timer;
}
bool tooEarly() {
  return sinceLast().isValid() && sinceLast().elapsed() < pause;
}

QToolButton* iconButton(QWidget* parent, const QString& icon, const QString& toolTip, const Theme& theme) {
  auto* button = new QToolButton(parent);
  button->setIcon(themedIcon(icon, theme));
  button->setProperty(iconProperty, icon);
  button->setToolTip(toolTip);
  button->setAccessibleName(toolTip.section(QLatin1Char('\n'), 0, 0));
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

bool writeAtomically(const QString& path, const QByteArray& bytes, QString* why) {
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) return true;
  if (why) *why = QStringLiteral("%1 could not be written: %2.").arg(path, file.errorString());
  return false;
}

}  // namespace

View::View(const ViewContext& context, const char* id, const QString& title, QWidget* parent)
    : QWidget(parent),
      context_(context),
      layout_(new QVBoxLayout(this)),
      header_(new QWidget(this)),
      headerLayout_(new QHBoxLayout(header_)),
      title_(new QLabel(title, header_)),
      subtitle_(new QLabel(header_)),
      chips_(new QWidget(header_)),
      buttons_(new QWidget(header_)) {
  setObjectName(QLatin1String(id));
  setAccessibleName(title);
  setFocusPolicy(Qt::NoFocus);
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(0);
  layout_->addWidget(header_);
  for (QWidget* group : {chips_, buttons_}) {
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(group == chips_ ? 4 : 2);
  }
  subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  subtitle_->setMinimumWidth(0);
  headerLayout_->addWidget(title_);
  headerLayout_->addWidget(subtitle_, 1);
  headerLayout_->addWidget(chips_);
  headerLayout_->addWidget(buttons_);
  auto* more = iconButton(buttons_, QStringLiteral("more"), tr("More"), theme());
  connect(more, &QToolButton::clicked, this, [this, more] {
    QMenu menu;
    fillContextMenu(menu);
    menu.exec(more->mapToGlobal(QPoint(0, more->height())));
  });
  more->setObjectName(QStringLiteral("more"));
  buttons_->layout()->addWidget(more);
  connect(&context_.theme, &ThemeSource::changed, this, [this] {
    retint();
    themeChanged();
  });
  retint();
}

QString View::title() const {
  return title_->text();
}

void View::setTitle(const QString& title) {
  title_->setText(title);
  setAccessibleName(title);
}

void View::setSubtitle(const QString& subtitle) {
  subtitle_->setText(subtitle);
  subtitle_->setToolTip(subtitle);
}

const Theme& View::theme() const {
  return context_.theme.theme();
}

void View::setContent(QWidget* content) {
  if (content_) throw InternalError("a view has one content widget");
  content_ = content;
  layout_->addWidget(content, 1);
}

QToolButton* View::addHeaderButton(const QString& icon, const QString& toolTip,
                                   const std::function<void()>& act) {
  auto* row = static_cast<QHBoxLayout*>(buttons_->layout());
  if (row->count() >= 4)
    throw InternalError("a header holds four buttons; put the rest into the context menu");
  auto* button = iconButton(buttons_, icon, toolTip, theme());
  row->insertWidget(row->count() - 1, button);
  connect(button, &QToolButton::clicked, this, act);
  return button;
}

QToolButton* View::addHeaderToggle(const QString& icon, const QString& toolTip, bool on,
                                   const std::function<void(bool)>& act) {
  auto* button = addHeaderButton(icon, toolTip, [] {});
  button->setCheckable(true);
  button->setChecked(on);
  connect(button, &QToolButton::toggled, this, act);
  return button;
}

QToolButton* View::addChip(const QString& text, bool on, const std::function<void(bool)>& act) {
  auto* chip = new QToolButton(chips_);
  chip->setText(text);
  chip->setProperty("chip", true);
  chip->setCheckable(true);
  chip->setChecked(on);
  chip->setFocusPolicy(Qt::TabFocus);
  chips_->layout()->addWidget(chip);
  connect(chip, &QToolButton::toggled, this, act);
  return chip;
}

void View::addHeaderWidget(QWidget* widget) {
  headerLayout_->insertWidget(headerLayout_->indexOf(chips_), widget);
}

void View::fillContextMenu(QMenu& menu) {
  if (!menu.isEmpty()) menu.addSeparator();
  if (canFind())
    menu.addAction(themedIcon(QStringLiteral("search"), theme()), tr("Find in view…"), this, &View::openFind);
  QAction* act = menu.addAction(themedIcon(QStringLiteral("export"), theme()), tr("Export view…"), this,
                                &View::exportAs);
  act->setEnabled(!exportSize().isEmpty() || !csv().isEmpty() || !moreExports().isEmpty());
  menu.addAction(context_.commands.action("view.alone"));
}

void View::markStale() {
  stale_ = true;
  if (!isVisible() || scheduled_) return;
  refreshIn(refreshDelay());
}

/// One view a turn of the event loop: all that one click made stale would together hold up the window. Those
/// that come too early try again when events have been answered.
void View::refreshIn(int milliseconds) {
  scheduled_ = true;
  QTimer::singleShot(milliseconds, this, [this] {
    if (stale_ && tooEarly()) {
      refreshIn(pause);
      return;
    }
    scheduled_ = false;
    refreshIfVisible();
  });
}

void View::refreshIfVisible() {
  if (!stale_ || !isVisible()) return;
  stale_ = false;
  refresh();
  sinceLast().start();
}

/// The first of those that appear together is there at once, the others after it.
void View::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!stale_ || scheduled_) return;
  tooEarly() ? refreshIn(pause) : refreshIfVisible();
}

void View::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu;
  fillContextMenu(menu);
  menu.exec(event->globalPos());
}

void View::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().surface);
  painter.setPen(theme().line);
  painter.drawLine(0, header_->height() - 1, width(), header_->height() - 1);
}

void View::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && findBar_ && findBar_->isVisible()) {
    closeFind();
    return;
  }
  QWidget::keyPressEvent(event);
}

void View::retint() {
  const Theme& t = theme();
  header_->setFixedHeight(t.header);
  headerLayout_->setContentsMargins(t.gutter, 0, t.padding, 0);
  headerLayout_->setSpacing(t.padding);
  title_->setFont(t.heading);
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  subtitle_->setPalette(muted);
  subtitle_->setFont(t.ui);
  const int side = static_cast<int>(16 * t.scale);
  const auto buttons = findChildren<QToolButton*>();
  for (QToolButton* button : buttons) {
    const QString icon = button->property(iconProperty).toString();
    if (icon.isEmpty()) continue;
    button->setIcon(themedIcon(icon, t));
    button->setIconSize(QSize(side, side));
  }
  update();
}

// Search

QString View::find(const QString&, bool) {
  return {};
}

void View::openFind() {
  if (!canFind()) return;
  if (!findBar_) {
    findBar_ = new QWidget(this);
    auto* row = new QHBoxLayout(findBar_);
    row->setContentsMargins(theme().gutter, theme().unit, theme().padding, theme().unit);
    findField_ = new QLineEdit(findBar_);
    findField_->setObjectName(QStringLiteral("findField"));
    findField_->setPlaceholderText(tr("Find in %1").arg(title()));
    findField_->setAccessibleName(tr("Find in %1").arg(title()));
    findResult_ = new QLabel(findBar_);
    row->addWidget(findField_, 1);
    row->addWidget(findResult_);
    const auto step = [this](bool backwards) { findResult_->setText(find(findField_->text(), backwards)); };
    auto* previous = iconButton(findBar_, QStringLiteral("up"), tr("Previous match"), theme());
    auto* next = iconButton(findBar_, QStringLiteral("down"), tr("Next match"), theme());
    auto* close = iconButton(findBar_, QStringLiteral("close"), tr("Close"), theme());
    for (QToolButton* button : {previous, next, close}) row->addWidget(button);
    connect(findField_, &QLineEdit::textChanged, this, [step] { step(false); });
    connect(findField_, &QLineEdit::returnPressed, this, [step] { step(false); });
    connect(previous, &QToolButton::clicked, this, [step] { step(true); });
    connect(next, &QToolButton::clicked, this, [step] { step(false); });
    connect(close, &QToolButton::clicked, this, &View::closeFind);
    layout_->insertWidget(1, findBar_);
  }
  findBar_->show();
  findField_->setFocus();
  findField_->selectAll();
}

void View::findAgain(bool backwards) {
  if (!findBar_ || !findBar_->isVisible()) {
    openFind();
    return;
  }
  findResult_->setText(find(findField_->text(), backwards));
}

void View::closeFind() {
  if (!findBar_) return;
  findBar_->hide();
  find(QString(), false);
  findResult_->clear();
  if (QWidget* target = focusTarget()) target->setFocus();
}

// Export

QSizeF View::exportSize() const {
  return content_ ? QSizeF(content_->size()) : QSizeF();
}

void View::paintExport(QPainter& painter) const {
  if (content_)
    content_->render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
}

QString View::exportText(const QString&) const {
  return {};
}

bool View::exportTo(const QString& path, QString* why) const {
  const QString suffix = QFileInfo(path).suffix().toLower();
  const QSizeF size = exportSize();
  const bool picture = suffix == QLatin1String("png") || suffix == QLatin1String("svg");
  if (picture && size.isEmpty()) {
    if (why) *why = tr("This view shows no picture now.");
    return false;
  }
  QByteArray bytes;
  if (suffix == QLatin1String("svg")) {
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size.toSize());
    generator.setViewBox(QRectF(QPointF(0, 0), size));
    generator.setTitle(title());
    generator.setDescription(summary());
    generator.setResolution(96);
    QPainter painter(&generator);
    painter.fillRect(QRectF(QPointF(0, 0), size), theme().surface);
    paintExport(painter);
    painter.end();
  } else if (suffix == QLatin1String("png")) {
    constexpr double ratio = 2;
    constexpr double longest = 16384;
    const double fitting = std::min(ratio, longest / std::max(size.width(), size.height()));
    QImage image((size * fitting).toSize(), QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(fitting);
    image.fill(theme().surface);
    QPainter painter(&image);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    paintExport(painter);
    painter.end();
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
  } else {
    const QString text = suffix == QLatin1String("csv") ? csv() : exportText(suffix);
    if (text.isEmpty()) {
      if (why) *why = tr("This view cannot be written as .%1. Use .png, .svg or .csv.").arg(suffix);
      return false;
    }
    bytes = text.toUtf8();
  }
  return writeAtomically(path, bytes, why);
}

void View::exportAs() {
  QStringList filters;
  if (!exportSize().isEmpty()) filters << tr("SVG picture (*.svg)") << tr("PNG picture (*.png)");
  if (!csv().isEmpty()) filters << tr("Comma-separated values (*.csv)");
  filters += moreExports();
  if (filters.isEmpty()) return;
  QFileDialog dialog(this, tr("Export %1").arg(title()), QString(), filters.join(QStringLiteral(";;")));
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(filters.first().section(QStringLiteral("*."), 1).section(QLatin1Char(')'), 0, 0));
  connect(&dialog, &QFileDialog::filterSelected, &dialog, [&dialog](const QString& filter) {
    dialog.setDefaultSuffix(filter.section(QStringLiteral("*."), 1).section(QLatin1Char(')'), 0, 0));
  });
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
  QString why;
  if (!exportTo(dialog.selectedFiles().first(), &why)) QMessageBox::warning(this, tr("Export"), why);
}

}  // namespace nuscope::views

#include "moc_view.cpp"
