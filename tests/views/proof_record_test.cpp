// The record of a proof in the window: replayed, read lemma by lemma, and written to files by real clicks.
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <QToolButton>

#include "study_fixture.h"
#include "views/proof/panel_parts.h"
#include "views/proof/proof_panel.h"
#include "views/proof/proof_view.h"
#include "views/proof/record_section.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"

namespace nuscope::views {
namespace {

const char* head = "from __future__ import annotations\nimport numpy as np\n\n\n";

class ProofRecordTest : public StudyFixture {
 protected:
  /// Types the path into the file dialog that opens next.
  static void answerWith(const QString& path) {
    QTimer::singleShot(300, qApp, [path] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      auto* field = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
      ASSERT_NE(field, nullptr);
      field->selectAll();
      QTest::keyClicks(field, path);
      QTest::keyClick(field, Qt::Key_Return);
    });
  }
  static std::string contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
  }
  static void click(QWidget& button) {
    QTest::mouseClick(&button, Qt::LeftButton, Qt::NoModifier, button.rect().center());
  }
  /// Shows both texts in the prove view and waits for the record.
  void prove(ProveScreen& screen, const QString& left, const QString& right) {
    screen.resize(1180, 900);
    screen.show();
    screen.left()->setText(left, ProveSide::Origin::hand);
    screen.right()->setText(right, ProveSide::Origin::hand);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          const RecordSection* record = screen.verdict()->panel()->record();
          return !screen.deciding() && record != nullptr && record->recording() != nullptr;
        },
        30000));
  }
};

TEST_F(ProofRecordTest, AStepIsReplayedAndItsRecordExported) {
  explore();
  ProofView view(context());
  view.resize(520, 900);
  view.show();
  selection.selectVariant(1);
  RecordSection* record = nullptr;
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        record = view.findChild<RecordSection*>();
        return record != nullptr && record->recording() != nullptr;
      },
      20000));
  EXPECT_TRUE(view.plainText().contains("Replayed by the independent checker"))
      << view.plainText().toStdString();
  auto* button = view.findChild<QPushButton*>(QStringLiteral("exportRecord"));
  ASSERT_NE(button, nullptr);
  ASSERT_TRUE(button->isEnabled());
  view.findChild<ProofPanel*>()->ensureWidgetVisible(button);
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("step.json"));
  answerWith(path);
  click(*button);
  const auto outcome = replay::replayProof(contentOf(path), nullptr);
  EXPECT_EQ(outcome.status, replay::ProofOutcome::Status::confirmed) << outcome.why;
  EXPECT_TRUE(outcome.goal.refines);
  EXPECT_NE(outcome.goal.left.find("def scaled"), std::string::npos);
  // The view's own export knows it too.
  EXPECT_TRUE(view.moreExports().join(QLatin1Char(' ')).contains(QStringLiteral("*.json")));
  QString why;
  EXPECT_TRUE(view.exportTo(folder.filePath(QStringLiteral("again.json")), &why)) << why.toStdString();
  EXPECT_EQ(contentOf(folder.filePath(QStringLiteral("again.json"))), contentOf(path));
  keep(view, "proof-record");
}

