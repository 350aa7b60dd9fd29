#include "views/lessons/lesson_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/marks.h"
#include "views/state_label.h"
#include "views/theme.h"
#include "views/window/main_window.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

constexpr int panelWidth = 340;
const QString lessonLink = QStringLiteral("lesson:");

/// Room between paragraphs and lines: Markdown has none of its own.
void space(QTextDocument& document, const Theme& t) {
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    QTextCursor cursor(block);
    QTextBlockFormat format = block.blockFormat();
    format.setLineHeight(128, QTextBlockFormat::ProportionalHeight);
    format.setBottomMargin(t.padding);
    cursor.setBlockFormat(format);
    for (auto piece = block.begin(); !piece.atEnd(); ++piece) {
      const QTextFragment fragment = piece.fragment();
      QTextCharFormat look;
      if (fragment.charFormat().fontFixedPitch()) {
        look.setFontFamilies({t.code.family()});
        look.setFontPointSize(t.code.pointSizeF());
      }
      if (fragment.charFormat().isAnchor()) {
        look.setForeground(t.selection);
        look.setFontUnderline(false);
        look.setFontWeight(QFont::DemiBold);
      }
      if (look.isEmpty()) continue;
      QTextCursor at(&document);
      at.setPosition(fragment.position());
      at.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
      at.mergeCharFormat(look);
    }
  }
}

}  // namespace

LessonPanel::LessonPanel(MainWindow& window, const ViewContext& context, QWidget* parent)
    : QWidget(parent), context_(context), lessons_(lessons()), guide_(window, context) {
  setObjectName(QStringLiteral("lessons"));
  setAccessibleName(tr("Lessons"));
  title_ = new WrappedLabel(this);
  place_ = new QLabel(this);
  const auto icon = [this](const QString& tip, auto act) {
    auto* button = new QToolButton(this);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    connect(button, &QToolButton::clicked, this, act);
    return button;
  };
  list_ = icon(tr("All lessons"), [this] { showList(); });
  close_ = icon(tr("Close the lesson"), [this] { Q_EMIT closed(); });
  text_ = new QTextBrowser(this);
  text_->setObjectName(QStringLiteral("lessonText"));
  text_->setOpenLinks(false);
  text_->setFrameShape(QFrame::NoFrame);
  connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) { follow(url.toString()); });
  outcomeMark_ = new StateLabel(context.theme, this);
  outcomeText_ = new WrappedLabel(this);
  outcomeText_->setObjectName(QStringLiteral("lessonOutcome"));
  outcomeText_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  back_ = new QPushButton(tr("Back"), this);
  next_ = new QPushButton(this);
  next_->setProperty("primary", true);
  connect(back_, &QPushButton::clicked, this, [this] { turnTo(page_ - 1); });
  connect(next_, &QPushButton::clicked, this, &LessonPanel::press);
  connect(&guide_, &LessonGuide::ended, this, &LessonPanel::finished);
  connect(&context.theme, &ThemeSource::changed, this, &LessonPanel::retheme);

  auto* top = new QHBoxLayout;
  top->addWidget(title_, 1);
  top->addWidget(list_, 0, Qt::AlignTop);
  top->addWidget(close_, 0, Qt::AlignTop);
  outcomeRow_ = new QWidget(this);
  auto* came = new QHBoxLayout(outcomeRow_);
  came->setContentsMargins(0, 0, 0, 0);
  came->addWidget(outcomeMark_, 0, Qt::AlignTop);
  came->addWidget(outcomeText_, 1);
  auto* bottom = new QHBoxLayout;
  bottom->addWidget(back_);
  bottom->addWidget(place_);
  bottom->addStretch(1);
  bottom->addWidget(next_);
  auto* column = new QVBoxLayout(this);
  column->addLayout(top);
  column->addWidget(text_, 1);
  column->addWidget(outcomeRow_);
  column->addLayout(bottom);
  retheme();
}

bool LessonPanel::open(const QString& id) {
  for (std::size_t i = 0; i < lessons_.size(); ++i) {
    if (lessons_[i].id != id) continue;
    lesson_ = i;
    turnTo(0);
    return true;
  }
  return false;
}

void LessonPanel::showList() {
  turnTo(-1);
}

