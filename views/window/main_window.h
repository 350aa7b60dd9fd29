#pragma once
// The window: top bar (menus, the field that opens the palette, the document's name), activity bar, screens,
// status bar. It connects the commands; views do the rest.
#include <QMainWindow>
#include <QPointer>
#include <QTimer>
#include <map>

#include "views/screens.h"
#include "views/window/session.h"

class QLabel;
class QMenu;
class QStackedWidget;
class QToolButton;

namespace nuscope::views {

class ActivityBar;
class CommandPalette;
class JobsPanel;
class LessonPanel;
class MessageBar;
class ScheduleDocument;
class ScheduleScreen;
class StateLabel;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(const ViewContext& context, const Session& session);
  ~MainWindow() override;

  /// By id of a screen or of a view (then its screen, with the view focused), or a page of a view,
  /// "plots/roofline". False: there is none.
  bool showScreen(const QString& name);
  [[nodiscard]] QString currentScreen() const { return current_; }
  /// The screen, made if it was not shown yet; null: there is none.
  QWidget* screen(const QString& id);
  /// A view by id on the current screen, else on any screen (which is made); null: there is none.
  View* view(const QString& id);
  [[nodiscard]] View* activeView() const;
  [[nodiscard]] CommandPalette& palette() const { return *palette_; }
  [[nodiscard]] MessageBar& messages() const { return *message_; }
  [[nodiscard]] JobsPanel& jobsPanel() const { return *jobsPanel_; }
  /// Opens a program, a study or a schedule, by its name; unsaved changes are the caller's question.
  void openPath(const QString& path);
  [[nodiscard]] LessonPanel& lessons() const { return *lessons_; }
  /// Opens an example of resources/programs by name ("softmax"). False: there is none.
  bool openExample(const QString& name);
  /// A program that is in no file, after the question about unsaved changes. False: the user keeps what is
  /// open.
  bool openProgram(const QString& name, const QString& text);
  void showLessons(bool shown);
  /// Shows the active view alone, larger and without bars, or brings the others back.
  void setAlone(bool alone);
  /// "variant 9", "step 12", "refused 3". False: not understood, or not there.
  bool selectText(const QString& text);
  /// Nothing is running or about to be painted; for screenshots and tests.
  [[nodiscard]] bool settled() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  ///< Escape ends "alone"

 private:
  // Schedules: main_window_schedule.cpp
  void connectSchedule();
  [[nodiscard]] bool onSchedule() const;
  ScheduleScreen* scheduleScreen();
  void saveSchedule(bool as, const std::function<void()>& then = {});
  /// Asks about unsaved changes of the schedule; true: go on.
  bool mayLeaveSchedule();
  void updateScheduleStatus();
  void buildTop();
  void buildStatus();
  void connectCommands();  ///< main_window_commands.cpp, as what is below it
  void connectFileCommands();
  void connectEditCommands();
  void connectViewCommands();
  void connectGoCommands();
  void connectRunCommands();
  void connectHelpCommands();
  void fillExamples(QMenu& menu);
  void fillRecent(QMenu& menu);
  void openPalette();
  void openFile();
  void save(bool as);
  void exportKernelAs();
  /// Asks about unsaved changes; true: go on.
  bool mayLeave();
  void afterSave(const std::function<void()>& then);
  void moveFocus(int by);
  void makeRoomForLessons();
  void scaleBy(double factor);
  void applyScale();
  void updateName();
  void updateStatus();
  void updateThemeActions();
  void retheme();
  void nextRefused();
  void parentVariant();
  /// Nobody has chosen anything yet: the variant that the model likes best, with its proof, is a good start.
  void proposeVariant();

  ViewContext context_;
  ScheduleDocument& schedule_;
  Session session_;
  std::vector<ScreenSpec> specs_;
  std::map<QString, QWidget*> made_;
  QString current_;
  QWidget* top_ = nullptr;
  QLabel* brand_ = nullptr;
  QToolButton* search_ = nullptr;
  QLabel* name_ = nullptr;
  ActivityBar* activity_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  MessageBar* message_ = nullptr;
  QWidget* status_ = nullptr;
  StateLabel* state_ = nullptr;
  QLabel* host_ = nullptr;
  StateLabel* running_ = nullptr;
  CommandPalette* palette_ = nullptr;
  JobsPanel* jobsPanel_ = nullptr;
  LessonPanel* lessons_ = nullptr;
  QPointer<View> active_;
  std::vector<QPointer<QWidget>> hiddenWhileAlone_;
  double scale_ = 1;
  bool alone_ = false;  ///< one view alone, larger, without bars
  bool closing_ = false;
  QTimer tick_;
};

}  // namespace nuscope::views
