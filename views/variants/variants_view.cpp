#include "views/variants/variants_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/graph/graph_widget.h"
#include "views/selection.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/derivation.h"
#include "views/variants/variant_costs.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

constexpr int playInterval = 700;  // milliseconds a step stands

}  // namespace

VariantsView::VariantsView(const ViewContext& context, QWidget* parent)
    : View(context, "derivation", tr("Variants"), parent),
      costs_(VariantCosts::of(context.document)),
      pages_(new QStackedWidget),
      graph_(new GraphWidget(context.theme, context.jobs, QStringLiteral("variants"))) {
  graph_->setAccessibleName(tr("Derivation of variants"));
  buildTable();
  empty_ = new WrappedLabel;
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setMargin(40);
  pages_->addWidget(graph_);
  pages_->addWidget(table_);
  pages_->addWidget(empty_);

  footer_ = new QWidget;
  auto* row = new QHBoxLayout(footer_);
  row->setContentsMargins(theme().gutter, 0, theme().gutter, 0);
  row->setSpacing(theme().gutter);
  stepLabel_ = new QLabel;
  slider_ = new QSlider(Qt::Horizontal);
  slider_->setObjectName(QStringLiteral("steps"));
  slider_->setAccessibleName(tr("Steps of the exploration"));
  slider_->setToolTip(tr("Shows the variants as of an earlier step (Ctrl+Left, Ctrl+Right)"));
  shownLabel_ = new QLabel;
  shownLabel_->setTextFormat(Qt::RichText);
  shownLabel_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  const auto button = [this](const char* command) {
    auto* result = new QToolButton;
    result->setDefaultAction(this->context().commands.action(command));
    result->setAccessibleName(result->defaultAction()->text());
    result->setAutoRaise(true);
    return result;
  };
  stepBack_ = button("go.previousStep");
  stepOn_ = button("go.nextStep");
  play_ = button("go.play");
  row->addWidget(stepLabel_);
  row->addWidget(stepBack_);
  row->addWidget(slider_, 1);
  row->addWidget(stepOn_);
  row->addWidget(play_);
  row->addWidget(shownLabel_);
  player_.setInterval(playInterval);
  connect(&player_, &QTimer::timeout, this, [this] {
    stepBy(1);
    if (slider_->value() == slider_->maximum()) play(false);
  });

  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(pages_, 1);
  column->addWidget(footer_);
  setContent(content);

  addHeaderToggle(QStringLiteral("table"), tr("Show as a table"), false, [this](bool on) {
    asTable_ = on;
    this->context().commands.action("variants.table")->setChecked(on);
    markStale();
  })->setObjectName(QStringLiteral("asTable"));
  addHeaderButton(QStringLiteral("search"), tr("Find (Ctrl+F)"), [this] { openFind(); });
  addHeaderButton(QStringLiteral("fit"), tr("Fit to window (F)"), [this] { fit(); });

  connect(graph_, &GraphWidget::boxChosen, this, &VariantsView::chooseVariant);
  connect(graph_, &GraphWidget::edgeChosen, this, &VariantsView::chooseStep);
  connect(graph_, &GraphWidget::stubClicked, this, [this](quint64 key) {
    expanded_.insert(static_cast<int>(key));
    markStale();
  });
  connect(slider_, &QSlider::valueChanged, this, [this](int value) {
    step_ = value == slider_->maximum() ? -1 : value;
    markStale();
  });
  connect(shownLabel_, &QLabel::linkActivated, this, [this] { setExpandAll(!all_); });
  connect(&context.document, &Document::nuGraphChanged, this, &VariantsView::markStale);
  connect(&context.document, &Document::exploreChanged, this, &VariantsView::markStale);
  connect(&context.document, &Document::parsed, this, &VariantsView::markStale);
  connect(&context.document, &Document::opened, this, [this] {
    all_ = false;
    expanded_.clear();
    step_ = -1;
    player_.stop();
    markStale();
  });
  connect(&context.selection, &Selection::changed, this, [this] {
    showSelection();
    markStale();  // another path is thick, and hidden variants may have to appear
  });
  connect(costs_, &VariantCosts::changed, this, &VariantsView::markStale);
  themeChanged();
}

