// Lessons: what their files must look like, and both of them from the first page to the last in the real
// window, by clicks on the filled button. Everything they show is computed here.
#include "views/lessons/lesson.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTextBrowser>
#include <QToolButton>

#include "core/nugraph/nugraph.h"
#include "views/lessons/lesson_panel.h"
#include "views/proof/proof_view.h"
#include "views/prove/prove_screen.h"
#include "views/variants/variants_view.h"
#include "window_fixture.h"

namespace nuscope::views {
namespace {

constexpr int actPatience = 120000;

std::string refusal(const char* text) {
  const auto lesson = parseLesson("x", QString::fromUtf8(text));
  return lesson ? std::string() : lesson.refusal().message;
}

TEST(Lesson, HasATitleASentenceAndPagesWithActs) {
  const auto lesson = parseLesson("x",
                                  "# Title\nA sentence\nthat goes on.\n\n## One\nText [do it](do:explore).\n"
                                  "[again](do:step/divide/past+matmul)\n## Two\nEnd.\n");
  ASSERT_TRUE(lesson) << lesson.refusal().message;
  EXPECT_EQ(lesson->title, "Title");
  EXPECT_EQ(lesson->summary, "A sentence that goes on.");
  ASSERT_EQ(lesson->pages.size(), 2U);
  ASSERT_EQ(lesson->pages[0].acts.size(), 2U);
  EXPECT_EQ(lesson->pages[0].acts[1].kind, LessonAct::Kind::step);
  EXPECT_EQ(lesson->pages[0].acts[1].arguments, (QStringList{"divide", "past+matmul"}));
  EXPECT_TRUE(lesson->pages[1].acts.empty());
}

TEST(Lesson, RefusesWhatItDoesNotUnderstand) {
  EXPECT_NE(refusal("text first\n# Title\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal("# Title\n## Page\n").find("a sentence"), std::string::npos);
  EXPECT_NE(refusal("# Title\nA sentence.\n").find("at least one page"), std::string::npos);
  EXPECT_NE(refusal("# A\n# B\n").find("one title"), std::string::npos);
  EXPECT_NE(refusal("# A\nS.\n## P\n[x](do:dance)\n").find("line 4: there is no act do:dance"),
            std::string::npos);
  EXPECT_NE(refusal("# A\nS.\n## P\n[x](do:open)\n").find("no act do:open"), std::string::npos);
}

TEST(Lesson, EveryProgramThatALessonNamesIsThere) {
  const auto all = lessons();
  ASSERT_GE(all.size(), 2U);
  for (const Lesson& lesson : all) {
    for (const LessonPage& page : lesson.pages) {
      for (const LessonAct& act : page.acts) {
        const bool program = act.kind == LessonAct::Kind::open || act.kind == LessonAct::Kind::left ||
                             act.kind == LessonAct::Kind::right;
        EXPECT_FALSE(program && lessonProgram(act.arguments[0]).isEmpty()) << act.link.toStdString();
      }
    }
  }
}

class LessonWindow : public Window {
 protected:
  LessonPanel& panel() { return window->lessons(); }
  void openLessons() {
    auto* button = window->findChild<QAbstractButton*>(QStringLiteral("activity.lessons"));
    ASSERT_NE(button, nullptr);
    QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_TRUE(panel().isVisible());
  }
  void press() { QTest::mouseClick(&panel().next(), Qt::LeftButton); }
  /// Presses the filled button until the last page is left; `seen` gets what each act came to.
  void runThrough(const QString& id, std::map<QString, std::pair<Mark, QString>>& seen) {
    const auto lesson =
        std::find_if(panel().all().begin(), panel().all().end(), [&](const Lesson& l) { return l.id == id; });
    ASSERT_NE(lesson, panel().all().end());
    ASSERT_TRUE(panel().open(id));
    for (std::size_t page = 0; page < lesson->pages.size(); ++page) {
      ASSERT_EQ(panel().page(), static_cast<int>(page));
      for (const LessonAct& act : lesson->pages[page].acts) {
        ASSERT_EQ(panel().next().text(), act.text);
        press();
        ASSERT_TRUE(QTest::qWaitFor([&] { return !panel().busy(); }, actPatience)) << act.link.toStdString();
        EXPECT_NE(panel().outcomeMark(), Mark::warning)
            << act.link.toStdString() << ": " << panel().outcome().toStdString();
        seen[act.link] = {panel().outcomeMark(), panel().outcome()};
        std::printf("%-60s %s\n", qPrintable(act.link), qPrintable(panel().outcome()));
      }
      press();
    }
    EXPECT_EQ(panel().page(), -1);
  }
};

TEST_F(LessonWindow, ANormMayMoveAndABiasMayNot) {
  openLessons();
  std::map<QString, std::pair<Mark, QString>> seen;
  runThrough(QStringLiteral("norm_and_bias"), seen);
  EXPECT_EQ(seen["do:step/divide+by+sqrt/moved+past+matmul"].first, Mark::proved);
  EXPECT_TRUE(seen["do:step/divide+by+sqrt/moved+past+matmul"].second.contains("over the reals"));
  EXPECT_EQ(seen["do:refused/add/moved+past+matmul"].first, Mark::refuted);
  EXPECT_EQ(seen["do:right/bias_behind"].first, Mark::refuted);
  EXPECT_EQ(seen["do:right/bias_spread"].first, Mark::proved);
}

TEST_F(LessonWindow, AttentionBecomesOnlineAttention) {
  openLessons();
  std::map<QString, std::pair<Mark, QString>> seen;
  runThrough(QStringLiteral("online_attention"), seen);
  EXPECT_EQ(seen["do:step/one+pass/e+@+v"].first, Mark::proved);
  EXPECT_EQ(seen["do:right/forgetful_attention"].first, Mark::refuted);
  EXPECT_EQ(seen["do:right/online_attention"].first, Mark::proved);
}

TEST_F(LessonWindow, AnActThatCannotBeDoneSaysWhyAndIsOfferedAgain) {
  ASSERT_TRUE(window->openExample(QStringLiteral("relu")));
  ASSERT_TRUE(settle());
  openLessons();
  ASSERT_TRUE(panel().open(QStringLiteral("norm_and_bias")));
  panel().turnTo(2);
  const QString act = panel().next().text();
  press();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !panel().busy(); }, actPatience));
  EXPECT_EQ(panel().outcomeMark(), Mark::warning);
  EXPECT_TRUE(panel().outcome().contains("No such step"));
  EXPECT_EQ(panel().next().text(), act);
  // Back, the list, and a lesson chosen by the keyboard.
  QTest::keyClick(&panel().back(), Qt::Key_Space);
  EXPECT_EQ(panel().page(), 1);
  panel().showList();
  auto* text = panel().findChild<QTextBrowser*>(QStringLiteral("lessonText"));
  ASSERT_NE(text, nullptr);
  text->setFocus();
  QTest::keyClick(text, Qt::Key_Tab);
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_EQ(panel().page(), 0);
}

TEST_F(LessonWindow, TheStepperWalksAndPlays) {
  ASSERT_TRUE(window->openExample(QStringLiteral("rmsnorm_matmul")));
  ASSERT_TRUE(settle());
  auto& variants = view<VariantsView>("derivation");
  const int last = variants.slider().maximum();
  ASSERT_GT(last, 3);
  variants.stepTo(2);
  ASSERT_TRUE(settle());
  QToolButton* on = nullptr;
  const auto buttons = variants.findChildren<QToolButton*>();
  for (QToolButton* button : buttons) {
    if (button->defaultAction() == commands->action("go.nextStep")) on = button;
  }
  ASSERT_NE(on, nullptr);
  QTest::mouseClick(on, Qt::LeftButton);
  EXPECT_EQ(variants.slider().value(), 3);
  EXPECT_EQ(selection.place().step, document->nuGraph()->steps()[2].id);  // its proof is shown
  ASSERT_TRUE(settle());
  variants.stepTo(last - 1);
  QTest::keyClick(window.get(), Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_TRUE(variants.playing());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !variants.playing(); }, 5000));
  EXPECT_EQ(variants.slider().value(), last);
}

