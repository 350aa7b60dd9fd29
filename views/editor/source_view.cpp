#include "views/editor/source_view.h"

#include <QLabel>
#include <QMenu>
#include <QTextBlock>
#include <QVBoxLayout>

#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/editor/code_highlighter.h"
#include "views/selection.h"
#include "views/state_label.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr int mostErrorRows = 5;  // visible at once; the rest scrolls

bool covers(const SourceRange& range, const SourceRange& place) {
  return range.line > 0 && std::pair(range.line, range.column) <= std::pair(place.line, place.column) &&
         std::pair(place.line, place.column) <= std::pair(range.endLine, range.endColumn);
}

/// Longer ranges compare greater.
std::pair<int, int> extent(const SourceRange& range) {
  return {range.endLine - range.line,
          range.endLine == range.line ? range.endColumn - range.column : range.endColumn};
}

}  // namespace

tensor::NodeRef nodeAt(const tensor::Program& program, const SourceRange& place) {
  tensor::NodeRef best = nullptr;
  SourceRange bestRange;
  for (const auto& [node, range] : program.ranges) {
    if (!covers(range, place)) continue;
    if (!best || extent(range) < extent(bestRange) ||
        (extent(range) == extent(bestRange) && node->id > best->id)) {
      best = node;
      bestRange = range;
    }
  }
  return best;
}

SourceView::SourceView(const ViewContext& context, QWidget* parent, const char* id)
    : View(context, id, tr("Program"), parent),
      editor_(new CodeEditor(context.theme, context.document.source())) {
  editor_->setObjectName(QStringLiteral("editor"));
  editor_->setAccessibleName(tr("Text of the program"));
  state_ = new StateLabel(context.theme);
  addHeaderWidget(state_);
  if (!context.document.source()->findChild<CodeHighlighter*>())
    new CodeHighlighter(context.document.source(), CodeLanguage::python, context.theme);

  const auto at = [this](int row) -> const Diagnostic& {
    return this->context().document.diagnostics()[static_cast<std::size_t>(row)];
  };
  errorRows_ = new RowsModel(
      {{tr("Line"),
        {},
        true,
        [at](int row, int role) -> QVariant {
          if (role == Qt::DisplayRole) return QString::number(at(row).range.line);
          if (role == sortRole) return at(row).range.line;
          return {};
        }},
       {tr("Problem"),
        {},
        false,
        [at](int row, int role) -> QVariant {
          const Diagnostic& d = at(row);
          if (role == Qt::DisplayRole)
            return d.hint.empty() ? qs(d.message) : qs(d.message) + QStringLiteral("  ") + qs(d.hint);
          if (role == markRole)
            return static_cast<int>(d.severity == Severity::error ? Mark::refuted : Mark::warning);
          if (role == Qt::ToolTipRole) return qs(d.message) + QLatin1Char('\n') + qs(d.hint);
          return {};
        }}},
      this);
  errors_ = new TableView(context.theme);
  errors_->setObjectName(QStringLiteral("errors"));
  errors_->setAccessibleName(tr("Problems of the program"));
  errors_->setModel(errorRows_);
  errors_->horizontalHeader()->hide();
  errors_->hide();

  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(editor_, 1);
  column->addWidget(errors_);
  setContent(content);

  const auto toError = [this, at](const QModelIndex& index) {
    editor_->goTo(at(index.row()).range);
    editor_->setFocus();
  };
  connect(errors_, &QTableView::activated, this, toError);
  connect(errors_, &QTableView::clicked, this, toError);
  connect(editor_, &CodeEditor::placeChosen, this, &SourceView::choosePlace);
  editor_->setHoverText([this](const SourceRange& place) -> QString {
    const auto program = this->context().document.program();
    if (!program || !this->context().document.textIsValid()) return {};
    const tensor::NodeRef node = nodeAt(*program, place);
    return node ? qs(tensor::describe(node)) : QString();
  });
  connect(&context.document, &Document::parsed, this, &SourceView::markStale);
  connect(&context.document, &Document::opened, this, &SourceView::markStale);
  connect(&context.document, &Document::nameChanged, this, &SourceView::markStale);
  connect(context.document.source(), &QTextDocument::contentsChanged, this,
          [this] { state_->setState(Mark::none, tr("checking")); });
  connect(&context.selection, &Selection::changed, this, &SourceView::showSelection);
}

QWidget* SourceView::focusTarget() const {
  return editor_;
}

void SourceView::refresh() {
  const Document& document = context().document;
  setTitle(document.programName().isEmpty() ? tr("Program") : document.programName());
  const auto& diagnostics = document.diagnostics();
  editor_->setDiagnostics(diagnostics);
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (document.parsing()) {
    state_->setState(Mark::none, tr("checking"));
  } else if (errors > 0) {
    state_->setState(Mark::refuted, counted(errors, tr("error"), tr("errors")));
  } else if (document.textIsValid()) {
    const auto warnings = static_cast<std::int64_t>(diagnostics.size());
    state_->setState(warnings > 0 ? Mark::warning : Mark::proved,
                     warnings > 0 ? counted(warnings, tr("warning"), tr("warnings")) : tr("no errors"));
  } else {
    state_->setState(Mark::none, QString());
  }
  errorRows_->resetRows(static_cast<int>(diagnostics.size()));
  const int rows = std::min(mostErrorRows, static_cast<int>(diagnostics.size()));
  errors_->setVisible(rows > 0);
  errors_->setFixedHeight(rows * theme().row + 2);
  errors_->fitColumns(1);
  showSelection();
}

void SourceView::showSelection() {
  const Document& document = context().document;
  SourceRange range = context().selection.place().range;
  const tensor::NodeRef node = context().selection.place().node;
  if (range.line == 0 && node && document.program()) {
    const auto it = document.program()->ranges.find(node);
    if (it != document.program()->ranges.end()) range = it->second;
  }
  const bool current = document.textIsValid() && !document.parsing();
  editor_->setMarkedRange(current ? range : SourceRange{});
}

void SourceView::choosePlace(const SourceRange& place) {
  const Document& document = context().document;
  if (!document.program() || !document.textIsValid() || document.parsing()) return;
  const tensor::NodeRef node = nodeAt(*document.program(), place);
  if (!node) return;
  context().selection.selectNode(node, document.program()->ranges.at(node));
}

void SourceView::goToNextError() {
  const auto& diagnostics = context().document.diagnostics();
  if (diagnostics.empty()) return;
  const SourceRange here = placeOf(*editor_->document(), editor_->textCursor().position());
  for (const Diagnostic& d : diagnostics) {
    if (std::pair(d.range.line, d.range.column) > std::pair(here.line, here.column)) {
      editor_->goTo(d.range);
      return;
    }
  }
  editor_->goTo(diagnostics.front().range);
}

QString SourceView::find(const QString& text, bool backwards) {
  return editor_->findText(text, backwards);
}

QString SourceView::csv() const {
  return context().document.diagnostics().empty() ? QString() : errors_->csv();
}

QStringList SourceView::moreExports() const {
  return {tr("NumPy program (*.py)")};
}

QString SourceView::exportText(const QString& suffix) const {
  return suffix == QLatin1String("py") ? context().document.text() : QString();
}

QString SourceView::summary() const {
  return title() + QStringLiteral(": ") + state_->text();
}

void SourceView::fillContextMenu(QMenu& menu) {
  for (const char* id : {"edit.undo", "edit.redo", "edit.copy", "edit.nextError"})
    menu.addAction(context().commands.action(id));
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_source_view.cpp"
