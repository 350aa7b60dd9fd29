#include "views/schedule/why_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/schedule/schedule_words.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

/// "task:12" and the like; understood by follow().
QString linkOf(const schedule::Sentence& sentence) {
  if (sentence.task >= 0) return QStringLiteral("task:%1").arg(sentence.task);
  if (sentence.counter >= 0) return QStringLiteral("counter:%1").arg(sentence.counter);
  if (sentence.buffer >= 0) return QStringLiteral("buffer:%1").arg(sentence.buffer);
  return {};
}

QString checkedText(const schedule::Repair& repair) {
  return QObject::tr("checked: %1").arg(qs(schedule::outcome(repair)));
}

/// Long lists of edits are cut at a blank.
QString shortened(const std::string& text) {
  constexpr qsizetype most = 180;
  QString out = qs(text);
  if (!out.isEmpty()) out[0] = out[0].toUpper();
  return out.size() <= most ? out
                            : out.left(out.lastIndexOf(QLatin1Char(' '), most)) + QStringLiteral(" \u2026");
}

}  // namespace

WhyView::WhyView(const ViewContext& context, QWidget* parent)
    : View(context, "why", tr("Why"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      scroll_(new QScrollArea) {
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::StrongFocus);
  scroll_->setAccessibleName(tr("Explanation and repairs"));
  setContent(scroll_);
  addHeaderButton(QStringLiteral("copy"), tr("Copy the explanation and the repairs as text"),
                  [this] { QApplication::clipboard()->setText(plainText()); });
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::repairsChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::selectionChanged, this, [this] {
    if (asked() != told_) markStale();  // another task or buffer of the same finding changes nothing here
  });
}

std::tuple<int, int, bool> WhyView::asked() const {
  return {schedule_.place().finding, schedule_.place().fault, schedule_.detail() != nullptr};
}

QWidget* WhyView::focusTarget() const {
  return scroll_;
}

void WhyView::refresh() {
  told_ = asked();
  const int scrolled = scroll_->verticalScrollBar()->value();
  auto* sheet = new QWidget;
  sheet->setObjectName(QStringLiteral("sheet"));
  column_ = new QVBoxLayout(sheet);
  const Theme& t = theme();
  column_->setContentsMargins(t.gutter, t.padding, t.gutter, t.padding);
  column_->setSpacing(t.padding);
  addSentences();
  addRepairs();
  column_->addStretch(1);
  scroll_->setWidget(sheet);
  scroll_->verticalScrollBar()->setValue(scrolled);
}

QLabel* WhyView::label(const QString& html) {
  auto* made = new WrappedLabel(html);
  made->setTextFormat(Qt::RichText);
  made->setMinimumWidth(40);  // words wrap however narrow the panel is
  made->setTextInteractionFlags(Qt::TextBrowserInteraction);
  made->setFocusPolicy(Qt::NoFocus);
  connect(made, &QLabel::linkActivated, this, &WhyView::follow);
  return made;
}

void WhyView::addText(const QString& html, bool muted) {
  QLabel* text = label(html);
  if (muted) text->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
  column_->addWidget(text);
}

void WhyView::addNumbered(int number, const QString& html) {
  auto* row = new QHBoxLayout;
  row->setSpacing(theme().padding);
  auto* digit = new QLabel(QString::number(number));
  digit->setStyleSheet(QStringLiteral("color: %1;").arg(theme().refuted.name()));
  digit->setFixedWidth(QFontMetrics(theme().ui).horizontalAdvance(QStringLiteral("00")));
  row->addWidget(digit, 0, Qt::AlignTop);
  row->addWidget(label(html), 1);
  column_->addLayout(row);
}

