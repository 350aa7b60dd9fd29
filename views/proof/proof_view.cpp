#include "views/proof/proof_view.h"

#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <tuple>

#include "core/nugraph/nugraph.h"
#include "views/document.h"
#include "views/marks.h"
#include "views/proof/proof_case.h"
#include "views/proof/proof_panel.h"
#include "views/selection.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

/// The step a variant is shown with: the selected one, else the first that leads to it.
const nugraph::Step* stepFor(const nugraph::NuGraph& graph, const Place& place) {
  if (place.step < 0 && place.variant == 0) return nullptr;  // as written: other ways lead back to it
  for (const nugraph::Step& step : graph.steps()) {
    if (place.step >= 0 ? step.id == place.step : step.to == place.variant) return &step;
  }
  return nullptr;
}

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// A value in a list: "0.999995", "sqrt(-1), un\u2026".
QString brief(const std::string& value) {
  constexpr qsizetype most = 9;
  const QString text = qs(value);
  return text.size() <= most ? text : text.left(most - 1) + QChar(0x2026);
}

/// "running_max" as people write it.
QString spaced(const std::string& name) {
  return qs(name).replace(QLatin1Char('_'), QLatin1Char(' '));
}

}  // namespace

ProofView::ProofView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "proof", tr("Proof"), parent) {
  stepChip_ = addChip(tr("Step"), true, [this](bool on) {
    if (on) showPage(step);
  });
  refusedChip_ = addChip(tr("Refused"), false, [this](bool on) {
    if (on) showPage(refused);
  });
  allChip_ = addChip(tr("All"), false, [this](bool on) {
    if (on) showPage(all);
  });
  pages_ = new QStackedWidget(this);
  stepPanel_ = new ProofPanel(context().theme, context().jobs, pages_);
  refusedPanel_ = new ProofPanel(context().theme, context().jobs, nullptr);
  refusedPanel_->setSolvers([document = &context().document] { return document->solvers(); });
  refusedModel_ = new RowsModel(refusedColumns(), this);
  refusedTable_ = new TableView(context().theme);
  refusedTable_->setModel(refusedModel_);
  refusedTable_->setAccessibleName(tr("Refused moves of the selected variant"));
  allModel_ = new RowsModel(allColumns(), this);
  allTable_ = new TableView(context().theme);
  allTable_->setModel(allModel_);
  allTable_->setAccessibleName(tr("All proofs, in the order they were decided"));
  auto* splitter = new QSplitter(Qt::Vertical, pages_);
  splitter->setHandleWidth(1);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(refusedTable_);
  splitter->addWidget(refusedPanel_);
  splitter->setStretchFactor(0, 1);
  splitter->setStretchFactor(1, 3);
  splitter->setSizes({150, 450});
  pages_->addWidget(stepPanel_);
  pages_->addWidget(splitter);
  pages_->addWidget(allTable_);
  setContent(pages_);
  connect(refusedTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { pickRefused(now.row()); });
  connect(allTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { pickLine(now.row()); });
  connect(allTable_, &QTableView::activated, this, [this](const QModelIndex& at) {
    if (at.row() < static_cast<int>(lines_.size()))
      showPage(lines_[static_cast<std::size_t>(at.row())].isStep ? step : refused);
  });
  connect(&context().document, &Document::nuGraphChanged, this, [this] { markStale(); });
  connect(&context().document, &Document::exploreChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.refused >= 0 && now.refused != before.refused && page_ == step) showPage(refused);
    if (now.step >= 0 && now.step != before.step && page_ == refused) showPage(step);
    markStale();
  });
}

std::vector<ProofView::RefusedLine> ProofView::refusedLines(const nugraph::NuGraph& graph, int variant) {
  const auto& refused = graph.refused();
  std::vector<std::size_t> moves;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (refused[i].from == variant) moves.push_back(i);
  }
  const auto kind = [&](std::size_t i) { return std::tie(refused[i].moved, refused[i].past); };
  std::stable_sort(moves.begin(), moves.end(),
                   [&](std::size_t a, std::size_t b) { return kind(a) < kind(b); });
  std::vector<RefusedLine> lines;
  for (std::size_t from = 0; from < moves.size();) {
    std::size_t to = from;
    while (to < moves.size() && kind(moves[to]) == kind(moves[from])) ++to;
    const nugraph::Refused& first = refused[moves[from]];
    const QString name =
        first.moved.empty() ? tr("other moves") : spaced(first.moved) + tr(" past ") + spaced(first.past);
    lines.push_back({QStringLiteral("%1 \u00B7 %2").arg(name).arg(to - from), moves[from]});
    for (; from < to; ++from) lines.push_back({QString(), moves[from]});
  }
  return lines;
}

