#include "views/commands.h"

#include <QStringList>
#include <array>

#include "core/base/diagnostics.h"
#include "views/marks.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

// id, menu (leading '-': after a separator; empty: palette only), text, help, icon, keys, checkable
constexpr CommandSpec table[] = {
    {"file.new", "File", "New program", "Starts an empty program in a study of its own.", "program", "Ctrl+N",
     false},
    {"file.open", "File", "Open…", "Opens a NumPy program (.py), a study (.nuscope) or a schedule (.json).",
     "open", "Ctrl+O", false},
    {"file.save", "-File", "Save", "Writes program, variants, proofs and measurements to the study.", "save",
     "Ctrl+S", false},
    {"file.saveAs", "File", "Save as…", "Writes the study, or the program's text alone, to another file.",
     "save", "Ctrl+Shift+S", false},
    {"file.export", "-File", "Export view…", "Writes what the active view shows as PNG, SVG or CSV.",
     "export", "Ctrl+E", false},
    {"file.exportKernel", "File", "Export kernel…",
     "Writes the chosen candidate, or the fastest, as a folder that others build and call.", "export",
     "Ctrl+Shift+E", false},
    {"file.quit", "-File", "Quit", "Asks about unsaved changes, stops all jobs and ends.", "", "Ctrl+Q",
     false},
    {"edit.undo", "Edit", "Undo", "Takes back the last edit of the program.", "undo", "Ctrl+Z", false},
    {"edit.redo", "Edit", "Redo", "Applies again what was taken back.", "redo", "Ctrl+Shift+Z; Ctrl+Y",
     false},
    {"edit.copy", "-Edit", "Copy", "Copies the selected text or rows.", "copy", "", false},
    {"edit.find", "-Edit", "Find in view…",
     "Searches the active view: text, names, shapes, operators, verdicts.", "search", "Ctrl+F; /", false},
    {"edit.findNext", "Edit", "Next match", "Moves to the next match of the search.", "", "F3; Ctrl+G",
     false},
    {"edit.findPrevious", "Edit", "Previous match", "Moves to the match before.", "",
     "Shift+F3; Ctrl+Shift+G", false},
    {"edit.nextError", "-Edit", "Next error", "Moves to the next error of the program.", "warning", "F8",
     false},
    {"view.program", "View", "Program", "Source, its graph and the inspector.", "program", "Ctrl+1", false},
    {"view.variants", "View", "Variants", "Derivation of variants, what changed, proofs and refused moves.",
     "variants", "Ctrl+2", false},
    {"view.prove", "View", "Prove", "Proves or refutes a rewrite typed by hand.", "prove", "Ctrl+3", false},
    {"view.sweep", "View", "Sweep", "Candidates, their times on a device, and the kernel of each.", "sweep",
     "Ctrl+4", false},
    {"view.code", "View", "Code", "The emitted kernel, linked to the graph.", "code", "Ctrl+5", false},
    {"view.schedule", "View", "Schedule", "Findings, tasks, queues and counters of a megakernel's schedule.",
     "schedule", "Ctrl+7", false},
    {"view.devices", "View", "Devices", "What is attached, and why what is not found is not found.",
     "devices", "Ctrl+6", false},
    {"view.jobs", "-View", "Jobs", "What is running, how far it is, and a way to stop it.", "jobs", "Ctrl+J",
     true},
    {"view.lessons", "View", "Lessons", "Shows lessons at the side; their acts run in this window.",
     "lessons", "Ctrl+L", true},
    {"view.alone", "View", "This view alone",
     "Shows the active view alone and larger, readable from the last row; again, or Escape, brings the "
     "others back.",
     "maximise", "F11", true},
    {"view.nextView", "View", "Next view", "Moves the focus to the next view of the screen.", "", "F6",
     false},
    {"view.previousView", "View", "Previous view", "Moves the focus to the view before.", "", "Shift+F6",
     false},
    {"view.fit", "View", "Fit to window", "Shows the whole graph or plot.", "fit", "F", false},
    {"view.larger", "-View", "Larger", "Scales everything up by a tenth.", "plus", "Ctrl++; Ctrl+=", false},
    {"view.smaller", "View", "Smaller", "Scales everything down by a tenth.", "minus", "Ctrl+-", false},
    {"view.normalSize", "View", "Normal size", "Scales everything to 100 %.", "", "Ctrl+0", false},
    {"view.light", "-View", "Light", "Light colours.", "theme", "", true},
    {"view.dark", "View", "Dark", "Dark colours.", "theme", "", true},
    {"view.system", "View", "As the system", "Follows the light or dark colours of the desktop.", "theme", "",
     true},
    {"view.resetLayout", "-View", "Reset layout", "Puts all panels back where they were at first.", "", "",
     false},
    {"go.back", "Go", "Back", "To the place that was selected before.", "back", "Alt+Left", false},
    {"go.forward", "Go", "Forward", "To the place that Back came from.", "forward", "Alt+Right", false},
    {"go.parent", "-Go", "Parent variant", "Selects the variant that the chosen one was derived from.", "up",
     "Alt+Up", false},
    {"go.nextStep", "Go", "Next step", "The next step of the exploration, or of a schedule's run.", "next",
     "Ctrl+Right", false},
    {"go.previousStep", "Go", "Previous step", "The step before, of the exploration or of a schedule's run.",
     "previous", "Ctrl+Left", false},
    {"schedule.toStart", "Go", "Start of the run", "To the first step of a schedule's run.", "first",
     "Ctrl+Home", false},
    {"schedule.toFault", "Go", "Fault of the run",
     "To the step at which the fault is seen, and from there to the end of the run.", "last", "Ctrl+End",
     false},
    {"go.play", "Go", "Play the steps", "Shows step after step how the derivation grew; again stops it.",
     "play", "Ctrl+Shift+Right", false},
    {"go.nextRefused", "Go", "Next refused move",
     "Selects the next refused move of the variant, or the next finding of the schedule, with its "
     "counterexample.",
     "", "Alt+Down", false},
    {"run.explore", "Run", "Explore", "Searches for variants of the program and proves each step.", "explore",
     "F5", false},
    {"run.sweep", "Run", "Sweep candidates",
     "Compiles, checks and times the candidates on the chosen device.", "sweep", "F9", false},
    {"run.prove", "Run", "Prove a rewrite", "Proves or refutes a rewrite typed by hand.", "prove", "", false},
    {"schedule.previewRepair", "-Run", "Preview or apply a repair",
     "Shows the schedule with its first repair, checked; again applies it.", "", "Ctrl+R", false},
    {"schedule.compare", "Run", "Compare schedules…", "Lists what differs from another schedule.", "compare",
     "", false},
    {"schedule.openDump", "Run", "Explain a hang dump…",
     "Tells a schedule that deadlocks from a queue that never started, a lost signal and a stuck task.", "",
     "", false},
    {"schedule.waits", "Run", "Waits that nobody needs",
     "Looks for waits that others imply or no conflict asks for, with the modelled gain of dropping them.",
     "", "", false},
    {"schedule.order", "Run", "Order against another task",
     "Explains the chosen task against the one that is chosen next: which comes first, and by which waits.",
     "", "", false},
    {"schedule.region", "Run", "Who touches a region…",
     "Lists the writers and readers of a buffer, or of a part of it, in order.", "", "", false},
    {"schedule.exportTrace", "Run", "Export the modelled run…",
     "Writes the modelled run of the schedule as a Chrome trace, for ui.perfetto.dev.", "export", "", false},
    {"code.editCopy", "Run", "Edit a copy of the kernel",
     "Opens the shown kernel for editing; the copy can race against the winner, and is labelled not proved.",
     "code", "", false},
    {"prove.standing", "-Run", "Is it among the variants?",
     "Looks the right side of the prove view up among the variants, by its graph, else by proof.", "variants",
     "Ctrl+Shift+I", false},
    {"prove.add", "Run", "Add as variant",
     "Puts the right side of the prove view among the variants, once it is proved against the program.",
     "plus", "Ctrl+Shift+A", false},
    {"prove.takeBack", "Run", "Take the variant back", "Removes the variant that was added by hand last.",
     "undo", "", false},
    {"prove.swap", "Run", "Swap left and right", "Exchanges the two sides of the prove view.", "compare", "",
     false},
    {"prove.openLeft", "Run", "Open a file on the left…",
     "Reads a program into the left side of the prove view.", "open", "", false},
    {"prove.openRight", "Run", "Open a file on the right…",
     "Reads a program into the right side of the prove view.", "open", "", false},
    {"run.cancel", "-Run", "Cancel", "Stops the running jobs; what they found so far is kept.", "stop",
     "Ctrl+.", false},
    {"variants.expandAll", "", "Show all variants",
     "Shows every variant of the derivation instead of the nearest.", "expand", "", true},
    {"variants.table", "", "Variants as a table", "Shows the derivation as a table instead of a graph.",
     "table", "", true},
    {"variant.table", "", "Nodes as a table", "Shows the variant's nodes as a table instead of a graph.",
     "table", "", true},
    {"variant.changes", "", "Mark what changed", "Marks added, moved and removed nodes against the parent.",
     "compare", "", true},
    {"help.palette", "Help", "Command palette…",
     "Finds commands, variants, operators and refused moves by a few letters.", "search",
     "Ctrl+K; Ctrl+Shift+P", false},
    {"help.shortcuts", "Help", "Keyboard shortcuts", "All keys on one sheet.", "keyboard", "?; F1", false},
    {"help.about", "-Help", "About Nuscope", "Version, licence and what this computer offers.", "help", "",
     false},
};

