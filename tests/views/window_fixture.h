#pragma once
// The real window with a document, offscreen, for tests with real keys and clicks.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <stdexcept>
#include <string>

#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/theme.h"
#include "views/window/main_window.h"

namespace nuscope::views {

inline constexpr int patience = 60000;  // milliseconds; other work may share the machine

class Window : public ::testing::Test {
 protected:
  Window() {
    qputenv("XDG_CACHE_HOME", folder.path().toLocal8Bit());
    theme.applyTo(*qApp);
    theme.setAppearance(Appearance::light);
    commands = std::make_unique<Commands>(theme, nullptr);
    document = std::make_unique<Document>(jobs, selection);
    window = std::make_unique<MainWindow>(ViewContext{theme, selection, *document, jobs, *commands},
                                          Session(false));
    window->resize(1280, 800);
    window->show();
  }
  ~Window() override {
    jobs.stopAll();
    window.reset();
    document.reset();
  }

  bool settle() {
    int quiet = 0;
    return QTest::qWaitFor([&] { return (quiet = window->settled() ? quiet + 1 : 0) > 3; }, patience);
  }
  template <class V>
  V& view(const char* id) {
    auto* found = qobject_cast<V*>(window->view(QLatin1String(id)));
    if (!found) throw std::runtime_error(std::string("no view ") + id);
    return *found;
  }
  void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }

  QTemporaryDir folder;
  ThemeSource theme;
  Selection selection;
  Jobs jobs;
  std::unique_ptr<Commands> commands;
  std::unique_ptr<Document> document;
  std::unique_ptr<MainWindow> window;
};

}  // namespace nuscope::views
