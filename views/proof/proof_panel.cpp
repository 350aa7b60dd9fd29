#include "views/proof/proof_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <functional>
#include <utility>

#include "views/jobs.h"
#include "views/proof/counterexample_view.h"
#include "views/proof/math_text.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

/// Steps that are shown before the rest is counted.
constexpr std::size_t stepLimit = 60;
/// Conditions of definedness that are shown unfolded.
constexpr std::size_t openConditions = 4;

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

/// By palette: a style sheet on each of a hundred labels is what makes a window stall.
void colourText(QWidget& widget, const QColor& color) {
  QPalette palette = widget.palette();
  palette.setColor(QPalette::WindowText, color);
  palette.setColor(QPalette::Text, color);
  widget.setPalette(palette);
}

/// A label that wraps and remembers how high it is: a layout asks a dozen times, and each answer would lay
/// the text out again.
class WrappedLabel : public QLabel {
 public:
  using QLabel::QLabel;
  [[nodiscard]] QSize sizeHint() const override {
    return {fontMetrics().height() * 8, fontMetrics().height()};
  }
  [[nodiscard]] QSize minimumSizeHint() const override {
    return {fontMetrics().height() * 2, fontMetrics().height()};
  }
  [[nodiscard]] int heightForWidth(int width) const override {
    if (width != knownWidth_) {
      knownHeight_ = QLabel::heightForWidth(width);
      knownWidth_ = width;
    }
    return knownHeight_;
  }

 protected:
  void changeEvent(QEvent* event) override {
    knownWidth_ = -1;
    QLabel::changeEvent(event);
  }

 private:
  mutable int knownWidth_ = -1, knownHeight_ = 0;
};

QLabel* markLabel(Mark mark, const Theme& theme, QWidget* parent) {
  auto* label = new QLabel(parent);
  const int side = QFontMetrics(theme.ui).height();
  label->setPixmap(markIcon(mark, theme).pixmap(side, side));
  label->setFixedWidth(side + theme.unit);
  label->setAccessibleName(wordOf(mark));
  return label;
}

}  // namespace

/// A heading that folds what is below it, which is built when it is first unfolded. Mouse, Space and Enter
/// fold and unfold.
class ProofPanel::Section : public QWidget {
 public:
  Section(const QString& title, const QString& note, Mark mark, const Theme& theme, QWidget* parent)
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

  void setOpen(bool open) {
    button_->setChecked(open);
    if (open) {
      for (const auto& build : std::exchange(builders_, {})) build(*bodyLayout_);
    }
    body_->setVisible(open);
    const bool any = bodyLayout_->count() > 0 || !builders_.empty();
    arrow_->setText(!any ? QString() : open ? QStringLiteral("\u25BE") : QStringLiteral("\u25B8"));
    button_->setAccessibleDescription(open ? tr("unfolded") : tr("folded"));
  }
  /// Adds to the body when it is first unfolded, in this order.
  void add(std::function<void(QVBoxLayout&)> build) {
    builders_.push_back(std::move(build));
    setOpen(false);
  }

 private:
  QToolButton* button_;
  QLabel* arrow_;
  QWidget* body_;
  QVBoxLayout* bodyLayout_;
  std::vector<std::function<void(QVBoxLayout&)>> builders_;
};

ProofPanel::ProofPanel(ThemeSource& theme, Jobs& jobs, QWidget* parent)
    : QScrollArea(parent), theme_(theme), jobs_(jobs) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Proof"));
  connect(&theme_, &ThemeSource::changed, this, [this] { rebuild(); });
}

void ProofPanel::show(const ProofCase& proofCase, bool withMath) {
  case_ = proofCase;
  withMath_ = withMath;
  math_.clear();
  mathReady_ = false;
  mathError_.clear();
  rebuild();
  verticalScrollBar()->setValue(0);
  if (!withMath || !case_->proof) return;
  jobs_.run(
      this,
      {.title = tr("Write formulas"),
       .lane = QStringLiteral("formulas:%1").arg(reinterpret_cast<quintptr>(this)),
       .quiet = true},
      [c = *case_](JobHandle&) -> std::pair<std::vector<MathLine>, QString> {
        try {
          return {caseMath(c), QString()};
        } catch (const std::exception& error) {
          return {{}, QString::fromUtf8(error.what())};
        }
      },
      [this](std::pair<std::vector<MathLine>, QString> result) {
        math_ = std::move(result.first);
        mathError_ = result.second;
        mathReady_ = true;
        fillMath();
      });
}