TEST_F(LessonWindow, OneViewAloneIsLargerAndWithoutBars) {
  ASSERT_TRUE(window->openExample(QStringLiteral("lora")));
  ASSERT_TRUE(settle());
  window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window.get(), 5000));
  auto& proof = view<ProofView>("proof");
  proof.focusTarget()->setFocus();
  const double points = theme.theme().ui.pointSizeF();
  QTest::keyClick(proof.focusTarget(), Qt::Key_F11);
  EXPECT_TRUE(proof.isVisible());
  EXPECT_FALSE(view<VariantsView>("derivation").isVisible());
  auto* bar = window->findChild<QWidget*>(QStringLiteral("activityBar"));
  EXPECT_FALSE(bar->isVisible());
  EXPECT_GE(theme.theme().ui.pointSizeF(), points * 1.5);
  QTest::keyClick(proof.focusTarget(), Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_GT(theme.theme().ui.pointSizeF(), points * 1.6);
  QTest::keyClick(proof.focusTarget(), Qt::Key_0, Qt::ControlModifier);
  QTest::keyClick(window.get(), Qt::Key_Escape);
  EXPECT_TRUE(bar->isVisible());
  EXPECT_TRUE(view<VariantsView>("derivation").isVisible());
  EXPECT_EQ(theme.theme().ui.pointSizeF(), points);
}

}  // namespace
}  // namespace nuscope::views
