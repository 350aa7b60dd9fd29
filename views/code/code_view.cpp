#include "views/code/code_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/machine/target.h"
#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/editor/code_highlighter.h"
#include "views/jobs.h"
#include "views/marks.h"
#include "views/selection.h"
#include "views/sweep/sweep_runner.h"
#include "views/sweep/sweep_words.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

struct Emitted {
  std::shared_ptr<const emit::Kernel> kernel;
  QString target;
  QString refusal;
};

}  // namespace

QString shellCommand(const std::vector<std::string>& arguments, const QString& source,
                     const QString& output) {
  QStringList parts;
  for (const std::string& argument : arguments) {
    QString text = qs(argument);
    text.replace(QStringLiteral("{source}"), source).replace(QStringLiteral("{output}"), output);
    static const QString plain = QStringLiteral("-_./=+,:@%");
    const bool safe = !text.isEmpty() && std::all_of(text.begin(), text.end(), [](QChar c) {
      return c.isLetterOrNumber() || plain.contains(c);
    });
    if (!safe)
      text = QLatin1Char('\'') + text.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
    parts << text;
  }
  return parts.join(QLatin1Char(' '));
}

CodeView::CodeView(const ViewContext& viewContext, QWidget* parent, const char* id)
    : DetailView(viewContext, id, tr("Kernel"), parent),
      lane_(QStringLiteral("emit:%1").arg(QLatin1String(id))) {
  addHeaderButton(QStringLiteral("copy"), tr("Copy the kernel"),
                  [this] { QApplication::clipboard()->setText(text_->toPlainText()); });
  addHeaderButton(QStringLiteral("program"), tr("Edit a copy of the kernel"), [this] { editCopy(); });
  runner_ = new SweepRunner(context().document, context().jobs, this);
  text_ = new QTextDocument(this);
  text_->setDocumentLayout(new QPlainTextDocumentLayout(text_));
  editor_ = new CodeEditor(context().theme, text_);
  editor_->setReadOnly(true);
  editor_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  editor_->setAccessibleName(tr("Emitted kernel"));
  editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
  new CodeHighlighter(text_, CodeLanguage::cpp, context().theme);
  command_ = new QLabel;
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  command_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  command_->setAccessibleName(tr("Compile command"));
  notes_ = new WrappedLabel;
  notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* content = new QWidget;
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  copyBar_ = new QWidget;
  copyState_ = new WrappedLabel;
  copyState_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  race_ = new QPushButton(tr("Race it"));
  race_->setToolTip(tr("Compiles the copy, checks it by every draw and times it in turns with the winner."));
  auto* discard = new QPushButton(tr("Discard"));
  auto* bar = new QHBoxLayout(copyBar_);
  bar->addWidget(copyState_, 1);
  bar->addWidget(discard);
  bar->addWidget(race_);
  copyBar_->setVisible(false);
  connect(race_, &QPushButton::clicked, this, &CodeView::raceCopy);
  connect(discard, &QPushButton::clicked, this, &CodeView::discardCopy);
  connect(runner_, &SweepRunner::failed, this, [this](const QString& why) {
    raceFailure_ = why;
    showCopyState();
  });
  connect(runner_, &SweepRunner::ended, this, [this] { showCopyState(); });
  layout->addWidget(notes_);
  layout->addWidget(copyBar_);
  layout->addWidget(editor_, 1);
  layout->addWidget(command_);
  setContent(content);
  restyle();
  editor_->setHoverText([this](const SourceRange& place) -> QString {
    if (!kernel_ || editing_) return {};
    const auto found = kernel_->nodesOfLine.find(place.line);
    if (found == kernel_->nodesOfLine.end()) return {};
    QStringList lines;
    for (const tensor::NodeRef node : found->second) lines << qs(tensor::describe(node));
    return lines.join(QLatin1Char('\n'));
  });
  connect(editor_, &CodeEditor::placeChosen, this,
          [this](const SourceRange& place) { choosePlace(place.line); });
  connect(&context().document, &Document::nuGraphChanged, this, [this] { markStale(); });
  connect(&context().document, &Document::sweepChanged, this, [this] { markStale(); });
  connect(&context().document, &Document::extentsChanged, this, [this] { markStale(); });
  connect(&context().document, &Document::opened, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this] { markStale(); });
}

void CodeView::message(const QString& title, const QString& text) {
  kernel_.reset();
  key_ = {};
  setTitle(title);
  setSubtitle(QString());
  showText(QString());
  notes_->setText(text);
  notes_->setVisible(true);
  editor_->setVisible(false);
  command_->setVisible(false);
}

void CodeView::restyle() {
  const Theme& t = theme();
  notes_->setFont(t.ui);
  notes_->setStyleSheet(QStringLiteral("color: %1; padding: %2px;").arg(t.muted.name()).arg(t.gutter));
  command_->setFont(t.code);
  command_->setStyleSheet(QStringLiteral("color: %1; padding: %2px %3px; border-top: 1px solid %4;")
                              .arg(t.muted.name())
                              .arg(t.unit)
                              .arg(t.gutter)
                              .arg(t.line.name()));
  copyBar_->layout()->setContentsMargins(t.gutter, t.unit, t.gutter, t.unit);
}