const nugraph::Refused* ProofView::refusedAt(int row) const {
  if (!graph_ || row < 0 || row >= static_cast<int>(refusedRows_.size())) return nullptr;
  const RefusedLine& line = refusedRows_[static_cast<std::size_t>(row)];
  return line.group.isEmpty() ? &graph_->refused()[line.index] : nullptr;
}

std::vector<Column> ProofView::refusedColumns() const {
  return {{.title = tr("Move"),
           .help = tr("What was tried, grouped by what was moved past what."),
           .data = [this](int row, int role) -> QVariant {
             const nugraph::Refused* move = refusedAt(row);
             if (!move) {
               if (role == Qt::DisplayRole)
                 return capitalised(refusedRows_[static_cast<std::size_t>(row)].group);
               return role == mutedRole ? QVariant(true) : QVariant();
             }
             if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return capitalised(qs(move->what));
             if (role == markRole) return static_cast<int>(verdictMark(*move->proof));
             return {};
           }},
          {.title = tr("Why not"),
           .help = tr("Refuted, or not decided and why."),
           .data = [this](int row, int role) -> QVariant {
             const nugraph::Refused* move = refusedAt(row);
             if (role == mutedRole) return true;
             if (!move || role != Qt::DisplayRole) return {};
             const proof::Proof& proof = *move->proof;
             if (proof.counterexample) {
               return tr("%1 \u2260 %2")
                   .arg(brief(proof.counterexample->leftText), brief(proof.counterexample->rightText));
             }
             return proof.verdict == proof::Verdict::refuted ? tr("refuted") : qs(proof.reason);
           }}};
}

std::vector<Column> ProofView::allColumns() const {
  const auto proofAt = [this](int row) -> const proof::Proof& {
    const Line& line = lines_[static_cast<std::size_t>(row)];
    return line.isStep ? *graph_->steps()[line.index].proof : *graph_->refused()[line.index].proof;
  };
  const auto whatAt = [this](int row) {
    const Line& line = lines_[static_cast<std::size_t>(row)];
    return capitalised(
        qs(line.isStep ? graph_->steps()[line.index].what : graph_->refused()[line.index].what));
  };
  return {{.title = tr("What"),
           .help = tr("The step or the refused move."),
           .data = [=](int row, int role) -> QVariant {
             if (role == Qt::DisplayRole) return whatAt(row);
             if (role == markRole) return static_cast<int>(verdictMark(proofAt(row)));
             return {};
           }},
          {.title = tr("Variants"),
           .help = tr("Where the step starts and where it leads; a refused move leads nowhere."),
           .data = [this](int row, int role) -> QVariant {
             const Line& line = lines_[static_cast<std::size_t>(row)];
             if (role == mutedRole || role == monoRole) return true;
             if (role != Qt::DisplayRole) return {};
             if (!line.isStep) return QString::number(graph_->refused()[line.index].from);
             const nugraph::Step& s = graph_->steps()[line.index];
             return QStringLiteral("%1 \u2192 %2").arg(s.from).arg(s.to);
           }},
          {.title = tr("Decided by"),
           .help = tr("The part of the prover that decided it."),
           .data = [=](int row, int role) -> QVariant {
             if (role == Qt::DisplayRole) return qs(proofAt(row).decidedBy);
             if (role == mutedRole) return true;
             return {};
           }},
          {.title = tr("ms"),
           .help = tr("Measured: time to the verdict, milliseconds."),
           .number = true,
           .data = [=](int row, int role) -> QVariant {
             const double ms = proofAt(row).seconds * 1000;
             if (role == Qt::DisplayRole) return number(ms, 3);
             if (role == sortRole) return ms;
             if (role == mutedRole) return true;
             return {};
           }}};
}

void ProofView::showPage(Page wanted) {
  page_ = wanted;
  pages_->setCurrentIndex(wanted);
  const std::pair<QToolButton*, Page> chips[] = {{stepChip_, step}, {refusedChip_, refused}, {allChip_, all}};
  for (const auto& [chip, chipPage] : chips) {
    const QSignalBlocker quiet(chip);
    chip->setChecked(chipPage == wanted);
  }
  markStale();
}

