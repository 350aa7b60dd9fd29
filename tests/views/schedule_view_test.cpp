// The schedule side of the window with real keys and clicks: a refused schedule opens on its first finding,
// its run is stepped through to the freeze, a repair is previewed and applied, undone and saved; text is
// edited and its faults are told; a large schedule stays fluid.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QInputDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextCursor>
#include <QTimer>
#include <QToolButton>

#include "core/base/files.h"
#include "core/schedule/read.h"
#include "tests/need_cases.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/graph/graph_widget.h"
#include "views/jobs.h"
#include "views/schedule/changes_view.h"
#include "views/schedule/counters_view.h"
#include "views/schedule/findings_view.h"
#include "views/schedule/hang_view.h"
#include "views/schedule/json_view.h"
#include "views/schedule/lane_chart.h"
#include "views/schedule/memory_view.h"
#include "views/schedule/queues_view.h"
#include "views/schedule/schedule_document.h"
#include "views/schedule/schedule_inspector.h"
#include "views/schedule/schedule_screen.h"
#include "views/schedule/stepper_bar.h"
#include "views/schedule/tasks_view.h"
#include "views/schedule/waits_view.h"
#include "views/schedule/why_view.h"
#include "views/selection.h"
#include "views/table_view.h"
#include "views/theme.h"
#include "views/window/main_window.h"
#include "views/window/message_bar.h"

namespace {

using namespace nuscope;
using namespace nuscope::views;

constexpr int patience = 60000;

QString caseFile(const char* name) {
  return QStringLiteral(NUSCOPE_SHARED_DIR "/cases/schedules/%1/schedule.json").arg(QLatin1String(name));
}

class ScheduleWindow : public ::testing::Test {
 protected:
  ScheduleWindow() {
    theme.applyTo(*qApp);
    theme.setAppearance(Appearance::light);
    commands = std::make_unique<Commands>(theme, nullptr);
    document = std::make_unique<Document>(jobs, selection);
    window = std::make_unique<MainWindow>(ViewContext{theme, selection, *document, jobs, *commands},
                                          Session(false));
    window->resize(1280, 800);
    window->show();
  }
  ~ScheduleWindow() override {
    jobs.stopAll();
    window.reset();
    document.reset();
  }
  void SetUp() override { NEED_CASES(); }
  bool settle() {
    int quiet = 0;
    return QTest::qWaitFor([&] { return (quiet = window->settled() ? quiet + 1 : 0) > 3; }, patience);
  }
  ScheduleDocument& schedule() { return *ScheduleDocument::of(*document); }
  ScheduleScreen& screen() {
    return *qobject_cast<ScheduleScreen*>(window->screen(QStringLiteral("schedule")));
  }
  template <class V>
  V& view(const char* id) {
    auto* found = qobject_cast<V*>(window->view(QLatin1String(id)));
    if (!found) throw std::runtime_error(std::string("no view ") + id);
    return *found;
  }
  void open(const QString& path) {
    window->openPath(path);
    ASSERT_TRUE(settle());
    ASSERT_TRUE(schedule().isOpen());
  }
  template <class W>
  W* within(QWidget& parent, const char* name) {
    auto* found = parent.findChild<W*>(QLatin1String(name));
    if (!found) throw std::runtime_error(std::string("no widget ") + name);
    return found;
  }
  /// Types a path into the file dialog that opens next.
  void answerFileDialog(const QString& path) {
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QTimer::singleShot(0, window.get(), [path] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) throw std::runtime_error("no file dialog");
      auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
      name->setText(path);
      QTest::keyClick(name, Qt::Key_Return);
    });
  }
  schedule::Safety verdict() { return schedule().state()->report.verdict; }

  QTemporaryDir folder;
  ThemeSource theme;
  Selection selection;
  Jobs jobs;
  std::unique_ptr<Commands> commands;
  std::unique_ptr<Document> document;
  std::unique_ptr<MainWindow> window;
};

