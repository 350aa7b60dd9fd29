#pragma once
// Does what the acts of a lesson say, in the window, as a user would: opens, explores, selects, proves,
// sweeps. Everything is computed; the guide only waits for it and says in words what came out.
#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>

#include "views/lessons/lesson.h"
#include "views/marks.h"
#include "views/view.h"

namespace nuscope::views {

class MainWindow;

class LessonGuide : public QObject {
  Q_OBJECT
 public:
  LessonGuide(MainWindow& window, const ViewContext& context, QObject* parent = nullptr);
  /// Starts; the act before it, if it still waits, is given up.
  void run(const LessonAct& act);
  [[nodiscard]] bool running() const { return poll_.isActive(); }
  /// Stops waiting; what was started goes on as if the user had started it.
  void giveUp();

  /// What an act came to: proved, refuted..., `none` where there is nothing to judge, `warning` where the act
  /// could not be done.
  struct Outcome {
    Mark mark = Mark::none;
    QString words;
  };

 Q_SIGNALS:
  void ended(const nuscope::views::LessonGuide::Outcome& outcome);

 private:
  /// Asked every 30 ms until it answers.
  using Waiting = std::function<std::optional<Outcome>()>;
  Waiting start(const LessonAct& act);
  Waiting open(const QString& name);
  Waiting explore();
  Waiting step(const QStringList& fragments);
  Waiting refused(const QStringList& fragments);
  Waiting version(const QString& which);
  Waiting left(const QString& name);
  Waiting right(const QString& name);
  Waiting add();
  Waiting sweep(const QStringList& arguments);

  MainWindow& window_;
  ViewContext context_;
  Waiting waiting_;
  QTimer poll_;
};

}  // namespace nuscope::views
