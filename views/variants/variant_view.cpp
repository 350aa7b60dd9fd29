#include "views/variants/variant_view.h"

#include <QHeaderView>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "views/commands.h"
#include "views/document.h"
#include "views/graph/graph_widget.h"
#include "views/selection.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/derivation.h"

namespace nuscope::views {

VariantView::VariantView(const ViewContext& context, QWidget* parent, bool alwaysRoot)
    : View(context, alwaysRoot ? "graph" : "variant", alwaysRoot ? tr("Graph") : tr("Variant"), parent),
      alwaysRoot_(alwaysRoot),
      pages_(new QStackedWidget),
      graph_(new GraphWidget(context.theme, context.jobs,
                             alwaysRoot ? QStringLiteral("program") : QStringLiteral("variant"))) {
  graph_->setAccessibleName(alwaysRoot ? tr("Graph of the program") : tr("Graph of the variant"));
  buildTable();
  pages_->addWidget(graph_);
  pages_->addWidget(table_);
  setContent(pages_);
  if (!alwaysRoot_) {
    addHeaderToggle(QStringLiteral("compare"), tr("Show what was removed, too"), false, [this](bool on) {
      ghosts_ = on;
      markStale();
    })->setObjectName(QStringLiteral("ghosts"));
  }
  addHeaderToggle(QStringLiteral("table"), tr("Show as a table"), false, [this](bool on) {
    asTable_ = on;
    markStale();
  })->setObjectName(QStringLiteral("asTable"));
  addHeaderButton(QStringLiteral("fit"), tr("Fit to window (F)"), [this] { fit(); });

  connect(graph_, &GraphWidget::boxChosen, this, [this](quint64 key) {
    const auto it = shown_.nodeOf.find(key);
    if (it != shown_.nodeOf.end()) chooseNode(it->second);
  });
  connect(graph_, &GraphWidget::boxHovered, this, [this](bool any, quint64 key) {
    const auto it = any ? shown_.nodeOf.find(key) : shown_.nodeOf.end();
    this->context().selection.hoverNode(it == shown_.nodeOf.end() ? nullptr : it->second);
  });
  connect(&context.document, &Document::nuGraphChanged, this, &VariantView::markStale);
  connect(&context.document, &Document::programChanged, this, &VariantView::markStale);
  connect(&context.document, &Document::parsed, this, &VariantView::markStale);
  connect(&context.document, &Document::opened, this, &VariantView::markStale);
  connect(&context.selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (!alwaysRoot_ && (now.variant != before.variant || now.step != before.step)) {
      markStale();
    } else {
      showSelection();
    }
  });
  connect(&context.selection, &Selection::hoverChanged, this, [this](tensor::NodeRef node) {
    const auto it = shown_.cardOf.find(node);
    graph_->setHovered(it == shown_.cardOf.end() ? std::nullopt : std::optional(it->second));
  });
}