TEST_F(ScheduleWindow, FromARefusedScheduleToASafeOneThatIsSaved) {
  const QString path = folder.filePath(QStringLiteral("schedule.json"));
  ASSERT_TRUE(QFile::copy(caseFile("blind-09-queue-deadlock-lowered-swap-12sm"), path));
  QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner);
  open(path);
  EXPECT_EQ(window->currentScreen(), QStringLiteral("schedule"));

  // It opens on its first finding, which is selected and explained.
  EXPECT_EQ(verdict(), schedule::Safety::unsafe);
  EXPECT_TRUE(
      screen().headline().endsWith(QStringLiteral("wait for each other; 52 of 62 tasks never finish")))
      << screen().headline().toStdString();
  auto& findings = view<FindingsView>("findings");
  EXPECT_EQ(schedule().place().finding, 0);
  EXPECT_EQ(findings.table().currentIndex().row(), 0);
  EXPECT_EQ(findings.table().model()->index(0, 0).data().toString(), QStringLiteral("Deadlock"));
  ASSERT_NE(schedule().detail(), nullptr);
  const auto& cycle = schedule().detail()->finding.cycle;
  ASSERT_GE(cycle.size(), 2U);
  const QString why = view<WhyView>("why").plainText();
  for (const int t : cycle) {
    EXPECT_TRUE(why.contains(schedule().shown()->taskName(t))) << why.toStdString();
  }

  // Frozen at the moment of the fault; from the start, step by step to the freeze, and one back.
  const int last = schedule().run()->steps();
  ASSERT_EQ(last, 10);
  EXPECT_EQ(schedule().step(), last);
  StepperBar& stepper = screen().stepper();
  QTest::mouseClick(within<QToolButton>(stepper, "stepFirst"), Qt::LeftButton);
  EXPECT_EQ(stepper.text(), QStringLiteral("step 0 of 10"));
  auto& counters = view<CountersView>("counters");
  QTest::mouseClick(within<QToolButton>(counters, "allCounters"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  const auto valueOf = [&](const QString& id) -> QString {
    for (int row = 0; row < counters.table().model()->rowCount(); ++row) {
      if (counters.table().model()->index(row, 0).data().toString() == id)
        return counters.table().model()->index(row, 1).data().toString();
    }
    return QStringLiteral("absent");
  };
  EXPECT_EQ(valueOf(QStringLiteral("1")), QStringLiteral("0 of 1"));
  for (int i = 0; i < last; ++i)
    QTest::mouseClick(within<QToolButton>(stepper, "stepForward"), Qt::LeftButton);
  EXPECT_EQ(stepper.text(), QStringLiteral("step 10 of 10"));
  EXPECT_EQ(valueOf(QStringLiteral("1")), QStringLiteral("1 of 1"));
  EXPECT_EQ(valueOf(QStringLiteral("4")), QStringLiteral("0 of 1"));
  EXPECT_FALSE(within<QToolButton>(stepper, "stepForward")->isEnabled());
  QTest::keyClick(window.get(), Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(schedule().step(), last - 1);
  QTest::keyClick(window.get(), Qt::Key_End, Qt::ControlModifier);
  EXPECT_EQ(schedule().step(), last);
  ASSERT_TRUE(settle());

  // The certificate is marked in graph, chart and text.
  const auto& boxes = view<TasksView>("tasks").graph().content().boxes;
  EXPECT_EQ(std::count_if(boxes.begin(), boxes.end(), [](const Box& b) { return b.fault; }),
            static_cast<std::ptrdiff_t>(cycle.size()));
  EXPECT_FALSE(view<JsonView>("json").editor().extraSelections().isEmpty());
  LaneChart& chart = view<QueuesView>("queues").chart();
  ASSERT_NE(chart.chart(), nullptr);
  EXPECT_EQ(chart.chart()->rows.size(), 12U);

  // A click on a bar selects its task everywhere.
  const int task = schedule().shown()->ids->task(52);
  chart.reveal(task);
  QTest::mouseClick(chart.viewport(), Qt::LeftButton, {}, chart.barOnScreen(task).center());
  EXPECT_EQ(schedule().place().task, task);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(view<ScheduleInspector>("scheduleInspector").plainText().contains(QStringLiteral("counter 1")))
      << view<ScheduleInspector>("scheduleInspector").plainText().toStdString();

  // The first repair: previewed, taken back, previewed again and applied.
  ASSERT_FALSE(schedule().repairs().empty());
  ASSERT_TRUE(schedule().repairs().front().makesSafe);
  const auto button = [&](const char* name) {
    return within<QPushButton>(*within<QWidget>(view<WhyView>("why"), "repair0"), name);
  };
  QTest::mouseClick(button("preview"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  EXPECT_EQ(schedule().previewed(), 0);
  EXPECT_EQ(verdict(), schedule::Safety::safe);
  EXPECT_FALSE(schedule().dirty());
  EXPECT_TRUE(screen().headline().startsWith(QStringLiteral("Preview, not applied. Safe")));
  EXPECT_GT(view<ChangesView>("changes").table().model()->rowCount(), 0);
  QTest::mouseClick(button("back"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::unsafe);
  QTest::mouseClick(button("preview"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  QTest::mouseClick(button("apply"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  EXPECT_EQ(schedule().previewed(), -1);
  EXPECT_EQ(verdict(), schedule::Safety::safe);
  EXPECT_TRUE(schedule().dirty());
  EXPECT_EQ(schedule().run()->end(), schedule::Rounds::End::complete);

  // Undo and redo are exact.
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::unsafe);
  EXPECT_FALSE(schedule().dirty());
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::safe);

  // Saved, and what was saved is safe.
  QTest::keyClick(window.get(), Qt::Key_S, Qt::ControlModifier);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !schedule().dirty(); }, patience));
  const auto read = schedule::readSchedule(readWholeFile(path.toStdString()));
  ASSERT_TRUE(read.schedule.has_value());
  EXPECT_EQ(schedule::check(*read.schedule, {}, Progress{}).verdict, schedule::Safety::safe);
}

TEST_F(ScheduleWindow, ARaceIsSteppedToTheMomentAtWhichBothCanRun) {
  open(caseFile("mut-09-drop-wait-one-3"));
  ASSERT_EQ(verdict(), schedule::Safety::unsafe);
  const auto run = schedule().run();
  ASSERT_NE(run, nullptr);
  const FindingDetail* detail = schedule().detail();
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(run->end(), schedule::Rounds::End::fault);
  EXPECT_EQ(schedule().step(), run->steps());
  for (const int task : run->faults()) {
    EXPECT_TRUE(run->unmetAt(task, run->steps()).empty());
    EXPECT_FALSE(run->doneAt(task, run->steps()));
  }
  // The next finding, by key.
  const int before = schedule().place().finding;
  QTest::keyClick(window.get(), Qt::Key_Down, Qt::AltModifier);
  if (schedule().shown()->report.findings.size() > 1) {
    EXPECT_NE(schedule().place().finding, before);
  }
}

TEST_F(ScheduleWindow, TextIsCheckedWhileItIsTyped) {
  const QString path = folder.filePath(QStringLiteral("small.json"));
  ASSERT_TRUE(QFile::copy(caseFile("safe-01-reuse-wrwr-2"), path));
  open(path);
  ASSERT_EQ(verdict(), schedule::Safety::safe);
  EXPECT_EQ(schedule().place().finding, -1);
  CodeEditor& editor = view<JsonView>("json").editor();
  const QString before = editor.toPlainText();
  editor.setFocus();

  // A threshold that nothing reaches: unsafe, and the finding is selected.
  QTextCursor cursor = editor.document()->find(QStringLiteral("\"threshold\": 1"));
  ASSERT_FALSE(cursor.isNull());
  cursor.setPosition(cursor.selectionEnd());
  editor.setTextCursor(cursor);
  QTest::keyClicks(&editor, QStringLiteral("7"));
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::unsafe);
  EXPECT_GE(schedule().place().finding, 0);

  // A text that breaks off: told with its place, and the pictures stay.
  cursor = QTextCursor(editor.document());
  cursor.movePosition(QTextCursor::End);
  editor.setTextCursor(cursor);
  QTest::keyClicks(&editor, QStringLiteral("x"));
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::malformed);
  EXPECT_NE(schedule().shown(), nullptr);
  EXPECT_EQ(view<JsonView>("json").summary(), QStringLiteral("1 fault"));
  EXPECT_EQ(schedule().place().fault, 0);

  // Undo goes back version by version, also from inside the editor.
  editor.setFocus();
  QTest::keyClick(&editor, Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::unsafe);
  QTest::keyClick(&editor, Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(settle());
  EXPECT_EQ(verdict(), schedule::Safety::safe);
  EXPECT_EQ(editor.toPlainText(), before);

  // A click into a record selects it.
  cursor = editor.document()->find(QStringLiteral("\"tasks\""));
  cursor.movePosition(QTextCursor::Down);
  cursor.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor, 3);
  editor.setTextCursor(cursor);
  QTest::keyClick(&editor, Qt::Key_Right);
  EXPECT_EQ(schedule().place().task, 0);
}

TEST_F(ScheduleWindow, AMalformedFileListsItsFaults) {
  open(caseFile("bad-12-threshold-zero"));
  EXPECT_EQ(verdict(), schedule::Safety::malformed);
  EXPECT_EQ(schedule().shown(), nullptr);
  EXPECT_TRUE(screen().headline().startsWith(QStringLiteral("Malformed: ")));
  EXPECT_EQ(schedule().place().fault, 0);
  auto& table = view<FindingsView>("findings").table();
  EXPECT_EQ(table.model()->index(0, 0).data().toString(), QStringLiteral("Bad threshold"));
  EXPECT_TRUE(view<WhyView>("why").summary().contains(QStringLiteral("threshold")))
      << view<WhyView>("why").summary().toStdString();
}

TEST_F(ScheduleWindow, AFileThatIsNotThereIsToldAndAnythingElseStays) {
  open(caseFile("safe-01-reuse-wrwr-2"));
  window->openPath(folder.filePath(QStringLiteral("nothing.json")));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(window->messages().text().contains(QStringLiteral("could not be read")))
      << window->messages().text().toStdString();
  EXPECT_EQ(verdict(), schedule::Safety::safe);
}

TEST_F(ScheduleWindow, ADroppedFileIsOpened) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(caseFile("safe-01-reuse-wrwr-2"))});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &drop);
  ASSERT_TRUE(QTest::qWaitFor([&] { return schedule().isOpen(); }, patience));
  EXPECT_EQ(verdict(), schedule::Safety::safe);
}

