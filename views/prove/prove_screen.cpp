#include "views/prove/prove_screen.h"

#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/language/parse.h"
#include "core/nugraph/nugraph.h"
#include "core/proof/prove.h"
#include "core/propagate/by_hand.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/jobs.h"
#include "views/marks.h"
#include "views/proof/proof_panel.h"
#include "views/prove/difference_view.h"
#include "views/prove/prove_side.h"
#include "views/prove/standing_bar.h"
#include "views/selection.h"
#include "views/state_label.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

/// After the last key; short enough to feel live, long enough to spare half-typed lines.
constexpr int typingPause = 250;
constexpr double secondsLimit = 10;

bool hasErrors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

QString firstError(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Severity::error) continue;
    QString text = QObject::tr("Line %1: %2").arg(d.range.line).arg(qs(d.message));
    if (!d.hint.empty()) text += QLatin1Char(' ') + qs(d.hint);
    return text;
  }
  return {};
}

}  // namespace

// VerdictView
// --------------------------------------------------------------------------------------------------------

VerdictView::VerdictView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "verdict", tr("Verdict"), parent) {
  state_ = new StateLabel(context().theme);
  addHeaderWidget(state_);
  const auto choose = [this](bool refine) {
    const QSignalBlocker quietEqual(equalChip_);
    const QSignalBlocker quietRefines(refinesChip_);
    equalChip_->setChecked(!refine);
    refinesChip_->setChecked(refine);
    Q_EMIT modeChanged();
  };
  equalChip_ = addChip(tr("Equal"), true, [choose](bool) { choose(false); });
  equalChip_->setToolTip(tr("Both sides are defined at the same inputs, and equal there."));
  refinesChip_ = addChip(tr("Right refines left"), false, [choose](bool) { choose(true); });
  refinesChip_->setToolTip(tr("The right side is defined wherever the left one is, and equal there."));
  panel_ = new ProofPanel(context().theme, context().jobs, this);
  panel_->setSolvers([document = &context().document] { return document->solvers(); });
  panel_->setInsertable(true);
  standing_ = new StandingBar(context().theme, context().commands);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(panel_, 1);
  column->addWidget(standing_);
  setContent(content);
}

bool VerdictView::refines() const {
  return refinesChip_->isChecked();
}
QSizeF VerdictView::exportSize() const {
  return QSizeF(panel_->sheet()->size());
}
void VerdictView::paintExport(QPainter& painter) const {
  panel_->sheet()->render(&painter, QPoint(), QRegion(),
                          QWidget::DrawWindowBackground | QWidget::DrawChildren);
}
QStringList VerdictView::moreExports() const {
  return panel_->textExports();
}
QString VerdictView::exportText(const QString& suffix) const {
  return panel_->exportText(suffix);
}
QString VerdictView::summary() const {
  return panel_->plainText().section(QLatin1Char('\n'), 0, 1);
}
QWidget* VerdictView::focusTarget() const {
  return panel_;
}

void VerdictView::fillContextMenu(QMenu& menu) {
  panel_->fillContextMenu(menu);
  View::fillContextMenu(menu);
}

// ProveScreen
// --------------------------------------------------------------------------------------------------------