TEST_F(ProofRecordTest, LemmaInstancesShowSubstitutionBeforeAndAfter) {
  explore();
  ProveScreen screen(context());
  ASSERT_NO_FATAL_FAILURE(
      prove(screen, QString::fromUtf8(head) + "def f(x: f32[M, 4]) -> f32:\n    return np.sum(x)\n",
            QString::fromUtf8(head) + "def f(x: f32[M, 4]) -> f32:\n    return np.sum(x.reshape(-1))\n"));
  ProofPanel* panel = screen.verdict()->panel();
  EXPECT_TRUE(panel->plainText().contains("S5 tile")) << panel->plainText().toStdString();
  auto* lemmas = panel->findChild<FoldedSection*>(QStringLiteral("lemmas"));
  ASSERT_NE(lemmas, nullptr);
  panel->ensureWidgetVisible(lemmas);
  click(*lemmas->findChild<QToolButton*>());
  QToolButton* tile = nullptr;
  for (auto* button : lemmas->findChildren<QToolButton*>()) {
    if (button->text() == QLatin1String("S5 tile")) tile = button;
  }
  ASSERT_NE(tile, nullptr);
  panel->ensureWidgetVisible(tile);
  click(*tile);
  QStringList shown;
  for (const auto* label : lemmas->findChildren<QLabel*>()) shown << label->text();
  const QString all = shown.join(QLatin1Char('\n'));
  EXPECT_TRUE(all.contains(QStringLiteral("with r < 4"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("background-color"))) << "what changed is marked";
  QTest::qWait(100);
  keep(screen, "prove-lemmas");
}

TEST_F(ProofRecordTest, ObligationsAreExportedAsSmtLib) {
  explore();
  ProveScreen screen(context());
  const QString signature = QString::fromUtf8(head) + "def f(x: f32[M], y: f32[M]) -> f32[M]:\n    return ";
  ASSERT_NO_FATAL_FAILURE(
      prove(screen, signature + "np.maximum(x, y) + np.minimum(x, y)\n", signature + "x + y\n"));
  ProofPanel* panel = screen.verdict()->panel();
  if (QStandardPaths::findExecutable(QStringLiteral("z3")).isEmpty()) GTEST_SKIP() << "no z3 program";
  ASSERT_TRUE(panel->record()->recording()->replayable);
  auto* button = panel->findChild<QPushButton*>(QStringLiteral("exportSmt"));
  ASSERT_NE(button, nullptr);
  ASSERT_TRUE(button->isEnabled());
  panel->ensureWidgetVisible(button);
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("goals.smt2"));
  answerWith(path);
  click(*button);
  const QString text = QString::fromStdString(contentOf(path));
  EXPECT_EQ(text.count(QStringLiteral("(check-sat)")),
            static_cast<qsizetype>(panel->record()->recording()->obligations.size()));
  EXPECT_TRUE(text.startsWith(QStringLiteral("; obligation 1 of")));
  keep(screen, "prove-obligations");
}

TEST_F(ProofRecordTest, AProofFromAFileCountsOnceItIsReplayedAndInTheWordsOfTheReplay) {
  explore();
  auto c = caseOfStep(*document.nuGraph(), document.nuGraph()->steps().front().id);
  ASSERT_TRUE(c.has_value());
  auto forged = std::make_shared<proof::Proof>(*c->proof);
  forged->holdsFor = "whatever the file says";
  c->proof = forged;
  c->recorded = true;
  ProofPanel panel(theme, jobs);
  panel.resize(520, 700);
  panel.QWidget::show();
  panel.show(*c);
  EXPECT_TRUE(panel.plainText().contains("not replayed here"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !panel.current()->recorded; }, 20000));
  const QString text = panel.plainText();
  EXPECT_FALSE(text.contains("whatever the file says")) << text.toStdString();
  EXPECT_TRUE(text.contains("Proved over the reals for all M, K, N")) << text.toStdString();
  EXPECT_TRUE(panel.isShowing(forged));
  panel.show(*c);  // known: no second search
  EXPECT_FALSE(panel.current()->recorded);
}

TEST_F(ProofRecordTest, WhatIsRefutedHasNoRecord) {
  explore();
  ProveScreen screen(context());
  screen.show();
  const QString signature = QString::fromUtf8(head) + "def f(x: f32[M]) -> f32[M]:\n    return ";
  screen.left()->setText(signature + "x\n", ProveSide::Origin::hand);
  screen.right()->setText(signature + "x + 1\n", ProveSide::Origin::hand);
  ProofPanel* panel = screen.verdict()->panel();
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel->plainText().contains("The two differ"); }, 20000));
  EXPECT_EQ(panel->record(), nullptr);
  EXPECT_FALSE(panel->textExports().join(QLatin1Char(' ')).contains(QStringLiteral("*.json")));
  // After a proof again, the record of that proof and no other.
  screen.right()->setText(signature + "x + 0\n", ProveSide::Origin::hand);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        const RecordSection* record = panel->record();
        return !screen.deciding() && record != nullptr && record->recording() != nullptr;
      },
      20000));
  EXPECT_TRUE(panel->record()->recording()->replayable);
}

}  // namespace
}  // namespace nuscope::views