TEST_F(ScheduleWindow, LayersOpenAndCloseAndTheTableTellsTheSame) {
  open(caseFile("lower-05-l3-h32-t64-p3"));
  ASSERT_EQ(verdict(), schedule::Safety::safe);
  auto& tasks = view<TasksView>("tasks");
  EXPECT_EQ(tasks.mode(), TasksView::Mode::layers);
  const auto titles = [&] {
    QStringList list;
    for (const Box& b : tasks.graph().content().boxes) list << b.title;
    return list;
  };
  ASSERT_TRUE(titles().contains(QStringLiteral("L1"))) << titles().join(QLatin1Char(' ')).toStdString();
  const auto keyOf = [&](const QString& title) {
    for (const Box& b : tasks.graph().content().boxes) {
      if (b.title == title) return b.key;
    }
    return std::uint64_t(0);
  };
  const auto closed = tasks.graph().content().boxes.size();
  QTest::mouseDClick(&tasks.graph(), Qt::LeftButton, {},
                     tasks.graph().boxOnScreen(keyOf(QStringLiteral("L1"))).center().toPoint());
  ASSERT_TRUE(settle());
  EXPECT_GT(tasks.graph().content().boxes.size(), closed);
  EXPECT_FALSE(titles().contains(QStringLiteral("L1")));
  EXPECT_TRUE(titles().contains(QStringLiteral("L1.post_norm")))
      << titles().join(QLatin1Char(' ')).toStdString();
  // Backspace on one of its operators closes it.
  tasks.graph().setFocus();
  QTest::mouseClick(&tasks.graph(), Qt::LeftButton, {},
                    tasks.graph().boxOnScreen(keyOf(QStringLiteral("L1.post_norm"))).center().toPoint());
  QTest::keyClick(&tasks.graph(), Qt::Key_Backspace);
  ASSERT_TRUE(settle());
  EXPECT_EQ(tasks.graph().content().boxes.size(), closed);

  // The table has every task and follows the selection.
  QTest::mouseClick(within<QToolButton>(tasks, "asTable"), Qt::LeftButton);
  QAbstractItemModelTester tester(tasks.table().model(),
                                  QAbstractItemModelTester::FailureReportingMode::Warning);
  EXPECT_EQ(tasks.table().model()->rowCount(), static_cast<int>(schedule().shown()->schedule->tasks.size()));
  tasks.table().setFocus();
  tasks.table().setCurrentIndex(tasks.table().model()->index(3, 0));
  EXPECT_EQ(schedule().place().task, 3);

  // Memory and its pages, by the switch.
  QTest::mouseClick(within<QToolButton>(view<CountersView>("counters"), "switch.memory"), Qt::LeftButton);
  auto& memory = view<MemoryView>("memory");
  ASSERT_TRUE(settle());
  EXPECT_TRUE(memory.isVisible());
  ASSERT_NE(memory.chart().chart(), nullptr);
  EXPECT_FALSE(memory.chart().chart()->rows.empty());
}