void ProofPanel::showEmpty(const QString& headline, const QString& text) {
  case_.reset();
  emptyHeadline_ = headline;
  emptyText_ = text;
  rebuild();
}

QLabel* ProofPanel::label(const QString& text, const QFont& font, const QColor& color) const {
  auto* result = new WrappedLabel;
  result->setFont(font);
  result->setWordWrap(true);
  result->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  colourText(*result, color);
  result->setTextFormat(Qt::PlainText);
  result->setText(text);
  return result;
}

void ProofPanel::rebuild() {
  const Theme& theme = theme_.theme();
  const int scroll = verticalScrollBar()->value();
  auto* page = new QWidget;
  page->setObjectName(QStringLiteral("proofSheet"));
  page->setAutoFillBackground(true);
  QPalette ground = page->palette();
  ground.setColor(QPalette::Window, theme.surface);
  page->setPalette(ground);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(theme.gutter + theme.unit, theme.gutter, theme.gutter + theme.unit,
                             theme.gutter);
  layout->setSpacing(theme.padding);
  if (!case_) {
    layout->addWidget(label(emptyHeadline_, theme.headline, theme.text));
    layout->addWidget(label(emptyText_, theme.ui, theme.muted));
  } else {
    if (!case_->title.isEmpty()) {
      QString title = case_->title;
      title[0] = title[0].toUpper();
      layout->addWidget(label(title, theme.headline, theme.text));
    }
    if (case_->proof) {
      addVerdict(*layout);
      if (withMath_) addMath(*layout);
      addCounterexample(*layout);
      addRemaining(*layout);
      addDefinedness(*layout);
      addSteps(*layout);
      addButtons(*layout);
    }
  }
  layout->addStretch(1);
  setWidget(page);  // deletes the page before it
  verticalScrollBar()->setValue(scroll);
}

void ProofPanel::addVerdict(QVBoxLayout& layout) {
  const Theme& theme = theme_.theme();
  auto* row = new QHBoxLayout;
  row->setSpacing(theme.unit);
  row->addWidget(markLabel(verdictMark(*case_->proof), theme, nullptr), 0, Qt::AlignTop);
  QFont strong = theme.ui;
  strong.setWeight(QFont::DemiBold);
  const proof::Verdict verdict = case_->proof->verdict;
  row->addWidget(label(verdictText(*case_->proof, case_->left, case_->recorded), strong, theme.of(verdict)),
                 1);
  layout.addLayout(row);
  QStringList notes;
  if (!case_->place.isEmpty()) notes << case_->place;
  if (!case_->proof->decidedBy.empty()) notes << tr("decided by %1").arg(qs(case_->proof->decidedBy));
  if (case_->proof->seconds > 0) notes << duration(case_->proof->seconds);
  if (case_->refines && verdict == proof::Verdict::proved) notes << tr("defined wherever the original is");
  if (!notes.isEmpty())
    layout.addWidget(label(notes.join(QStringLiteral(" \u00B7 ")), theme.small, theme.muted));
}

void ProofPanel::addMath(QVBoxLayout& layout) {
  mathPlace_ = new QWidget;
  auto* place = new QVBoxLayout(mathPlace_);
  place->setContentsMargins(0, theme_.theme().unit, 0, theme_.theme().unit);
  place->setSpacing(theme_.theme().padding);
  layout.addWidget(mathPlace_);
  fillMath();
}

void ProofPanel::fillMath() {
  if (!mathPlace_) return;
  mathPlace_->setVisible(mathReady_ && (!math_.empty() || !mathError_.isEmpty()));
  if (!mathReady_) return;
  const Theme& theme = theme_.theme();
  QLayout& layout = *mathPlace_->layout();
  while (QLayoutItem* old = layout.takeAt(0)) {
    delete old->widget();
    delete old;
  }
  if (!mathError_.isEmpty()) {
    layout.addWidget(label(tr("The two sides cannot be written as formulas: %1").arg(mathError_), theme.small,
                           theme.muted));
    return;
  }
  if (math_.empty()) return;
  auto* view = new MathView(theme_);
  view->setLines(math_);
  layout.addWidget(view);
}