void VariantView::buildTable() {
  const auto node = [this](int row) { return listed_[static_cast<std::size_t>(row)]; };
  const auto text = [](auto get) {
    return [get](int row, int role) -> QVariant {
      return role == Qt::DisplayRole ? QVariant(get(row)) : QVariant();
    };
  };
  const auto change = [this, node](int row) {
    const auto it = changes_.of.find(node(row));
    return it == changes_.of.end() ? Change::kept : it->second;
  };
  std::vector<Column> columns{
      {tr("#"),
       {},
       true,
       [](int row, int role) -> QVariant {
         return role == Qt::DisplayRole ? QVariant(QString::number(row))
                : role == sortRole      ? QVariant(row)
                                        : QVariant();
       }},
      {tr("Operator"), {}, false, text([node](int row) { return qs(tensor::name(node(row)->op)); })},
      {tr("Name"), {}, false, text([this, node](int row) {
         if (node(row)->op == tensor::Op::input) return qs(node(row)->attributes.name);
         const auto it = program_->variables.find(node(row));
         return it == program_->variables.end() ? QString() : qs(it->second);
       })},
      {tr("Type"),
       {},
       false,
       [node](int row, int role) -> QVariant {
         if (role == Qt::DisplayRole) return qs(tensor::typeText(node(row)->dtype, node(row)->shape));
         return role == monoRole ? QVariant(true) : QVariant();
       }},
      {tr("Operands"), tr("Rows they are computed in"), false,
       [this, node](int row, int role) -> QVariant {
         if (role == monoRole) return true;
         if (role != Qt::DisplayRole) return {};
         QStringList rows;
         for (const tensor::NodeRef operand : node(row)->operands) {
           rows << QString::number(std::find(listed_.begin(), listed_.end(), operand) - listed_.begin());
         }
         return rows.join(QStringLiteral(", "));
       }},
      {tr("Detail"), {}, false, text([this, node](int row) {
         if (node(row)->op == tensor::Op::constant) return qs(decimalText(node(row)->attributes.value));
         return detailOf(*program_, node(row), results_);
       })},
      {tr("Users"), tr("How often it is used"), true,
       [this, node](int row, int role) -> QVariant {
         const auto it = uses_.find(node(row));
         const int uses = it == uses_.end() ? 0 : it->second;
         return role == Qt::DisplayRole ? QVariant(QString::number(uses))
                : role == sortRole      ? QVariant(uses)
                                        : QVariant();
       }},
      {tr("Change"), tr("Against the parent variant"), false, [change](int row, int role) -> QVariant {
         if (role == Qt::DisplayRole) return wordOf(markOf(change(row)));
         return role == markRole ? QVariant(static_cast<int>(markOf(change(row)))) : QVariant();
       }}};
  rows_ = new RowsModel(std::move(columns), this);
  table_ = new TableView(context().theme);
  table_->setObjectName(QStringLiteral("nodesTable"));
  table_->setAccessibleName(tr("Nodes of the variant"));
  table_->setModel(rows_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid() && static_cast<std::size_t>(now.row()) < listed_.size() && table_->hasFocus())
              chooseNode(listed_[static_cast<std::size_t>(now.row())]);
          });
}

std::shared_ptr<const tensor::Program> VariantView::contextProgram() const {
  const Document& document = context().document;
  // The parse of the explored text knows variables and places; it shares the nodes of the graph.
  const auto program = document.program();
  if (!nuGraph_) return program;
  if (program && program->store == nuGraph_->root().store) return program;
  return {nuGraph_, &nuGraph_->root()};
}

void VariantView::refresh() {
  const Document& document = context().document;
  nuGraph_ = alwaysRoot_ ? nullptr : document.nuGraph();
  program_ = contextProgram();
  changes_ = {};
  parent_ = -1;
  listed_.clear();
  results_.clear();
  if (!program_) {
    shown_ = {};
    graph_->setContent({});
    rows_->resetRows(0);
    setSubtitle(alwaysRoot_ ? tr("appears once the text has no errors") : QString());
    return;
  }
  results_ = program_->results;
  std::vector<tensor::NodeRef> parentResults;
  if (nuGraph_) {
    const Place& place = context().selection.place();
    const auto id = static_cast<std::size_t>(place.variant) < nuGraph_->variants().size()
                        ? static_cast<std::size_t>(place.variant)
                        : 0;
    const nugraph::Variant& variant = nuGraph_->variants()[id];
    results_ = variant.results;
    std::string moved;
    const nugraph::Step* step = nullptr;
    if (place.step >= 0 && static_cast<std::size_t>(place.step) < nuGraph_->steps().size() &&
        nuGraph_->steps()[static_cast<std::size_t>(place.step)].to == variant.id) {
      step = &nuGraph_->steps()[static_cast<std::size_t>(place.step)];
    } else {
      for (const nugraph::Step& s : nuGraph_->steps()) {
        if (!step && s.to == variant.id && s.from == variant.parent) step = &s;
      }
    }
    if (step) {
      parent_ = step->from;
      moved = step->moved;
      parentResults = nuGraph_->variants()[static_cast<std::size_t>(parent_)].results;
      changes_ = compareVariants(parentResults, results_, moved);
    }
    setTitle(tr("Variant %1").arg(variant.id));
    const QString what =
        parent_ < 0 ? tr("as written")
                    : tr("against variant %1: %2")
                          .arg(parent_)
                          .arg(changes_.any() ? changes_.text() : tr("same operators, other operands"));
    setSubtitle(join({what, document.ageText()}));
  } else {
    setTitle(alwaysRoot_ ? tr("Graph") : tr("Variant 0"));
    setSubtitle(join({tr("as written"), document.ageText()}));
  }
  VariantOptions options;
  options.everyOperator = everyOperator_;
  options.ghosts = ghosts_;
  shown_ = variantGraph(*program_, results_, parentResults, changes_, options);
  listed_ = tensor::topological(results_);
  uses_ = tensor::useCounts(results_);
  if (ghosts_) {
    for (const auto& [node, change] : changes_.of) {
      if (change == Change::removed) listed_.push_back(node);
    }
  }
  pages_->setCurrentWidget(asTable_ ? static_cast<QWidget*>(table_) : graph_);
  graph_->setContent(shown_.content);
  rows_->resetRows(static_cast<int>(listed_.size()));
  table_->fitColumns(5);
  showSelection();
}