void VariantsView::buildTable() {
  const auto variant = [this](int row) -> const nugraph::Variant& {
    return nuGraph_->variants()[static_cast<std::size_t>(row)];
  };
  const auto firstStep = [this, variant](int row) -> const nugraph::Step* {
    for (const nugraph::Step& step : nuGraph_->steps()) {
      if (step.to == variant(row).id && step.from == variant(row).parent) return &step;
    }
    return nullptr;
  };
  std::vector<Column> columns{
      {tr("#"), tr("Number of the variant"), true,
       [variant](int row, int role) -> QVariant {
         return role == Qt::DisplayRole ? QVariant(QString::number(variant(row).id))
                : role == sortRole      ? QVariant(variant(row).id)
                                        : QVariant();
       }},
      {tr("Variant"),
       {},
       false,
       [variant](int row, int role) -> QVariant {
         return role == Qt::DisplayRole ? QVariant(titleOf(variant(row))) : QVariant();
       }},
      {tr("From"), tr("The variant it was derived from"), true,
       [variant](int row, int role) -> QVariant {
         if (role == Qt::DisplayRole)
           return variant(row).parent < 0 ? QString() : QString::number(variant(row).parent);
         return role == sortRole ? QVariant(variant(row).parent) : QVariant();
       }},
      {tr("Step"), tr("Proved over the reals"), false,
       [firstStep](int row, int role) -> QVariant {
         const nugraph::Step* step = firstStep(row);
         if (!step) return {};
         if (role == Qt::DisplayRole) return qs(step->what);
         if (role == markRole) return static_cast<int>(markOf(step->proof->verdict));
         if (role == Qt::ToolTipRole) return qs(step->what) + QLatin1Char('\n') + qs(step->proof->holdsFor);
         return {};
       }},
      {tr("Operators"),
       {},
       true,
       [variant](int row, int role) -> QVariant {
         if (role != Qt::DisplayRole && role != sortRole) return {};
         const auto count = static_cast<qlonglong>(tensor::topological(variant(row).results).size());
         return role == Qt::DisplayRole ? QVariant(QString::number(count)) : QVariant(count);
       }},
      {tr("Model ms"), tr("Modelled for the host at the extents of the sweep, not measured"), true,
       [this, variant](int row, int role) -> QVariant {
         const auto it = costs_->seconds().find(variant(row).id);
         if (it == costs_->seconds().end()) return {};
         if (role == Qt::DisplayRole) return number(it->second * 1e3, 4);
         if (role == sortRole) return it->second * 1e3;
         return role == mutedRole ? QVariant(true) : QVariant();
       }}};
  rows_ = new RowsModel(std::move(columns), this);
  table_ = new TableView(context().theme);
  table_->setObjectName(QStringLiteral("variantsTable"));
  table_->setAccessibleName(tr("Variants"));
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(rows_);
  sorted->setSortRole(sortRole);
  table_->setModel(sorted);
  table_->setSortingEnabled(true);
  table_->sortByColumn(0, Qt::AscendingOrder);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this, sorted](const QModelIndex& now) {
            if (!now.isValid() || !nuGraph_ || !table_->hasFocus()) return;
            chooseVariant(static_cast<quint64>(sorted->mapToSource(now).row()));
          });
  connect(table_, &QTableView::clicked, this, [this, sorted](const QModelIndex& now) {
    chooseVariant(static_cast<quint64>(sorted->mapToSource(now).row()));
  });
}

QString VariantsView::emptyText() const {
  const Document& document = context().document;
  if (document.exploreState().running)
    return tr("Searching for variants. Each one appears here once it is proved.");
  if (!document.exploreState().error.isEmpty())
    return tr("Exploring failed: %1").arg(document.exploreState().error);
  if (!document.program())
    return tr("A program without errors is needed first. Its errors are listed below the text.");
  return tr(
      "Explore searches for other ways to compute the same, and proves each of them. Press F5, or the button "
      "at the left.");
}

