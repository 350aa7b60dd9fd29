#include "views/variants/explore_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QIntValidator>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/variant_costs.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

/// Dimension, extent (editable), what the proofs hold for.
class ExtentsModel : public QAbstractTableModel {
 public:
  ExtentsModel(Document& document, QObject* parent) : QAbstractTableModel(parent), document_(document) {}

  void reload() {
    beginResetModel();
    names_.clear();
    if (const auto program = document_.program()) names_ = program->dimensions;
    endResetModel();
  }
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(names_.size());
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : 3;
  }

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
    if (!index.isValid()) return {};
    const std::string& name = names_[static_cast<std::size_t>(index.row())];
    const auto it = document_.extents().find(name);
    const std::int64_t extent = it == document_.extents().end() ? 0 : it->second;
    if (role == Qt::TextAlignmentRole)
      return int(index.column() == 0 ? Qt::AlignLeft : Qt::AlignRight) | int(Qt::AlignVCenter);
    if (role == monoRole) return true;
    if (role == Qt::EditRole) return QString::number(extent);
    if (role == sortRole)
      return index.column() == 1 ? QVariant(static_cast<qlonglong>(extent)) : data(index, Qt::DisplayRole);
    if (role == Qt::ToolTipRole && index.column() == 1)
      return QObject::tr("Extent for sweeping and modelling; double-click to change");
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
      case 0:
        return qs(name);
      case 1:
        return grouped(extent);
      default:
        return provedFor(name);
    }
  }

  bool setData(const QModelIndex& index, const QVariant& value, int role) override {
    if (role != Qt::EditRole || index.column() != 1) return false;
    QString digits = value.toString();
    digits.remove(QChar(0x2009)).remove(QLatin1Char(' '));
    bool ok = false;
    const qlonglong extent = digits.toLongLong(&ok);
    if (!ok || extent < 1 || extent > 1'000'000'000) return false;
    document_.setExtent(names_[static_cast<std::size_t>(index.row())], extent);
    Q_EMIT dataChanged(index, index);
    return true;
  }

  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override {
    return QAbstractTableModel::flags(index) | (index.column() == 1 ? Qt::ItemIsEditable : Qt::NoItemFlags);
  }

  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
      return int(section == 0 ? Qt::AlignLeft : Qt::AlignRight) | int(Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    static const QStringList titles{QObject::tr("Dimension"), QObject::tr("Sweep at"),
                                    QObject::tr("Proved for")};
    return titles.value(section);
  }

 private:
  /// The asserts about a dimension, or that there are none. Empty before anything was proved.
  [[nodiscard]] QString provedFor(const std::string& name) const {
    const auto graph = document_.nuGraph();
    if (!graph || graph->steps().empty()) return {};
    QStringList asserts;
    for (const auto& precondition : graph->root().preconditions) {
      if (precondition.dims &&
          (precondition.dims->left.mentions(name) || precondition.dims->right.mentions(name)))
        asserts << qs(precondition.text);
    }
    return asserts.isEmpty() ? QStringLiteral("all \u2265 1") : asserts.join(QStringLiteral(", "));
  }

  Document& document_;
  std::vector<std::string> names_;
};

namespace {

/// Asserts about dimensions that these extents break.
QStringList brokenAsserts(const tensor::Program& program, const tensor::Extents& extents) {
  QStringList broken;
  for (const auto& precondition : program.preconditions) {
    try {
      if (precondition.dims && !precondition.dims->holds(extents)) broken << qs(precondition.text);
    } catch (const UserError&) {
      // an extent that is not there yet
    }
  }
  return broken;
}

QLabel* wrapped(QWidget* parent) {
  auto* label = new WrappedLabel(parent);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse);
  return label;
}

/// One pixel of the theme's line colour.
class Hairline : public QWidget {
 public:
  Hairline(ThemeSource& theme, QWidget* parent) : QWidget(parent), theme_(theme) { setFixedHeight(1); }

 protected:
  void paintEvent(QPaintEvent*) override { QPainter(this).fillRect(rect(), theme_.theme().line); }

 private:
  ThemeSource& theme_;
};

}  // namespace