ProveScreen::ProveScreen(const ViewContext& context, QWidget* parent) : QWidget(parent), context_(context) {
  setObjectName(QStringLiteral("proveScreen"));
  left_ = new ProveSide(context, "proveLeft", tr("left"));
  right_ = new ProveSide(context, "proveRight", tr("right"));
  verdict_ = new VerdictView(context);
  auto* sides = new QSplitter(Qt::Horizontal);
  sides->addWidget(left_);
  sides->addWidget(right_);
  difference_ = new DifferenceView(context);
  auto* answer = new QSplitter(Qt::Horizontal);
  answer->addWidget(verdict_);
  answer->addWidget(difference_);
  answer->setStretchFactor(0, 3);
  answer->setStretchFactor(1, 2);
  answer->setSizes({700, 520});
  auto* rows = new QSplitter(Qt::Vertical);
  rows->addWidget(sides);
  rows->addWidget(answer);
  rows->setStretchFactor(0, 2);
  rows->setStretchFactor(1, 3);
  sides->setObjectName(QStringLiteral("prove.sides"));
  answer->setObjectName(QStringLiteral("prove.answer"));
  rows->setObjectName(QStringLiteral("prove.rows"));
  for (QSplitter* splitter : {sides, answer, rows}) {
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(rows);
  timer_.setSingleShot(true);
  timer_.setInterval(typingPause);
  connect(&timer_, &QTimer::timeout, this, &ProveScreen::proveNow);
  connect(left_, &ProveSide::textChanged, this, &ProveScreen::schedule);
  connect(right_, &ProveSide::textChanged, this, &ProveScreen::schedule);
  connect(verdict_, &VerdictView::modeChanged, this, &ProveScreen::schedule);
  connect(verdict_->panel(), &ProofPanel::assertWanted, this,
          [this](const QStringList& lines) { right_->insertAtTop(lines); });
  connect(&context_.document, &Document::opened, this, [this] {
    filled_ = false;
    if (isVisible()) fill();
  });
  for (const auto signal : {&Document::nuGraphChanged, &Document::exploreChanged, &Document::parsed})
    connect(&context_.document, signal, this, &ProveScreen::updateActs);
  updateActs();
  connect(&context_.selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.variant != before.variant) followSelection();
  });
  verdict_->panel()->showEmpty(
      tr("Type a rewrite on the right"),
      tr("The two programs are compared as you type: proved for all extents, or refuted with inputs at "
         "which they differ. Left and right may come from the program, a variant or a file."));
}

/// Both sides start from the document; the right one stays where it is a file or was written by hand.
void ProveScreen::fill() {
  filled_ = true;
  left_->takeProgram();
  const bool kept =
      right_->origin() == ProveSide::Origin::file || right_->origin() == ProveSide::Origin::hand;
  if (!kept || right_->text().isEmpty())
    right_->setText(context_.document.text(), ProveSide::Origin::program);
}

void ProveScreen::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (filled_) return;
  fill();
  followSelection();
  right_->editor()->setFocus();
}

void ProveScreen::followSelection() {
  const int variant = context_.selection.place().variant;
  const bool follows =
      right_->origin() == ProveSide::Origin::program || right_->origin() == ProveSide::Origin::variant;
  if (!isVisible() || !filled_ || variant <= 0 || !follows) return;
  right_->takeVariant(variant);
}

// Among the variants

namespace {

Mark markOf(propagate::Standing standing) {
  switch (standing) {
    case propagate::Standing::same:
    case propagate::Standing::alike:
    case propagate::Standing::equal:
      return Mark::proved;
    case propagate::Standing::different:
      return Mark::refuted;
    case propagate::Standing::unfit:
    case propagate::Standing::unknown:
      break;
  }
  return Mark::unknown;
}

QString sentence(const std::string& why) {
  QString text = qs(why);
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  if (!text.isEmpty() && !text.endsWith(QLatin1Char('.'))) text += QLatin1Char('.');
  return text;
}

}  // namespace

bool ProveScreen::placing() const {
  return context_.jobs.current(QStringLiteral("standing")) != nullptr;
}

QString ProveScreen::whyNotAdded() const {
  const Document& document = context_.document;
  if (!document.nuGraph()) return tr("There are no variants yet: explore the program first.");
  if (document.exploreState().running) return tr("The program is being explored; wait until it is done.");
  if (!document.ageText().isEmpty())
    return tr("The variants are those %1; explore again first.").arg(document.ageText());
  if (deciding()) return tr("The right side is being checked.");
  if (!rightProgram_) return tr("The right side has errors.");
  return {};
}

void ProveScreen::askStanding() {
  place(false);
}
void ProveScreen::addAsVariant() {
  place(true);
}