bool ProofView::showPage(const QString& name) {
  const QStringList names = {QStringLiteral("step"), QStringLiteral("refused"), QStringLiteral("all")};
  const auto wanted = names.indexOf(name);
  if (wanted >= 0) showPage(static_cast<Page>(wanted));
  return wanted >= 0;
}

ProofPanel* ProofView::panel() const {
  return page_ == refused ? refusedPanel_ : stepPanel_;
}
TableView* ProofView::table() const {
  return page_ == refused ? refusedTable_ : page_ == all ? allTable_ : nullptr;
}

void ProofView::refresh() {
  graph_ = context().document.nuGraph();
  refreshLists();
  setSubtitle(context().document.ageText());
  showStep();
  showRefused();
}

void ProofView::refreshLists() {
  const int variant = context().selection.place().variant;
  std::vector<RefusedLine> rows;
  std::int64_t moves = 0;
  lines_.clear();
  if (graph_) {
    rows = refusedLines(*graph_, variant);
    moves = std::count_if(rows.begin(), rows.end(), [](const RefusedLine& l) { return l.group.isEmpty(); });
    for (std::size_t i = 0; i < graph_->refused().size(); ++i)
      lines_.push_back({false, i, graph_->refused()[i].version});
    for (std::size_t i = 0; i < graph_->steps().size(); ++i)
      lines_.push_back({true, i, graph_->steps()[i].version});
    std::sort(lines_.begin(), lines_.end(),
              [](const Line& a, const Line& b) { return a.version < b.version; });
  }
  const bool sameVariant = listedVariant_ == variant && shownGraph_ != nullptr;
  const bool grown = sameVariant && rows.size() >= refusedRows_.size() &&
                     std::equal(refusedRows_.begin(), refusedRows_.end(), rows.begin(),
                                [](const RefusedLine& a, const RefusedLine& b) {
                                  return a.group == b.group && a.index == b.index;
                                });
  refusedRows_ = std::move(rows);
  listedVariant_ = variant;
  selecting_ = true;
  if (grown) {
    refusedModel_->setRows(static_cast<int>(refusedRows_.size()));
  } else {
    refusedModel_->resetRows(static_cast<int>(refusedRows_.size()));
  }
  refusedTable_->clearSpans();
  for (std::size_t i = 0; i < refusedRows_.size(); ++i) {
    if (!refusedRows_[i].group.isEmpty())
      refusedTable_->setSpan(static_cast<int>(i), 0, 1, refusedModel_->columnCount());
  }
  allModel_->setRows(static_cast<int>(lines_.size()));
  if (page_ == refused) refusedTable_->fitColumns(0);
  if (page_ == all && (fittedGraph_ != graph_.get())) {
    allTable_->fitColumns(0);
    fittedGraph_ = graph_.get();
  }
  selecting_ = false;
  shownGraph_ = graph_.get();
  refusedChip_->setText(tr("Refused %1").arg(grouped(moves)));
  allChip_->setText(tr("All %1").arg(grouped(static_cast<std::int64_t>(lines_.size()))));
  refusedChip_->setToolTip(tr("Moves of this variant that were refuted or not decided."));
  allChip_->setToolTip(tr("Every proof of this program; grows while they run."));
}

void ProofView::showStep() {
  if (!graph_) {
    const bool running = context().document.exploreState().running;
    stepPanel_->showEmpty(running ? tr("Proving the first steps") : tr("No proofs yet"),
                          running ? tr("Each step appears here as soon as it is decided.")
                                  : tr("Explore the program (F5): every way of computing the same thing is a "
                                       "chain of proved steps, and each "
                                       "step is shown here with its proof."));
    shownStep_ = -2;
    stepChip_->setText(tr("Step"));
    return;
  }
  const nugraph::Step* found = stepFor(*graph_, context().selection.place());
  if (found == nullptr) {
    stepPanel_->showEmpty(tr("As written"), tr("This is the program itself: there is nothing to prove. "
                                               "Choose another variant to see the step that leads to "
                                               "it, or Refused to see what does not hold."));
    shownStep_ = -2;
    stepChip_->setText(tr("Step"));
    return;
  }
  stepChip_->setText(tr("Step %1 \u2192 %2").arg(found->from).arg(found->to));
  if (page_ != step) return;  // built when it is shown
  if (shownStep_ == found->id && stepPanel_->isShowing(found->proof)) return;
  shownStep_ = found->id;
  if (auto c = caseOfStep(*graph_, found->id)) stepPanel_->show(*c);
}

