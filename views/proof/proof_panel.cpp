#include "views/proof/proof_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
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
#include "views/proof/record_section.h"
#include "views/proof/step_sections.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

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
  given_ = proofCase.proof;
  if (case_->recorded && record_ && record_->knows(*case_)) adoptReplayed();
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

RecordSection* ProofPanel::record() const {
  return case_ && case_->proof && case_->proof->verdict == proof::Verdict::proved ? record_.data() : nullptr;
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
      addRecord(*layout);
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
  if (case_->proof != given_) notes << tr("steps as recorded, verdict replayed here");
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
  addObligations(layout);
  const Mark open = case_->proof->verdict == proof::Verdict::proved ? Mark::proved : Mark::none;
  const Mark closed = open == Mark::proved ? open : Mark::unknown;
  // The steps live as long as the proof that they are part of.
  addStepSections(layout, Steps(case_->proof, &case_->proof->steps), closed, open, theme_.theme());
}

/// What was read from a file counts from here on: the verdict and its range in the words of the replay. The
/// steps stay those of the file.
void ProofPanel::adoptReplayed() {
  auto proof = std::make_shared<proof::Proof>(*given_);
  proof->verdict = proof::Verdict::proved;
  proof->holdsFor = record::holdsFor(case_->left.dimensions, record_->recording()->assumptions);
  case_->proof = std::move(proof);
  case_->recorded = false;
}

/// Kept over rebuilds of the page: its record need not be looked for again.
void ProofPanel::addRecord(QVBoxLayout& layout) {
  if (case_->proof->verdict != proof::Verdict::proved) return;
  if (!record_) {
    record_ = new RecordSection(theme_, jobs_);
    connect(record_, &RecordSection::replayed, this, [this](bool confirmed) {
      if (!confirmed || !case_ || !case_->recorded) return;
      adoptReplayed();
      rebuild();
    });
  }
  layout.addWidget(record_);
  record_->show(*case_);
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

void ProofPanel::fillContextMenu(QMenu& menu) {
  if (!case_ || !case_->proof) return;
  menu.addAction(themedIcon(QStringLiteral("copy"), theme_.theme()), tr("Copy as command"), this,
                 [this] { copyCommand(); });
  QAction* smt = menu.addAction(tr("Copy SMT-LIB"), this, [this] { copySmt(); });
  smt->setEnabled(!smtText(*case_->proof).isEmpty());
  if (!smt->isEnabled()) smt->setText(tr("Copy SMT-LIB (no solver was needed)"));
  if (record() == nullptr) return;
  menu.addAction(tr("Export record\u2026"), record_, &RecordSection::exportRecord)
      ->setEnabled(!record_->recordText().isEmpty());
  menu.addAction(tr("Export SMT-LIB\u2026"), record_, &RecordSection::exportSmt)
      ->setEnabled(!record_->obligationsText().isEmpty());
}

QStringList ProofPanel::textExports() const {
  if (!case_ || !case_->proof) return {};
  QStringList result{tr("Shell script (*.sh)")};
  if (!exportText(QStringLiteral("smt2")).isEmpty()) result << tr("SMT-LIB (*.smt2)");
  if (!exportText(QStringLiteral("json")).isEmpty()) result << tr("Proof record (*.json)");
  return result;
}

QString ProofPanel::exportText(const QString& suffix) const {
  if (!case_ || !case_->proof) return {};
  if (suffix == QLatin1String("sh")) return commandText(*case_);
  if (suffix == QLatin1String("smt2")) return record() ? record_->obligationsText() : smtText(*case_->proof);
  return suffix == QLatin1String("json") && record() ? record_->recordText() : QString();
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
  if (record_ && case_->proof->verdict == proof::Verdict::proved) lines << record_->plainText();
  for (const proof::ProofStep& step : case_->proof->steps) {
    lines << QString(step.depth * 2, QLatin1Char(' ')) + qs(step.lemma) + QStringLiteral(": ") +
                 qs(step.text);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views

#include "moc_proof_panel.cpp"