TEST_F(ScheduleWindow, ComparesWithAnotherSchedule) {
  open(caseFile("lower-01-l1-h32-t16-p3"));
  schedule().compareWith(caseFile("lower-02-l1-h32-t8-p0"));
  ASSERT_TRUE(settle());
  ASSERT_NE(schedule().difference(), nullptr);
  EXPECT_FALSE(schedule().difference()->changes.empty());
  auto& changes = view<ChangesView>("changes");
  EXPECT_TRUE(changes.isVisible());
  EXPECT_EQ(changes.table().model()->rowCount(), static_cast<int>(schedule().difference()->changes.size()));
  // With itself: nothing.
  schedule().compareWith(caseFile("lower-01-l1-h32-t16-p3"));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(schedule().difference()->changes.empty());
  EXPECT_FALSE(schedule().difference()->recordsDiffer);
}

TEST_F(ScheduleWindow, AHangDumpIsExplainedBesideItsSchedule) {
  const QString file = caseFile("blind-09-queue-deadlock-lowered-swap-12sm");
  open(file);
  auto& hang = view<HangView>("hang");
  QTest::mouseClick(within<QToolButton>(view<CountersView>("counters"), "switch.hang"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(hang.plainText().contains(QStringLiteral("Explain a hang dump")))
      << hang.plainText().toStdString();

  // What the kernel saved when it came to rest.
  const auto dump = schedule::dumpOfDeadlock(*schedule().shown()->schedule);
  ASSERT_TRUE(dump.has_value());
  const auto save = [&](const schedule::HangDump& d, const char* name) {
    const QString path = folder.filePath(QLatin1String(name));
    writeWholeFile(path.toStdString(), schedule::writeHangDump(d));
    return path;
  };
  // By the command, through the file dialog.
  const QString path = save(*dump, "dump.json");
  answerFileDialog(path);
  commands->action("schedule.openDump")->trigger();
  ASSERT_TRUE(settle());
  ASSERT_NE(schedule().hang(), nullptr) << window->messages().text().toStdString();
  EXPECT_TRUE(hang.isVisible());
  const QString words = hang.plainText();
  EXPECT_TRUE(words.startsWith(QStringLiteral("Schedule deadlock."))) << words.toStdString();
  EXPECT_TRUE(words.contains(QStringLiteral("Where every queue stood"))) << words.toStdString();
  for (const int t : schedule().detail()->finding.cycle)
    EXPECT_TRUE(words.contains(schedule().shown()->taskName(t))) << words.toStdString();

  // Another schedule's dump is refused in words, and what was told stays.
  schedule::HangDump other;
  other.queues[99].task = 12345;
  schedule().openDump(save(other, "other.json"));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(window->messages().text().contains(QStringLiteral("is the dump of another schedule")))
      << window->messages().text().toStdString();
  EXPECT_EQ(schedule().hang()->path, path);

  // A queue that never started and a task that is stuck, of a schedule that is safe.
  open(caseFile("safe-24-program-order-lowered-cross-waits-only"));
  EXPECT_EQ(schedule().hang(), nullptr);
  const auto state = schedule().shown();
  ASSERT_GE(state->model->queues.size(), 2U);
  schedule::HangDump stuck;
  for (std::size_t q = 0; q < state->model->queues.size(); ++q) {
    auto& queue = stuck.queues[state->model->queueSm[q]];
    queue.task = state->schedule->tasks[static_cast<std::size_t>(state->model->queues[q].front())].id;
    queue.state = schedule::HangDump::Queue::State::waiting;
  }
  const std::int64_t first = *state->schedule->tasks[static_cast<std::size_t>(state->whole->taskOf(0))].sm;
  stuck.queues[first].state = schedule::HangDump::Queue::State::running;
  schedule().openDump(save(stuck, "stuck.json"));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(hang.plainText().startsWith(QStringLiteral("Task stuck."))) << hang.plainText().toStdString();
  stuck.queues[first] = {std::nullopt, schedule::HangDump::Queue::State::notStarted};
  schedule().openDump(save(stuck, "never.json"));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(hang.plainText().startsWith(QStringLiteral("Queue never started.")))
      << hang.plainText().toStdString();
}

TEST_F(ScheduleWindow, WaitsThatNobodyNeedsAreFoundAndDropped) {
  open(caseFile("mut-09-drop-wait-one-3"));
  EXPECT_FALSE(commands->action("schedule.waits")->isEnabled());  // it is not safe

  // A lowering in which one task waits a second time for what its first wait already implies.
  auto read = schedule::readSchedule(readWholeFile(caseFile("lower-07-l1-h32-t32-p3-rr4").toStdString()));
  ASSERT_TRUE(read.schedule.has_value());
  auto& tasks = read.schedule->tasks;
  const auto late =
      std::ranges::find_if(tasks, [](const schedule::Task& t) { return t.label == "final_norm"; });
  ASSERT_NE(late, tasks.end());
  late->waits.push_back({tasks.front().signals.front(), 1});
  const QString path = folder.filePath(QStringLiteral("waits.json"));
  writeWholeFile(path.toStdString(), schedule::writeSchedule(*read.schedule));
  open(path);
  ASSERT_EQ(verdict(), schedule::Safety::safe);
  ASSERT_TRUE(commands->action("schedule.waits")->isEnabled());
  commands->action("schedule.waits")->trigger();
  ASSERT_TRUE(settle());
  auto& waits = view<WaitsView>("waits");
  EXPECT_TRUE(waits.isVisible());
  const WaitAdvice* advice = schedule().waitAdvice();
  ASSERT_NE(advice, nullptr);
  EXPECT_GE(advice->redundant, 1);
  ASSERT_TRUE(advice->gain.has_value());
  EXPECT_LE(advice->gain->after, advice->gain->before);
  ASSERT_EQ(waits.table().model()->rowCount(), static_cast<int>(advice->notes.notes.size()));
  const auto note = std::ranges::find_if(advice->notes.notes, [&](const schedule::WaitNote& n) {
    return n.task == static_cast<std::int32_t>(late - tasks.begin());
  });
  ASSERT_NE(note, advice->notes.notes.end());
  waits.table().setFocus();
  waits.table().setCurrentIndex(
      waits.table().model()->index(static_cast<int>(note - advice->notes.notes.begin()), 0));
  EXPECT_EQ(schedule().place().task, note->task);

  const auto before = schedule().shown();
  QTest::mouseClick(within<QPushButton>(waits, "dropWaits"), Qt::LeftButton);
  ASSERT_TRUE(settle());
  EXPECT_NE(schedule().shown(), before);
  EXPECT_EQ(verdict(), schedule::Safety::safe);
  EXPECT_TRUE(schedule().dirty());
  EXPECT_EQ(schedule().waitAdvice(), nullptr);  // told of the version before
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(settle());
  EXPECT_EQ(schedule().shown(), before);
}

TEST_F(ScheduleWindow, TheModelledRunIsExportedAsAChromeTrace) {
  open(caseFile("lower-07-l1-h32-t32-p3-rr4"));
  const QString path = folder.filePath(QStringLiteral("trace.json"));
  answerFileDialog(path);
  commands->action("schedule.exportTrace")->trigger();
  ASSERT_TRUE(settle());
  EXPECT_TRUE(window->messages().text().contains(QStringLiteral("as modelled on")))
      << window->messages().text().toStdString();
  const QJsonObject trace =
      QJsonDocument::fromJson(QByteArray::fromStdString(readWholeFile(path.toStdString()))).object();
  const QJsonArray events = trace.value(QLatin1String("traceEvents")).toArray();
  EXPECT_EQ(std::ranges::count_if(events,
                                  [](const QJsonValue& e) {
                                    return e.toObject().value(QLatin1String("ph")) == QLatin1String("X");
                                  }),
            std::ssize(schedule().shown()->schedule->tasks));
  // Where nothing can be written, it says so.
  schedule().exportTrace(QStringLiteral("/nowhere/trace.json"));
  ASSERT_TRUE(settle());
  EXPECT_TRUE(window->messages().text().contains(QStringLiteral("could not be written")))
      << window->messages().text().toStdString();
}

TEST_F(ScheduleWindow, OrdersAndRegionsAreTold) {
  open(caseFile("mut-09-drop-wait-one-3"));
  auto& inspector = view<ScheduleInspector>("scheduleInspector");
  const auto& finding = schedule().shown()->report.findings.front();
  ASSERT_EQ(finding.rule, schedule::Rule::race);
  schedule().selectTask(finding.task);
  commands->action("schedule.order")->trigger();
  EXPECT_EQ(schedule().anchor(), finding.task);
  schedule().selectTask(finding.other);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("nothing orders them")));
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("One way: ")));
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("The other: ")))
      << inspector.plainText().toStdString();

  // The buffer they collide on, and one column of it, by name.
  schedule().selectBuffer(finding.buffer);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("not ordered with")))
      << inspector.plainText().toStdString();
  const auto& buffer = schedule().shown()->schedule->buffers[static_cast<std::size_t>(finding.buffer)];
  const QString region = QStringLiteral("%1[0, 0:1]").arg(QString::fromStdString(buffer.name));
  ASSERT_EQ(buffer.shape.size(), 2U);
  QTimer::singleShot(0, window.get(), [&] {
    auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->setTextValue(region);
    QTest::keyClick(dialog, Qt::Key_Return);
  });
  commands->action("schedule.region")->trigger();
  ASSERT_TRUE(settle());
  EXPECT_EQ(schedule().place().buffer, finding.buffer);
  EXPECT_EQ(schedule().place().region.size(), 2U);
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("[0:1, 0:1]")))
      << inspector.plainText().toStdString();
  EXPECT_TRUE(inspector.plainText().contains(QStringLiteral("written by")));
}