void VariantsView::refresh() {
  const Document& document = context().document;
  nuGraph_ = document.nuGraph();
  const bool empty = !nuGraph_;
  footer_->setVisible(!empty);
  setSubtitle(document.ageText());
  if (empty) {
    empty_->setText(emptyText());
    pages_->setCurrentWidget(empty_);
    graph_->setContent({});
    rows_->resetRows(0);
    return;
  }
  pages_->setCurrentWidget(asTable_ ? static_cast<QWidget*>(table_) : graph_);
  const auto& steps = nuGraph_->steps();
  const int total = static_cast<int>(steps.size());
  {
    const QSignalBlocker quiet(slider_);
    slider_->setRange(0, total);
    slider_->setEnabled(total > 0);
    if (step_ > total) step_ = -1;
    slider_->setValue(step_ < 0 ? total : step_);
  }
  DerivationOptions options;
  options.all = all_;
  options.selected = context().selection.place().variant;
  options.selectedStep = context().selection.place().step;
  options.expanded = expanded_;
  options.modelledSeconds = costs_->seconds();
  options.version = step_ < 0 ? -1 : step_ == 0 ? 0 : steps[static_cast<std::size_t>(step_ - 1)].version;
  const Derivation shown = derivation(*nuGraph_, options);
  shownOf_ = shown.total;
  graph_->setContent(shown.content);
  graph_->setSelectedBox(static_cast<std::uint64_t>(options.selected));
  graph_->setSelectedEdge(options.selectedStep >= 0 ? static_cast<std::uint64_t>(options.selectedStep) + 1
                                                    : 0);
  rows_->setRows(static_cast<int>(nuGraph_->variants().size()));
  table_->fitColumns(3);
  play_->setIcon(themedIcon(player_.isActive() ? QStringLiteral("pause") : QStringLiteral("play"), theme()));

  stepLabel_->setText(tr("Step %1 of %2").arg(grouped(step_ < 0 ? total : step_), grouped(total)));
  const auto visible = static_cast<int>(shown.variants.size());
  const QString link = QStringLiteral("<a style=\"color:%1\" href=\"all\">%2</a>").arg(theme().text.name());
  QString words = asTable_ ? counted(shown.total, tr("variant"), tr("variants"))
                           : tr("%1 of %2 shown").arg(grouped(visible), grouped(shown.total));
  if (!asTable_ && visible < shown.total) words += QStringLiteral(" · ") + link.arg(tr("expand all"));
  if (!asTable_ && all_) words += QStringLiteral(" · ") + link.arg(tr("show fewer"));
  shownLabel_->setText(
      costs_->seconds().empty() ? words : tr("times modelled") + QStringLiteral("&nbsp;&nbsp; ") + words);
  showSelection();
}

void VariantsView::showSelection() {
  if (!nuGraph_) return;
  const Place& place = context().selection.place();
  const auto shownKey = static_cast<std::uint64_t>(place.variant);
  graph_->setSelectedBox(shownKey);
  graph_->setSelectedEdge(place.step >= 0 ? static_cast<std::uint64_t>(place.step) + 1 : 0);
  const auto* sorted = static_cast<const QSortFilterProxyModel*>(table_->model());
  const QModelIndex row = sorted->mapFromSource(rows_->index(place.variant, 0));
  if (row.isValid() && table_->currentIndex().row() != row.row()) table_->selectRow(row.row());
}

void VariantsView::chooseVariant(quint64 key) {
  if (!nuGraph_) return;
  const auto id = static_cast<std::size_t>(key);
  if (id >= nuGraph_->variants().size()) return;
  // The step that first led there comes with it, so that proof and changes show at once.
  const int parent = nuGraph_->variants()[id].parent;
  for (const nugraph::Step& step : nuGraph_->steps()) {
    if (step.to == static_cast<int>(id) && step.from == parent) {
      context().selection.selectStep(step.id, step.to);
      return;
    }
  }
  context().selection.selectVariant(static_cast<int>(id));
}

