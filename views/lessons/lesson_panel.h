#pragma once
// Lessons at the side of the window: the list, then one page at a time. The filled button does the next act
// of the page, then leads to the next page; what an act came to stands above it.
#include <QWidget>
#include <vector>

#include "views/lessons/lesson.h"
#include "views/lessons/lesson_guide.h"

class QLabel;
class QPushButton;
class QTextBrowser;
class QToolButton;

namespace nuscope::views {

class MainWindow;
class StateLabel;

class LessonPanel : public QWidget {
  Q_OBJECT
 public:
  LessonPanel(MainWindow& window, const ViewContext& context, QWidget* parent = nullptr);
  /// By id; false: there is none.
  bool open(const QString& id);
  void showList();
  [[nodiscard]] const std::vector<Lesson>& all() const { return lessons_; }
  [[nodiscard]] int page() const { return page_; }  ///< -1: the list
  void turnTo(int page);
  /// What the filled button does now.
  [[nodiscard]] QPushButton& next() const { return *next_; }
  [[nodiscard]] QPushButton& back() const { return *back_; }
  [[nodiscard]] bool busy() const { return guide_.running(); }
  /// Everything shown, as text; for readers and tests.
  [[nodiscard]] QString plainText() const;
  [[nodiscard]] QString outcome() const { return outcome_.words; }
  [[nodiscard]] Mark outcomeMark() const { return outcome_.mark; }

 Q_SIGNALS:
  void closed();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void follow(const QString& link);
  void act(std::size_t index);
  void press();
  void finished(const LessonGuide::Outcome& outcome);
  void render();
  void retheme();

  ViewContext context_;
  std::vector<Lesson> lessons_;
  LessonGuide guide_;
  std::size_t lesson_ = 0;
  int page_ = -1;
  std::size_t done_ = 0;     ///< acts of the page that were done
  std::size_t running_ = 0;  ///< the one under way
  LessonGuide::Outcome outcome_;
  QLabel *title_, *place_, *outcomeText_;
  QToolButton *list_, *close_;
  QTextBrowser* text_;
  QWidget* outcomeRow_;
  StateLabel* outcomeMark_;
  QPushButton *back_, *next_;
};

}  // namespace nuscope::views