void LessonPanel::turnTo(int page) {
  guide_.giveUp();
  const int last = static_cast<int>(lessons_[lesson_].pages.size()) - 1;
  page_ = page > last ? -1 : page;
  done_ = 0;
  outcome_ = {};
  render();
  text_->moveCursor(QTextCursor::Start);
}

void LessonPanel::follow(const QString& link) {
  if (link.startsWith(lessonLink)) {
    open(link.mid(lessonLink.size()));
    return;
  }
  if (page_ < 0) return;
  const auto& acts = lessons_[lesson_].pages[static_cast<std::size_t>(page_)].acts;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    if (acts[i].link == link) return act(i);
  }
}

void LessonPanel::act(std::size_t index) {
  running_ = index;
  outcome_ = {Mark::running, lessons_[lesson_].pages[static_cast<std::size_t>(page_)].acts[index].text};
  guide_.run(lessons_[lesson_].pages[static_cast<std::size_t>(page_)].acts[index]);
  render();
}

void LessonPanel::press() {
  if (page_ < 0) {
    open(lessons_.front().id);
    return;
  }
  const LessonPage& page = lessons_[lesson_].pages[static_cast<std::size_t>(page_)];
  if (done_ < page.acts.size()) {
    act(done_);
  } else {
    turnTo(page_ + 1);
  }
}

void LessonPanel::finished(const LessonGuide::Outcome& outcome) {
  outcome_ = outcome;
  // What could not be done is offered again.
  if (outcome.mark != Mark::warning) done_ = std::max(done_, running_ + 1);
  render();
  next_->setFocus();
}

void LessonPanel::render() {
  const Theme& t = context_.theme.theme();
  const Lesson& lesson = lessons_[lesson_];
  QString markdown;
  if (page_ < 0) {
    title_->setText(tr("Lessons"));
    for (const Lesson& one : lessons_)
      markdown += QStringLiteral("[%1](%2%3)\n\n%4\n\n").arg(one.title, lessonLink, one.id, one.summary);
  } else {
    title_->setText(lesson.title);
    const LessonPage& page = lesson.pages[static_cast<std::size_t>(page_)];
    markdown = QStringLiteral("**%1**\n\n%2").arg(page.title, page.markdown);
  }
  const int scroll = text_->verticalScrollBar()->value();
  text_->document()->setDefaultFont(t.ui);
  text_->setMarkdown(markdown);
  space(*text_->document(), t);
  text_->verticalScrollBar()->setValue(scroll);
  const auto pages = static_cast<int>(lesson.pages.size());
  place_->setText(page_ < 0 ? QString() : tr("%1 of %2").arg(page_ + 1).arg(pages));
  back_->setVisible(page_ >= 0);
  list_->setVisible(page_ >= 0);
  const bool busy = guide_.running();
  next_->setEnabled(!busy);
  if (page_ < 0) {
    next_->setText(tr("Start"));
  } else {
    const auto& acts = lesson.pages[static_cast<std::size_t>(page_)].acts;
    next_->setText(done_ < acts.size() ? acts[done_].text : page_ + 1 < pages ? tr("Next") : tr("Done"));
  }
  outcomeRow_->setVisible(!outcome_.words.isEmpty());
  outcomeMark_->setState(outcome_.mark, QString());
  outcomeMark_->setVisible(outcome_.mark != Mark::none);
  outcomeText_->setText(outcome_.words);
}

void LessonPanel::retheme() {
  const Theme& t = context_.theme.theme();
  setFixedWidth(static_cast<int>(panelWidth * t.scale));
  title_->setFont(t.heading);
  place_->setFont(t.small);
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  place_->setPalette(muted);
  list_->setIcon(themedIcon(QStringLiteral("list"), t));
  close_->setIcon(themedIcon(QStringLiteral("close"), t));
  layout()->setContentsMargins(t.gutter, t.padding, t.gutter, t.gutter);
  layout()->setSpacing(t.padding);
  render();
}

void LessonPanel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), context_.theme.theme().surface);
}

QString LessonPanel::plainText() const {
  return title_->text() + QLatin1Char('\n') + text_->toPlainText() + QLatin1Char('\n') + outcome_.words;
}

}  // namespace nuscope::views

#include "moc_lesson_panel.cpp"