void ProofPanel::addCounterexample(QVBoxLayout& layout) {
  if (!case_->proof->counterexample) return;
  const Theme& theme = theme_.theme();
  const proof::Counterexample& counterexample = *case_->proof->counterexample;
  std::vector<std::string> order;
  for (const tensor::Parameter& parameter : case_->left.parameters) order.push_back(parameter.name);
  layout.addWidget(hairline(theme, nullptr));
  auto* view = new CounterexampleView(theme_);
  layout.addWidget(view);
  view->show(counterexample, order);
  QString words;
  switch (counterexample.kind) {
    case proof::Counterexample::Kind::values:
      words = tr("Left is %1, right is %2.").arg(qs(counterexample.leftText), qs(counterexample.rightText));
      break;
    case proof::Counterexample::Kind::leftUndefined:
      words = tr("The left side is undefined there, the right side is %1.").arg(qs(counterexample.rightText));
      break;
    case proof::Counterexample::Kind::rightUndefined:
      words = tr("The right side is undefined there, the left side is %1.").arg(qs(counterexample.leftText));
      break;
  }
  if (case_->left.results.size() > 1 && counterexample.result < case_->left.resultNames.size()) {
    words += tr(" Result: %1.").arg(qs(case_->left.resultNames[counterexample.result]));
  }
  words += counterexample.draw > 0
               ? tr(" Found by draw %1 and confirmed over the reals.").arg(counterexample.draw)
               : tr(" Found by a solver and confirmed over the reals.");
  layout.addWidget(label(words, theme.ui, theme.muted));
}

void ProofPanel::addRemaining(QVBoxLayout& layout) {
  if (case_->proof->remaining.empty()) return;
  const Theme& theme = theme_.theme();
  layout.addWidget(hairline(theme, nullptr));
  QFont strong = theme.ui;
  strong.setWeight(QFont::DemiBold);
  layout.addWidget(label(tr("Left minus right"), strong, theme.text));
  QFont italic = theme.math;
  italic.setItalic(true);
  auto* text = label(QString(), italic, theme.text);
  text->setTextFormat(Qt::RichText);
  text->setText(mathHtml(prettyMath(qs(case_->proof->remaining))));
  text->setAccessibleName(tr("Left minus right: %1").arg(qs(case_->proof->remaining)));
  layout.addWidget(text);
}

void ProofPanel::addDefinedness(QVBoxLayout& layout) {
  const proof::Proof& proof = *case_->proof;
  const Theme& theme = theme_.theme();
  if (!proof.definedness.empty() && proof.verdict == proof::Verdict::proved) {
    layout.addWidget(hairline(theme, nullptr));
    auto* section = new Section(
        case_->refines ? tr("Defined wherever the original is") : tr("Defined at the same inputs"),
        counted(static_cast<std::int64_t>(proof.definedness.size()), tr("condition"), tr("conditions")),
        Mark::proved, theme, nullptr);
    for (const std::string& condition : proof.definedness) {
      section->add([this, condition](QVBoxLayout& body) {
        body.addWidget(smallMath(mathHtml(prettyMath(prettyRelations(qs(condition))))));
      });
    }
    section->setOpen(proof.definedness.size() <= openConditions);
    layout.addWidget(section);
  }
  if (!proof.unusedAsserts.empty()) {
    QStringList list;
    for (const std::string& text : proof.unusedAsserts) list << qs(text);
    layout.addWidget(hairline(theme, nullptr));
    layout.addWidget(label(tr("Not used by the proof: assert %1").arg(list.join(QStringLiteral("; assert "))),
                           theme.ui, theme.muted));
  }
}

QLabel* ProofPanel::smallMath(const QString& html) const {
  QFont italic = theme_.theme().math;
  italic.setItalic(true);
  italic.setPointSizeF(italic.pointSizeF() * 0.88);
  auto* text = label(QString(), italic, theme_.theme().text);
  text->setTextFormat(Qt::RichText);
  text->setText(html);
  return text;
}

void ProofPanel::buildStep(const proof::ProofStep& step, QVBoxLayout& body) {
  const Theme& theme = theme_.theme();
  if (!step.text.empty()) body.addWidget(label(prettyRelations(qs(step.text)), theme.ui, theme.muted));
  const QString before = prettyMath(prettyRelations(qs(step.before)));
  const QString after = prettyMath(prettyRelations(qs(step.after)));
  if (!before.isEmpty() && !after.isEmpty()) {
    const LineDifference d = lineDifference(before, after);
    body.addWidget(smallMath(mathHtml(before, d.before, theme.refutedFill)));
    body.addWidget(smallMath(QStringLiteral("\u21D2 ") + mathHtml(after, d.after, theme.provedFill)));
  } else if (!before.isEmpty()) {
    body.addWidget(smallMath(mathHtml(before)));
  } else if (!after.isEmpty()) {
    body.addWidget(smallMath(mathHtml(after)));
  }
  if (step.smt.empty()) return;
  auto* copy = new QPushButton(tr("Copy SMT-LIB"));
  copy->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  copy->setToolTip(tr("Copies this obligation as SMT-LIB, for any solver."));
  connect(copy, &QPushButton::clicked, this,
          [smt = qs(step.smt)] { QApplication::clipboard()->setText(smt); });
  body.addWidget(copy);
}

