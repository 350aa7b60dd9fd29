#pragma once
// The schedule side of the window: findings and why at the left; tasks, queues and details in the middle;
// inspector and JSON at the right; above them the headline and the stepper. Its eleven views are made one
// after the other, a turn of the event loop each, while the file is read: together they would hold up the
// window.
#include <QWidget>
#include <functional>
#include <vector>

#include "views/view.h"

class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace nuscope::views {

class ChangesView;
class DetailView;
class FindingsView;
class HangView;
class JsonView;
class ScheduleDocument;
class StateLabel;
class StepperBar;
class TasksView;

class ScheduleScreen : public QWidget {
  Q_OBJECT
 public:
  explicit ScheduleScreen(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] bool complete() const { return stages_.empty(); }
  /// Makes the views that are not there yet, now.
  void finish();
  [[nodiscard]] QString headline() const;
  [[nodiscard]] StepperBar& stepper() const { return *stepper_; }
  /// "finding 2", "task 12", "counter 4", "buffer 7" (ids), "step 10", "repair 1" (its preview), "group
  /// L0.q_proj" (opened), "waits", "compare FILE", "dump FILE". False: not understood, or not there.
  bool selectText(const QString& text);
  void compare();
  /// Asks for a hang dump and explains it.
  void explainDump();
  void seekWaits();
  /// Asks for a buffer or a region of it and selects it; the inspector lists who touches it.
  void askForRegion();
  void nextFinding();
  void goToNextError();

 Q_SIGNALS:
  void completed();  ///< all views are there

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void buildHeader();
  void buildEmpty();
  void planViews();
  void buildNext();
  void addDetail(DetailView* view);
  void update();
  void turnToViews();
  void retheme();
  enum DetailPage { countersPage, memoryPage, changesPage, waitsPage, hangPage };
  void showDetail(DetailPage page);
  ViewContext context_;
  ScheduleDocument& schedule_;
  QWidget* header_ = nullptr;
  StateLabel* mark_ = nullptr;
  QLabel *headline_ = nullptr, *subtitle_ = nullptr;
  StepperBar* stepper_ = nullptr;
  bool turning_ = false;                       ///< to the views, from the page that explains
  std::vector<std::function<void()>> stages_;  ///< of making the views; the next one is the last
  QSplitter* columns_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  QWidget* empty_ = nullptr;
  QLabel *emptyTitle_ = nullptr, *emptyText_ = nullptr;
  QPushButton *open_ = nullptr, *cancel_ = nullptr;
  QStackedWidget* details_ = nullptr;
  FindingsView* findings_ = nullptr;
  TasksView* tasks_ = nullptr;
  ChangesView* changes_ = nullptr;
  HangView* hang_ = nullptr;
  JsonView* json_ = nullptr;
};

}  // namespace nuscope::views
