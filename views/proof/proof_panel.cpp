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
#include "views/proof/panel_parts.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

/// Steps that are shown before the rest is counted.
constexpr std::size_t stepLimit = 60;
/// Conditions of definedness that are shown unfolded.
constexpr std::size_t openConditions = 4;
/// Size of the mathematics of steps against that of the two sides.
constexpr double smallMath = 0.88;

}  // namespace

ProofPanel::ProofPanel(ThemeSource& theme, Jobs& jobs, QWidget* parent)
    : QScrollArea(parent), theme_(theme), jobs_(jobs) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Proof"));
  connect(&theme_, &ThemeSource::changed, this, [this] { rebuild(); });
}

ProofPanel::Details ProofPanel::detailsOf(const ProofCase& c, bool withMath, const Progress& progress) {
  Details details;
  if (withMath) {
    try {
      details.math = caseMath(c);
    } catch (const UserError& error) {
      details.mathError = QString::fromUtf8(error.what());
    }
  }
  if (c.proof->counterexample) {
    try {
      const semantics::Partings all = casePartings(c, progress);
      details.values = partingRows(all);
      details.valuesHidden = all.hidden;
    } catch (const UserError& error) {
      details.valuesError = QString::fromUtf8(error.what());
    }
  }
  return details;
}

void ProofPanel::show(const ProofCase& proofCase, bool withMath) {
  case_ = proofCase;
  withMath_ = withMath;
  details_.reset();
  rebuild();
  verticalScrollBar()->setValue(0);
  if (!case_->proof) return;
  jobs_.run(
      this,
      {.title = tr("Write formulas"),
       .lane = QStringLiteral("formulas:%1").arg(reinterpret_cast<quintptr>(this)),
       .quiet = true},
      [c = *case_, withMath](JobHandle& job) { return detailsOf(c, withMath, job.progress()); },
      [this](Details details) {
        details_ = std::move(details);
        fillMath();
        fillValues();
      });
  searchConditions();
}

void ProofPanel::searchConditions() {
  const QString lane = QStringLiteral("asserts:%1").arg(reinterpret_cast<quintptr>(this));
  jobs_.cancel(lane);
  conditions_.clear();
  conditionsNote_.clear();
  if (case_->proof->verdict == proof::Verdict::proved || case_->recorded || !solvers_) return;
  conditionsNote_ = tr("Looking for an assert under which it holds.");
  fillConditions();
  Job* job = jobs_.run(
      this, {.title = tr("Look for an assert"), .lane = lane, .quiet = true},
      [c = *case_, solvers = solvers_](JobHandle& handle) {
        return caseConditions(c, solvers(), handle.progress());
      },
      [this](std::vector<Condition> found) {
        conditions_ = std::move(found);
        conditionsNote_ = conditions_.empty() ? tr("No simple assert on the inputs was found.") : QString();
        fillConditions();
      });
  connect(job, &Job::failed, this, [this](const QString& message) {
    conditionsNote_ = tr("No assert could be sought: %1").arg(message);
    fillConditions();
  });
}

void ProofPanel::showEmpty(const QString& headline, const QString& text) {
  jobs_.cancel(QStringLiteral("asserts:%1").arg(reinterpret_cast<quintptr>(this)));
  jobs_.cancel(QStringLiteral("formulas:%1").arg(reinterpret_cast<quintptr>(this)));
  case_.reset();
  details_.reset();
  emptyHeadline_ = headline;
  emptyText_ = text;
  rebuild();
}

