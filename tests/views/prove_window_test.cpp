// The prove view in the real window: a rewrite typed, its place among the variants, added, taken back,
// redone.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QSignalSpy>

#include "core/nugraph/nugraph.h"
#include "views/editor/code_editor.h"
#include "views/proof/parting_view.h"
#include "views/proof/proof_panel.h"
#include "views/prove/difference_view.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"
#include "views/prove/standing_bar.h"
#include "window_fixture.h"

namespace nuscope::views {
namespace {

class ProveWindow : public Window {
 protected:
  void start() {
    ASSERT_TRUE(window->openExample(QStringLiteral("relu_matmul")));
    ASSERT_TRUE(settle());
    ASSERT_TRUE(window->showScreen(QStringLiteral("prove")));
    screen = window->findChild<ProveScreen*>();
    ASSERT_NE(screen, nullptr);
    ASSERT_TRUE(decided());
  }
  bool decided() {
    return QTest::qWaitFor([&] { return !screen->deciding() && window->settled(); }, patience);
  }
  bool placed() {
    return QTest::qWaitFor([&] { return !screen->placing() && window->settled(); }, patience);
  }
  void replace(const QString& what, const QString& by) {
    CodeEditor* editor = screen->right()->editor();
    editor->setFocus();
    QTextCursor cursor = editor->document()->find(what);
    ASSERT_FALSE(cursor.isNull()) << editor->toPlainText().toStdString();
    editor->setTextCursor(cursor);
    QTest::keyClicks(editor, by);
    ASSERT_TRUE(decided());
  }
  QAbstractButton& button(const char* id) {
    auto* found = screen->findChild<QAbstractButton*>(QLatin1String(id));
    if (!found) throw std::runtime_error(std::string("no button ") + id);
    return *found;
  }
  ProveScreen* screen = nullptr;
};

TEST_F(ProveWindow, AFileOnTheRightStaysWhenAnotherProgramOpens) {
  start();
  const QString programs = QStringLiteral(NUSCOPE_SOURCE_DIR "/resources/programs/");
  ASSERT_TRUE(screen->right()->takeFile(programs + QStringLiteral("relu.py")));
  ASSERT_TRUE(decided());
  const QString right = screen->right()->text();
  window->openPath(programs + QStringLiteral("silu.py"));
  ASSERT_TRUE(decided());
  EXPECT_TRUE(screen->left()->text().contains(QStringLiteral("silu")));
  EXPECT_EQ(screen->right()->text(), right);
  EXPECT_EQ(screen->right()->originText(), QStringLiteral("relu.py"));
  // One that was taken from the program follows it, or the variant that is selected then.
  screen->right()->takeProgram();
  window->openPath(programs + QStringLiteral("softmax.py"));
  ASSERT_TRUE(decided());
  EXPECT_TRUE(screen->right()->text().contains(QStringLiteral("def softmax")));
}

TEST_F(ProveWindow, AProvedRewriteJoinsTheVariantsAndIsTakenBack) {
  start();
  // As it stands the right side is the program itself: variant 0.
  QTest::mouseClick(&button("prove.standing"), Qt::LeftButton);
  ASSERT_TRUE(placed());
  EXPECT_EQ(screen->placedVariant(), 0) << screen->verdict()->standing()->words().toStdString();
  // A rewrite that no exploration finds: twice the half.
  const std::size_t before = document->nuGraph()->variants().size();
  const QString text = screen->right()->text();
  const qsizetype at = text.indexOf(QStringLiteral("return "));
  ASSERT_GE(at, 0);
  replace(QStringLiteral("return "), QStringLiteral("return 0.5 * 2.0 * "));
  ASSERT_EQ(screen->verdict()->panel()->current()->proof->verdict, proof::Verdict::proved)
      << screen->verdict()->panel()->plainText().toStdString();
  ASSERT_TRUE(button("prove.add").isEnabled());
  QTest::mouseClick(&button("prove.add"), Qt::LeftButton);
  ASSERT_TRUE(placed());
  ASSERT_EQ(document->nuGraph()->variants().size(), before + 1)
      << screen->verdict()->standing()->words().toStdString();
  EXPECT_EQ(screen->placedVariant(), static_cast<int>(before));
  EXPECT_TRUE(document->nuGraph()->steps().back().byHand);
  EXPECT_EQ(selection.place().variant, static_cast<int>(before));
  EXPECT_TRUE(document->dirty());
  // Taken back by its button, and again by undo and redo outside of an editor.
  QTest::mouseClick(&button("prove.takeBack"), Qt::LeftButton);
  EXPECT_EQ(document->nuGraph()->variants().size(), before);
  screen->difference()->focusTarget()->setFocus();
  commands->action("edit.redo")->trigger();
  EXPECT_EQ(document->nuGraph()->variants().size(), before + 1);
  commands->action("edit.undo")->trigger();
  EXPECT_EQ(document->nuGraph()->variants().size(), before);
  EXPECT_FALSE(document->canUndoByHand());
}

TEST_F(ProveWindow, ARefutedRewriteShowsWhereTheSidesPartAndIsNotAdded) {
  start();
  replace(QStringLiteral("np.maximum"), QStringLiteral("np.minimum"));
  const auto& shown = screen->verdict()->panel()->current();
  ASSERT_TRUE(shown && shown->proof);
  ASSERT_EQ(shown->proof->verdict, proof::Verdict::refuted);
  ASSERT_TRUE(QTest::qWaitFor([&] { return screen->verdict()->panel()->values() != nullptr; }, patience));
  const auto& rows = screen->verdict()->panel()->values()->rows();
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const PartingRow& r) { return r.parts; }), 1);
  EXPECT_FALSE(button("prove.add").isEnabled());
  EXPECT_TRUE(button("prove.add").toolTip().contains("Only a proved right side"));
  ASSERT_NE(screen->difference()->difference(), nullptr);
  EXPECT_TRUE(screen->difference()->difference()->changes.any());
  QTest::mouseClick(&button("prove.standing"), Qt::LeftButton);
  ASSERT_TRUE(placed());
  EXPECT_EQ(screen->verdict()->standing()->mark(), Mark::refuted);
}