void WhyView::addSentences() {
  const Theme& t = theme();
  const auto state = schedule_.state();
  if (!state) return;
  if (!state->wellFormed()) {
    const int fault = schedule_.place().fault;
    if (fault < 0 || fault >= static_cast<int>(state->faults.size())) return;
    const schedule::Fault& f = state->faults[static_cast<std::size_t>(fault)];
    addText(qs(f.message).toHtmlEscaped() + QLatin1Char('.'), false);
    addText(tr("A malformed file is not judged further: mend the record, the check follows by itself."),
            true);
    return;
  }
  for (const std::string& sentence : state->report.undecided) addText(qs(sentence).toHtmlEscaped(), false);
  const FindingDetail* detail = schedule_.detail();
  if (detail == nullptr) {
    if (state->report.verdict == schedule::Safety::safe)
      addText(qs(schedule::assumptions()).toHtmlEscaped(), true);
    return;
  }
  int number = 0;
  for (const schedule::Sentence& s : detail->sentences) {
    ++number;
    const QString link = linkOf(s);
    const QString lead = qs(s.lead).toHtmlEscaped();
    const QString name =
        lead.isEmpty() ? QString()
        : link.isEmpty()
            ? QStringLiteral("<b>%1</b>").arg(lead)
            : QStringLiteral("<a href=\"%1\" style=\"color:%2;text-decoration:none\"><b>%3</b></a>")
                  .arg(link, t.text.name(), lead);
    addNumbered(number, name + qs(s.rest).toHtmlEscaped());
  }
}

void WhyView::addRepairs() {
  const Theme& t = theme();
  const auto state = schedule_.state();
  if (!state) return;
  const auto& repairs = schedule_.repairs();
  const bool any = !repairs.empty() || schedule_.seekingRepairs();
  if (schedule_.previewed() < 0 && (!any && (schedule_.detail() == nullptr || !state->wellFormed()))) return;
  auto* head = new QWidget;
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(0, t.unit, 0, 0);
  auto* heading = new QLabel(schedule_.seekingRepairs() ? tr("Seeking repairs\u2026")
                             : repairs.empty()          ? tr("No small repair found")
                                                        : tr("Repairs, smallest first"));
  QFont font = t.ui;
  font.setWeight(QFont::DemiBold);
  heading->setFont(font);
  row->addWidget(heading);
  row->addStretch(1);
  const int finding = schedule_.place().finding;
  if (state->wellFormed() && finding >= 0 && schedule_.previewed() < 0) {
    for (const auto& group : state->groups) {
      if (group.findings.size() < 2 || std::find(group.findings.begin(), group.findings.end(),
                                                 static_cast<std::size_t>(finding)) == group.findings.end())
        continue;
      auto* only = new QToolButton;
      only->setText(schedule_.onlyThis() ? tr("this one only") : tr("all %1").arg(group.findings.size()));
      only->setToolTip(tr("Whether a repair applies to all findings of this kind, or to this one only"));
      only->setProperty("chip", true);
      only->setCheckable(true);
      only->setChecked(!schedule_.onlyThis());
      connect(only, &QToolButton::clicked, this, [this] { schedule_.setOnlyThis(!schedule_.onlyThis()); });
      row->addWidget(only);
    }
  }
  column_->addWidget(head);
  if (repairs.empty() && !schedule_.seekingRepairs())
    addText(
        tr("Every small edit that was tried (a wait, a threshold, an order, an SM, a tile, a page) leaves "
           "the schedule unsafe or breaks something else."),
        true);
  for (int i = 0; i < static_cast<int>(repairs.size()); ++i) addRepair(i, i == 0);
}

