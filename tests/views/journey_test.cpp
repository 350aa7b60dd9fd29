// The journey of a user, with real keys and clicks, in the real window: open, an error, its repair, explore,
// a variant, its proof, a refused move with its counterexample, save, reopen.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextCursor>
#include <QToolButton>
#include <algorithm>

#include "core/nugraph/nugraph.h"
#include "views/code/code_view.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/editor/source_view.h"
#include "views/graph/graph_widget.h"
#include "views/jobs.h"
#include "views/proof/proof_view.h"
#include "views/selection.h"
#include "views/state_label.h"
#include "views/sweep/plot.h"
#include "views/sweep/sweep_screen.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/table_view.h"
#include "views/theme.h"
#include "views/variants/explore_panel.h"
#include "views/variants/inspector_view.h"
#include "views/variants/variant_view.h"
#include "views/variants/variants_view.h"
#include "views/window/command_palette.h"
#include "views/window/kernel_export.h"
#include "views/window/main_window.h"
#include "views/window/message_bar.h"
#include "window_fixture.h"

namespace nuscope::views {
namespace {

const QByteArray program =
    "from __future__ import annotations\n"
    "import numpy as np\n"
    "\n"
    "def softmaxish(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
    "    s = np.sum(x, axis=-1, keepdims=True)\n"
    "    return (x / (s * s + 1.0)) @ w\n";

TEST_F(Window, Journey) {
  const QString path = folder.filePath(QStringLiteral("softmaxish.py"));
  write(path, program);

  // Open: parsed and explored by itself.
  document->open(path);
  ASSERT_TRUE(settle());
  ASSERT_TRUE(document->textIsValid());
  ASSERT_NE(document->nuGraph(), nullptr) << document->exploreState().error.toStdString();
  auto& source = view<SourceView>("source");
  EXPECT_EQ(source.title(), QStringLiteral("softmaxish.py"));

  // Type an error: it is found, listed with its line, and everything derived says of which text it is.
  CodeEditor& editor = source.editor();
  editor.setFocus();
  QTextCursor cursor(editor.document()->findBlockByNumber(5));
  cursor.movePosition(QTextCursor::EndOfBlock);
  editor.setTextCursor(cursor);
  QTest::keyClicks(&editor, QStringLiteral(" + np.softmax(x)"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !document->parsing() && !document->textIsValid(); }, patience));
  ASSERT_FALSE(document->diagnostics().empty());
  EXPECT_EQ(document->diagnostics()[0].range.line, 6);
  QTest::qWait(50);
  EXPECT_TRUE(source.errors().isVisible());
  EXPECT_TRUE(source.summary().contains(QStringLiteral("error"))) << source.summary().toStdString();
  EXPECT_EQ(document->ageText(), QStringLiteral("of the last valid text"));
  QTest::keyClick(window.get(), Qt::Key_F8);