TEST_F(ProveWindow, ExploringAgainKeepsWhatWasAddedByHand) {
  start();
  replace(QStringLiteral("return "), QStringLiteral("return 0.5 * 2.0 * "));
  screen->addAsVariant();
  ASSERT_TRUE(placed());
  ASSERT_TRUE(document->nuGraph()->steps().back().byHand);
  document->explore();
  ASSERT_TRUE(settle());
  const auto& steps = document->nuGraph()->steps();
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const nugraph::Step& s) { return s.byHand; }));
}

TEST_F(ProveWindow, TypingGoesOnWhileAProofRunsAndSidesAreSwapped) {
  start();
  const QString left = screen->left()->text();
  replace(QStringLiteral("return "), QStringLiteral("return 1.0 * "));
  const QString right = screen->right()->text();
  commands->action("prove.swap")->trigger();
  EXPECT_EQ(screen->left()->text(), right);
  EXPECT_EQ(screen->right()->text(), left);
  ASSERT_TRUE(decided());
  EXPECT_EQ(screen->verdict()->panel()->current()->proof->verdict, proof::Verdict::proved);
  // Each key cancels what was asked before: only the last text is answered.
  QSignalSpy answers(screen, &ProveScreen::decided);
  replace(QStringLiteral("return "), QStringLiteral("return 1.0 * 1.0 * 1.0 * "));
  EXPECT_LE(answers.count(), 3);
  EXPECT_EQ(screen->verdict()->panel()->current()->proof->verdict, proof::Verdict::proved);
}

TEST_F(ProveWindow, AnAssertThatMakesItTrueIsFoundAndInserted) {
  start();
  const auto program = [](const char* result) {
    return QStringLiteral(
               "from __future__ import annotations\nimport numpy as np\n\n\n"
               "def f(x: f32[M], z: f32[M]) -> f32[M]:\n    return %1\n")
        .arg(QLatin1String(result));
  };
  screen->left()->takeNamed(QStringLiteral("left.py"), program("x / z * z"));
  screen->right()->takeNamed(QStringLiteral("right.py"), program("x"));
  ASSERT_TRUE(decided());
  EXPECT_EQ(screen->verdict()->panel()->current()->proof->verdict, proof::Verdict::refuted);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !screen->verdict()->panel()->conditions().empty(); }, patience))
      << screen->verdict()->panel()->plainText().toStdString();
  auto& insert = button("insertAssert");
  ASSERT_TRUE(QTest::qWaitFor([&] { return insert.isVisible(); }, 5000));
  QTest::mouseClick(&insert, Qt::LeftButton);
  EXPECT_TRUE(screen->right()->text().contains(QStringLiteral(":\n    assert ")))
      << screen->right()->text().toStdString();
  ASSERT_TRUE(decided());
  EXPECT_EQ(screen->verdict()->panel()->current()->proof->verdict, proof::Verdict::proved)
      << screen->verdict()->panel()->plainText().toStdString();
}

TEST_F(ProveWindow, WithoutVariantsItSaysWhatToDoFirst) {
  document->setNew(QStringLiteral("broken.py"),
                   QStringLiteral("def f(x: f32[M]) -> f32[M]:\n    return x +\n"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !document->diagnostics().empty(); }, patience));
  ASSERT_TRUE(window->showScreen(QStringLiteral("prove")));
  screen = window->findChild<ProveScreen*>();
  EXPECT_TRUE(screen->whyNotAdded().contains("explore the program first"));
  EXPECT_FALSE(button("prove.add").isEnabled());
}

}  // namespace
}  // namespace nuscope::views