void WhyView::addRepair(int index, bool first) {
  const Theme& t = theme();
  const schedule::Repair& repair = schedule_.repairs()[static_cast<std::size_t>(index)];
  const bool previewed = schedule_.previewed() == index;
  auto* line = new QFrame;
  line->setFixedHeight(1);
  line->setStyleSheet(QStringLiteral("background: %1;").arg(t.line.name()));
  column_->addWidget(line);
  auto* box = new QWidget;
  box->setObjectName(QStringLiteral("repair%1").arg(index));
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(t.padding);
  auto* mark = new StateLabel(context().theme);
  mark->setState(repair.makesSafe ? Mark::proved : Mark::warning, QString());
  mark->setFixedWidth(static_cast<int>(18 * t.scale));
  auto* words = new WrappedLabel;
  words->setMinimumWidth(40);
  words->setTextFormat(Qt::RichText);
  const auto edits = static_cast<std::int64_t>(repair.edits.size());
  words->setText(QStringLiteral("%1<br><span style=\"color:%2\">%3 \u00B7 %4</span>")
                     .arg(shortened(repair.text).toHtmlEscaped(), t.muted.name(),
                          counted(edits, tr("edit"), tr("edits")), checkedText(repair)));
  words->setToolTip(qs(repair.text) + tr("\nIn the generator: %1").arg(qs(repair.generator)));
  auto* acts = new QVBoxLayout;
  acts->setSpacing(t.unit);
  const auto button = [&](const QString& text, const char* name, bool primary,
                          const std::function<void()>& act) {
    auto* b = new QPushButton(text);
    b->setObjectName(QLatin1String(name));
    b->setProperty("primary", primary);
    connect(b, &QPushButton::clicked, this, act);
    acts->addWidget(b);
  };
  if (previewed) {
    button(tr("Apply"), "apply", true, [this, index] { schedule_.apply(index); });
    button(tr("Back"), "back", false, [this] { schedule_.dropPreview(); });
  } else {
    button(tr("Preview"), "preview", first && schedule_.previewed() < 0,
           [this, index] { schedule_.preview(index); });
  }
  acts->addStretch(1);
  row->addWidget(mark, 0, Qt::AlignTop);
  row->addWidget(words, 1, Qt::AlignTop);
  row->addLayout(acts);
  column_->addWidget(box);
  auto* more = new WrappedLabel(
      QStringLiteral("<a href=\"patch:%1\" style=\"color:%2;text-decoration:none\">%3</a>"
                     "<span style=\"color:%2\"> \u00B7 </span>"
                     "<a href=\"generator:%1\" style=\"color:%2;text-decoration:none\">%4</a>")
          .arg(index)
          .arg(t.muted.name(), tr("Copy as JSON patch"), tr("what the generator should do")));
  more->setMinimumWidth(40);
  more->setContentsMargins(static_cast<int>(18 * t.scale) + t.padding, 0, 0, 0);
  connect(more, &QLabel::linkActivated, this, &WhyView::follow);
  column_->addWidget(more);
}

void WhyView::follow(const QString& link) {
  const QString what = link.section(QLatin1Char(':'), 0, 0);
  const int index = link.section(QLatin1Char(':'), 1).toInt();
  if (what == QLatin1String("task")) {
    schedule_.selectTask(index);
  } else if (what == QLatin1String("counter")) {
    schedule_.selectCounter(index);
  } else if (what == QLatin1String("buffer")) {
    schedule_.selectBuffer(index);
  } else if (what == QLatin1String("patch")) {
    QApplication::clipboard()->setText(schedule_.jsonPatch(index));
    setSubtitle(tr("JSON patch copied"));
  } else if (what == QLatin1String("generator") && index < static_cast<int>(schedule_.repairs().size())) {
    QString text = qs(schedule_.repairs()[static_cast<std::size_t>(index)].generator);
    QApplication::clipboard()->setText(text);
    setSubtitle(tr("copied: %1").arg(text));
  }
}

QString WhyView::plainText() const {
  QStringList lines;
  const auto state = schedule_.state();
  if (state && !state->wellFormed()) {
    for (const schedule::Fault& fault : state->faults)
      lines << (fault.where.empty() ? QString() : qs(fault.where) + QStringLiteral(": ")) + qs(fault.message);
  }
  if (const FindingDetail* detail = schedule_.detail()) {
    int number = 0;
    for (const schedule::Sentence& s : detail->sentences)
      lines << QStringLiteral("%1. %2%3").arg(++number).arg(qs(s.lead), qs(s.rest));
  }
  for (const schedule::Repair& repair : schedule_.repairs())
    lines << tr("Repair: %1 (%2)").arg(qs(repair.text), checkedText(repair));
  return lines.join(QLatin1Char('\n'));
}

QString WhyView::summary() const {
  return plainText();
}

void WhyView::fillContextMenu(QMenu& menu) {
  menu.addAction(tr("Copy as text"), this, [this] { QApplication::clipboard()->setText(plainText()); });
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_why_view.cpp"