void CodeView::themeChanged() {
  restyle();
  markStale();
}

void CodeView::refresh() {
  if (editing_) {
    showCopyState();
    return;
  }
  const auto graph = context().document.nuGraph();
  if (!graph) {
    message(
        tr("Kernel"),
        tr("Explore the program (F5): each variant can then be read as the kernel that is emitted from it."));
    return;
  }
  const Place& place = context().selection.place();
  Key key;
  key.graph = graph.get();
  key.variant = place.variant;
  key.candidate = place.candidate;
  key.extents = context().document.extents();
  if (const auto sweep = context().document.sweep(); sweep && place.candidate >= 0) {
    // A baseline has no kernel of ours.
    const SweepRowRef row = sweep->find(place.candidate);
    if (row && row->candidate.kind == sweep::CandidateKind::baseline) {
      message(qs(row->candidate.label), tr("A baseline: measured for comparison, not emitted by Nuscope."));
      return;
    }
    if (row && row->candidate.kind == sweep::CandidateKind::foreign) {
      showForeign(*row);
      return;
    }
    if (row) {
      key.variant = row->candidate.variant;
      key.extents = sweep->record.extents;
    }
  }
  if (key == key_) {
    markNode();
    return;
  }
  emitKernel(key);
}

void CodeView::emitKernel(const Key& key) {
  const auto graph = context().document.nuGraph();
  const auto& variants = graph->variants();
  const auto variant =
      std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.id == key.variant; });
  if (variant == variants.end()) {
    message(tr("Kernel"), tr("This variant is not in the current graph."));
    return;
  }
  key_ = key;
  emit::Parameters parameters;
  std::string target = "host";
  QString subtitle = tr("variant %1, preset parameters").arg(key.variant);
  if (const auto sweep = context().document.sweep(); sweep && key.candidate >= 0) {
    if (const SweepRowRef row = sweep->find(key.candidate)) {
      parameters = row->candidate.parameters;
      if (!sweep->record.target.empty()) target = sweep->record.target;
      subtitle = tr("candidate %1").arg(key.candidate);
    }
  }
  context().jobs.run(
      this, {.title = tr("Emit kernel"), .lane = lane_, .quiet = true},
      [graph, id = key.variant, extents = key.extents, parameters, target](JobHandle&) -> Emitted {
        try {
          const tensor::Program program = graph->program(id);
          const machine::Target description = machine::loadTarget(target);
          const Result<emit::Kernel> kernel =
              emit::emitHost(program, program.results, extents, description, parameters);
          if (!kernel)
            return {nullptr, qs(description.name),
                    qs(kernel.refusal().message +
                       (kernel.refusal().hint.empty() ? "" : " " + kernel.refusal().hint))};
          return {std::make_shared<emit::Kernel>(*kernel), qs(description.name), {}};
        } catch (const UserError& error) {
          return {nullptr, QString(), QString::fromUtf8(error.what())};
        }
      },
      [this, subtitle](Emitted result) {
        if (editing_) {  // a copy was begun meanwhile
          key_ = {};
          return;
        }
        if (!result.kernel) {
          const Key kept = key_;
          message(tr("Kernel"), tr("No kernel is emitted for this: %1").arg(result.refusal));
          key_ = kept;
          return;
        }
        kernel_ = std::move(result.kernel);
        setTitle(qs(kernel_->name) + QStringLiteral(".cpp"));
        setSubtitle(join({subtitle, result.target}));
        showText(qs(kernel_->text));
        QStringList notes;
        for (const std::string& note : kernel_->notes) notes << qs(note);
        notes_->setText(notes.join(QLatin1Char('\n')));
        notes_->setVisible(!notes.isEmpty());
        editor_->setVisible(true);
        command_->setVisible(true);
        command_->setText(compileCommand());
        command_->setToolTip(compileCommand());
        markNode();
      });
}

void CodeView::showForeign(const SweepRow& row) {
  const auto snapshot = context().document.sweep();
  const auto text =
      snapshot && snapshot->study ? snapshot->study->kernelText(row.candidate.kernel) : std::nullopt;
  const QString what =
      tr("A kernel of yours: nothing is proved of it. %1").arg(standing(row, snapshot->best().get()));
  message(qs(row.candidate.label),
          text ? what : tr("%1 It came as a library, so there is no text.").arg(what));
  if (!text) return;
  showText(qs(*text));
  editor_->setVisible(true);
}

void CodeView::editCopy() {
  if (editing_ || text_->isEmpty() || !editor_->isVisibleTo(this)) return;
  editing_ = true;
  raceFailure_.clear();
  racedHash_.clear();
  setTitle(tr("Copy of %1").arg(title()));
  setSubtitle(tr("edited, not proved"));
  editor_->setMarkedLines({});
  editor_->setReadOnly(false);
  editor_->setAccessibleName(tr("Copy of the kernel, editable"));
  notes_->setVisible(false);
  command_->setVisible(false);
  copyBar_->setVisible(true);
  showCopyState();
  editor_->setFocus();
}

