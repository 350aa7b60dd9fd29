#pragma once
// A whole document without a window: theme, selection, jobs, commands, and a small real program that is
// explored.
#include <gtest/gtest.h>

#include <QApplication>
#include <QtTest>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/theme.h"
#include "views/view.h"

namespace nuscope::views {

inline const char* scaledMatmul() {
  return "from __future__ import annotations\nimport numpy as np\n\n\n"
         "def scaled(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n    return (x * g) @ w\n";
}

class StudyFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    theme.applyTo(*qApp);
    theme.setAppearance(Appearance::light);
  }
  /// Opens the program and waits until it is explored.
  void explore(const char* text = scaledMatmul()) {
    document.setNew(QStringLiteral("scaled.py"), QString::fromUtf8(text));
    ASSERT_TRUE(QTest::qWaitFor([&] { return document.program() != nullptr; }, 10000));
    if (!document.nuGraph() && !document.exploreState().running) document.explore();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return document.nuGraph() && !document.exploreState().running && document.upToDate(); },
        60000));
  }
  [[nodiscard]] ViewContext context() { return {theme, selection, document, jobs, commands}; }
  /// A picture of a widget in both themes, when NUSCOPE_PICTURES names a folder.
  void keep(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("NUSCOPE_PICTURES");
    if (folder.isEmpty()) return;
    for (const bool dark : {false, true}) {
      theme.setAppearance(dark ? Appearance::dark : Appearance::light);
      QTest::qWait(120);
      widget.grab().save(folder + "/" + name + (dark ? "-dark.png" : ".png"));
    }
    theme.setAppearance(Appearance::light);
    QTest::qWait(50);
  }

  ThemeSource theme;
  Selection selection;
  Jobs jobs;
  Document document{jobs, selection};
  Commands commands{theme, nullptr};
};

}  // namespace nuscope::views
