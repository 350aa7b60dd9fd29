#include "views/variants/inspector_view.h"

#include <QFormLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/nugraph/nugraph.h"
#include "core/semantics/formula.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/proof/math_sheet.h"
#include "views/selection.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/variant_content.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

QString definedWhen(tensor::Op op) {
  using tensor::Op;
  switch (op) {
    case Op::divide:
      return QStringLiteral("the divisor is not 0");
    case Op::floorDivide:
    case Op::modulo:
      return QStringLiteral("the divisor is not 0");
    case Op::sqrt:
      return QStringLiteral("the operand is not negative");
    case Op::log:
      return QStringLiteral("the operand is positive");
    case Op::take:
      return QStringLiteral("the index lies in the extent");
    case Op::where:
      return QStringLiteral("the chosen branch is defined");
    default:
      return {};
  }
}

QString nodeName(const tensor::Program& program, tensor::NodeRef node) {
  if (node->op == tensor::Op::input) return qs(node->attributes.name);
  if (node->op == tensor::Op::constant)
    return node->attributes.infinity != 0 ? QStringLiteral("\u2212\u221E")
                                          : qs(decimalText(node->attributes.value));
  const auto it = program.variables.find(node);
  return it == program.variables.end() ? qs(tensor::name(node->op)) : qs(it->second);
}

}  // namespace

InspectorView::InspectorView(const ViewContext& context, QWidget* parent)
    : View(context, "inspector", tr("Inspector"), parent),
      pages_(new QStackedWidget),
      empty_(new WrappedLabel),
      sheet_(new QWidget) {
  empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  empty_->setText(tr(
      "Choose a node in a graph, or a place in the text: its type, its users and its formula appear here."));
  sheet_->setObjectName(QStringLiteral("sheet"));
  auto* column = new QVBoxLayout(sheet_);
  form_ = new QFormLayout;
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form_->setLabelAlignment(Qt::AlignLeft | Qt::AlignTop);
  form_->setRowWrapPolicy(QFormLayout::DontWrapRows);
  column->addLayout(form_);
  note_ = new QLabel;
  formula_ = new MathView(context.theme);
  column->addWidget(note_);
  column->addWidget(formula_);
  column->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidget(sheet_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  pages_->addWidget(empty_);
  pages_->addWidget(scroll);
  setContent(pages_);
  connect(&context.selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.node != before.node || now.variant != before.variant) markStale();
  });
  for (const auto signal : {&Document::opened, &Document::nuGraphChanged, &Document::programChanged}) {
    connect(&context.document, signal, this, &InspectorView::markStale);
  }
  themeChanged();
}

std::vector<InspectorView::Fact> InspectorView::facts(const tensor::Program& program,
                                                      tensor::NodeRef node) const {
  std::vector<Fact> out;
  out.push_back({tr("Operator"), qs(tensor::name(node->op)), false});
  out.push_back({tr("Type"), qs(tensor::typeText(node->dtype, node->shape)), true});
  const auto variable = program.variables.find(node);
  if (variable != program.variables.end()) out.push_back({tr("Name"), qs(variable->second), true});
  std::vector<tensor::NodeRef> results = program.results;
  if (const auto graph = context().document.nuGraph()) {
    const auto variant = static_cast<std::size_t>(context().selection.place().variant);
    if (variant < graph->variants().size() && program.store == graph->root().store)
      results = graph->variants()[variant].results;
  }
  const QString detail = detailOf(program, node, results);
  if (!detail.isEmpty() && (variable == program.variables.end() || detail != qs(variable->second)))
    out.push_back({tr("Detail"), detail, false});
  if (!node->operands.empty()) {
    QStringList operands;
    for (const tensor::NodeRef operand : node->operands)
      operands << nodeName(program, operand) + QLatin1Char(' ') +
                      qs(tensor::typeText(operand->dtype, operand->shape));
    out.push_back({tr("Operands"), operands.join(QLatin1Char('\n')), true});
  }
  QStringList users;
  bool present = false;
  for (const tensor::NodeRef other : tensor::topological(results)) {
    present = present || other == node;
    if (std::find(other->operands.begin(), other->operands.end(), node) != other->operands.end())
      users << nodeName(program, other);
  }
  if (std::find(results.begin(), results.end(), node) != results.end()) users << tr("result");
  out.push_back({tr("Used by"),
                 present ? (users.isEmpty() ? tr("nothing") : users.join(QStringLiteral(", ")))
                         : tr("not part of this variant"),
                 false});
  const QString defined = definedWhen(node->op);
  if (!defined.isEmpty()) out.push_back({tr("Defined if"), defined, false});
  const auto place = program.ranges.find(node);
  out.push_back({tr("Written"),
                 place != program.ranges.end()
                     ? tr("line %1, column %2").arg(place->second.line).arg(place->second.column)
                     : tr("derived, not in the text"),
                 false});
  return out;
}