void VariantView::showSelection() {
  const tensor::NodeRef node = context().selection.place().node;
  const auto it = node ? shown_.cardOf.find(node) : shown_.cardOf.end();
  graph_->setSelectedBox(it == shown_.cardOf.end() ? std::nullopt : std::optional(it->second));
  const auto row = std::find(listed_.begin(), listed_.end(), node);
  if (row != listed_.end()) {
    const int at = static_cast<int>(row - listed_.begin());
    if (table_->currentIndex().row() != at) table_->selectRow(at);
  } else {
    table_->clearSelection();
  }
}

void VariantView::chooseNode(tensor::NodeRef node) {
  SourceRange range;
  const auto program = context().document.program();
  if (program) {
    const auto it = program->ranges.find(node);
    if (it != program->ranges.end()) range = it->second;
  }
  context().selection.selectNode(node, range);
}

QSizeF VariantView::exportSize() const {
  return graph_->pictureSize();
}
void VariantView::paintExport(QPainter& painter) const {
  graph_->paintPicture(painter);
}
QString VariantView::csv() const {
  return program_ ? table_->csv() : QString();
}
QStringList VariantView::moreExports() const {
  return program_ ? QStringList{tr("Graphviz (*.dot)")} : QStringList{};
}
QString VariantView::exportText(const QString& suffix) const {
  return suffix == QLatin1String("dot") ? graph_->dot() : QString();
}

QString VariantView::find(const QString& text, bool backwards) {
  if (!program_ || text.isEmpty()) {
    graph_->setHits({});
    return {};
  }
  std::vector<tensor::NodeRef> hits;
  std::set<std::uint64_t> cards;
  for (const tensor::NodeRef node : listed_) {
    if (node->op == tensor::Op::constant) continue;
    const auto variable = program_->variables.find(node);
    const QString whole = qs(tensor::describe(node)) + QLatin1Char(' ') +
                          (variable == program_->variables.end() ? QString() : qs(variable->second)) +
                          QLatin1Char(' ') + qs(node->attributes.name);
    if (!whole.contains(text, Qt::CaseInsensitive)) continue;
    hits.push_back(node);
    const auto card = shown_.cardOf.find(node);
    if (card != shown_.cardOf.end()) cards.insert(card->second);
  }
  graph_->setHits(cards);
  if (hits.empty()) return tr("no match");
  const auto now = std::find(hits.begin(), hits.end(), context().selection.place().node);
  std::size_t at = 0;
  if (now != hits.end()) {
    const auto i = static_cast<std::size_t>(now - hits.begin());
    at = backwards ? (i + hits.size() - 1) % hits.size() : (i + 1) % hits.size();
  }
  chooseNode(hits[at]);
  if (const auto card = shown_.cardOf.find(hits[at]); card != shown_.cardOf.end())
    graph_->ensureVisible(card->second);
  return tr("%1 of %2").arg(at + 1).arg(hits.size());
}

void VariantView::fit() {
  graph_->fit();
}

QWidget* VariantView::focusTarget() const {
  return asTable_ ? static_cast<QWidget*>(table_) : graph_;
}

QString VariantView::summary() const {
  return title() + QStringLiteral(", ") +
         counted(static_cast<std::int64_t>(listed_.size()), tr("node"), tr("nodes"));
}

void VariantView::fillContextMenu(QMenu& menu) {
  QAction* every = menu.addAction(tr("One card per operator"));
  every->setCheckable(true);
  every->setChecked(everyOperator_);
  connect(every, &QAction::toggled, this, [this](bool on) {
    everyOperator_ = on;
    markStale();
  });
  for (const char* id : {"view.fit", "go.parent"}) menu.addAction(context().commands.action(id));
  View::fillContextMenu(menu);
}

void VariantView::themeChanged() {
  markStale();
}

}  // namespace nuscope::views