ExplorePanel::ExplorePanel(const ViewContext& context, QWidget* parent)
    : View(context, "explore", tr("Explore"), parent),
      costs_(VariantCosts::of(context.document)),
      model_(new ExtentsModel(context.document, this)) {
  target_ = new QLabel;
  target_->setObjectName(QStringLiteral("target"));
  addHeaderWidget(target_);
  table_ = new TableView(context.theme);
  table_->setObjectName(QStringLiteral("dimensions"));
  table_->setAccessibleName(tr("Dimensions and their extents"));
  table_->setModel(model_);
  table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                          QAbstractItemView::AnyKeyPressed);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

  auto* inside = new QWidget;
  inside->setObjectName(QStringLiteral("sheet"));
  auto* column = new QVBoxLayout(inside);
  broken_ = wrapped(inside);
  sweep_ = new QPushButton(tr("Sweep candidates"), inside);
  sweep_->setObjectName(QStringLiteral("sweepButton"));
  explore_ = new QPushButton(tr("Explore"), inside);
  explore_->setObjectName(QStringLiteral("exploreButton"));
  auto* acts = new QHBoxLayout;
  acts->addWidget(sweep_);
  acts->addWidget(explore_);
  acts->addStretch(1);
  headline_ = wrapped(inside);
  headline_->setObjectName(QStringLiteral("headline"));
  progress_ = new QProgressBar(inside);
  progress_->setTextVisible(false);
  progressText_ = wrapped(inside);
  cuts_ = wrapped(inside);
  cuts_->setObjectName(QStringLiteral("cuts"));
  lineAbove_ = new Hairline(context.theme, inside);
  lineBelow_ = new Hairline(context.theme, inside);
  column->addWidget(table_);
  column->addWidget(broken_);
  column->addLayout(acts);
  column->addWidget(lineAbove_);
  column->addWidget(headline_);
  column->addWidget(progress_);
  column->addWidget(progressText_);
  column->addWidget(lineBelow_);
  column->addWidget(cuts_);
  column->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidget(inside);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setContent(scroll);

  connect(explore_, &QPushButton::clicked, this, [this] {
    Document& document = this->context().document;
    if (document.exploreState().running) {
      this->context().jobs.cancel(QStringLiteral("explore"));
    } else {
      document.explore();
    }
  });
  connect(sweep_, &QPushButton::clicked, this,
          [this] { this->context().commands.action("run.sweep")->trigger(); });
  connect(cuts_, &QLabel::linkActivated, this, [this] { this->context().document.exploreFurther(); });
  QAction* sweepAction = context.commands.action("run.sweep");
  connect(sweepAction, &QAction::changed, this, &ExplorePanel::markStale);
  Document& document = context.document;
  connect(&document, &Document::programChanged, this, [this] {
    model_->reload();
    markStale();
  });
  for (const auto signal : {&Document::opened, &Document::parsed, &Document::nuGraphChanged,
                            &Document::exploreChanged, &Document::extentsChanged, &Document::sweepChanged}) {
    connect(&document, signal, this, &ExplorePanel::markStale);
  }
  connect(costs_, &VariantCosts::changed, this, &ExplorePanel::markStale);
  connect(&context.jobs, &Jobs::progressed, this, [this](Job* job) {
    if (job->spec().lane == QLatin1String("explore")) markStale();
  });
  model_->reload();
  themeChanged();
}

QString ExplorePanel::headline() const {
  const Document& document = context().document;
  const ExploreState& state = document.exploreState();
  const auto graph = document.nuGraph();
  if (!state.error.isEmpty()) return tr("Exploring failed. %1").arg(state.error);
  if (!graph)
    return state.running ? tr("Searching for variants.")
                         : tr("Not explored yet. Explore searches for other ways to compute the same, and "
                              "proves each of them.");
  const nugraph::NuGraph::Counts proofs = graph->proofs();
  QString text =
      counted(static_cast<std::int64_t>(graph->variants().size()), tr("variant"), tr("variants")) +
      tr(" by ") +
      counted(static_cast<std::int64_t>(graph->steps().size()), tr("proved step"), tr("proved steps")) +
      QStringLiteral("; ") +
      (proofs.refuted == 0 ? tr("no move refuted")
                           : counted(proofs.refuted, tr("move refuted"), tr("moves refuted"))) +
      QStringLiteral(", ") +
      (proofs.unknown == 0 ? tr("none unknown") : tr("%1 unknown").arg(grouped(proofs.unknown))) +
      QLatin1Char('.');
  if (state.seconds > 0)
    text += QLatin1Char(' ') + duration(state.seconds) + (state.running ? tr(" so far") : QString()) +
            QLatin1Char('.');
  if (state.cancelled) text += tr(" Stopped before the search was complete.");
  const QString age = document.ageText();
  if (!age.isEmpty()) text += QLatin1Char(' ') + age.left(1).toUpper() + age.mid(1) + QLatin1Char('.');
  return text;
}