void VariantsView::chooseStep(quint64 key) {
  if (!nuGraph_ || key == 0 || key > nuGraph_->steps().size()) return;
  const nugraph::Step& step = nuGraph_->steps()[static_cast<std::size_t>(key - 1)];
  context().selection.selectStep(step.id, step.to);
}

void VariantsView::setExpandAll(bool all) {
  all_ = all;
  if (!all) expanded_.clear();
  context().commands.action("variants.expandAll")->setChecked(all);
  markStale();
}

void VariantsView::stepTo(int step) {
  slider_->setValue(step);
}

void VariantsView::stepBy(int by) {
  slider_->setValue(slider_->value() + by);
  const int reached = slider_->value();
  if (!nuGraph_ || reached > static_cast<int>(nuGraph_->steps().size())) return;
  if (reached == 0) {
    context().selection.selectVariant(0);
    return;
  }
  const nugraph::Step& step = nuGraph_->steps()[static_cast<std::size_t>(reached - 1)];
  context().selection.selectStep(step.id, step.to);
}

void VariantsView::play(bool on) {
  if (on && slider_->value() == slider_->maximum()) stepTo(0);
  if (on) {
    player_.start();
  } else {
    player_.stop();
  }
  markStale();
}

QSizeF VariantsView::exportSize() const {
  return graph_->pictureSize();
}
void VariantsView::paintExport(QPainter& painter) const {
  graph_->paintPicture(painter);
}
QString VariantsView::csv() const {
  return nuGraph_ ? table_->csv() : QString();
}
QStringList VariantsView::moreExports() const {
  return nuGraph_ ? QStringList{tr("Graphviz (*.dot)")} : QStringList{};
}
QString VariantsView::exportText(const QString& suffix) const {
  return suffix == QLatin1String("dot") ? graph_->dot() : QString();
}

QString VariantsView::find(const QString& text, bool backwards) {
  if (!nuGraph_ || text.isEmpty()) {
    graph_->setHits({});
    return {};
  }
  std::vector<int> hits;
  for (const nugraph::Variant& v : nuGraph_->variants()) {
    const QString whole = titleOf(v) + QStringLiteral(" variant %1").arg(v.id);
    if (whole.contains(text, Qt::CaseInsensitive)) hits.push_back(v.id);
  }
  graph_->setHits({hits.begin(), hits.end()});
  if (hits.empty()) return tr("no match");
  const int now = context().selection.place().variant;
  std::size_t at = 0;
  if (backwards) {
    const auto it = std::lower_bound(hits.begin(), hits.end(), now);
    at = it == hits.begin() ? hits.size() - 1 : static_cast<std::size_t>(it - hits.begin()) - 1;
  } else {
    const auto it = std::upper_bound(hits.begin(), hits.end(), now);
    at = it == hits.end() ? 0 : static_cast<std::size_t>(it - hits.begin());
  }
  chooseVariant(static_cast<quint64>(hits[at]));
  return tr("%1 of %2").arg(at + 1).arg(hits.size());
}

void VariantsView::fit() {
  graph_->fit();
}

QWidget* VariantsView::focusTarget() const {
  return asTable_ ? static_cast<QWidget*>(table_) : graph_;
}

QString VariantsView::summary() const {
  if (!nuGraph_) return emptyText();
  return tr("%1 by %2")
      .arg(counted(static_cast<std::int64_t>(nuGraph_->variants().size()), tr("variant"), tr("variants")),
           counted(static_cast<std::int64_t>(nuGraph_->steps().size()), tr("proved step"),
                   tr("proved steps")));
}

void VariantsView::fillContextMenu(QMenu& menu) {
  for (const char* id :
       {"variants.expandAll", "variants.table", "view.fit", "go.parent", "go.previousStep", "go.nextStep"}) {
    menu.addAction(context().commands.action(id));
  }
  View::fillContextMenu(menu);
}

void VariantsView::themeChanged() {
  footer_->setFixedHeight(theme().header);
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, theme().muted);
  for (QLabel* label : {stepLabel_, shownLabel_, empty_}) label->setPalette(muted);
  markStale();
}

}  // namespace nuscope::views