void ProofView::showRefused() {
  if (page_ != refused) return;  // built when it is shown
  const int wanted = context().selection.place().refused;
  if (!graph_ || refusedRows_.empty()) {
    refusedPanel_->showEmpty(
        tr("Nothing was refused here"),
        tr("Moves of this variant that do not hold are kept here with their counterexample."));
    shownRefused_ = -2;
    return;
  }
  const int rows = static_cast<int>(refusedRows_.size());
  int row = std::clamp(refusedTable_->currentIndex().row(), 0, rows - 1);
  for (int i = 0; i < rows; ++i) {
    const nugraph::Refused* move = refusedAt(i);
    if (move && move->id == wanted) row = i;
  }
  if (!refusedAt(row)) ++row;  // the name of a group is never the last line
  selecting_ = true;
  refusedTable_->selectRow(row);
  selecting_ = false;
  const nugraph::Refused& r = *refusedAt(row);
  if (shownRefused_ == r.id && refusedPanel_->isShowing(r.proof)) return;
  shownRefused_ = r.id;
  if (auto c = caseOfRefused(*graph_, r.id)) refusedPanel_->show(*c);
}

void ProofView::pickRefused(int row) {
  if (selecting_) return;
  if (const nugraph::Refused* r = refusedAt(row)) context().selection.selectRefused(r->id, r->from);
}

void ProofView::pickLine(int row) {
  if (selecting_ || !graph_ || row < 0 || row >= static_cast<int>(lines_.size())) return;
  const Line line = lines_[static_cast<std::size_t>(row)];
  if (line.isStep) {
    const nugraph::Step& s = graph_->steps()[line.index];
    context().selection.selectStep(s.id, s.to);
  } else {
    const nugraph::Refused& r = graph_->refused()[line.index];
    context().selection.selectRefused(r.id, r.from);
  }
}

QString ProofView::plainText() const {
  if (page_ == all) return allTable_->plainText(false);
  if (page_ == refused)
    return refusedTable_->plainText(false) + QLatin1Char('\n') + refusedPanel_->plainText();
  return stepPanel_->plainText();
}

QString ProofView::summary() const {
  if (!graph_) return tr("No proofs yet");
  const auto counts = graph_->proofs();
  return tr("%1 proved, %2 refuted, %3 unknown").arg(counts.proved).arg(counts.refuted).arg(counts.unknown);
}

QString ProofView::csv() const {
  return allTable_->csv();
}

QStringList ProofView::moreExports() const {
  return page_ == all ? QStringList() : panel()->textExports();
}

QString ProofView::exportText(const QString& suffix) const {
  return panel()->exportText(suffix);
}

QSizeF ProofView::exportSize() const {
  return page_ == all ? QSizeF(allTable_->size()) : QSizeF(panel()->sheet()->size());
}

void ProofView::paintExport(QPainter& painter) const {
  QWidget* picture = page_ == all ? static_cast<QWidget*>(allTable_) : panel()->sheet();
  picture->render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
}

QWidget* ProofView::focusTarget() const {
  if (page_ == refused) return refusedTable_;
  if (page_ == all) return allTable_;
  return stepPanel_;
}

QString ProofView::find(const QString& text, bool backwards) {
  TableView* list = table();
  if (list == nullptr) {
    showPage(all);
    list = allTable_;
  }
  if (text.isEmpty()) return {};
  const int rows = list->model()->rowCount();
  std::vector<int> hits;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < list->model()->columnCount(); ++column) {
      if (list->model()->index(row, column).data().toString().contains(text, Qt::CaseInsensitive)) {
        hits.push_back(row);
        break;
      }
    }
  }
  if (hits.empty()) return tr("no match");
  const int current = list->currentIndex().row();
  std::size_t next = 0;
  if (backwards) {
    next = hits.size() - 1;
    while (next > 0 && hits[next] >= current) --next;
    if (hits[next] >= current) next = hits.size() - 1;
  } else {
    while (next < hits.size() && hits[next] <= current) ++next;
    if (next == hits.size()) next = 0;
  }
  list->selectRow(hits[next]);
  list->scrollTo(list->model()->index(hits[next], 0));
  return tr("%1 of %2").arg(next + 1).arg(hits.size());
}

void ProofView::fillContextMenu(QMenu& menu) {
  if (page_ != all) panel()->fillContextMenu(menu);
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_proof_view.cpp"