TEST_F(ScheduleWindow, AutoMegaKernelsVerdictStandsBesideOurs) {
  open(caseFile("blind-01-queue-deadlock-two-sms"));
  auto& table = view<FindingsView>("findings").table();
  const QString blind = table.plainText(false);
  EXPECT_TRUE(blind.contains(QStringLiteral("AutoMegaKernel\taccepts"))) << blind.toStdString();
  EXPECT_TRUE(blind.contains(QStringLiteral("why they differ\t"))) << blind.toStdString();
  open(caseFile("safe-01-reuse-wrwr-2"));
  const QString strict = table.plainText(false);
  EXPECT_TRUE(strict.contains(QStringLiteral("AutoMegaKernel\trefuses: "))) << strict.toStdString();
  EXPECT_TRUE(strict.contains(QStringLiteral("why they differ\t"))) << strict.toStdString();
  open(caseFile("lower-01-l1-h32-t16-p3"));
  const QString same = table.plainText(false);
  EXPECT_TRUE(same.contains(QStringLiteral("AutoMegaKernel\taccepts"))) << same.toStdString();
  EXPECT_FALSE(same.contains(QStringLiteral("why they differ"))) << same.toStdString();
}

TEST_F(ScheduleWindow, ViewsAreMadeOneByOneWhileTheFileIsRead) {
  window->openPath(caseFile("blind-09-queue-deadlock-lowered-swap-12sm"));
  EXPECT_FALSE(screen().complete());  // showing the screen makes none of them
  EXPECT_EQ(screen().findChild<FindingsView*>(), nullptr);
  int turns = 0;
  while (!screen().complete() && turns < 1000) {
    QCoreApplication::processEvents();
    ++turns;
  }
  EXPECT_GE(turns, 4);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(view<FindingsView>("findings").isVisible());
  EXPECT_TRUE(view<FindingsView>("findings").isAncestorOf(QApplication::focusWidget()));
}