PartingView* ProofPanel::values() const {
  return valuesPlace_ ? valuesPlace_->findChild<PartingView*>() : nullptr;
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
    layout->addWidget(wrappedLabel(emptyHeadline_, theme.headline, theme.text));
    layout->addWidget(wrappedLabel(emptyText_, theme.ui, theme.muted));
  } else {
    if (!case_->title.isEmpty()) {
      QString title = case_->title;
      title[0] = title[0].toUpper();
      layout->addWidget(wrappedLabel(title, theme.headline, theme.text));
    }
    if (case_->proof) {
      addVerdict(*layout);
      if (withMath_) addMath(*layout);
      addCounterexample(*layout);
      addRemaining(*layout);
      conditionsPlace_ = new QWidget;
      auto* place = new QVBoxLayout(conditionsPlace_);
      place->setContentsMargins(0, 0, 0, 0);
      place->setSpacing(theme.unit);
      layout->addWidget(conditionsPlace_);
      fillConditions();
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
  row->addWidget(markLabel(verdictMark(*case_->proof), theme), 0, Qt::AlignTop);
  QFont strong = theme.ui;
  strong.setWeight(QFont::DemiBold);
  const proof::Verdict verdict = case_->proof->verdict;
  row->addWidget(
      wrappedLabel(verdictText(*case_->proof, case_->left, case_->recorded), strong, theme.of(verdict)), 1);
  layout.addLayout(row);
  QStringList notes;
  if (!case_->place.isEmpty()) notes << case_->place;
  if (!case_->proof->decidedBy.empty()) notes << tr("decided by %1").arg(qs(case_->proof->decidedBy));
  if (case_->proof->seconds > 0) notes << duration(case_->proof->seconds);
  if (case_->refines && verdict == proof::Verdict::proved) notes << tr("defined wherever the original is");
  if (!notes.isEmpty())
    layout.addWidget(wrappedLabel(notes.join(QStringLiteral(" \u00B7 ")), theme.small, theme.muted));
}

void ProofPanel::addMath(QVBoxLayout& layout) {
  mathPlace_ = new QWidget;
  auto* place = new QVBoxLayout(mathPlace_);
  place->setContentsMargins(0, theme_.theme().unit, 0, theme_.theme().unit);
  place->setSpacing(theme_.theme().padding);
  layout.addWidget(mathPlace_);
  fillMath();
}

namespace {

void emptyOut(QLayout& layout) {
  while (QLayoutItem* old = layout.takeAt(0)) {
    delete old->widget();
    delete old;
  }
}

}  // namespace

void ProofPanel::fillMath() {
  if (!mathPlace_) return;
  mathPlace_->setVisible(details_ && (!details_->math.empty() || !details_->mathError.isEmpty()));
  if (!details_) return;
  const Theme& theme = theme_.theme();
  QLayout& layout = *mathPlace_->layout();
  emptyOut(layout);
  if (!details_->mathError.isEmpty()) {
    layout.addWidget(
        wrappedLabel(tr("The two sides cannot be written as formulas: %1").arg(details_->mathError),
                     theme.small, theme.muted));
    return;
  }
  if (details_->math.empty()) return;
  // Formulas shrink to the width; sentences wrap.
  std::vector<MathLine> formulas;
  QStringList notes;
  for (const MathLine& line : details_->math) {
    if (line.formula) {
      formulas.push_back(line);
    } else {
      notes << line.words;
    }
  }
  auto* view = new MathView(theme_);
  view->setLines(std::move(formulas));
  layout.addWidget(view);
  for (const QString& note : notes) layout.addWidget(wrappedLabel(note, theme.small, theme.muted));
}

void ProofPanel::fillValues() {
  if (!valuesPlace_) return;
  valuesPlace_->setVisible(details_ && (!details_->values.empty() || !details_->valuesError.isEmpty()));
  if (!details_) return;
  const Theme& theme = theme_.theme();
  QLayout& layout = *valuesPlace_->layout();
  emptyOut(layout);
  if (!details_->valuesError.isEmpty()) {
    layout.addWidget(
        wrappedLabel(tr("The values in between could not be computed: %1").arg(details_->valuesError),
                     theme.small, theme.muted));
    return;
  }
  auto* view = new PartingView(theme_);
  view->setRows(details_->values);
  layout.addWidget(view);
  if (details_->valuesHidden > 0)
    layout.addWidget(
        wrappedLabel(tr("%1 more values agree.").arg(details_->valuesHidden), theme.small, theme.muted));
}

void ProofPanel::addCounterexample(QVBoxLayout& layout) {
  if (!case_->proof->counterexample) return;
  const Theme& theme = theme_.theme();
  const proof::Counterexample& counterexample = *case_->proof->counterexample;
  std::vector<std::string> order;
  for (const tensor::Parameter& parameter : case_->left.parameters) order.push_back(parameter.name);
  layout.addWidget(hairline(theme));
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
  layout.addWidget(wrappedLabel(words, theme.ui, theme.muted));
  valuesPlace_ = new QWidget;
  auto* place = new QVBoxLayout(valuesPlace_);
  place->setContentsMargins(0, theme.unit, 0, 0);
  place->setSpacing(theme.unit);
  layout.addWidget(valuesPlace_);
  fillValues();
}

void ProofPanel::addRemaining(QVBoxLayout& layout) {
  if (case_->proof->remaining.empty()) return;
  const Theme& theme = theme_.theme();
  layout.addWidget(hairline(theme));
  QFont strong = theme.ui;
  strong.setWeight(QFont::DemiBold);
  layout.addWidget(wrappedLabel(tr("Left minus right"), strong, theme.text));
  QLabel* text = mathLabel(mathHtml(prettyMath(qs(case_->proof->remaining))), theme);
  text->setAccessibleName(tr("Left minus right: %1").arg(qs(case_->proof->remaining)));
  layout.addWidget(text);
}

void ProofPanel::fillConditions() {
  if (!conditionsPlace_) return;
  conditionsPlace_->setVisible(!conditions_.empty() || !conditionsNote_.isEmpty());
  const Theme& theme = theme_.theme();
  QLayout& layout = *conditionsPlace_->layout();
  emptyOut(layout);
  if (conditions_.empty() && conditionsNote_.isEmpty()) return;
  QFont strong = theme.ui;
  strong.setWeight(QFont::DemiBold);
  layout.addWidget(hairline(theme));
  layout.addWidget(wrappedLabel(tr("What would make it true"), strong, theme.text));
  if (!conditionsNote_.isEmpty()) layout.addWidget(wrappedLabel(conditionsNote_, theme.ui, theme.muted));
  for (const Condition& condition : conditions_) {
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(theme.unit);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(wrappedLabel(condition.words, theme.ui, theme.text));
    words->addWidget(wrappedLabel(condition.lines.join(QLatin1Char('\n')), theme.code, theme.text));
    words->addWidget(wrappedLabel(condition.holds, theme.small, theme.muted));
    line->addWidget(markLabel(Mark::proved, theme), 0, Qt::AlignTop);
    line->addLayout(words, 1);
    if (insertable_) {
      auto* insert = new QPushButton(tr("Insert"));
      insert->setObjectName(QStringLiteral("insertAssert"));
      insert->setToolTip(tr("Writes the assert into the right program, before its first statement."));
      connect(insert, &QPushButton::clicked, this,
              [this, lines = condition.lines] { Q_EMIT assertWanted(lines); });
      line->addWidget(insert, 0, Qt::AlignTop);
    }
    layout.addWidget(row);
  }
}

void ProofPanel::addDefinedness(QVBoxLayout& layout) {
  const proof::Proof& proof = *case_->proof;
  const Theme& theme = theme_.theme();
  if (!proof.definedness.empty() && proof.verdict == proof::Verdict::proved) {
    layout.addWidget(hairline(theme));
    auto* section = new FoldedSection(
        case_->refines ? tr("Defined wherever the original is") : tr("Defined at the same inputs"),
        counted(static_cast<std::int64_t>(proof.definedness.size()), tr("condition"), tr("conditions")),
        Mark::proved, theme);
    for (const std::string& condition : proof.definedness) {
      section->add([this, condition](QVBoxLayout& body) {
        body.addWidget(
            mathLabel(mathHtml(prettyMath(prettyRelations(qs(condition)))), theme_.theme(), smallMath));
      });
    }
    section->setOpen(proof.definedness.size() <= openConditions);
    layout.addWidget(section);
  }
  if (!proof.unusedAsserts.empty()) {
    QStringList list;
    for (const std::string& text : proof.unusedAsserts) list << qs(text);
    layout.addWidget(hairline(theme));
    layout.addWidget(
        wrappedLabel(tr("Not used by the proof: assert %1").arg(list.join(QStringLiteral("; assert "))),
                     theme.ui, theme.muted));
  }
}

void ProofPanel::buildStep(const proof::ProofStep& step, QVBoxLayout& body) {
  const Theme& theme = theme_.theme();
  if (!step.text.empty()) body.addWidget(wrappedLabel(prettyRelations(qs(step.text)), theme.ui, theme.muted));
  const QString before = prettyMath(prettyRelations(qs(step.before)));
  const QString after = prettyMath(prettyRelations(qs(step.after)));
  if (!before.isEmpty() && !after.isEmpty()) {
    const LineDifference d = lineDifference(before, after);
    body.addWidget(mathLabel(mathHtml(before, d.before, theme.refutedFill), theme, smallMath));
    body.addWidget(
        mathLabel(QStringLiteral("\u21D2 ") + mathHtml(after, d.after, theme.provedFill), theme, smallMath));
  } else if (!before.isEmpty()) {
    body.addWidget(mathLabel(mathHtml(before), theme, smallMath));
  } else if (!after.isEmpty()) {
    body.addWidget(mathLabel(mathHtml(after), theme, smallMath));
  }
  if (step.smt.empty()) return;
  auto* copy = new QPushButton(tr("Copy SMT-LIB"));
  copy->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  copy->setToolTip(tr("Copies this obligation as SMT-LIB, for any solver."));
  connect(copy, &QPushButton::clicked, this,
          [smt = qs(step.smt)] { QApplication::clipboard()->setText(smt); });
  body.addWidget(copy);
}

void ProofPanel::addObligations(QVBoxLayout& layout) {
  std::int64_t count = 0;
  double milliseconds = 0;
  for (const proof::ProofStep& step : case_->proof->steps) {
    if (step.smt.empty()) continue;
    ++count;
    milliseconds += step.milliseconds;
  }
  if (count == 0) return;
  const Theme& theme = theme_.theme();
  layout.addWidget(hairline(theme));
  layout.addWidget(wrappedLabel(
      tr("%1 by a solver, every answer unsat, %2 together.")
          .arg(counted(count, tr("obligation"), tr("obligations")), duration(milliseconds / 1000)),
      theme.ui, theme.muted));
}

void ProofPanel::addSteps(QVBoxLayout& layout) {
  const auto& steps = case_->proof->steps;
  const Theme& theme = theme_.theme();
  addObligations(layout);
  std::vector<std::pair<int, FoldedSection*>> open;  // the sections around the next step
  std::size_t shown = 0;
  for (const proof::ProofStep& step : steps) {
    if (++shown > stepLimit) break;
    while (!open.empty() && open.back().first >= step.depth) open.pop_back();
    if (open.empty()) layout.addWidget(hairline(theme));
    QStringList notes;
    // A step that a solver was asked stays only if the answer closed it.
    if (!step.smt.empty()) notes << tr("unsat");
    if (step.milliseconds > 0) notes << duration(step.milliseconds / 1000);
    const bool closes = step.after.empty();
    const Mark mark = case_->proof->verdict == proof::Verdict::proved ? Mark::proved
                      : closes                                        ? Mark::unknown
                                                                      : Mark::none;
    auto* section = new FoldedSection(qs(step.lemma), notes.join(QStringLiteral(" \u00B7 ")), mark, theme);
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
    layout.addWidget(hairline(theme));
    layout.addWidget(wrappedLabel(tr("%1 more steps are not shown.").arg(steps.size() - stepLimit), theme.ui,
                                  theme.muted));
  }
  if (!steps.empty()) layout.addWidget(hairline(theme));
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
  if (details_ && !details_->math.empty()) {
    MathSheet sheet;
    sheet.setLines(details_->math);
    lines << sheet.text();
  }
  if (case_->proof->counterexample) {
    std::vector<std::string> order;
    for (const tensor::Parameter& parameter : case_->left.parameters) order.push_back(parameter.name);
    lines << counterexampleText(*case_->proof->counterexample, order);
    if (const PartingView* shown = values()) lines << shown->text();
  }
  if (!case_->proof->remaining.empty()) lines << tr("left minus right: ") + qs(case_->proof->remaining);
  for (const Condition& condition : conditions_)
    lines << tr("true if %1").arg(condition.words) << condition.lines;
  for (const std::string& condition : case_->proof->definedness) lines << tr("defined: ") + qs(condition);
  for (const proof::ProofStep& step : case_->proof->steps) {
    lines << QString(step.depth * 2, QLatin1Char(' ')) + qs(step.lemma) + QStringLiteral(": ") +
                 qs(step.text);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views

#include "moc_proof_panel.cpp"