void ProveScreen::place(bool add) {
  StandingBar* bar = verdict_->standing();
  if (const QString why = whyNotAdded(); !why.isEmpty()) {
    bar->setStanding(Mark::unknown, why);
    Q_EMIT placed();
    return;
  }
  struct Placed {
    propagate::ByHand answer;
    std::shared_ptr<const nugraph::NuGraph> graph;  ///< with the new variant
  };
  bar->setStanding(Mark::running, add ? tr("Adding") : tr("Looking among the variants"));
  Job* job = context_.jobs.run(
      this, {.title = tr("Look among the variants"), .lane = QStringLiteral("standing")},
      [graph = context_.document.nuGraph(), program = *rightProgram_, add,
       document = &context_.document](JobHandle& handle) -> Placed {
        propagate::ByHandOptions options;
        options.secondsLimit = secondsLimit;
        options.solvers = document->solvers();
        Placed result{propagate::standingOf(*graph, program, options, handle.progress()), nullptr};
        if (add && result.answer.standing == propagate::Standing::equal)
          result.graph = propagate::withByHand(*graph, result.answer, program.name);
        return result;
      },
      [this, bar, from = context_.document.nuGraph()](Placed result) {
        placed_ = result.answer.variant.value_or(-1);
        if (result.graph && context_.document.nuGraph() == from) {
          context_.document.addByHand(result.graph);
          placed_ = result.graph->variants().back().id;
          context_.selection.selectStep(result.graph->steps().back().id, placed_);
          bar->setStanding(Mark::proved, tr("Added as variant %1.").arg(placed_));
        } else {
          bar->setStanding(markOf(result.answer.standing), sentence(result.answer.why));
        }
        updateActs();
        Q_EMIT placed();
      });
  connect(job, &Job::failed, this, [this, bar](const QString& message) {
    bar->setStanding(Mark::unknown, message);
    Q_EMIT placed();
  });
  connect(job, &Job::cancelled, this, [this, bar] {
    if (!placing()) bar->setStanding(Mark::none, {});
  });
  updateActs();
}

void ProveScreen::updateActs() {
  const QString why = whyNotAdded();
  const auto& shown = verdict_->panel()->current();
  const bool refuted = shown && shown->proof && shown->proof->verdict == proof::Verdict::refuted;
  verdict_->standing()->setWhyNot(refuted ? tr("Only a proved right side can become a variant.") : why);
  context_.commands.setEnabled("prove.add", why.isEmpty() && !refuted && !placing());
  context_.commands.setEnabled("prove.standing", why.isEmpty() && !placing());
}

void ProveScreen::swapSides() {
  const QString left = left_->text();
  const QString leftName = left_->originText();
  const QString right = right_->text();
  const QString rightName = right_->originText();
  left_->takeNamed(rightName, right);
  right_->takeNamed(leftName, left);
}

bool ProveScreen::deciding() const {
  return timer_.isActive() || context_.jobs.current(QStringLiteral("prove")) != nullptr;
}

void ProveScreen::schedule() {
  const auto [leftLines, rightLines] = differingLines(left_->text(), right_->text());
  left_->setMarkedLines(leftLines);
  right_->setMarkedLines(rightLines);
  if (left_->text().trimmed().isEmpty() || right_->text().trimmed().isEmpty()) return;
  // What was asked of the text before is not worth finishing.
  context_.jobs.cancel(QStringLiteral("prove"));
  context_.jobs.cancel(QStringLiteral("standing"));
  verdict_->standing()->setStanding(Mark::none, {});
  verdict_->state()->setState(Mark::running, tr("checking"));
  timer_.start();
  updateActs();
}

