// Proofs as they are shown: words, mathematics, counterexamples, lists that grow; a rewrite typed by hand.
#include "views/proof/proof_view.h"

#include <QAbstractItemModelTester>
#include <QRegularExpression>
#include <QToolButton>

#include "study_fixture.h"
#include "views/editor/code_editor.h"
#include "views/proof/counterexample_view.h"
#include "views/proof/math_text.h"
#include "views/proof/parting_view.h"
#include "views/proof/proof_case.h"
#include "views/proof/proof_panel.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"
#include "views/state_label.h"

namespace nuscope::views {
namespace {

TEST(MathText, SubscriptsAndPowersBecomeRichText) {
  EXPECT_EQ(mathHtml("x_mk^2"), "x<sub>mk</sub><sup>2</sup>");
  EXPECT_EQ(mathHtml("\u03A3_{k<K} x_k"), QString::fromUtf8("\u03A3<sub>k&lt;K</sub> x<sub>k</sub>"));
  EXPECT_EQ(mathHtml("a < b & c"), "a &lt; b &amp; c");
}

TEST(MathText, TheProversSpellingIsWrittenAsPeopleDo) {
  EXPECT_EQ(prettyMath("sum_{k<K} x[i, k]*w[k] - 1"),
            QString::fromUtf8("\u03A3_{k<K} x_{i k}\u2009w_{k} \u2212 1"));
  EXPECT_EQ(prettyMath("x[idx[i]]"), "x_{idx_{i}}");
  EXPECT_EQ(mathHtml(prettyMath("attn_bias[m] - loop_result")),
            QString::fromUtf8("attn_bias<sub>m</sub> \u2212 loop_result"));
}

TEST(MathText, TheDifferenceIsInWholeTokens) {
  const QString before = "a + b * c";
  const QString after = "a + b2 * c";
  const auto d = lineDifference(before, after);
  ASSERT_EQ(d.before.size(), 1U);
  EXPECT_EQ(before.mid(d.before[0].first, d.before[0].second - d.before[0].first), "b");
  EXPECT_EQ(after.mid(d.after[0].first, d.after[0].second - d.after[0].first), "b2");
  EXPECT_TRUE(lineDifference("same", "same").before.empty());
  // Two places, and a name with its scripts is one token.
  const QString left = "x_{m k} + y - z_{k}";
  const auto two = lineDifference(left, "x_{m j} + y - w");
  ASSERT_EQ(two.before.size(), 2U);
  EXPECT_EQ(left.mid(two.before[0].first, two.before[0].second), "x_{m k}");
  EXPECT_EQ(mathHtml("a + x_k", {{4, 7}}, QColor(Qt::red)),
            "a + <span style=\"background-color:#ff0000\">x<sub>k</sub></span>");
}

TEST(TensorCells, MarksTheDifferingElementAndSaysWhatWasCut) {
  semantics::TensorValue value;
  value.shape = {2, 10};
  for (int i = 0; i < 20; ++i) value.values.push_back(i);
  const std::vector<std::int64_t> index{1, 9};
  const TensorCells cells = tensorCells("x", value, &index, "19!");
  ASSERT_EQ(cells.rows.size(), 2U);
  EXPECT_EQ(cells.rows[0].size(), 8U);
  ASSERT_TRUE(cells.marked.has_value());
  EXPECT_EQ(cells.rows[cells.marked->first][cells.marked->second], "19!");
  EXPECT_EQ(cells.cut, "8 of 10 columns");
}

TEST(DifferingLines, AreThoseOutsideTheCommonSubsequence) {
  const auto [left, right] = differingLines("a\nb\nc\nd", "a\nx\nc\nd\ne");
  EXPECT_EQ(left, (std::vector<int>{2}));
  EXPECT_EQ(right, (std::vector<int>{2, 5}));
  EXPECT_TRUE(differingLines("a\nb", "a\nb").first.empty());
  EXPECT_TRUE(differingLines("# why\n\na", "a").first.empty());
}

class ProofViewTest : public StudyFixture {};

TEST_F(ProofViewTest, AStepIsShownWithVerdictRangeAndMathematics) {
  explore();
  ASSERT_GE(document.nuGraph()->variants().size(), 2U);
  ProofView view(context());
  view.resize(440, 760);
  view.show();
  selection.selectVariant(1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return view.plainText().contains(QString::fromUtf8("\u03A3")); }, 5000));
  EXPECT_TRUE(view.plainText().contains("Proved over the reals for all"));
  keep(view, "proof-step");
}