  // Repair it by undo, as people do.
  while (editor.toPlainText() != QString::fromUtf8(program) && editor.document()->isUndoAvailable())
    QTest::keyClick(&editor, Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !document->parsing() && document->textIsValid(); }, patience));
  EXPECT_TRUE(QTest::qWaitFor([&] { return source.summary() == QLatin1String("softmaxish.py: no errors"); },
                              patience))
      << source.summary().toStdString();

  // Change the program for good, and explore it with F5.
  cursor = QTextCursor(editor.document()->find(QStringLiteral("1.0")));
  editor.setTextCursor(cursor);
  QTest::keyClicks(&editor, QStringLiteral("2.0"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !document->parsing() && document->textIsValid(); }, patience));
  EXPECT_FALSE(document->upToDate());
  QTest::keyClick(window.get(), Qt::Key_F5);
  ASSERT_TRUE(settle());
  ASSERT_TRUE(document->upToDate()) << document->exploreState().error.toStdString();
  const auto graph = document->nuGraph();
  ASSERT_GE(graph->variants().size(), 2U);
  EXPECT_TRUE(view<ExplorePanel>("explore").headline().contains(QStringLiteral("variants by")))
      << view<ExplorePanel>("explore").headline().toStdString();

  // Pick a variant by clicking its card: its step, proof and changes come with it.
  auto& derivation = view<VariantsView>("derivation");
  ASSERT_GE(derivation.graph().content().boxes.size(), 2U);
  const std::uint64_t key = derivation.graph().content().boxes[1].key;
  QTest::mouseClick(&derivation.graph(), Qt::LeftButton, {},
                    derivation.graph().boxOnScreen(key).center().toPoint());
  EXPECT_EQ(selection.place().variant, static_cast<int>(key));
  EXPECT_GE(selection.place().step, 0);
  ASSERT_TRUE(settle());
  EXPECT_EQ(view<VariantView>("variant").title(), QStringLiteral("Variant %1").arg(key));
  EXPECT_TRUE(view<ProofView>("proof").plainText().contains(QStringLiteral("over the reals")))
      << view<ProofView>("proof").plainText().toStdString();

  // Click the edge: the step is selected. Then a node of the variant: the inspector tells about it.
  QTest::mouseClick(
      &derivation.graph(), Qt::LeftButton, {},
      derivation.graph().edgeOnScreen(static_cast<std::uint64_t>(selection.place().step) + 1).toPoint());
  EXPECT_GE(selection.place().step, 0);
  GraphWidget& nodes = view<VariantView>("variant").graph();
  QTest::mouseClick(&nodes, Qt::LeftButton, {},
                    nodes.boxOnScreen(nodes.content().boxes.back().key).center().toPoint());
  ASSERT_NE(selection.place().node, nullptr);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(view<InspectorView>("inspector").plainText().contains(QStringLiteral("Operator: ")))
      << view<InspectorView>("inspector").plainText().toStdString();

  // A refused move, by the palette, with its counterexample.
  const auto refused =
      std::find_if(graph->refused().begin(), graph->refused().end(),
                   [](const nugraph::Refused& r) { return r.proof->counterexample.has_value(); });
  if (refused != graph->refused().end()) {
    QTest::keyClick(window.get(), Qt::Key_K, Qt::ControlModifier);
    ASSERT_TRUE(window->palette().isVisible());
    QTest::keyClicks(&window->palette().field(), QString::fromStdString(refused->what));
    QTest::keyClick(&window->palette().field(), Qt::Key_Return);
    EXPECT_GE(selection.place().refused, 0);
    ASSERT_TRUE(settle());
    EXPECT_TRUE(view<ProofView>("proof").plainText().contains(QStringLiteral("efuted")))
        << view<ProofView>("proof").plainText().toStdString();
  }

  // Back and forward.
  const Place here = selection.place();
  QTest::keyClick(window.get(), Qt::Key_Left, Qt::AltModifier);
  EXPECT_NE(selection.place(), here);
  QTest::keyClick(window.get(), Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(selection.place(), here);

  // Save as a study and open it again: the same variants, recorded proofs.
  const QString study = folder.filePath(QStringLiteral("softmaxish.nuscope"));
  QSignalSpy saved(document.get(), &Document::saved);
  document->save(study);
  ASSERT_TRUE(saved.wait(patience)) << window->messages().text().toStdString();
  EXPECT_FALSE(document->dirty());
  const QString text = document->text();
  const std::size_t variants = graph->variants().size();
  ASSERT_TRUE(window->openExample(QStringLiteral("relu")));
  ASSERT_TRUE(settle());
  EXPECT_EQ(document->programName(), QStringLiteral("relu.py"));
  document->open(study);
  ASSERT_TRUE(settle());
  EXPECT_EQ(document->text(), text);
  ASSERT_NE(document->nuGraph(), nullptr) << window->messages().text().toStdString();
  EXPECT_EQ(document->nuGraph()->variants().size(), variants);
  EXPECT_TRUE(document->upToDate());
}