ProveScreen::Outcome ProveScreen::decide(const QString& left, const QString& right, bool refines,
                                         const std::shared_ptr<const nugraph::NuGraph>& graph,
                                         const Document& document, const Progress& progress) {
  Outcome outcome;
  const auto store = std::make_shared<tensor::NodeStore>();
  language::Parsed a = language::parse(left.toStdString(), store);
  language::Parsed b = language::parse(right.toStdString(), store);
  outcome.left = std::move(a.diagnostics);
  outcome.right = std::move(b.diagnostics);
  if (!a.program || !b.program) return outcome;
  progress.check();
  outcome.difference = std::make_shared<const GraphDifference>(graphDifference(*a.program, *b.program));
  proof::Options options;
  options.mode = refines ? proof::Mode::refines : proof::Mode::equal;
  options.secondsLimit = secondsLimit;
  options.solvers = document.solvers();
  options.anyType = true;
  ProofCase c;
  c.left = *a.program;
  c.right = *b.program;
  c.refines = refines;
  try {
    c.proof = std::make_shared<const proof::Proof>(proof::prove(c.left, c.right, options, progress));
  } catch (const UserError& error) {
    outcome.error = QString::fromUtf8(error.what());
    return outcome;
  }
  outcome.proofCase = std::move(c);
  if (graph) {
    // The same text parsed into the graph's own store gives the same nodes.
    const language::Parsed known = language::parse(right.toStdString(), graph->root().store);
    if (known.program) outcome.rightVariant = graph->find(known.program->results).value_or(-1);
  }
  return outcome;
}

void ProveScreen::proveNow() {
  timer_.stop();
  const QString left = left_->text();
  const QString right = right_->text();
  const bool refines = verdict_->refines();
  // While the graph is explored nobody else may add nodes to its store: ids follow the order of creation.
  const bool exploring = context_.document.exploreState().running;
  const auto graph = exploring ? nullptr : context_.document.nuGraph();
  verdict_->state()->setState(Mark::running, tr("proving"));
  Job* job = context_.jobs.run(
      this, {.title = tr("Prove a rewrite"), .lane = QStringLiteral("prove"), .quiet = true},
      [left, right, refines, graph, document = &context_.document](JobHandle& handle) {
        return decide(left, right, refines, graph, *document, handle.progress());
      },
      [this](Outcome outcome) { present(std::move(outcome)); });
  connect(job, &Job::failed, this, [this](const QString& message) {
    Outcome outcome;
    outcome.error = message;
    present(std::move(outcome));
  });
}

void ProveScreen::present(Outcome outcome) {
  left_->setDiagnostics(outcome.left);
  right_->setDiagnostics(outcome.right);
  rightVariant_ = outcome.rightVariant;
  rightProgram_.reset();
  if (outcome.difference) rightProgram_ = outcome.difference->right;
  StateLabel* state = verdict_->state();
  ProofPanel* panel = verdict_->panel();
  if (outcome.difference) {
    difference_->show(outcome.difference);
  } else {
    difference_->clear();
  }
  if (!outcome.error.isEmpty()) {
    state->setState(Mark::unknown, tr("not compared"));
    panel->showEmpty(tr("The two sides cannot be compared"), outcome.error);
  } else if (!outcome.proofCase) {
    const bool leftBad = hasErrors(outcome.left);
    const auto& list = leftBad ? outcome.left : outcome.right;
    const auto errors = std::count_if(list.begin(), list.end(),
                                      [](const Diagnostic& d) { return d.severity == Severity::error; });
    state->setState(Mark::unknown, tr("has errors"));
    panel->showEmpty((leftBad ? tr("The left side has %1") : tr("The right side has %1"))
                         .arg(counted(errors, tr("error"), tr("errors"))),
                     firstError(list));
  } else {
    ProofCase& c = *outcome.proofCase;
    const proof::Proof& proof = *c.proof;
    switch (proof.verdict) {
      case proof::Verdict::proved:
        c.title = c.refines ? tr("Right refines left") : tr("The two are equal");
        break;
      case proof::Verdict::refuted:
        c.title = tr("The two differ");
        break;
      case proof::Verdict::unknown:
        c.title = tr("Not decided");
        break;
    }
    if (rightVariant_ >= 0) c.place = tr("the right side is variant %1").arg(rightVariant_);
    QString words = wordOf(verdictMark(proof)) + tr(" in %1").arg(duration(proof.seconds));
    if (proof.counterexample && proof.counterexample->draw > 0)
      words += tr(", draw %1").arg(proof.counterexample->draw);
    state->setState(verdictMark(proof), words);
    panel->show(c);
  }
  updateActs();
  Q_EMIT decided();
}

}  // namespace nuscope::views

#include "moc_prove_screen.cpp"
