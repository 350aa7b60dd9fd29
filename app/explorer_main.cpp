// nuscope-explorer: the window. `--screenshot` and `--export` work without a display.
#include <CLI/CLI.hpp>
#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QLocale>
#include <QTimer>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "views/commands.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/lessons/lesson_panel.h"
#include "views/marks.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"
#include "views/schedule/schedule_document.h"
#include "views/selection.h"
#include "views/theme.h"
#include "views/view.h"
#include "views/window/main_window.h"
#include "views/window/message_bar.h"

namespace {

using namespace nuscope::views;

struct Arguments {
  std::string file, with, screenshot, exportTo, view, theme, size = "1280x800", lesson;
  std::vector<std::string> select;
  double scale = 0;
  double wait = 60;
  bool resetLayout = false;
  bool alone = false;
  [[nodiscard]] bool headless() const { return !screenshot.empty() || !exportTo.empty(); }
};

QSize sizeOf(const std::string& text) {
  int w = 0;
  int h = 0;
  if (std::sscanf(text.c_str(), "%dx%d", &w, &h) != 2 || w < 400 || h < 300 || w > 8192 || h > 8192)
    return {};
  return {w, h};
}

void open(MainWindow& window, Document& document, const Arguments& arguments) {
  if (!arguments.file.empty()) {
    window.openPath(QString::fromStdString(arguments.file));
    if (!arguments.view.empty()) window.showScreen(QString::fromStdString(arguments.view));
    if (!arguments.with.empty()) {
      window.showScreen(QStringLiteral("prove"));
      static_cast<ProveScreen*>(window.screen(QStringLiteral("prove")))
          ->right()
          ->takeFile(QString::fromStdString(arguments.with));
    }
    return;
  }
  if (!arguments.headless()) {
    const Document::Autosave unsaved = Document::readAutosave();
    if (!unsaved.empty()) {
      document.restore(unsaved);
      window.messages().say(Mark::warning,
                            QObject::tr("The explorer ended last time with unsaved changes of %1. They are "
                                        "back; save them, or open another program to drop them.")
                                .arg(unsaved.programName));
      return;
    }
  }
  window.openExample(QStringLiteral("rmsnorm_matmul"));
}

/// What --select names, one after the other; `settle` between them.
void selectSomething(
    MainWindow& window, const Arguments& arguments, const std::function<void()>& settle = [] {}) {
  for (const std::string& text : arguments.select) {
    if (!window.selectText(QString::fromStdString(text)))
      std::fprintf(stderr, "nuscope-explorer: --select %s: there is no such thing\n", text.c_str());
    settle();
  }
}

/// Waits until nothing runs, then writes the pictures. Returns the exit code.
int takePictures(MainWindow& window, Document& document, const Arguments& arguments) {
  QElapsedTimer clock;
  clock.start();
  QString failure;
  const ScheduleDocument& schedule = *ScheduleDocument::of(document);
  QObject::connect(&document, &Document::openFailed, [&](const QString& why) { failure = why; });
  QObject::connect(&schedule, &ScheduleDocument::openFailed, [&](const QString& why) { failure = why; });
  const auto settle = [&] {
    int quiet = 0;
    while (quiet < 6 && clock.elapsed() < static_cast<qint64>(arguments.wait * 1000)) {
      QEventLoop loop;
      QTimer::singleShot(50, &loop, &QEventLoop::quit);
      loop.exec();
      quiet = window.settled() ? quiet + 1 : 0;
    }
  };
  settle();
  if (!failure.isEmpty() && !document.program() && !schedule.isOpen()) {
    std::fprintf(stderr, "nuscope-explorer: %s\n", qPrintable(failure));
    return 3;
  }
  if (schedule.isOpen() && !arguments.view.empty())
    window.showScreen(QString::fromStdString(arguments.view));  // a page of what is there now
  selectSomething(window, arguments, settle);
  if (arguments.alone) window.setAlone(true);
  settle();
  if (!window.settled())
    std::fprintf(stderr, "nuscope-explorer: still working after %.0f s; the picture shows what is there\n",
                 arguments.wait);
  if (!arguments.screenshot.empty()) {
    const QString path = QString::fromStdString(arguments.screenshot);
    if (!window.grab().save(path)) {
      std::fprintf(stderr, "nuscope-explorer: %s could not be written\n", arguments.screenshot.c_str());
      return 4;
    }
  }
  if (!arguments.exportTo.empty()) {
    View* view = window.activeView();
    QString why;
    if (!view || !view->exportTo(QString::fromStdString(arguments.exportTo), &why)) {
      std::fprintf(stderr, "nuscope-explorer: %s\n", view ? qPrintable(why) : "no view to export");
      return 3;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App cli{"Nuscope: variants of a tensor program, proved equal and raced.", "nuscope-explorer"};
  cli.add_option(
      "FILE", arguments.file,
      "a NumPy program (.py), a study (.nuscope) or a schedule (.json); without one the example opens");
  cli.add_option("--with", arguments.with, "a second program: the right side of the prove view")
      ->needs("FILE");
  cli.add_option("--screenshot", arguments.screenshot, "write the window as a PNG and end; needs no display");
  cli.add_option("--export", arguments.exportTo,
                 "write the view (see --view) as .svg, .png, .csv, .dot... and end");
  cli.add_option("--view", arguments.view,
                 "screen or view to show: program, variants, prove, sweep, code, schedule, devices, "
                 "derivation, variant, "
                 "plots/latency, plots/model, plots/roofline, plots/parameters, faster, "
                 "tasks/layers, tasks/all, tasks/around, tasks/table, queues/time, counters, memory/pages, "
                 "changes, waits, hang, json...");
  cli.add_option("--theme", arguments.theme, "light or dark")
      ->check(CLI::IsMember({"light", "dark", "system"}));
  cli.add_option("--size", arguments.size, "size of the window, WIDTHxHEIGHT");
  cli.add_option("--scale", arguments.scale, "scale of everything, 0.75 to 3")
      ->check(CLI::Range(smallestScale, largestScale));
  cli.add_option("--select", arguments.select,
                 "\"variant 9\", \"step 12\", \"refused 3\" or \"candidate 31\"; of a schedule \"finding "
                 "0\", \"task 12\", \"counter 4\", "
                 "\"buffer 7\", \"step 10\", \"repair 1\", \"group L0.q_proj\", \"waits\", \"compare "
                 "FILE\" or \"dump FILE\"; several, one after the other")
      ->allow_extra_args(false);
  cli.add_flag("--alone", arguments.alone, "with --screenshot: the view alone and larger, as F11 shows it");
  cli.add_option("--lesson", arguments.lesson, "open a lesson at the side: norm_and_bias, online_attention");
  cli.add_option("--wait", arguments.wait, "seconds that --screenshot waits at most for running work");
  cli.add_flag("--reset-layout", arguments.resetLayout, "forget the stored layout of windows and panels");
  cli.set_version_flag("--version", NUSCOPE_VERSION);
  CLI11_PARSE(cli, argc, argv);
  const QSize size = sizeOf(arguments.size);
  if (size.isEmpty()) {
    std::fprintf(stderr, "nuscope-explorer: --size %s: expected WIDTHxHEIGHT, for example 1280x800\n",
                 arguments.size.c_str());
    return 3;
  }
  const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  if (arguments.headless() && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  if (!arguments.headless() && !display && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
    std::fprintf(stderr,
                 "nuscope-explorer: there is no display. Use `nuscope` on the command line, or --screenshot "
                 "OUT.png.\n");
    return 4;
  }
  if (arguments.headless()) qputenv("QT_LOGGING_RULES", "qt.qpa.*=false");

  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("Nuscope"));
  QApplication::setApplicationVersion(QStringLiteral(NUSCOPE_VERSION));
  QLocale::setDefault(QLocale::c());
  ThemeSource theme;
  const Session session(!arguments.headless());
  if (arguments.resetLayout) session.forgetLayout();
  theme.applyTo(application);
  session.restoreTheme(theme);
  if (arguments.headless()) theme.setAppearance(Appearance::light);
  if (!arguments.theme.empty())
    theme.setAppearance(arguments.theme == "dark"    ? Appearance::dark
                        : arguments.theme == "light" ? Appearance::light
                                                     : Appearance::system);
  if (arguments.scale > 0) theme.setScale(arguments.scale);

  Selection selection;
  Jobs jobs;
  Document document(jobs, selection);
  Commands commands(theme, nullptr);
  MainWindow window({theme, selection, document, jobs, commands}, session);
  if (arguments.headless() || cli.count("--size") > 0) window.resize(size);
  if (!arguments.view.empty() && !window.showScreen(QString::fromStdString(arguments.view))) {
    std::fprintf(stderr, "nuscope-explorer: --view %s: there is no such screen or view\n",
                 arguments.view.c_str());
    return 3;
  }
  if (!arguments.lesson.empty()) {
    window.showLessons(true);
    if (!window.lessons().open(QString::fromStdString(arguments.lesson))) {
      std::fprintf(stderr, "nuscope-explorer: --lesson %s: there is no such lesson\n",
                   arguments.lesson.c_str());
      return 3;
    }
  }
  window.show();
  open(window, document, arguments);
  if (arguments.headless()) return takePictures(window, document, arguments);
  if (!arguments.select.empty()) {
    const auto once = [&window, &arguments, done = std::make_shared<bool>(false)] {
      if (!std::exchange(*done, true)) selectSomething(window, arguments);
    };
    QObject::connect(&document, &Document::nuGraphChanged, &window, once);
    QObject::connect(ScheduleDocument::of(document), &ScheduleDocument::opened, &window, once);
  }
  return QApplication::exec();
}
