#include "views/schedule/json_view.h"

#include <QKeyEvent>
#include <QMenu>
#include <QPlainTextDocumentLayout>
#include <QStackedWidget>
#include <QTextBlock>
#include <algorithm>

#include "views/commands.h"
#include "views/editor/code_editor.h"
#include "views/schedule/json_highlighter.h"
#include "views/schedule/schedule_words.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr std::size_t mostHighlighted = std::size_t(512)
                                        << 10;  ///< colours of larger texts would take too long
constexpr std::size_t mostRecords = 40;
constexpr std::size_t mostOfRecord = 20000;

/// The place of the record that holds a byte; records of a list are in file order.
template <class Records>
int recordAt(const Records& records, std::uint64_t offset) {
  const auto after =
      std::ranges::upper_bound(records, offset, {}, [](const auto& r) { return r.place.begin; });
  if (after == records.begin()) return -1;
  const auto at = after - 1;
  return offset < at->place.end ? static_cast<int>(at - records.begin()) : -1;
}

}  // namespace

JsonView::JsonView(const ViewContext& context, QWidget* parent)
    : View(context, "json", tr("JSON"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      pages_(new QStackedWidget),
      editor_(new CodeEditor(context.theme, schedule_.source())),
      recordText_(new QTextDocument(this)),
      label_(new StateLabel(context.theme)) {
  recordText_->setDocumentLayout(new QPlainTextDocumentLayout(recordText_));
  records_ = new CodeEditor(context.theme, recordText_);
  records_->setReadOnly(true);
  records_->setAccessibleName(tr("Selected records of the file"));
  editor_->setObjectName(QStringLiteral("jsonEditor"));
  editor_->setAccessibleName(tr("Text of the schedule"));
  for (CodeEditor* one : {editor_, records_}) {  // a record is a line, and the panel is narrow
    one->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    one->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  }
  pages_->addWidget(editor_);
  pages_->addWidget(records_);
  setContent(pages_);
  addHeaderWidget(label_);
  new JsonHighlighter(recordText_, context.theme);
  editor_->installEventFilter(this);
  connect(editor_, &CodeEditor::placeChosen, this, &JsonView::choosePlace);
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::selectionChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
}

QWidget* JsonView::focusTarget() const {
  return pages_->currentWidget();
}

/// Undo and redo are those of the schedule's versions, not of the text.
bool JsonView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
      event->ignore();
      return true;
    }
  }
  return View::eventFilter(watched, event);
}

void JsonView::refresh() {
  const auto state = schedule_.state();
  if (!state) {
    label_->setState(Mark::none, {});
    return;
  }
  const bool small = !state->large && state->text->size() <= mostHighlighted;
  if (small && !highlighter_) highlighter_ = new JsonHighlighter(schedule_.source(), context().theme);
  if (!small) delete highlighter_;
  pages_->setCurrentWidget(state->large ? records_ : editor_);
  if (schedule_.checking()) {
    label_->setState(Mark::running, tr("checking"));
  } else if (!state->faults.empty()) {
    label_->setState(Mark::refuted,
                     counted(static_cast<qint64>(state->faults.size()), tr("fault"), tr("faults")));
  } else {
    label_->setState(Mark::proved, tr("well formed"));
  }
  if (state->large) {
    showRecords(*state);
    return;
  }
  std::vector<Diagnostic> diagnostics;
  if (!schedule_.checking()) {
    for (const schedule::Fault& fault : state->faults) {
      Diagnostic d;
      d.severity = Severity::error;
      d.range = state->rangeOf(fault.place);
      d.message = fault.message;
      diagnostics.push_back(std::move(d));
    }
  }
  editor_->setDiagnostics(diagnostics);
  mark();
}

/// Lines of the certificate, the range of what is selected.
void JsonView::mark() {
  const auto state = schedule_.state();
  const SchedulePlace& place = schedule_.place();
  std::vector<int> lines;
  SourceRange range;
  if (state->wellFormed() && !schedule_.checking()) {
    for (const int task : certificateTasks(schedule_)) {
      const SourceRange at = state->rangeOf(state->schedule->tasks[static_cast<std::size_t>(task)].place);
      for (int line = at.line; line > 0 && line <= std::min(at.endLine, at.line + 200); ++line)
        lines.push_back(line);
    }
    const schedule::Schedule& s = *state->schedule;
    if (place.task >= 0) range = state->rangeOf(s.tasks[static_cast<std::size_t>(place.task)].place);
    if (place.counter >= 0) range = state->rangeOf(s.counters[static_cast<std::size_t>(place.counter)].place);
    if (place.buffer >= 0) range = state->rangeOf(s.buffers[static_cast<std::size_t>(place.buffer)].place);
  } else if (place.fault >= 0 && place.fault < static_cast<int>(state->faults.size())) {
    range = state->rangeOf(state->faults[static_cast<std::size_t>(place.fault)].place);
  }
  editor_->setMarkedLines(lines);
  editor_->setMarkedRange(range);
  // While it is typed, and where the selection came from here, the text stays where it is.
  const bool typed = editor_->hasFocus() && (schedule_.checking() || state->typed);
  if (!typed && !fromHere_) {
    SourceRange target = range;
    if (target.line == 0 && !lines.empty()) target = {lines.front(), 1, lines.front(), 1};
    if (target.line > 0) {
      editor_->goTo(target);
      editor_->centerCursor();
    }
  }
  fromHere_ = false;
}