TEST_F(ProofViewTest, ARefusedMoveIsShownWithItsCounterexample) {
  explore(
      "from __future__ import annotations\nimport numpy as np\n\n\n"
      "def biased(x: f32[M, K], b: f32[K], w: f32[K, N]) -> f32[M, N]:\n    return np.maximum(x + b, 0.0) @ "
      "w\n");
  const auto& refused = document.nuGraph()->refused();
  ASSERT_FALSE(refused.empty());
  const auto with = std::find_if(refused.begin(), refused.end(),
                                 [](const auto& r) { return r.proof->counterexample.has_value(); });
  ASSERT_NE(with, refused.end());
  ProofView view(context());
  view.resize(440, 760);
  view.show();
  selection.selectRefused(with->id, with->from);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return view.page() == ProofView::refused && view.plainText().contains("left"); }, 5000));
  EXPECT_TRUE(view.plainText().contains("Refuted"));
  auto* tensors = view.findChild<CounterexampleView*>();
  ASSERT_NE(tensors, nullptr);
  EXPECT_TRUE(tensors->cells().back().marked.has_value());
  // Every value of both sides, with the one place where they part.
  ASSERT_TRUE(QTest::qWaitFor([&] { return view.findChild<PartingView*>() != nullptr; }, 5000));
  const auto& rows = view.findChild<PartingView*>()->rows();
  EXPECT_GE(std::count_if(rows.begin(), rows.end(), [](const PartingRow& row) { return row.parts; }), 1);
  // Groups: their names carry the number of moves in them.
  auto* table = qobject_cast<TableView*>(view.focusTarget());
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->model()->index(0, 0).data().toString().contains(QString::fromUtf8(" past ")));
  EXPECT_GE(table->currentIndex().row(), 1);
  QTest::qWait(100);
  keep(view, "proof-refused");
}

TEST_F(ProofViewTest, NoNameOfTheProverIsShown) {
  explore(
      "from __future__ import annotations\nimport numpy as np\n\n\n"
      "def normed(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n"
      "    return (x / np.sqrt(np.sum(x * x, axis=1, keepdims=True) + 1.0)) @ w\n");
  static const QRegularExpression internal(QStringLiteral("\\b[ik]\\d+[a-z]?\\b|defined [a-z]+\\["));
  const auto clean = [&](const std::string& text) {
    EXPECT_FALSE(internal.match(QString::fromStdString(text)).hasMatch()) << text;
  };
  bool conditions = false;
  for (const nugraph::Step& step : document.nuGraph()->steps()) {
    for (const std::string& condition : step.proof->definedness) clean(condition);
    conditions = conditions || !step.proof->definedness.empty();
    for (const proof::ProofStep& s : step.proof->steps) {
      clean(s.text);
      clean(s.before);
      clean(s.after);
    }
  }
  EXPECT_TRUE(conditions);
  for (const nugraph::Refused& refused : document.nuGraph()->refused()) clean(refused.proof->remaining);
}