TEST_F(Window, SweepsPicksSavesAndReopens) {
  ASSERT_TRUE(window->openExample(QStringLiteral("relu_matmul")));
  ASSERT_TRUE(settle());
  const tensor::Extents extents = document->extents();
  for (const auto& extent : extents) document->setExtent(extent.first, 8);
  ASSERT_TRUE(window->showScreen(QStringLiteral("sweep")));
  auto* sweep = window->findChild<SweepScreen*>();
  ASSERT_NE(sweep, nullptr);
  const auto boxes = sweep->findChildren<QSpinBox*>();
  for (QSpinBox* box : boxes) {
    if (box->accessibleName() == QLatin1String("Budget in seconds")) box->setValue(3);
  }
  EXPECT_EQ(sweep->settings().seconds, 3);
  QString failure;
  QObject::connect(sweep->runner(), &SweepRunner::failed, [&](const QString& why) { failure = why; });
  sweep->startSweep();
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        return !failure.isEmpty() ||
               (document->sweep() && !document->sweep()->bestSoFar.empty() && !sweep->runner()->running());
      },
      patience));
  ASSERT_TRUE(failure.isEmpty()) << failure.toStdString();
  ASSERT_TRUE(settle());

  // A click on the fastest candidate in the plot shows its kernel.
  auto* plot = sweep->findChild<LatencyPlot*>();
  ASSERT_NE(plot, nullptr);
  const std::int64_t best = document->sweep()->rows.front()->candidate.id;
  const auto where = plot->positionOf(static_cast<int>(best));
  ASSERT_TRUE(where.has_value());
  QTest::mouseClick(plot, Qt::LeftButton, {}, where->toPoint());
  EXPECT_EQ(selection.place().candidate, best);
  ASSERT_TRUE(settle());
  auto* code = sweep->code()->findChild<QPlainTextEdit*>();
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code->toPlainText().contains(QStringLiteral("emitted by Nuscope")));

  EXPECT_TRUE(
      window->selectText(QStringLiteral("candidate %1").arg(document->sweep()->rows.back()->candidate.id)));
  EXPECT_EQ(selection.place().candidate, document->sweep()->rows.back()->candidate.id);
  EXPECT_FALSE(window->selectText(QStringLiteral("candidate 999999999")));

  // Saved and opened again, the sweep is there.
  const std::size_t rows = document->sweep()->rows.size();
  const QString study = folder.filePath(QStringLiteral("swept.nuscope"));
  QSignalSpy saved(document.get(), &Document::saved);
  document->save(study);
  ASSERT_TRUE(saved.wait(patience)) << window->messages().text().toStdString();
  ASSERT_TRUE(window->openExample(QStringLiteral("lora")));
  ASSERT_TRUE(settle());
  document->open(study);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return document->sweep() && document->sweep()->rows.size() == rows; }, patience));
  EXPECT_EQ(document->sweep()->rows.front()->candidate.id, best);
}

/// A sweep, a copy of the winner that is edited and raced (right, then wrong, then no C++), and the winner as
/// a folder.
TEST_F(Window, EditsACopyRacesItAndExportsTheWinner) {
  ASSERT_TRUE(window->openExample(QStringLiteral("relu_matmul")));
  ASSERT_TRUE(settle());
  const tensor::Extents extents = document->extents();
  for (const auto& extent : extents) document->setExtent(extent.first, 8);
  EXPECT_TRUE(exportObstacle(*document).contains(QStringLiteral("Sweep the program first")));
  ASSERT_TRUE(window->showScreen(QStringLiteral("sweep")));
  auto* screen = window->findChild<SweepScreen*>();
  ASSERT_NE(screen, nullptr);
  SweepSettings settings;
  settings.seconds = 0;
  settings.candidates = 3;
  screen->runner()->start(settings, false);
  const auto ended = [&] {
    return QTest::qWaitFor([&] { return document->sweep() && !screen->runner()->running(); }, patience) &&
           settle();
  };
  ASSERT_TRUE(ended());
  ASSERT_NE(document->sweep()->best(), nullptr);
  const int best = document->sweep()->best()->candidate.id;
  selection.selectCandidate(best, document->sweep()->best()->candidate.variant);
  ASSERT_TRUE(settle());

  CodeView* code = screen->code();
  commands->action("code.editCopy")->trigger();
  ASSERT_TRUE(code->editing());
  EXPECT_FALSE(code->editor()->isReadOnly());
  const auto raced = [&](const QString& text) {
    code->editor()->setPlainText(text);
    code->raceCopy();
    EXPECT_TRUE(ended());
    return code->raceResult();
  };
  const QString original = code->editor()->toPlainText();
  EXPECT_TRUE(
      raced(QStringLiteral("// mine\n") + original).startsWith(QStringLiteral("not proved, passed the gate")))
      << code->summary().toStdString();
  static const QRegularExpression last(QStringLiteral("float\\* (\\w+), int threads"));
  const QString result = last.match(original).captured(1);
  ASSERT_FALSE(result.isEmpty());
  QString wrong = original;
  wrong.insert(wrong.lastIndexOf(QStringLiteral("}\n\n}  // namespace nuscope")),
               QStringLiteral("  %1[0] += 1;\n").arg(result));
  EXPECT_TRUE(raced(wrong).startsWith(QStringLiteral("wrong"))) << code->summary().toStdString();
  EXPECT_TRUE(raced(QStringLiteral("no C++")).startsWith(QStringLiteral("failed")))
      << code->summary().toStdString();
  EXPECT_EQ(document->sweep()->best()->candidate.kind, sweep::CandidateKind::emitted);
  int foreign = 0;
  for (const SweepRowRef& row : document->sweep()->rows)
    foreign += row->candidate.kind == sweep::CandidateKind::foreign ? 1 : 0;
  EXPECT_EQ(foreign, 3) << "they stay in the list, with their label";
  code->discardCopy();
  ASSERT_TRUE(settle());
  EXPECT_TRUE(code->editor()->isReadOnly());
  EXPECT_EQ(code->editor()->toPlainText(), original);

  const QString out = folder.filePath(QStringLiteral("kernel"));
  QString said;
  exportKernel(ViewContext{theme, selection, *document, jobs, *commands}, window.get(), out,
               [&](Mark, const QString& text) { said = text; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !said.isEmpty(); }, patience));
  EXPECT_TRUE(said.startsWith(QStringLiteral("The kernel was exported to"))) << said.toStdString();
  EXPECT_TRUE(QFile::exists(out + QStringLiteral("/kernel.h")));
}