TEST_F(ScheduleWindow, AViewThatIsAskedForEarlyIsThereAtOnce) {
  ASSERT_TRUE(window->showScreen(QStringLiteral("schedule")));
  EXPECT_FALSE(screen().complete());
  EXPECT_NE(window->view(QStringLiteral("hang")), nullptr);
  EXPECT_TRUE(screen().complete());
  open(caseFile("blind-09-queue-deadlock-lowered-swap-12sm"));
  EXPECT_TRUE(view<FindingsView>("findings").isVisible());
}

TEST_F(ScheduleWindow, WhatTheCommandLineNamesIsShown) {
  const QString safe = caseFile("lower-01-l1-h32-t16-p3");
  open(safe);
  const auto select = [&](const QString& text) {
    const bool known = window->selectText(text);
    EXPECT_TRUE(settle());
    return known;
  };
  const auto page = [&](const char* name) {
    const bool known = window->showScreen(QLatin1String(name));
    EXPECT_TRUE(settle());
    return known;
  };
  const auto boxes = [&] { return view<TasksView>("tasks").graph().content().boxes.size(); };
  const std::size_t closed = boxes();
  EXPECT_TRUE(select(QStringLiteral("group L0.q_proj")));
  EXPECT_GT(boxes(), closed);
  EXPECT_FALSE(select(QStringLiteral("group L9.q_proj")));
  EXPECT_TRUE(page("tasks/all"));
  EXPECT_EQ(view<TasksView>("tasks").mode(), TasksView::Mode::all);
  EXPECT_TRUE(page("tasks/table"));
  EXPECT_TRUE(view<TasksView>("tasks").table().isVisible());
  EXPECT_FALSE(page("tasks/none"));
  EXPECT_TRUE(page("queues/time"));
  EXPECT_TRUE(view<QueuesView>("queues").chart().chart()->modelled);
  EXPECT_TRUE(page("queues/rounds"));
  EXPECT_FALSE(view<QueuesView>("queues").chart().chart()->modelled);
  EXPECT_FALSE(page("memory/none"));
  EXPECT_TRUE(select(QStringLiteral("waits")));
  EXPECT_TRUE(view<WaitsView>("waits").isVisible());

  open(caseFile("blind-09-queue-deadlock-lowered-swap-12sm"));
  EXPECT_FALSE(select(QStringLiteral("repair 99")));
  EXPECT_TRUE(select(QStringLiteral("repair 1")));
  EXPECT_EQ(schedule().previewed(), 0);
  EXPECT_TRUE(select(QStringLiteral("compare ") + safe));
  EXPECT_EQ(schedule().differenceName(), QStringLiteral("schedule.json"));
}