void InspectorView::show(const std::vector<Fact>& facts) {
  while (form_->rowCount() > 0) form_->removeRow(0);
  const Theme& t = theme();
  for (const Fact& fact : facts) {
    auto* name = new QLabel(fact.name);
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, t.muted);
    name->setPalette(muted);
    auto* value = new WrappedLabel(fact.value);
    value->setFont(fact.code ? t.code : t.ui);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form_->addRow(name, value);
  }
}

void InspectorView::refresh() {
  const Document& document = context().document;
  node_ = context().selection.place().node;
  auto program = document.program();
  if (const auto graph = document.nuGraph(); graph && (!program || program->store != graph->root().store)) {
    program = std::shared_ptr<const tensor::Program>(graph, &graph->root());
  }
  if (!node_ || !program) {
    shown_.clear();
    formulaOf_ = nullptr;
    setSubtitle(QString());
    pages_->setCurrentIndex(0);
    return;
  }
  pages_->setCurrentIndex(1);
  setSubtitle(nodeName(*program, node_));
  shown_ = facts(*program, node_);
  show(shown_);
  if (formulaOf_ == node_) return;
  formulaOf_ = node_;
  formula_->setLines({});
  note_->setText(tr("One element"));
  // Large formulas take a while to write: not in the window's thread.
  context().jobs.run(
      this, {.title = tr("Write formula"), .lane = QStringLiteral("inspector formula"), .quiet = true},
      [program, node = node_](JobHandle&) { return semantics::formulas(*program, node); },
      [this, node = node_](semantics::Formulas formulas) {
        if (node != node_) return;
        std::vector<MathLine> lines;
        lines.push_back({QStringLiteral("="), formulas.result.left, formulas.result.right, {}, {}, false});
        for (auto it = formulas.where.rbegin(); it != formulas.where.rend(); ++it)
          lines.push_back({QStringLiteral("="), it->left, it->right, {}, {}, true});
        formula_->setLines(std::move(lines));
      });
}

QString InspectorView::plainText() const {
  QStringList lines;
  for (const Fact& fact : shown_)
    lines << fact.name + QStringLiteral(": ") +
                 QString(fact.value).replace(QLatin1Char('\n'), QStringLiteral(", "));
  const QString formula = formula_->sheet().text();
  if (!formula.isEmpty()) lines << formula;
  return lines.join(QLatin1Char('\n'));
}

QString InspectorView::csv() const {
  if (shown_.empty()) return {};
  QString out = tr("Property,Value\n");
  for (const Fact& fact : shown_)
    out += csvField(fact.name) + QLatin1Char(',') + csvField(fact.value) + QLatin1Char('\n');
  return out;
}

void InspectorView::themeChanged() {
  const Theme& t = theme();
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  empty_->setPalette(muted);
  note_->setPalette(muted);
  empty_->setMargin(t.gutter);
  sheet_->layout()->setContentsMargins(t.gutter, t.padding, t.gutter, t.padding);
  form_->setHorizontalSpacing(t.gutter);
  form_->setVerticalSpacing(t.unit);
  markStale();
}

}  // namespace nuscope::views