TEST_F(Window, OpensTheExampleFromTheCacheAtOnce) {
  ASSERT_TRUE(window->openExample(QStringLiteral("rmsnorm_matmul")));
  ASSERT_TRUE(settle());
  ASSERT_NE(document->nuGraph(), nullptr) << document->exploreState().error.toStdString();
  ASSERT_TRUE(window->openExample(QStringLiteral("relu")));
  ASSERT_TRUE(settle());
  QElapsedTimer clock;
  clock.start();
  ASSERT_TRUE(window->openExample(QStringLiteral("rmsnorm_matmul")));
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return document->nuGraph() && document->programName() == QLatin1String("rmsnorm_matmul.py"); },
      patience));
  std::printf("example with its variants from the cache: %lld ms\n", static_cast<long long>(clock.elapsed()));
  EXPECT_LT(clock.elapsed(), 3000);
}

TEST_F(Window, EveryScreenShowsAndEveryModelIsSound) {
  ASSERT_TRUE(window->openExample(QStringLiteral("relu_matmul")));
  ASSERT_TRUE(settle());
  for (const ScreenSpec& spec : screens()) {
    ASSERT_TRUE(window->showScreen(QLatin1String(spec.id))) << spec.id;
    QTest::qWait(30);
    for (View* v : viewsOf(window->screen(QLatin1String(spec.id)))) {
      EXPECT_FALSE(v->title().isEmpty()) << v->id().toStdString();
      EXPECT_FALSE(v->accessibleName().isEmpty());
      const auto tables = v->findChildren<QTableView*>();
      for (QTableView* table : tables) {
        if (table->model())
          QAbstractItemModelTester tester(table->model(),
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
      }
      const auto buttons = v->findChildren<QToolButton*>();
      for (QToolButton* button : buttons)
        EXPECT_FALSE(button->accessibleName().isEmpty() && button->text().isEmpty()) << v->id().toStdString();
    }
  }
  EXPECT_FALSE(window->showScreen(QStringLiteral("nonsense")));
  for (const char* page : {"plots/model", "plots/roofline", "plots/parameters", "proof/all", "proof/refused"})
    EXPECT_TRUE(window->showScreen(QLatin1String(page))) << page;
  EXPECT_EQ(window->currentScreen(), QStringLiteral("variants"));
  EXPECT_FALSE(window->showScreen(QStringLiteral("plots/nonsense")));
  EXPECT_FALSE(window->showScreen(QStringLiteral("sweep/model")));
}

TEST_F(Window, KeysReachTheirCommands) {
  ASSERT_TRUE(window->openExample(QStringLiteral("lora")));
  ASSERT_TRUE(settle());
  window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window.get(), 5000));
  // Letters go into the editor, not to commands.
  auto& source = view<SourceView>("source");
  source.editor().setFocus();
  const QString before = document->text();
  QTest::keyClicks(&source.editor(), QStringLiteral("f/?"));
  EXPECT_EQ(document->text().size(), before.size() + 3);
  document->source()->undo();
  // Find in the view that has the focus.
  QTest::keyClick(&source.editor(), Qt::Key_F, Qt::ControlModifier);
  auto* field = source.findChild<QLineEdit*>(QStringLiteral("findField"));
  ASSERT_NE(field, nullptr);
  EXPECT_TRUE(field->isVisible());
  QTest::keyClicks(field, QStringLiteral("np"));
  QTest::keyClick(field, Qt::Key_Escape);
  EXPECT_FALSE(field->isVisible());
  // One view alone and back.
  auto& variants = view<VariantsView>("derivation");
  variants.graph().setFocus();
  QTest::keyClick(&variants.graph(), Qt::Key_F11);
  EXPECT_FALSE(source.isVisible());
  EXPECT_TRUE(variants.isVisible());
  QTest::keyClick(&variants.graph(), Qt::Key_F11);
  EXPECT_TRUE(source.isVisible());
  // Scale, screens, palette.
  const double rows = theme.theme().row;
  QTest::keyClick(&variants.graph(), Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_GT(theme.theme().row, rows);
  QTest::keyClick(&variants.graph(), Qt::Key_0, Qt::ControlModifier);
  EXPECT_EQ(theme.theme().row, rows);
  QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
  EXPECT_EQ(window->currentScreen(), QStringLiteral("program"));
  QTest::keyClick(window.get(), Qt::Key_2, Qt::ControlModifier);
  EXPECT_EQ(window->currentScreen(), QStringLiteral("variants"));
  QTest::keyClick(window.get(), Qt::Key_K, Qt::ControlModifier);
  QTest::keyClicks(&window->palette().field(), QStringLiteral("dark"));
  EXPECT_EQ(window->palette().listed().value(0), QStringLiteral("Dark"));
  QTest::keyClick(&window->palette().field(), Qt::Key_Return);
  EXPECT_TRUE(theme.theme().dark);
  theme.setAppearance(Appearance::light);
  // The slider walks through the exploration.
  QTest::keyClick(window.get(), Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(variants.slider().value(), variants.slider().maximum() - 1);
}

TEST_F(Window, ExportsWhatItShows) {
  ASSERT_TRUE(window->openExample(QStringLiteral("relu_matmul")));
  ASSERT_TRUE(settle());
  for (const char* name : {"derivation.svg", "derivation.png", "derivation.csv", "derivation.dot",
                           "variant.svg", "explore.csv"}) {
    QString why;
    const QString file = folder.filePath(QLatin1String(name));
    EXPECT_TRUE(view<View>(QString::fromLatin1(name).section(QLatin1Char('.'), 0, 0).toLatin1().constData())
                    .exportTo(file, &why))
        << name << why.toStdString();
    EXPECT_GT(QFileInfo(file).size(), 40) << name;
  }
  QString why;
  EXPECT_FALSE(view<View>("derivation").exportTo(folder.filePath(QStringLiteral("x.doc")), &why));
  EXPECT_FALSE(why.isEmpty());
}

TEST_F(Window, SaysWhatIsWrongWithAFile) {
  document->open(folder.filePath(QStringLiteral("missing.py")));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window->messages().text().isEmpty(); }, patience));
  EXPECT_TRUE(window->messages().text().contains(QStringLiteral("missing.py")));
  const QString damaged = folder.filePath(QStringLiteral("damaged.nuscope"));
  write(damaged, "SQLite format 3\0 and then nothing that makes sense");
  document->open(damaged);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return window->messages().text().contains(QStringLiteral("damaged.nuscope")); }, patience))
      << window->messages().text().toStdString();
}

}  // namespace
}  // namespace nuscope::views