TEST_F(ScheduleWindow, OurOwnFormIsNamedAndARecordIsReadWithoutScrolling) {
  open(QStringLiteral(NUSCOPE_SOURCE_DIR "/resources/schedules/llama_low_latency.json"));
  EXPECT_TRUE(
      view<ScheduleInspector>("scheduleInspector").plainText().contains(QStringLiteral("Nuscope's own")));
  auto* editor = within<QPlainTextEdit>(view<JsonView>("json"), "jsonEditor");
  EXPECT_TRUE(editor->isVisible());
  EXPECT_LT(editor->horizontalScrollBar()->maximum(), 10);  // pixels; a record is several hundred wide
}

TEST_F(ScheduleWindow, EveryCaseOpensAndPaints) {
  const QDir cases(QStringLiteral(NUSCOPE_SHARED_DIR "/cases/schedules"));
  const QStringList names = cases.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
  ASSERT_GT(names.size(), 200);
  int opened = 0;
  for (int i = 0; i < names.size(); i += 6) {  // every sixth: all groups of cases have one
    window->openPath(cases.filePath(names[i] + QStringLiteral("/schedule.json")));
    ASSERT_TRUE(settle()) << names[i].toStdString();
    EXPECT_EQ(schedule().path(),
              QFileInfo(cases.filePath(names[i] + QStringLiteral("/schedule.json"))).absoluteFilePath());
    EXPECT_FALSE(window->grab().isNull());
    EXPECT_FALSE(screen().headline().isEmpty());
    ++opened;
  }
  std::printf("%d cases opened and painted\n", opened);
}

}  // namespace