void CodeView::discardCopy() {
  if (!editing_) return;
  editing_ = false;
  editor_->setReadOnly(true);
  editor_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  editor_->setAccessibleName(tr("Emitted kernel"));
  copyBar_->setVisible(false);
  kernel_.reset();
  key_ = {};
  markStale();
}

void CodeView::raceCopy() {
  if (!editing_) return;
  raceFailure_.clear();
  if (runner_->running()) {
    raceFailure_ = tr("A sweep is running: wait for its end, or cancel it.");
  } else {
    sweep::ForeignKernel kernel;
    kernel.name = "edited copy";
    kernel.text = text_->toPlainText().toStdString();
    racedHash_ = sweep::textHash(kernel.text);
    runner_->raceAgainst(std::move(kernel));
  }
  showCopyState();
}

QString CodeView::raceResult() const {
  const auto snapshot = context().document.sweep();
  if (!snapshot || racedHash_.empty()) return {};
  for (const SweepRowRef& row : snapshot->rows) {
    if (row->candidate.kind == sweep::CandidateKind::foreign && row->candidate.kernel == racedHash_ &&
        row->candidate.state != sweep::CandidateState::enumerated)
      return standing(*row, snapshot->best().get());
  }
  return {};
}

void CodeView::showCopyState() {
  if (!editing_) return;
  const bool running = runner_->running();
  race_->setEnabled(!running);
  const QString result = raceResult();
  const bool changed =
      !racedHash_.empty() && sweep::textHash(text_->toPlainText().toStdString()) != racedHash_;
  QString text = tr("Nothing is proved of this copy; it races against the winner, and is never chosen.");
  if (!raceFailure_.isEmpty()) {
    text = raceFailure_;
  } else if (!racedHash_.empty() && running) {
    text = tr("Racing\u2026 %1").arg(result);
  } else if (!result.isEmpty()) {
    text = changed ? tr("Before the last edit: %1").arg(result) : result;
  }
  copyState_->setText(text);
}

void CodeView::showText(const QString& text) {
  if (text_->toPlainText() != text) text_->setPlainText(text);
}

QString CodeView::compileCommand() const {
  if (!kernel_) return {};
  return shellCommand(kernel_->compileCommand, qs(kernel_->name) + QStringLiteral(".cpp"),
                      qs(kernel_->name) + QStringLiteral(".so"));
}

void CodeView::markNode() {
  if (!kernel_) return;
  const tensor::NodeRef node = context().selection.place().node;
  std::vector<int> lines;
  if (node != nullptr) {
    for (const auto& [line, nodes] : kernel_->nodesOfLine) {
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end());
  editor_->setMarkedLines(lines);
  if (!lines.empty() && !choosing_) editor_->goTo({lines.front(), 1, lines.front(), 1});
}

void CodeView::choosePlace(int line) {
  if (!kernel_ || editing_) return;
  const auto found = kernel_->nodesOfLine.find(line);
  if (found == kernel_->nodesOfLine.end() || found->second.empty()) return;
  // Several nodes on one line: the first click takes the last of them (what the line stores), the next ones
  // walk on.
  const tensor::NodeRef now = context().selection.place().node;
  const auto at = std::find(found->second.begin(), found->second.end(), now);
  tensor::NodeRef next = found->second.back();
  if (at != found->second.end() && found->second.size() > 1)
    next = at == found->second.begin() ? found->second.back() : *std::prev(at);
  choosing_ = true;
  context().selection.selectNode(next);
  markNode();
  choosing_ = false;
}

QStringList CodeView::moreExports() const {
  return kernel_ ? QStringList{tr("C++ (*.cpp)")} : QStringList();
}

QString CodeView::exportText(const QString& suffix) const {
  return kernel_ && suffix == QLatin1String("cpp") ? qs(kernel_->text) : QString();
}

QString CodeView::summary() const {
  if (editing_) return title() + QLatin1Char('\n') + copyState_->text();
  if (!kernel_) return notes_->text();
  return tr("%1, %2").arg(title(), counted(text_->blockCount(), tr("line"), tr("lines")));
}

QWidget* CodeView::focusTarget() const {
  return editor_;
}

QString CodeView::find(const QString& text, bool backwards) {
  return editor_->findText(text, backwards);
}

void CodeView::fillContextMenu(QMenu& menu) {
  QAction* copy = menu.addAction(themedIcon(QStringLiteral("copy"), theme()), tr("Copy the kernel"), this,
                                 [this] { QApplication::clipboard()->setText(text_->toPlainText()); });
  menu.addAction(context().commands.action("code.editCopy"));
  menu.addAction(context().commands.action("file.exportKernel"));
  QAction* command = menu.addAction(tr("Copy the compile command"), this,
                                    [this] { QApplication::clipboard()->setText(compileCommand()); });
  copy->setEnabled(!text_->isEmpty());
  command->setEnabled(kernel_ != nullptr);
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_code_view.cpp"
