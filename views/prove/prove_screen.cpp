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
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/jobs.h"
#include "views/marks.h"
#include "views/proof/proof_panel.h"
#include "views/prove/prove_side.h"
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
  setContent(panel_);
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
  return panel_->current() && panel_->current()->proof
             ? QStringList{tr("Shell script (*.sh)"), tr("SMT-LIB (*.smt2)")}
             : QStringList();
}
QString VerdictView::exportText(const QString& suffix) const {
  if (!panel_->current() || !panel_->current()->proof) return {};
  if (suffix == QLatin1String("smt2")) return smtText(*panel_->current()->proof);
  return suffix == QLatin1String("sh") ? commandText(*panel_->current()) : QString();
}
QString VerdictView::summary() const {
  return panel_->plainText().section(QLatin1Char('\n'), 0, 1);
}
QWidget* VerdictView::focusTarget() const {
  return panel_;
}

void VerdictView::fillContextMenu(QMenu& menu) {
  QAction* copy = menu.addAction(themedIcon(QStringLiteral("copy"), theme()), tr("Copy as command"), this,
                                 [this] { panel_->copyCommand(); });
  copy->setEnabled(panel_->current().has_value());
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
  auto* rows = new QSplitter(Qt::Vertical);
  rows->addWidget(sides);
  rows->addWidget(verdict_);
  rows->setStretchFactor(0, 2);
  rows->setStretchFactor(1, 3);
  for (QSplitter* splitter : {sides, rows}) {
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
  connect(&context_.document, &Document::opened, this, [this] {
    // Another document: both sides start from it again, unless the right one was written by hand.
    if (right_->origin() != ProveSide::Origin::hand) filled_ = false;
    if (isVisible() && !filled_) {
      filled_ = true;
      left_->takeProgram();
      right_->setText(context_.document.text(), ProveSide::Origin::program);
    }
  });
  connect(&context_.selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.variant != before.variant) followSelection();
  });
  verdict_->panel()->showEmpty(
      tr("Type a rewrite on the right"),
      tr("The two programs are compared as you type: proved for all extents, or refuted with inputs at "
         "which they differ. Left and right may come from the program, a variant or a file."));
}

void ProveScreen::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (filled_) return;
  filled_ = true;
  left_->takeProgram();
  if (right_->text().isEmpty()) right_->setText(context_.document.text(), ProveSide::Origin::program);
  followSelection();
  right_->editor()->setFocus();
}

void ProveScreen::followSelection() {
  const int variant = context_.selection.place().variant;
  if (!isVisible() || !filled_ || variant <= 0 || right_->origin() == ProveSide::Origin::hand) return;
  right_->takeVariant(variant);
}

void ProveScreen::schedule() {
  const auto [leftLines, rightLines] = differingLines(left_->text(), right_->text());
  left_->setMarkedLines(leftLines);
  right_->setMarkedLines(rightLines);
  if (left_->text().trimmed().isEmpty() || right_->text().trimmed().isEmpty()) return;
  verdict_->state()->setState(Mark::running, tr("checking"));
  timer_.start();
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
  StateLabel* state = verdict_->state();
  ProofPanel* panel = verdict_->panel();
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
  Q_EMIT decided();
}

}  // namespace nuscope::views

#include "moc_prove_screen.cpp"