void ProofPanel::addSteps(QVBoxLayout& layout) {
  const auto& steps = case_->proof->steps;
  const Theme& theme = theme_.theme();
  std::vector<std::pair<int, Section*>> open;  // the sections around the next step
  std::size_t shown = 0;
  for (const proof::ProofStep& step : steps) {
    if (++shown > stepLimit) break;
    while (!open.empty() && open.back().first >= step.depth) open.pop_back();
    if (open.empty()) layout.addWidget(hairline(theme, nullptr));
    QStringList notes;
    if (!step.smt.empty()) notes << tr("solver");
    if (step.milliseconds > 0) notes << duration(step.milliseconds / 1000);
    const bool closes = step.after.empty();
    const Mark mark = case_->proof->verdict == proof::Verdict::proved ? Mark::proved
                      : closes                                        ? Mark::unknown
                                                                      : Mark::none;
    auto* section = new Section(qs(step.lemma), notes.join(QStringLiteral(" \u00B7 ")), mark, theme, nullptr);
    const bool any = !step.text.empty() || !step.before.empty() || !step.after.empty() || !step.smt.empty();
    if (any) {
      section->add([this, proof = case_->proof, &step](QVBoxLayout& body) { buildStep(step, body); });
    }
    if (open.empty()) {
      layout.addWidget(section);
    } else {
      section->setParent(open.back().second);
      section->hide();
      open.back().second->add([section](QVBoxLayout& body) {
        body.addWidget(section);
        section->show();
      });
    }
    open.emplace_back(step.depth, section);
  }
  if (steps.size() > stepLimit) {
    layout.addWidget(hairline(theme, nullptr));
    layout.addWidget(
        label(tr("%1 more steps are not shown.").arg(steps.size() - stepLimit), theme.ui, theme.muted));
  }
  if (!steps.empty()) layout.addWidget(hairline(theme, nullptr));
}

void ProofPanel::addButtons(QVBoxLayout& layout) {
  const Theme& theme = theme_.theme();
  auto* row = new QHBoxLayout;
  row->setSpacing(theme.padding);
  auto* command = new QPushButton(tr("Copy as command"));
  command->setToolTip(tr("Copies a shell script that decides the same question with nuscope prove."));
  connect(command, &QPushButton::clicked, this, [this] { copyCommand(); });
  row->addWidget(command);
  if (!smtText(*case_->proof).isEmpty()) {
    auto* smt = new QPushButton(tr("Copy SMT-LIB"));
    smt->setToolTip(tr("Copies every obligation that a solver was asked."));
    connect(smt, &QPushButton::clicked, this, [this] { copySmt(); });
    row->addWidget(smt);
  }
  row->addStretch(1);
  layout.addLayout(row);
}

void ProofPanel::copyCommand() const {
  if (case_) QApplication::clipboard()->setText(commandText(*case_));
}

void ProofPanel::copySmt() const {
  if (case_ && case_->proof) QApplication::clipboard()->setText(smtText(*case_->proof));
}

QString ProofPanel::plainText() const {
  if (!case_) return emptyHeadline_ + QLatin1Char('\n') + emptyText_;
  QStringList lines{case_->title};
  if (!case_->proof) return lines.join(QLatin1Char('\n'));
  lines << verdictText(*case_->proof, case_->left, case_->recorded);
  MathSheet sheet;
  sheet.setLines(math_);
  if (!math_.empty()) lines << sheet.text();
  if (case_->proof->counterexample) {
    std::vector<std::string> order;
    for (const tensor::Parameter& parameter : case_->left.parameters) order.push_back(parameter.name);
    lines << counterexampleText(*case_->proof->counterexample, order);
  }
  if (!case_->proof->remaining.empty()) lines << tr("left minus right: ") + qs(case_->proof->remaining);
  for (const std::string& condition : case_->proof->definedness) lines << tr("defined: ") + qs(condition);
  for (const proof::ProofStep& step : case_->proof->steps) {
    lines << QString(step.depth * 2, QLatin1Char(' ')) + qs(step.lemma) + QStringLiteral(": ") +
                 qs(step.text);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views

#include "moc_proof_panel.cpp"