void ExplorePanel::refresh() {
  const Document& document = context().document;
  const ExploreState& state = document.exploreState();
  target_->setText(costs_->target());
  target_->setToolTip(costs_->targetWhy());
  const int rows = model_->rowCount();
  table_->setFixedHeight(rows * theme().row + theme().row + theme().unit + 2);
  table_->setVisible(rows > 0);
  table_->viewport()->update();

  const QStringList broken =
      document.program() ? brokenAsserts(*document.program(), document.extents()) : QStringList{};
  broken_->setVisible(!broken.isEmpty());
  broken_->setText(
      tr("These extents break the assert %1. Change them to sweep.").arg(broken.join(QStringLiteral(", "))));

  const bool explored = document.nuGraph() != nullptr && document.upToDate() && !state.running;
  const auto setPrimary = [](QPushButton* button, bool primary) {
    if (button->property("primary").toBool() == primary) return;
    button->setProperty("primary", primary);
    button->style()->unpolish(button);
    button->style()->polish(button);
  };
  const QAction* sweepAction = context().commands.action("run.sweep");
  sweep_->setVisible(sweepAction->isEnabled() || document.sweep());
  sweep_->setEnabled(explored && broken.isEmpty() && sweepAction->isEnabled());
  const auto sweep = document.sweep();
  sweep_->setText(
      sweep && sweep->counts.enumerated > 0
          ? tr("Sweep %1").arg(counted(sweep->counts.enumerated, tr("candidate"), tr("candidates")))
          : tr("Sweep candidates"));
  setPrimary(sweep_, explored);
  setPrimary(explore_, !explored && !state.running);
  explore_->setText(state.running ? tr("Cancel") : document.nuGraph() ? tr("Explore again") : tr("Explore"));
  explore_->setEnabled(state.running || (document.textIsValid() && document.program()));

  headline_->setText(headline());
  const Job* job = context().jobs.current(QStringLiteral("explore"));
  progress_->setVisible(state.running);
  progressText_->setVisible(state.running && job && !job->message().isEmpty());
  if (job) {
    if (job->fraction() < 0) {
      progress_->setRange(0, 0);
    } else {
      progress_->setRange(0, 1000);
      progress_->setValue(static_cast<int>(job->fraction() * 1000));
    }
    progressText_->setText(job->message());
  }

  QStringList cuts;
  if (const auto graph = document.nuGraph()) {
    for (const std::string& cut : graph->cuts()) cuts << qs(cut).toHtmlEscaped();
  }
  const QString missing = document.solversMissing();
  if (!missing.isEmpty()) cuts << missing.toHtmlEscaped();
  constexpr qsizetype mostCuts = 4;
  const qsizetype hidden = cuts.size() - mostCuts;
  if (hidden > 0) cuts = cuts.mid(0, mostCuts) << tr("and %1 more limits").arg(hidden);
  const bool canRaise = document.nuGraph() && !document.nuGraph()->cuts().empty() && !state.running;
  cuts_->setVisible(!cuts.isEmpty());
  lineBelow_->setVisible(!cuts.isEmpty());
  cuts_->setText(tr("Limits: ") + cuts.join(QStringLiteral("<br>")) +
                 (canRaise ? QStringLiteral("<br><a style=\"color:%1\" href=\"raise\">%2</a>")
                                 .arg(theme().text.name(), tr("Raise the limits"))
                           : QString()));
}

QString ExplorePanel::csv() const {
  return table_->csv();
}

QWidget* ExplorePanel::focusTarget() const {
  return table_;
}

void ExplorePanel::fillContextMenu(QMenu& menu) {
  for (const char* id : {"run.explore", "run.sweep", "run.cancel"})
    menu.addAction(context().commands.action(id));
  View::fillContextMenu(menu);
}

void ExplorePanel::themeChanged() {
  const Theme& t = theme();
  auto* column = static_cast<QVBoxLayout*>(headline_->parentWidget()->layout());
  column->setContentsMargins(t.gutter, t.padding, t.gutter, t.padding);
  column->setSpacing(t.gutter - 2);
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  for (QLabel* label : {cuts_, progressText_, target_}) label->setPalette(muted);
  QPalette warning = palette();
  warning.setColor(QPalette::WindowText, t.unknown);
  broken_->setPalette(warning);
  markStale();
}

}  // namespace nuscope::views