TEST_F(ProofViewTest, TheListOfAllProofsIsAModelThatSelects) {
  explore();
  ProofView view(context());
  view.resize(500, 500);
  view.show();
  view.showPage(ProofView::all);
  auto* table = qobject_cast<TableView*>(view.focusTarget());
  ASSERT_NE(table, nullptr);
  QAbstractItemModelTester tester(table->model());
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->model()->rowCount() > 0; }, 5000));
  EXPECT_EQ(table->model()->rowCount(),
            static_cast<int>(document.nuGraph()->steps().size() + document.nuGraph()->refused().size()));
  const QRect first = table->visualRect(table->model()->index(0, 0));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, first.center());
  EXPECT_TRUE(selection.place().step >= 0 || selection.place().refused >= 0);
  keep(view, "proof-all");
}

TEST_F(ProofViewTest, TheCommandHoldsBothPrograms) {
  explore();
  const auto c = caseOfStep(*document.nuGraph(), document.nuGraph()->steps().front().id);
  ASSERT_TRUE(c.has_value());
  const QString script = commandText(*c);
  EXPECT_EQ(script.count("def scaled"), 2);
  EXPECT_TRUE(script.contains("nuscope prove --refines left.py right.py"));
}

class ProveScreenTest : public StudyFixture {
 protected:
  void wait(ProveScreen& screen) {
    QSignalSpy decided(&screen, &ProveScreen::decided);
    ASSERT_TRUE(QTest::qWaitFor([&] { return decided.count() > 0; }, 20000));
  }
};

TEST_F(ProveScreenTest, ARewriteIsDecidedAsOneTypes) {
  explore();
  ProveScreen screen(context());
  screen.resize(1180, 760);
  screen.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&screen));
  wait(screen);  // equal texts
  EXPECT_EQ(screen.verdict()->state()->mark(), Mark::proved);
  // Replace "x * g" by "x + g" with real keys.
  CodeEditor* editor = screen.right()->editor();
  editor->setFocus();
  QTextCursor cursor = editor->document()->find(QStringLiteral("x * g"));
  ASSERT_FALSE(cursor.isNull());
  editor->setTextCursor(cursor);
  QTest::keyClicks(editor, "x + g");
  wait(screen);
  EXPECT_EQ(screen.verdict()->state()->mark(), Mark::refuted);
  EXPECT_TRUE(screen.verdict()->panel()->plainText().contains("The two differ"));
  EXPECT_EQ(screen.right()->origin(), ProveSide::Origin::hand);
  QTest::qWait(200);
  keep(screen, "prove-refuted");
  // A half-typed line has an error, which is said and not proved.
  cursor = editor->document()->find(QStringLiteral("x + g"));
  editor->setTextCursor(cursor);
  QTest::keyClicks(editor, "x * ");
  wait(screen);
  EXPECT_EQ(screen.verdict()->state()->mark(), Mark::unknown);
  EXPECT_TRUE(screen.verdict()->panel()->plainText().contains("error"));
  // And right again, in another order.
  QTest::keyClicks(editor, "1.0 * g");
  wait(screen);
  EXPECT_EQ(screen.verdict()->state()->mark(), Mark::proved);
  QTest::qWait(200);
  keep(screen, "prove-proved");
}

TEST_F(ProveScreenTest, KnowsWhichVariantTheRightSideIs) {
  explore();
  ProveScreen screen(context());
  screen.resize(1180, 760);
  screen.show();
  wait(screen);
  screen.right()->takeVariant(1);
  wait(screen);
  EXPECT_EQ(screen.rightVariant(), 1);
  EXPECT_EQ(screen.verdict()->state()->mark(), Mark::proved);
}

TEST_F(ProveScreenTest, OtherParametersAreNotCompared) {
  explore();
  ProveScreen screen(context());
  screen.show();
  wait(screen);
  screen.right()->setText(QStringLiteral("from __future__ import annotations\nimport numpy as np\n\n\ndef "
                                         "f(y: f32[M]) -> f32[M]:\n    return y\n"),
                          ProveSide::Origin::hand);
  wait(screen);
  EXPECT_TRUE(screen.verdict()->panel()->plainText().contains("cannot be compared"));
}

}  // namespace
}  // namespace nuscope::views