QList<QKeySequence> sequences(const char* keys) {
  QList<QKeySequence> result;
  const QStringList parts = QString::fromUtf8(keys).split(QStringLiteral("; "), Qt::SkipEmptyParts);
  for (const QString& part : parts) result << QKeySequence::fromString(part, QKeySequence::PortableText);
  return result;
}

}  // namespace

std::span<const CommandSpec> commandTable() {
  return table;
}

const CommandSpec* findCommand(QStringView id) {
  for (const CommandSpec& spec : table) {
    if (id == QLatin1String(spec.id)) return &spec;
  }
  return nullptr;
}

Commands::Commands(ThemeSource& theme, QObject* parent) : QObject(parent), theme_(theme) {
  for (const CommandSpec& spec : table) {
    auto* action = new QAction(QString::fromUtf8(spec.text), this);
    action->setObjectName(QLatin1String(spec.id));
    action->setShortcuts(sequences(spec.keys));
    action->setToolTip(toolTip(spec));
    action->setStatusTip(QString::fromUtf8(spec.help));
    action->setCheckable(spec.checkable);
    action->setEnabled(false);  // until somebody says what it does
    actions_.emplace(spec.id, action);
  }
  connect(&theme_, &ThemeSource::changed, this, &Commands::retint);
  retint();
}

QAction* Commands::action(const char* id) const {
  const auto it = actions_.find(id);
  if (it == actions_.end()) throw InternalError(std::string("there is no command ") + id);
  return it->second;
}

void Commands::setEnabled(const char* id, bool enabled) {
  action(id)->setEnabled(enabled);
}

QString Commands::toolTip(const CommandSpec& spec) {
  QString text = QString::fromUtf8(spec.text);
  text.remove(QChar(0x2026));
  const auto keys = sequences(spec.keys);
  if (!keys.isEmpty()) text += QStringLiteral(" (%1)").arg(keys.first().toString(QKeySequence::NativeText));
  return text + QLatin1Char('\n') + QString::fromUtf8(spec.help);
}

void Commands::retint() {
  for (const CommandSpec& spec : table) {
    if (*spec.icon != '\0')
      actions_.at(spec.id)->setIcon(themedIcon(QLatin1String(spec.icon), theme_.theme()));
  }
}

}  // namespace nuscope::views

#include "moc_commands.cpp"