void JsonView::showRecords(const ScheduleState& state) {
  struct Record {
    QString name;
    schedule::Place place;
  };
  std::vector<Record> records;
  const SchedulePlace& place = schedule_.place();
  const auto fault = [&](int index) {
    const schedule::Fault& f = state.faults[static_cast<std::size_t>(index)];
    records.push_back({qs(f.message), f.place});
  };
  if (place.fault >= 0 && place.fault < static_cast<int>(state.faults.size())) fault(place.fault);
  if (state.wellFormed()) {
    const schedule::Schedule& s = *state.schedule;
    std::vector<int> tasks;
    if (place.task >= 0) tasks.push_back(place.task);
    if (place.counter >= 0) {
      const auto i = static_cast<std::size_t>(place.counter);
      records.push_back({tr("counters[%1]").arg(place.counter), s.counters[i].place});
      tasks.insert(tasks.end(), state.model->producers[i].begin(), state.model->producers[i].end());
      tasks.insert(tasks.end(), state.model->waiters[i].begin(), state.model->waiters[i].end());
    }
    if (place.buffer >= 0)
      records.push_back(
          {tr("buffers[%1]").arg(place.buffer), s.buffers[static_cast<std::size_t>(place.buffer)].place});
    if (tasks.empty() && records.empty()) {
      const auto certificate = certificateTasks(schedule_);
      tasks.assign(certificate.begin(), certificate.end());
    }
    for (std::size_t i = 0; i < std::min(tasks.size(), mostRecords); ++i)
      records.push_back({tr("tasks[%1]").arg(tasks[i]), s.tasks[static_cast<std::size_t>(tasks[i])].place});
  }
  QString text;
  for (const Record& r : records) {
    if (r.place.end <= r.place.begin || r.place.end > state.text->size()) continue;
    text += QStringLiteral("// %1, bytes %2 to %3\n").arg(r.name).arg(r.place.begin).arg(r.place.end);
    const auto size = std::min<std::uint64_t>(r.place.end - r.place.begin, mostOfRecord);
    text += QString::fromUtf8(state.text->data() + r.place.begin, static_cast<qsizetype>(size));
    if (size < r.place.end - r.place.begin) text += QStringLiteral("\u2026");
    text += QLatin1Char('\n');
  }
  if (text.isEmpty())
    text = tr("// %1 bytes: too large to be edited here.\n// Choose a task, counter or buffer: its record "
              "appears.\n")
               .arg(state.text->size());
  if (recordText_->toPlainText() != text) recordText_->setPlainText(text);
  setSubtitle(tr("selected records"));
}

void JsonView::choosePlace(const SourceRange& place) {
  const auto state = schedule_.state();
  if (!state || !state->wellFormed() || schedule_.checking()) return;
  const std::uint64_t offset = state->offsetOf(place.line, place.column);
  fromHere_ = true;
  if (const int task = recordAt(state->schedule->tasks, offset); task >= 0) return schedule_.selectTask(task);
  if (const int c = recordAt(state->schedule->counters, offset); c >= 0) return schedule_.selectCounter(c);
  if (const int b = recordAt(state->schedule->buffers, offset); b >= 0) return schedule_.selectBuffer(b);
  fromHere_ = false;
}

void JsonView::goToNextError() {
  const auto state = schedule_.state();
  if (!state || state->faults.empty()) return;
  const int count = static_cast<int>(state->faults.size());
  schedule_.selectFault((schedule_.place().fault + 1) % count);
  editor_->goTo(state->rangeOf(state->faults[static_cast<std::size_t>(schedule_.place().fault)].place));
  editor_->setFocus();
}

QString JsonView::find(const QString& text, bool backwards) {
  const auto state = schedule_.state();
  return state && state->large ? records_->findText(text, backwards) : editor_->findText(text, backwards);
}

QStringList JsonView::moreExports() const {
  return {tr("Schedule (*.json)")};
}

QString JsonView::exportText(const QString& suffix) const {
  const auto state = schedule_.state();
  return state && suffix == QLatin1String("json") ? qs(*state->text) : QString();
}

QString JsonView::summary() const {
  return label_->text();
}

void JsonView::fillContextMenu(QMenu& menu) {
  for (const char* id : {"edit.undo", "edit.redo", "edit.copy", "edit.nextError"})
    menu.addAction(context().commands.action(id));
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_json_view.cpp"
